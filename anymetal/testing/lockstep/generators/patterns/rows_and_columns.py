"""Kernels that know no more than their place in a grid: they may run in columns of SIMD-groups,
whatever the caller's threadgroups are."""

from __future__ import annotations

import random

import numpy as np

from anymetal.testing.lockstep.case import Case, Extent, Input, Output
from anymetal.testing.lockstep.generators.patterns.parts import case_of, numbers_of

_PLACE = ["uint x = thread_position_in_grid.x;", "uint y = thread_position_in_grid.y;"]
_GROUPS = ((1, 1, 1), (8, 8, 1), (16, 16, 1), (32, 4, 1), (32, 8, 1), (5, 3, 1), (64, 1, 1))


def product(rng: random.Random) -> Case:
    """An element of a product of matrices for each thread, either operand transposed or not."""
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
