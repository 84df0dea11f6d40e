"""Runs of memory that a gang loads, and the cache lines that they lie in.

    x[row * n + i] + x[row * n + i + 32] + x[(row + 1) * n + i]

is two runs, since nobody knows what `n` is: one of 256 bytes, one of 128. In a loop, what counts on
is taken for where it starts, so that runs of several counters can be told to be one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from anymetal.analysis.affine import ONE, Linear, Product, forms
from anymetal.analysis.cache import Analyses
from anymetal.analysis.induction import inductions
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Instr, Value

#: Of values that count on in a loop: where they start, and by how much they grow.
_Counters = dict[Value, tuple[Value, int]]


class Run(NamedTuple):
    """Loads that lie together."""

    loads: list[Instr]
    start: Linear  #: where the first load is, in the first iteration of the loop
    growth: int  #: bytes from iteration to iteration; 0 outside of loops, and if it is not known
    size: int  #: bytes from the first to the last of them
    lines: list[int]  #: their distances from what the first lane of the first load accesses

    @property
    def pointer(self) -> Value:
        """The address of the first load."""
        return self.loads[0].operands[0]


class _Place(NamedTuple):
    """What a load accesses, relative to other loads in its run."""

    load: Instr
    form: Linear
    lanes: tuple[int, ...]

    @property
    def end(self) -> int:
        return max(self.lanes) + self.load.type.size


def runs_of(loads: Iterable[Instr], known: Analyses, loop: Loop | None = None) -> list[Run]:
    """The runs that loads make up, as far as their addresses differ by numbers that are known."""
    counters = _counters(loop, known) if loop else {}
    together: dict[tuple[frozenset[tuple[Product, int]], int], list[_Place]] = {}
    for load in loads:
        form, growth = _start(load.operands[0], known, counters)
        if form is None or any(len(set(f)) > 1 for product, f in form.items() if product != ONE):
            continue  # lanes lie nobody knows how far apart
        root = frozenset((product, f[0]) for product, f in form.items() if product != ONE)
        lanes = form.get(ONE, (0,) * known.width)
        together.setdefault((root, growth), []).append(_Place(load, form, lanes))
    line = known.machine.line
    return [
        _run(part, growth, line)
        for (_, growth), places in together.items()
        for part in _parts(places, line)
    ]


def _counters(loop: Loop, known: Analyses) -> _Counters:
    """Pointers count, too, by so many bytes."""
    found = {one.phi: (one.start, one.growth) for one in known(inductions)[loop] if one.start}
    for phi in loop.header.phis:
        if phi.type.is_ptr and len(phi.operands) == 2:
            inside = phi.arg[1] in loop.blocks
            start, update = phi.operands[1 - inside], phi.operands[inside]
            if isinstance(update, Instr) and update.op == "gep" and update.operands == [phi]:
                found[phi] = start, update.arg[-1]
    return {phi: one for phi, one in found.items() if one[1]}


def _start(pointer: Value, known: Analyses, counters: _Counters) -> tuple[Linear | None, int]:
    """The form of an address in the first iteration, and by how much it grows. (In forms, values
    stand for what they are in the first lane.)"""
    form, growth = known(forms)(pointer), 0
    if form is None:
        return None, 0
    total = dict(form)
    for (phi,) in [p for p in form if len(p) == 1 and p[0] in counters]:
        factors, (start, by) = total.pop((phi,)), counters[phi]
        first = known(forms)(start)
        if first is None or len(set(factors)) > 1:
            return None, 0
        growth += by * factors[0]
        for product, more in first.items():
            before = total.get(product, (0,) * known.width)
            total[product] = tuple(lane + factors[0] * more[0] for lane in before)
    return total, growth


def _parts(places: list[_Place], line: int) -> list[list[_Place]]:
    """Cut where there is a gap."""
    parts: list[list[_Place]] = []
    end = 0
    for place in sorted(places, key=lambda one: min(one.lanes)):
        if not parts or min(place.lanes) > end + line:
            parts.append([])
            end = place.end
        parts[-1].append(place)
        end = max(end, place.end)
    return parts


def _run(places: list[_Place], growth: int, line: int) -> Run:
    first, start = places[0].lanes[0], min(places[0].lanes)
    lines = {(offset - start) // line for place in places for offset in place.lanes}
    return Run(
        [place.load for place in places],
        places[0].form,
        growth,
        max(place.end for place in places) - start,
        [start - first + line * number for number in sorted(lines)],
    )
