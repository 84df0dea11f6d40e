"""Runs of memory that can be asked for ahead, one way or another."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from anymetal.testing.lockstep.case import Case, Input, Output
from anymetal.testing.lockstep.generators.common import input_of
from anymetal.testing.lockstep.generators.patterns.parts import KEPT, LANE, X, case_of, touch


def named_rows(rng: random.Random) -> Case:
    """Rows of a table that another array names."""
    rows, width, high = rng.choice((20, 300)), rng.choice((64, 128, 256)), rng.choice((8, 90))
    which = np.random.default_rng(rng.getrandbits(64)).integers(0, rows, high, dtype=np.uint32)
    lines = [
        X,
        "uint row = thread_position_in_grid.y;",
        "uint at = which[row];",
        f"uint s = (uint)table[at * {width}u + i];",
        *touch(rng, "s"),
    ]
    if rng.random() < 0.4:
        lines.append(f"s += (uint)table[(at ^ 1u) % {rows}u * {width}u + i];")
    if rng.random() < 0.3:
        lines.append("if ((at & 1u) != 0u) s = s * 3u;")
    lines.append(f"y[row * {width}u + i] = s;")
    element = rng.choice(("uint", "int", "ushort"))
    inputs = [Input("which", "uint", which), input_of(rng, "table", element, rows * width)]
    group = (rng.choice((32, 64)), rng.choice((1, 1, 4)), 1)
    case = case_of(lines, inputs, [Output("y", "uint", width * high)], (width, high, 1), group)
    return replace(case, low_limits=rng.random() < 0.8)


def long_turn(rng: random.Random) -> Case:
    """Much is loaded in one go, and computed with for long."""
    count = rng.choice((8, 16))
    threads = 32 * rng.choice((1, 2, 6))
    apart = rng.random() < 0.5
    lines = [X]
    for k in range(count):
        place = f"i * {count}u + {k}u" if apart else f"i + {k * threads}u"
        lines.append(f"uint v{k} = x[{place}];")
    steps = 16 * 2 * count + rng.randrange(200)
    for n in range(steps):
        a, b, c = (rng.randrange(count) for _ in range(3))
        lines.append(f"v{a} = (v{a} {rng.choice('+-^*')} v{b}) {rng.choice('+^|')} (v{c} + {n}u);")
    lines.append("y[i] = " + " ^ ".join(f"v{k}" for k in range(count)) + ";")
    inputs = [input_of(rng, "x", "uint", threads * count)]
    return case_of(lines, inputs, [Output("y", "uint", threads)], (threads, 1, 1), (32, 1, 1))


def run_ends(rng: random.Random) -> Case:
    """Runs that are written at places which follow from data."""
    groups, most = rng.choice((8, 40)), rng.choice((64, 100, 32))
    numbers = np.random.default_rng(rng.getrandbits(64))
    counts = numbers.integers(0, most + 1, groups).astype(np.uint32)
    starts = (numbers.permutation(groups) * most).astype(np.uint32)
    lines = [
        LANE,
        "uint g = threadgroup_position_in_grid.x;",
        "uint begin = place[g];",
        "uint n = count[g];",
        KEPT,
        "for (uint k = lane; k < n; k += 32u) {",
        f"uint v = x[g * {most}u + k];",
        *touch(rng, "v"),
        "y[begin + k] = v;",
        "}",
    ]
    inputs = [
        Input("place", "uint", starts),
        Input("count", "uint", counts),
        input_of(rng, "x", "uint", groups * most),
    ]
    outputs = [Output("y", "uint", groups * most)]
    threads = 32 * groups - rng.choice((0, 5, 9))
    return case_of(lines, inputs, outputs, (threads, 1, 1), (32, 1, 1))


def short_runs(rng: random.Random) -> Case:
    """A little of many rows."""
    rows, wide = rng.choice((17, 20, 33)), rng.choice((128, 256))
    lines = [X, "uint s = 0;"]
    for k in range(rows):
        lines.append(f"s = s * 3u + (uint)x[i + {k * wide}u];")
    lines += [*touch(rng, "s"), "y[i] = s;"]
    element = rng.choice(("uint", "ushort", "int"))
    inputs = [input_of(rng, "x", element, rows * wide)]
    group = (rng.choice((32, 32, 64)), 1, 1)
    return case_of(lines, inputs, [Output("y", "uint", wide)], (wide, 1, 1), group)


def walks(rng: random.Random) -> Case:
    """Lanes walk along bounds that come from memory, in steps of 32."""
    rows, columns = rng.choice((4, 9)), rng.choice((64, 100, 96, 33))
    lines = [
        LANE, "uint r = threadgroup_position_in_grid.x;", "uint m = (uint)n[0];", "uint s = 0;",
        "for (uint k = lane; k < m; k += 32u) {",
        f"s += x[r * m + k] * {rng.choice(('3u', 'w[k]', '(k + 1u)'))};",
        *(["y[r * m + k] = s;"] if rng.random() < 0.5 else []),
        "}",
        f"s = {rng.choice(('simd_sum', 'simd_max'))}(s);",
        "z[r * 32u + lane] = s;",
    ]  # fmt: skip
    inputs = [input_of(rng, "x", "uint", rows * columns), input_of(rng, "w", "uint", columns)]
    inputs.append(Input("n", "int", np.array([columns] * 8, np.int32)))
    outputs = [Output("y", "uint", rows * columns), Output("z", "uint", rows * 32)]
    return case_of(lines, inputs, outputs, (32 * rows, 1, 1), (32, 1, 1))


def neighbour_rows(rng: random.Random) -> Case:
    """Runs of several rows, side by side: what the next gang reads can be asked for."""
    rows, columns = rng.choice((8, 16)), rng.choice((128, 256, 96))
    row = rng.choice(("threadgroup_position_in_grid.x", "(threadgroup_position_in_grid.x + 2u)"))
    second = rng.choice(("(row | 1u)", "(row + 3u)", "(row + 5u)"))
    lines = [
        LANE, f"uint row = {row};", f"uint n = {rng.choice(('(uint)n0[0]', f'{columns}u'))};",
        "uint s = 0;",
        KEPT,
        "for (uint k = lane; k < n; k += 32u) {",
        f"s += x[row * n + k] * w[{second} * n + k];",
        *(["s ^= w[row * n + k];"] if rng.random() < 0.4 else []),
        "}",
        "y[threadgroup_position_in_grid.x * 32u + lane] = s;",
    ]  # fmt: skip
    size = (rows + 16) * columns
    inputs = [input_of(rng, "x", "uint", size), input_of(rng, "w", "uint", size)]
    inputs.append(Input("n0", "int", np.array([columns] * 8, np.int32)))
    outputs = [Output("y", "uint", rows * 32)]
    return case_of(lines, inputs, outputs, (rows * 32, 1, 1), (32, 1, 1))
