"""Sums and products, in loops and across lanes."""

from __future__ import annotations

import random

import numpy as np

from anymetal.testing.lockstep.case import Case, Input, Output
from anymetal.testing.lockstep.generators.barriers import BARRIER
from anymetal.testing.lockstep.generators.common import input_of
from anymetal.testing.lockstep.generators.floats import small
from anymetal.testing.lockstep.generators.patterns.parts import (
    KEPT,
    LANE,
    X,
    case_of,
    numbers_of,
    touch,
)


def nest(rng: random.Random) -> Case:
    """Sums in a private array, in a loop around a loop."""
    outer, most = rng.choice((4, 8, 6, 12, 7)), rng.choice((16, 32))
    bound = rng.choice(("(uint)n[0]", f"{most}u"))
    lines = [
        X,
        f"uint sums[{most}];",
        f"for (uint d = 0; d < {most}u; d++) sums[d] = d * i;",
        KEPT,
        f"for (uint j = 0; j < {outer}u; j++) {{",
        f"uint weight = x[(i + j * 3u) % 512u]{rng.choice(('', ' + j'))};",
        KEPT,
        f"for (uint d = 0; d < {bound}; d++) {{",
        f"sums[d] += weight * w[j * {most}u + d];",
        "}",
        "}",
        "uint s = 0;",
        f"for (uint d = 0; d < {most}u; d++) s = s * 5u + sums[d];",
        "y[i] = s;",
    ]
    inputs = [input_of(rng, "x", "uint", 512), input_of(rng, "w", "uint", outer * most)]
    inputs.append(Input("n", "int", np.array([rng.choice((most, most // 2, 3))] * 8, np.int32)))
    threads = rng.choice((64, 96, 128))
    return case_of(lines, inputs, [Output("y", "uint", threads)], (threads, 1, 1), (32, 1, 1))


def matrices(rng: random.Random) -> Case:
    """A product of matrices by tiles in threadgroup memory."""
    side, depth = rng.choice((8, 16, 32)), rng.choice((2, 3))
    columns = side * rng.choice((2, 4))
    kind = rng.choice(("uint", "float", "int"))
    k = side * depth
    inputs = [numbers_of(rng, "a", kind, side * k), numbers_of(rng, "b", kind, k * columns)]
    tile = rng.choice(("float", "half", "bfloat")) if kind == "float" else kind
    lines = [
        f"threadgroup {tile} left[{side}][{side}];",
        f"threadgroup {tile} right[{side}][{side}];",
        "uint x = thread_position_in_threadgroup.x;",
        "uint y = thread_position_in_threadgroup.y;",
        "uint c = thread_position_in_grid.x;",
        "uint r = thread_position_in_grid.y;",
        f"{kind} sum = 0;",
        f"for (uint t = 0; t < {k}u; t += {side}u) {{",
        f"left[y][x] = {tile}(a[r * {k}u + t + x]);",
        f"right[y][x] = {tile}(b[(t + y) * {columns}u + c]);",
        BARRIER,
        f"for (uint j = 0; j < {side}u; j++) sum += {kind}(left[y][j]) * {kind}(right[j][x]);",
        BARRIER,
        "}",
        f"y0[r * {columns}u + c] = sum;",
    ]
    outputs = [Output("y0", kind, side * columns)]
    return case_of(lines, inputs, outputs, (columns, side, 1), (side, side, 1))


def products(rng: random.Random) -> Case:
    """Products that are there anyway."""
    lines = [
        X, "float a = x[i];", "float b = w[i];", "float s = 0.0f;",
        f"for (int k = 0; k < {rng.choice((3, 5))}; k++) {{",
        "float p = a * a;", "float q = b * b;",
        f"if (p + q > {rng.choice(('100.0f', '40.0f'))}) break;",
        f"float r = a * a - {rng.choice(('b * b', 'q', '(b * b + 1.0f)'))};",
        f"b = b * a + {rng.choice(('1.0f', 'w[i]', 'p'))};",
        "a = r;", "s += a * a + b;", "}", "y[i] = s;",
    ]  # fmt: skip
    inputs = [
        Input("x", "float", small(rng, "float", 128)),
        Input("w", "float", small(rng, "float", 128)),
    ]
    return case_of(
        lines, inputs, [Output("y", "float", 128)], (128, 1, 1), (rng.choice((32, 64)), 1, 1)
    )


def parts(rng: random.Random) -> Case:
    """Each SIMD-group stores its part, and a few lanes load the parts side by side."""
    groups = rng.choice((2, 4, 8))
    kind = rng.choice(("uint", "int"))
    call = rng.choice(("simd_sum", "simd_max", "simd_xor"))
    lines = [
        f"threadgroup {kind} part[{groups}];",
        X, LANE, "uint g = simdgroup_index_in_threadgroup;",
        f"{kind} v = {call}(({kind})x[i]);",
        f"if (lane == {rng.choice((0, 31, 5))}u) part[g] = v;",
        BARRIER,
        f"{kind} s = {rng.choice((0, 7))};",
        f"if (lane < {groups}u) s = part[lane];",
        f"s = {call}(s);",
        f"y[i] = s + ({kind})lane;",
    ]  # fmt: skip
    threads = 32 * groups * rng.choice((1, 3))
    inputs = [input_of(rng, "x", kind, threads)]
    return case_of(
        lines, inputs, [Output("y", kind, threads)], (threads, 1, 1), (32 * groups, 1, 1)
    )


def looked_up(rng: random.Random) -> Case:
    """Lanes take from lanes that follow from data."""
    lines = [X, LANE, "uint v = x[i];", "uint s = 0;"]
    for _ in range(rng.randint(1, 4)):
        lines.append(f"s = s * 3u + simd_shuffle(v, (v >> {rng.randrange(27)}) & 31u);")
        lines += touch(rng, "v", "s", count=1)
    lines.append("y[i] = s + v;")
    threads = rng.choice((64, 128))
    inputs = [input_of(rng, "x", "uint", threads)]
    return case_of(lines, inputs, [Output("y", "uint", threads)], (threads, 1, 1), (32, 1, 1))


def elimination(rng: random.Random) -> Case:
    """A factorisation within a SIMD-group, unrolled: lanes known when compiling."""
    count = rng.choice((6, 8, 10, 16, 16, 22))
    kind = rng.choice(("int", "uint"))
    lines = [LANE, "uint g = threadgroup_position_in_grid.x;"]
    lines += [f"{kind} r{k} = x[(g * 32u + lane) * {count}u + {k}u];" for k in range(count)]
    for k in range(count):
        lines.append(f"r{k} = r{k} * {rng.randrange(3, 99, 2)};")
        for j in range(k + 1, count):
            lines.append(f"r{j} = r{j} - r{k} * simd_shuffle(r{k}, {j}u);")
    lines += [f"y[(g * 32u + lane) * {count}u + {k}u] = r{k};" for k in range(count)]
    inputs = [input_of(rng, "x", kind, 64 * count)]
    return case_of(lines, inputs, [Output("y", kind, 64 * count)], (64, 1, 1), (32, 1, 1))
