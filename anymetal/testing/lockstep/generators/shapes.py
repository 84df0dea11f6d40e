"""Indices of every shape: the same in all lanes, with strides, from data; in loops over rows, tiles
and columns, with bounds checks; loads that many SIMD-groups share, and rows side by side."""

from __future__ import annotations

import random
from math import prod

from anymetal.testing.lockstep.case import Case, Extent, Output
from anymetal.testing.lockstep.generators.common import GID, input_of
from anymetal.testing.lockstep.text import Text

LAUNCHES: tuple[tuple[Extent, Extent], ...] = (
    ((256, 1, 1), (256, 1, 1)), ((128, 1, 1), (64, 1, 1)), ((64, 8, 1), (32, 8, 1)),
    ((64, 4, 1), (64, 4, 1)), ((32, 16, 1), (16, 16, 1)), ((96, 2, 1), (96, 1, 1)),
    ((64, 16, 1), (8, 8, 1)), ((32, 32, 1), (32, 8, 1)), ((70, 9, 1), (32, 8, 1)),
    ((128, 4, 2), (128, 2, 1)), ((256, 2, 1), (128, 2, 1)), ((64, 3, 1), (32, 1, 1)),
)  # fmt: skip
_TYPES = ("uint", "uint", "int", "ushort", "uchar", "ulong")


def generate(rng: random.Random) -> Case:
    """A case."""
    text = Text(rng)
    element = rng.choice(_TYPES)
    rows, columns = rng.choice(((16, 64), (33, 40), (64, 32), (7, 128), (128, 16)))
    inputs = [
        input_of(rng, "x", element, rows * columns),
        input_of(rng, "w", element, 256),
        input_of(rng, "z", "uint", 64),
        input_of(rng, "n", "int", 8),
    ]
    # Bounds come from memory: rows, columns, and numbers of steps.
    inputs[3].data[:] = [rows, columns, rng.choice((4, 8, 12)), 3, 32, rng.choice((0, 1, 5)), 16, 1]
    grid, threadgroup = rng.choice(LAUNCHES)
    text.line(GID)
    text.line("int px = (int)thread_position_in_grid.x;")
    text.line("int py = (int)thread_position_in_grid.y;")
    text.line(
        "int lane = (int)thread_index_in_simdgroup;"
        if rng.random() < 0.4
        else "int lane = px & 31;"
    )
    text.line("int rows = n[0];")
    text.line("int columns = n[1];")
    kind = "uint" if element in ("uchar", "ushort") else element
    accumulators = [f"s{i}" for i in range(rng.choice((1, 1, 2, 4)))]
    for name in accumulators:
        text.line(f"{kind} {name} = 0;")
    size = rows * columns
    for _ in range(rng.randint(1, 2)):
        rng.choice((_rows, _window, _bent, _strided, _nested, _shared))(
            text, kind, accumulators, size
        )
    value = " + ".join(f"{name} * {2 * i + 1}" for i, name in enumerate(accumulators))
    outputs = [Output("y", kind, prod(grid))]
    text.line(f"y[gid] = ({kind})({value});")
    if text.chance(0.3):
        length = rng.choice((8, 12, 16, 23))
        outputs.append(Output("r", kind, prod(grid) * length))
        _in_place(text, kind, length, size)
    return Case("", "", 0, text.body, tuple(inputs), tuple(outputs), grid, threadgroup)


def _add(text: Text, sums: list[str], value: str) -> None:
    target = text.rng.choice(sums)
    text.line(
        f"{target} = {target} * 3 + {value};" if text.chance(0.3) else f"{target} += {value};"
    )


def _rows(text: Text, kind: str, sums: list[str], size: int) -> None:
    """A loop over a row or a column, which a thread or a SIMD-group walks along."""
    i = text.fresh("i")
    start = text.choose("0", "lane", "(px & 15)")
    step = "32" if start == "lane" else text.choose("1", "1", "2")
    bound = text.choose("columns", "n[4]", "n[6]", "16")
    at = text.choose(
        f"(py % rows) * columns + {i} % columns", f"({i} % rows) * columns + px % columns",
        f"(py % rows) * columns + ({i} + px) % columns", f"({i} * columns + px) % (rows * columns)",
        f"(px % rows) * columns + {i} % columns",
    )  # fmt: skip
    with text.block(f"for (int {i} = {start}; {i} < {bound}; {i} += {step})"):
        _add(text, sums, f"({kind})x[{at}]")
        if text.chance(0.5):
            _add(text, sums, f"({kind})x[{at}] * ({kind})w[{i} & 255]")
        if text.chance(0.3):
            _add(text, sums, f"({kind})w[({i} * 8 + lane) & 255]")


def _window(text: Text, kind: str, sums: list[str], size: int) -> None:
    """A window around the thread's place, whose edges are checked."""
    radius = text.rng.choice((1, 2, 3))
    r, c = text.fresh("r"), text.fresh("c")
    default = text.choose("", "else")
    vertical = text.block(f"for (int dy = -{radius}; dy <= {radius}; dy++)")
    with vertical, text.block(f"for (int dx = -{radius}; dx <= {radius}; dx++)"):
        text.line(f"int {r} = py + dy;")
        text.line(f"int {c} = px + dx;")
        with text.block(f"if ({r} >= 0 && {r} < rows && {c} >= 0 && {c} < columns)"):
            _add(text, sums, f"({kind})x[{r} * columns + {c}] * ({kind})(dx + 2)")
        if default:
            with text.block("else"):
                _add(text, sums, "1")


def _bent(text: Text, kind: str, sums: list[str], size: int) -> None:
    """Neighbours whose indices are bent where a row of constant length ends."""
    mask = (1 << (size.bit_length() - 1)) - 1
    rows = text.rng.choice((1, 1, 2, 3))
    length = max(size // rows, 1)
    for _ in range(text.rng.randint(1, 4)):
        by = text.rng.randint(-3, 3)
        forms = (
            f"clamp(px + {by}, 0, {length - 1})", f"min(px + {by + 3}, {length - 1})",
            f"(px + {by} + {3 * length}) % {length}", f"((uint)px + {by + 3}u) % {length}u",
            f"((px + {by}) % {length} + {length}) % {length}",
            f"abs(px + {by}) % {length}", f"max(px + {by}, 0) % {length}",
            f"(px + {by}) & {mask}", f"(int)(gid % {length}u)",
            f"(px + {by} < 0 ? {length - 1} : (px + {by}) % {length})",
            f"(px + {by + 3} >= {length} ? px % {length} : px + {by + 3})",
        )  # fmt: skip
        at = text.choose(*forms)
        by_row = (f"py % {rows}", f"min(py, {rows - 1})", f"(int)(gid / {length}u) % {rows}")
        row = "0" if "&" in at else text.choose(*by_row)
        _add(text, sums, f"({kind})x[({row}) * {length} + {at}]")


def _in_place(text: Text, kind: str, length: int, size: int) -> None:
    """A row of its own for each thread, which it fills, and changes in place up or down."""
    with text.block(f"for (int k = 0; k < {length}; k++)"):
        text.line(f"r[gid * {length}u + k] = ({kind})x[(gid + k) % {size}u];")
    for name in ("u", "v")[: text.rng.randint(1, 2)]:
        text.line(f"{kind} {name} = 1;")
        ways = (f"int k = 0; k < {length}; k++", f"int k = {length - 1}; k >= 0; k--")
        reads_neighbour = text.rng.choice(
            (False, False, True)
        )  # which has been changed, or will be
        with text.block(f"for ({text.choose(*ways)})"):
            text.line(f"{kind} now = r[gid * {length}u + k];")
            if reads_neighbour:
                text.line(f"now += r[gid * {length}u + (k + 1) % {length}];")
            text.line(f"{name} = {name} * 3 + now;")
            text.line(f"r[gid * {length}u + k] = now + {name};")


def _strided(text: Text, kind: str, sums: list[str], size: int) -> None:
    """Neighbours in each lane, with gaps or without."""
    count = text.rng.choice((2, 3, 4, 5, 8, 16))
    base = text.fresh("b")
    gap = count + text.rng.choice((0, 0, 1, 4))
    text.line(f"int {base} = (px * {gap}) % {max(size - count, 1)};")
    for k in text.rng.sample(range(count), text.rng.randint(max(count - 1, 1), count)):
        _add(text, sums, f"({kind})x[{base} + {k}]")


def _nested(text: Text, kind: str, sums: list[str], size: int) -> None:
    """A loop around a loop: products of a row of one array with columns of the other."""
    i, k = text.fresh("i"), text.fresh("k")
    outer, inner = text.choose("4", "8", "n[3]", "n[2]"), text.choose("8", "16", "n[2]", "n[6]")
    if text.chance(0.35):  # with sums in a private array, and constant bounds
        array, many = text.fresh("p"), text.rng.choice((4, 8))
        text.line(f"{kind} {array}[{many}];")
        with text.block(f"for (int {i} = 0; {i} < {many}; {i}++)"):
            text.line(f"{array}[{i}] = ({kind}){i};")
        with text.block(f"for (int {k} = 0; {k} < {inner}; {k}++)"):
            text.line(f"{kind} {k}v = ({kind})x[({k} * columns + px) % (rows * columns)];")
            with text.block(f"for (int {i} = 0; {i} < {many}; {i}++)"):
                text.line(f"{array}[{i}] += {k}v * ({kind})w[({i} * 16 + {k}) & 255];")
        with text.block(f"for (int {i} = 0; {i} < {many}; {i}++)"):
            _add(text, sums, f"{array}[{i}] * ({kind})({i} + 1)")
        return
    with text.block(f"for (int {i} = 0; {i} < {outer}; {i}++)"):
        text.line(f"{kind} {i}t = 0;")
        with text.block(f"for (int {k} = 0; {k} < {inner}; {k}++)"):
            text.line(
                f"{i}t += ({kind})w[({i} * {text.rng.choice((16, 8, 1))} + {k}) & 255] * "
                f"({kind})x[({k} * columns + px) % (rows * columns)];"
            )
        _add(text, sums, f"{i}t")


def _shared(text: Text, kind: str, sums: list[str], size: int) -> None:
    """What all SIMD-groups of a threadgroup load alike, with something of their own."""
    k = text.fresh("k")
    with text.block(f"for (int {k} = 0; {k} < {text.choose('n[4]', '16', 'n[6]')}; {k}++)"):
        text.line(f"{kind} {k}a = ({kind})x[({k} * 32 + (px & 31)) % {size}];")
        text.line(f"{kind} {k}b = ({kind})w[({k} + py * 8 + px / 32) & 255];")
        _add(text, sums, f"{k}a * {k}b")
        if text.chance(0.4):
            _add(text, sums, f"{k}a ^ {k}b")
