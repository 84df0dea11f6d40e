"""Elements of the lanes that lie side by side in memory, in blocks, or with gaps."""

from __future__ import annotations

import random

import numpy as np

from anymetal.testing.lockstep.case import Case, Input, Output
from anymetal.testing.lockstep.generators.barriers import BARRIER
from anymetal.testing.lockstep.generators.common import input_of
from anymetal.testing.lockstep.generators.patterns.parts import LANE, X, case_of, numbers_of


def transposed(rng: random.Random) -> Case:
    """A tile is turned over in threadgroup memory, a few rows at a time; or see `network`."""
    if rng.random() < 0.4:
        return network(rng)
    high = rng.choice((4, 8, 16))
    columns, rows = 32 * rng.choice((2, 3)), 32 * rng.choice((1, 2))
    element = rng.choice(("uint", "uint", "ushort", "float"))
    lines = [
        f"threadgroup {element} tile[32][{rng.choice((32, 33))}];",
        "uint x = thread_position_in_threadgroup.x;",
        "uint y = thread_position_in_threadgroup.y;",
        "uint gx = threadgroup_position_in_grid.x * 32u;",
        "uint gy = threadgroup_position_in_grid.y * 32u;",
        f"for (uint k = 0; k < 32u; k += {high}u)",
        f"  tile[y + k][x] = a[(gy + y + k) * {columns}u + gx + x];",
        BARRIER,
        f"for (uint k = 0; k < 32u; k += {high}u)",
        f"  b[(gx + y + k) * {rows}u + gy + x] = tile[x][y + k];",
    ]
    size = rows * columns
    grid = (columns, rows // 32 * high, 1)
    outputs = [Output("b", element, size)]
    return case_of(lines, [numbers_of(rng, "a", element, size)], outputs, grid, (32, high, 1))


def network(rng: random.Random) -> Case:
    """Threads exchange numbers over a distance that doubles or halves, as in a Fourier transform.
    In each step a thread writes its own places."""
    size, up = rng.choice((64, 128, 256, 512)), rng.random() < 0.5
    far = rng.choice((size, size // 2))
    work, pairs = rng.choice(
        (
            (
                f"uint p = l / d * d * 2u + l % d, q = p + d; if (l < {size // 2}u) {{"
                " uint v = s[p], w = s[q]; s[p] = v + w * d; s[q] = v ^ w; }",
                True,
            ),
            (f"uint v = l >= d ? s[l - d] : l; {BARRIER} s[l] += v;", False),
            (
                f"uint v = s[(l ^ d) % {size}u]; {BARRIER} s[l] = (l & d) ? v - s[l] : v * 3u;",
                False,
            ),
        )
    )
    far = size // 2 if pairs else far
    steps = f"uint d = 1; d <= {far}u; d *= 2" if up else f"uint d = {far}; d >= 1u; d /= 2"
    lines = [
        f"uint l = thread_position_in_threadgroup.x; threadgroup uint s[{size}];",
        f"uint at = threadgroup_position_in_grid.x * {size}u + l; s[l] = x[at];",
        BARRIER,
        f"for ({steps}) {{ {work} {BARRIER} }}",
        "y[at] = s[l];",
    ]
    inputs, outputs = [input_of(rng, "x", "uint", 2 * size)], [Output("y", "uint", 2 * size)]
    return case_of(lines, inputs, outputs, (2 * size, 1, 1), (size, 1, 1))


def copies(rng: random.Random) -> Case:
    """Structs are copied as wholes: small, of odd sizes, and large."""
    size = rng.choice((3, 5, 6, 7, 12, 20, 100, 600, 1000))
    field = rng.choice(("uchar", "ushort", "uint"))
    width = {"uchar": 1, "ushort": 2, "uint": 4}[field]
    count = max(size // width, 1)
    header = f"struct Block {{\n  {field} part[{count}];\n}};\n"
    threads = 64
    lines = [
        X,
        "device Block* to = (device Block*)y;",
        "const device Block* from = (const device Block*)x;",
    ]
    index = rng.choice(("i", f"{threads - 1}u - i", "(i ^ 1u)"))
    lines.append(f"to[i] = from[{index}];")
    if rng.random() < 0.5:
        lines += [
            f"Block own = from[(i * 3u) % {threads}u];",
            f"own.part[i % {count}u] = ({field})i;",
        ]
        lines += ["if ((i & 3u) == 1u) to[i] = own;"]
    if rng.random() < 0.4:
        lines += [f"{field} zeros[{count}] = {{}};", f"zeros[(i * 7u) % {count}u] = ({field})x[i];"]
        lines += [f"z[i] = zeros[i % {count}u];"]
    inputs = [input_of(rng, "x", field, threads * count)]
    outputs = [Output("y", field, threads * count), Output("z", field, threads)]
    return case_of(lines, inputs, outputs, (threads, 1, 1), (rng.choice((32, 64)), 1, 1), header)


def anywhere(rng: random.Random) -> Case:
    """Neighbours in each lane, at places that the data tell: all the same, a run, or any."""
    count, spare = rng.choice((2, 2, 3, 4, 4, 8)), rng.choice((0, 0, 1, 3))
    element = rng.choice(("uint", "int", "ushort", "uchar", "ulong", "float"))
    threads, stride = rng.choice((64, 96, 101)), count + spare
    start, step = rng.randrange(threads), rng.choice((0, 1, 1, 5, 37))
    places = (start + step * np.arange(threads)) % threads
    places[rng.randrange(threads) :] = rng.randrange(threads)
    odd = f"(i * 7u + {rng.randrange(9)}u) % {threads}u"  # another place for each thread
    guard = rng.choice(("", "", "if (k % 3u != 1u) ", "if (i & 4u) "))
    lines = [
        X,
        f"uint k = j[i], o = {odd};",
        f"{element} {', '.join(f'v{n} = {n}' for n in range(count))};",
    ]
    lines += [f"{guard}{{", *(f"v{n} = x[k * {stride}u + {n}u];" for n in range(count)), "}"]
    lines += [f"v{rng.randrange(count)} += v{rng.randrange(count)};"] * rng.randint(0, 2)
    other = guard and f"else {{ y[o * {stride}u] = v0; }}"
    lines += [f"{guard}{{", *(f"y[o * {stride}u + {n}u] = v{n};" for n in range(count)), "}", other]
    size = threads * stride
    inputs = [numbers_of(rng, "x", element, size), Input("j", "uint", places.astype(np.uint32))]
    grid, group = (threads, 1, 1), (rng.choice((32, 64)), 1, 1)
    return case_of(lines, inputs, [Output("y", element, size)], grid, group)


def gaps(rng: random.Random) -> Case:
    """Neighbours in each lane, and gaps between the lanes."""
    count, gap = rng.choice((2, 4, 4, 8)), rng.choice((1, 2, 4, 7))
    element = rng.choice(("uint", "int", "ushort", "float"))
    threads, stride = rng.choice((64, 96)), count + gap
    size = threads * stride
    lines = [X]
    for k in range(count):
        lines.append(f"{element} v{k} = x[i * {stride}u + {k}u];")
    for _ in range(rng.randint(0, 3)):
        lines.append(f"v{rng.randrange(count)} {rng.choice('+-')}= v{rng.randrange(count)};")
    if rng.random() < 0.5:
        lines += [f"y[i * {stride}u + {k}u] = v{k};" for k in range(count)]
    else:
        lines.append("y[i] = " + " - ".join(f"v{k}" for k in range(count)) + ";")
    outputs = [Output("y", element, size)]
    return case_of(
        lines, [numbers_of(rng, "x", element, size)], outputs, (threads, 1, 1), (32, 1, 1)
    )


def scaled(rng: random.Random) -> Case:
    """Vectors times numbers that are the same for all, in the order of memory."""
    element, width = rng.choice(("float", "uint", "int")), rng.choice((2, 4))
    vector, threads = f"{element}{width}", rng.choice((64, 128))
    lines = [
        X,
        f"{vector} a = ((const device {vector}*)x)[i];",
        f"{vector} s = ((const device {vector}*)w)[{rng.choice(('0', '1', 'i / 64u'))}];",
        f"a = a {rng.choice('*+-')} s;",
        f"((device {vector}*)y)[i] = a {rng.choice('+-*')} {rng.choice(('s', 'a'))};",
    ]
    inputs = [numbers_of(rng, name, element, threads * width) for name in ("x", "w")]
    outputs = [Output("y", element, threads * width)]
    return case_of(lines, inputs, outputs, (threads, 1, 1), (rng.choice((32, 64)), 1, 1))


def many_words(rng: random.Random) -> Case:
    """16 or 32 words side by side, of which each lane makes something of its own."""
    count, threads = rng.choice((16, 16, 32)), rng.choice((32, 64))
    element = rng.choice(("uint", "float", "int"))
    lines = [X]
    lines += [f"{element} v{k} = x[i * {count}u + {k}u];" for k in range(count)]
    for _ in range(rng.randint(2, 12)):
        a, b = rng.sample(range(count), 2)
        lines.append(f"v{a} = v{a} {rng.choice('+-')} v{b};")
    if rng.random() < 0.5:
        order = rng.sample(range(count), count)
        lines += [f"y[i * {count}u + {k}u] = v{order[k]};" for k in range(count)]
    else:
        lines.append("y[i] = " + " - ".join(f"v{k}" for k in range(count)) + ";")
    size = threads * count
    outputs = [Output("y", element, size)]
    return case_of(
        lines, [numbers_of(rng, "x", element, size)], outputs, (threads, 1, 1), (32, 1, 1)
    )


def divided(rng: random.Random) -> Case:
    """The lane number comes out of divisions of the index."""
    part = rng.choice((2, 4, 8, 16))
    lines = [
        X,
        "uint t = thread_position_in_threadgroup.x;",
        f"uint row = t / {part}u;",
        f"uint column = t % {part}u * {rng.choice((1, 2, 4))}u;",
        f"uint s = x[row * {rng.choice((16, 40, 64))}u + column];",
        f"s += x[(row & 63u) * 64u + column + {rng.randrange(4)}u] * i;",
        "y[i] = s;",
    ]
    inputs = [input_of(rng, "x", "uint", 8192 + 64)]
    threads = rng.choice((128, 256))
    return case_of(
        lines, inputs, [Output("y", "uint", threads)], (threads, 1, 1), (rng.choice((32, 64)), 1, 1)
    )


def tiles(rng: random.Random) -> Case:
    """Rows of small blocks, which follow from the lane number; in loops over blocks."""
    part = rng.choice((4, 8, 16))
    columns = rng.choice((32, 64))
    lines = [
        LANE, "uint g = threadgroup_position_in_grid.x;",
        f"uint row = lane / {part}u;", f"uint column = lane % {part}u;", "uint s = 0;",
        f"for ({rng.choice(('uint', 'int'))} k = 0; k < {rng.choice(('8', '4', 'n[0]'))}; k++) {{",
        f"{_some(rng, part)}"
        f"s = s * 3u + x[(row + (uint)k * {32 // part}u) * {columns}u + column + g * {part}u];",
    ]  # fmt: skip
    if rng.random() < 0.5:
        lines.append(
            f"{_some(rng, part)}"
            f"y[((uint)k * {32 // part}u + row) * {columns}u + column + g * {part}u] = s;"
        )
    lines += ["}", "z[g * 32u + lane] = s;"]
    groups = columns // part
    inputs = [input_of(rng, "x", "uint", columns * 8 * 8)]
    inputs.append(Input("n", "int", np.array([rng.choice((8, 3))] * 8, np.int32)))
    outputs = [Output("y", "uint", columns * 8 * 8), Output("z", "uint", 32 * groups)]
    return case_of(lines, inputs, outputs, (32 * groups, 1, 1), (32, 1, 1))


def _some(rng: random.Random, part: int) -> str:
    """A condition that some of the lanes of a block meet, or none."""
    meets = (f"column < {part // 2}u", "column < 2u", "row == 1u", "(s & 5u) != 4u", "k != 1")
    return f"if ({rng.choice(meets)}) " if rng.random() < 0.5 else ""


def often(rng: random.Random) -> Case:
    """A block under a condition with several runs: it is there twice."""
    count = rng.choice((3, 4, 6))
    lines = [X, f"if (i {rng.choice(('< 200u', '>= 5u', '% 64u < 40u'))} && x[i % 64u] != 3u) {{"]
    for k in range(count):
        lines.append(f"uint2 v{k} = ((const device uint2*)w)[i + {k * 300}u];")
        lines.append(f"y[i + {k * 256}u] = v{k}.x - v{k}.y;")
    lines.append("}")
    inputs = [input_of(rng, "x", "uint", 64), input_of(rng, "w", "uint", 2 * (256 + 300 * count))]
    outputs = [Output("y", "uint", 256 * count)]
    return case_of(lines, inputs, outputs, (256, 1, 1), (rng.choice((32, 256)), 1, 1))
