"""Kernels that know no more than their place in a grid: they may run in columns of SIMD-groups,
whatever the caller's threadgroups are; and products of matrices by blocks, which know more."""

from __future__ import annotations

import random

import numpy as np

from anymetal.testing.lockstep.case import Case, Extent, Input, Output
from anymetal.testing.lockstep.generators.barriers import BARRIER
from anymetal.testing.lockstep.generators.patterns.parts import case_of, numbers_of

_PLACE = ["uint x = thread_position_in_grid.x;", "uint y = thread_position_in_grid.y;"]
#: Threads of a threadgroup in x and y.
_BLOCKS = ((16, 16), (16, 8), (16, 4), (32, 4), (32, 2), (64, 2), (8, 8), (16, 3))
_GROUPS = ((1, 1, 1), (8, 8, 1), (16, 16, 1), (32, 4, 1), (32, 8, 1), (5, 3, 1), (64, 1, 1))


def product(rng: random.Random) -> Case:
    """An element of a product of matrices for each thread, either operand transposed or not; or
    several."""
    if rng.random() < 0.3:
        return blocked(rng)
    kind = rng.choice(("float", "int", "uint"))
    (columns, rows), depth = _extent(rng), rng.choice((1, 2, 3, 8, 16, 17, 33))
    left = rng.choice((f"y * {depth}u + k", f"k * {rows}u + y"))
    right = f"x * {depth}u + k" if rng.random() < 0.3 else f"k * {columns}u + x"
    #: The last is known when the launch is.
    bound = rng.choice((f"{depth}u", "(uint)n[0]", "grid_depth", "grid_depth"))
    grid = (columns + rng.choice((0, 0, 5)), rows + rng.choice((0, 0, 3)), 1)
    lines = [
        *_PLACE,
        f"const uint grid_depth = threads_per_grid.x - {grid[0] - depth};",
        f"if (x >= {columns}u || y >= {rows}u) return;",
        f"{kind} sum = 0;",
        f"for (uint k = 0; k < {bound}; k++) sum += a[{left}] * b[{right}];",
        f"c[y * {columns}u + x] = sum;",
    ]
    inputs = [numbers_of(rng, "a", kind, rows * depth), numbers_of(rng, "b", kind, columns * depth)]
    inputs.append(Input("n", "int", np.array([depth] * 8, np.int32)))
    return case_of(lines, inputs, [Output("c", kind, rows * columns)], grid, rng.choice(_GROUPS))


def blocked(rng: random.Random) -> Case:
    """A block of a product of matrices for each thread, whose factors are in threadgroup memory."""
    kind, (wide, high) = rng.choice(("float", "int", "uint")), rng.choice(_BLOCKS)
    down, across = rng.choice((1, 2, 4, 4, 5, 8)), rng.choice((1, 2, 4, 4, 8))
    part, parts, threads = rng.choice((4, 8, 16)), rng.randint(1, 3), wide * high
    rows, columns, depth = down * high, across * wide, part * parts
    flat = rng.random() < 0.4
    at = "thread_position_in_threadgroup"
    place = f"uint id = thread_index_in_threadgroup, lx = {at}.x, ly = {at}.y;"
    if flat:
        place = f"uint id = {at}.x, lx = id % {wide}, ly = id / {wide};"
    lines = [
        f"threadgroup {kind} A[{part}][{rows}], B[{part}][{columns}];",
        f"{place} uint g = threadgroup_position_in_grid.x; {kind} s[{down}][{across}] = {{}};",
        f"for (uint t = 0; t < {depth}; t += {part}) {{",
        f"for (uint q = id; q < {rows * part}; q += {threads})",
        f"  A[q % {part}][q / {part}] = a[(q / {part}) * {depth} + t + q % {part}];",
        f"for (uint q = id; q < {columns * part}; q += {threads})",
        f"  B[q / {columns}][q % {columns}]",
        f"    = b[(t + q / {columns}) * {2 * columns} + g * {columns} + q % {columns}];",
        BARRIER,
        f"for (uint q = 0; q < {part}; q++)",
        f"  for (uint e = 0; e < {down}; e++) for (uint d = 0; d < {across}; d++)",
        f"    s[e][d] += A[q][ly * {down} + e] * B[q][lx * {across} + d];",
        f"{BARRIER} }}",
        f"for (uint e = 0; e < {down}; e++) for (uint d = 0; d < {across}; d++)",
        f"  c[(ly * {down} + e) * {2 * columns} + g * {columns} + lx * {across} + d] = s[e][d];",
    ]
    group = (threads, 1, 1) if flat else (wide, high, 1)
    inputs = [numbers_of(rng, "a", kind, rows * depth)]
    inputs.append(numbers_of(rng, "b", kind, 2 * depth * columns))
    outputs = [Output("c", kind, 2 * rows * columns)]
    return case_of(lines, inputs, outputs, (2 * group[0], group[1], 1), group)


def turned(rng: random.Random) -> Case:
    """Rows become columns, alone or added to what lies there."""
    kind = rng.choice(("float", "uint", "int"))
    columns, rows = _extent(rng)
    added = rng.choice(("", f" + a[(y * {columns}u + x) / 2u]"))
    lines = [*_PLACE, f"c[x * {rows}u + y] = a[y * {columns}u + x]{added};"]
    if rng.random() < 0.5:
        lines[-1] = f"c[y * {columns}u + x] = a[x * {rows}u + y]{added};"
    inputs = [numbers_of(rng, "a", kind, rows * columns)]
    outputs = [Output("c", kind, rows * columns)]
    return case_of(lines, inputs, outputs, (columns, rows, 1), rng.choice(_GROUPS))


def flat(rng: random.Random) -> Case:
    """A product of matrices with one index for row and column, or something like a convolution."""
    columns, rows = rng.choice((32, 64, 96, 128, 48)), rng.choice((8, 16, 24, 5))
    kind, depth = rng.choice(("float", "int")), rng.choice((2, 9, 40))
    index = rng.choice(("uint", "int", "ulong"))
    again = rng.choice(("", f"+ (i / {2 * columns}) % 3", f"+ (i % {2 * columns}) / 7"))
    threads = rng.choice((32, 64, 256, 256, 100))
    lines = [
        f"const {index} i = thread_position_in_grid.x;",
        f"const {index} y = i / {columns}, x = i % {columns};",
        f"{kind} sum = 0;",
        f"for (uint k = 0; k < {depth}u; k++)",
        f"  sum += a[(y {again}) * {depth} + k] * b[k * {columns} + x];",
        "c[i] = sum;",
    ]
    inputs = [numbers_of(rng, "a", kind, (rows + 2 * columns) * depth)]
    inputs.append(numbers_of(rng, "b", kind, depth * columns))
    outputs = [Output("c", kind, rows * columns)]
    return case_of(lines, inputs, outputs, (rows * columns, 1, 1), (threads, 1, 1))


def _extent(rng: random.Random) -> tuple[int, int]:
    sizes: Extent = (32, 64, rng.randint(32, 80))
    return rng.choice(sizes), rng.choice((2, 8, 16, rng.randint(2, 30)))
