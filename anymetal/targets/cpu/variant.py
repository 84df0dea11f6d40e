"""Classes of launches: one compiled version of a kernel serves all launches of a class."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

from anymetal.frontend.known import Known
from anymetal.ir.sizes import MAX_THREADS_PER_THREADGROUP, SIMD_GROUP
from anymetal.source import KernelSource

LARGEST_TEAM = 8


class Variant(NamedTuple):
    """What a compiled version relies on."""

    flat: bool  #: threadgroups extend in x only
    linear: bool  #: the threads of a gang are consecutive in x
    aligned: bool  #: the dispatched threadgroup size in x is a multiple of 32
    full: bool  #: some gangs have all lanes
    partial: bool  #: some gangs lack lanes
    single: bool  #: a threadgroup is one gang, so barriers need no waiting
    width: int = SIMD_GROUP  #: lanes of a gang
    rows: int = 0  #: threads in x of every threadgroup, if a gang is whole such rows; else 0
    padded: str = ""  #: axes along which whole threadgroups lead beyond the grid
    team: int = (
        1  #: neighbouring gangs of a threadgroup that might run as one (coarsening/coarsen.py)
    )
    sole: bool = False  #: a team of so many is a whole threadgroup
    large: int = 0  #: how many times 2^31 bytes the largest array has
    checked: bool = False  #: no access leaves its array (passes/check_bounds.py)
    sanitized: bool = False  #: tells of all it does (passes/observe.py); checked as well
    filled: bool = False  #: outputs have contents before a launch (passes/track_undefined.py)
    nan: bool = False  #: also tells of stores of NaN and infinity
    without: tuple[str, ...] = ()  #: names of passes that are switched off
    cpu: str = ""  #: LLVM's name of a CPU to compile for; empty means this machine
    known: Known | None = None  #: serves only launches of which this is true (specialisation.py)
    #: Threads of a grid of one axis that are a row of another one (passes/fold_grid.py); else 0.
    folded: int = 0
    #: What to compile for if no SIMD-groups of a column become a team (fitting_groups).
    instead: Variant | None = None

    def taken(self, declined: bool) -> Variant:
        """The class that code is for: this one, or, if it was `declined`, that which it has
        `instead`. There is no choice any more: versions of the code run in the same threadgroups.
        """
        return (declined and self.instead) or self._replace(instead=None)

    @property
    def known_to_threads(self) -> Known | None:
        """What the thread program may rely on: where rows are to be found in a grid of one axis,
        nothing of its threadgroups."""
        return self.known.undivided() if self.known and self.folded else self.known

    @property
    def text(self) -> str:
        """The class in words."""
        kinds = [kind for kind, there in (("full", self.full), ("partial", self.partial)) if there]
        words = [f"{' and '.join(kinds)} SIMD-groups"]
        if self.folded:
            words.append(f"above each other in rows of {self.folded}")
        elif self.flat:
            words.append("along x")
        elif self.rows:
            words.append(f"of rows of {self.rows}")
            if self.padded:
                words.append(f"beyond the grid in {' and '.join(self.padded)}")
        else:
            words.append("within a row" if self.linear else "across rows")
        if self.single:
            words.append("one a threadgroup")
        if self.width != SIMD_GROUP:
            words.append(f"{self.width} lanes wide")
        if self.large:
            words.append("large arrays")
        if self.sanitized:
            words.append("sanitized with filled outputs" if self.filled else "sanitized")
            words += ["telling of NaN"] * self.nan
        elif self.checked:
            words.append("with bounds checks")
        if self.without:
            words.append(f"without {', '.join(self.without)}")
        if self.known:
            words.append(f"for {self.known.text}")
        return ", ".join([" ".join(words[:2]), *words[2:], *filter(None, [self.cpu])])


_width = SIMD_GROUP


def gang_width_in_use() -> int:
    return _width


@contextlib.contextmanager
def gang_width(width: int) -> Iterator[None]:
    """Compile kernels with another gang width: 1 is the scalar build, the reference for fuzzing."""
    from anymetal.targets.graph import new_epoch  # not needed to compile

    global _width
    before, _width = _width, width
    new_epoch()
    try:
        yield
    finally:
        _width = before
        new_epoch()


Extent = tuple[int, int, int]
#: Attributes and words that let a kernel notice how its grid is cut into threadgroups.
_GRID_ONLY = frozenset(
    ("thread_position_in_grid", "threads_per_grid", "threads_per_simdgroup", "grid_size")
)
_TELLING = ("simd", "quad", "threadgroup", "__am_")


def fitting_groups(source: KernelSource, grid: Extent, group: Extent) -> tuple[Extent, ...]:
    """The threadgroups to run `grid` with: `group`, or better ones that the kernel cannot tell from
    it. If there are two, the first is for kernels that make a team of it, the second for others.

    A kernel that only knows its position in the grid runs alike in all threadgroups. If the
    caller's would leave lanes of gangs empty (as (1, 1, 1) does), rows of the grid are used. If
    rows are short, whole ones are, as their gangs have much in common and may run as one. Gangs
    one above the other have the same x: where a loop loads by x, as for each column of a product
    of matrices, they share what it loads.
    """
    column = _column(grid)
    full = group[0] % SIMD_GROUP == 0 and grid[0] % group[0] == 0
    rows = _whole_rows(grid, group) if full else group
    kept = (full and rows == group) or (group[1] == group[2] == 1 and group[0] >= 8 * SIMD_GROUP)
    if grid[0] < SIMD_GROUP or (kept and column is None) or can_tell(source):
        return (group,)
    if kept:
        fitting = group
    else:
        fitting = rows if full else (min(grid[0], MAX_THREADS_PER_THREADGROUP), 1, 1)
    tiles = column == fitting and not _overhang(grid, fitting)
    return (fitting,) if column is None or tiles else (column, fitting)


def can_tell(source: KernelSource) -> bool:
    """Whether the kernel may notice how its grid is cut into threadgroups."""
    text = source.header + source.body.replace("threads_per_simdgroup", "")
    return not _GRID_ONLY.issuperset(source.attributes) or any(word in text for word in _TELLING)


def _column(grid: Extent) -> Extent | None:
    """The threadgroup of gangs that lie one above the other, of the height that costs least: what
    they share takes about as long as two of them. Where 8 are too many for a team, 4 may do."""
    x, y, _ = grid
    if y == 1 or max(x, y) >= 2**31:
        return None
    costs = {size: -(-y // size) * (size + 2) for size in (LARGEST_TEAM, 4, 2)}
    return SIMD_GROUP, min(costs, key=lambda size: costs[size]), 1


def _overhang(grid: Extent, group: Extent) -> str:
    """The axes along which whole threadgroups lead beyond the grid."""
    pairs = zip("xyz", grid, group, strict=True)
    return "".join(axis for axis, threads, size in pairs if threads % size)


def _whole_rows(grid: Extent, group: Extent) -> Extent:
    """Whole rows of a grid with short rows: as many as the threadgroup has rows."""
    x, (_, y, z) = grid[0], group
    if group[0] == x or x > LARGEST_TEAM * SIMD_GROUP or z > 1 or y == 1:
        return group
    most = max(1, MAX_THREADS_PER_THREADGROUP // x)
    return x, max(d for d in range(1, y + 1) if y % d == 0 and d <= most), 1


def variant_for(
    grid: Extent,
    group: Extent,
    large: int = 0,
    width: int | None = None,
    checked: bool = False,
    sanitized: bool = False,
    filled: bool = False,
    nan: bool = False,
    padded: str = "",
) -> Variant:
    """The class of a launch of `grid` threads in threadgroups of `group` (clamped to the grid).

    `padded`: axes along which all threadgroups are whole, although they lead beyond the grid.
    `large`: how many times 2^31 bytes the largest array has. `width`: of gangs, by default the one
    in use. `checked`: no access may leave its array. `sanitized`: nor may it, and the program tells
    of what it does.
    """
    checked = checked or sanitized
    if padded:
        x, y, z = (-(-threads // size) * size for threads, size in zip(grid, group, strict=True))
        grid = x, y, z
    width = _width if width is None else width
    whole = all(threads % size == 0 for threads, size in zip(grid, group, strict=True))
    count = prod(group)
    flat = group[1] == group[2] == 1
    aligned = group[0] % SIMD_GROUP == 0
    tuned = width == SIMD_GROUP and not checked
    rows = _rows(grid, group) if tuned else 0
    team = _team(group, rows) if whole and tuned else 1
    return Variant(
        flat=flat,
        linear=flat or (aligned and grid[0] % group[0] == 0),
        aligned=aligned,
        full=count >= width,
        partial=width > 1 and not (whole and count % width == 0),
        single=count <= width,
        width=width,
        rows=rows,
        padded=padded,
        team=team,
        sole=team > 1 and team * width == count,
        large=large,
        checked=checked,
        sanitized=sanitized,
        filled=sanitized and filled,
        nan=sanitized and nan,
        without=switched_off(),
        cpu=os.environ.get("ANYMETAL_CPU", ""),
    )


def launch_variant(grid: Extent, groups: Sequence[Extent], **facts: Any) -> Variant:
    """The class to compile for, of launches in threadgroups that `fitting_groups` found; `facts` as
    for `variant_for`.

    Which of two groups runs is known when the kernel is compiled: its code tells
    (`Code.declined`).
    """
    if len(groups) == 1:
        return variant_for(grid, groups[0], **facts)
    column, other = groups
    columns = variant_for(grid, column, padded=_overhang(grid, column), **facts)
    return columns._replace(instead=variant_for(grid, other, **facts))


def switched_off() -> tuple[str, ...]:
    """The passes that `ANYMETAL_PASSES` switches off: names, each after a minus, separated by
    commas."""
    text = os.environ.get("ANYMETAL_PASSES", "")
    names = [name.strip() for name in text.split(",") if name.strip()]
    if wrong := [name for name in names if not name.startswith("-")]:
        raise ValueError(
            f"ANYMETAL_PASSES switches passes off: write -{wrong[0]}, with commas between several"
        )
    return tuple(sorted({name[1:] for name in names}))


def _rows(grid: Extent, group: Extent) -> int:
    short = group[0] in (1, 2, 4, 8, 16, 32) and group[1] > 1
    return group[0] if short and group[2] == 1 and grid[0] % group[0] == 0 else 0


def _team(group: Extent, rows: int) -> int:
    """The most gangs that may form a team: those in a row of threads, or in neighbouring short
    rows."""
    threads = prod(group) if rows else group[0]
    if threads % SIMD_GROUP:
        return 1
    gangs = threads // SIMD_GROUP
    if gangs <= LARGEST_TEAM:
        return gangs
    return max(size for size in (1, 2, 4, LARGEST_TEAM) if gangs % size == 0)
