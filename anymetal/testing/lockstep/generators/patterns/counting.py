"""Atomic operations on counters, bins and neighbours."""

from __future__ import annotations

import random

from anymetal.testing.lockstep.case import Case, Input, Output
from anymetal.testing.lockstep.generators.barriers import BARRIER
from anymetal.testing.lockstep.generators.common import input_of
from anymetal.testing.lockstep.generators.floats import small
from anymetal.testing.lockstep.generators.patterns.parts import X, case_of


def appended(rng: random.Random) -> Case:
    """Threads take numbers from a counter, each another one."""
    lines = [X, "uint v = x[i];"]
    condition = rng.choice(("true", "(v & 1u) == 0u", "(v & 7u) < 3u"))
    step = rng.choice((1, 1, 3))
    lines += [
        f"if ({condition}) {{",
        f"uint at = atomic_fetch_add_explicit(&c[0], {step}u, memory_order_relaxed);",
        f"atomic_store_explicit(&y[at], at * 5u + {step}u, memory_order_relaxed);",
        "}",
    ]
    threads = rng.choice((64, 100, 256))
    outputs = [Output("c", "uint", 8, 0), Output("y", "uint", threads * 3)]
    group = (rng.choice((32, 64)), 1, 1)
    inputs = [input_of(rng, "x", "uint", threads)]
    return case_of(lines, inputs, outputs, (threads, 1, 1), group, atomic=True)


def own_bins(rng: random.Random) -> Case:
    """Atomics in threadgroup memory: each lane has its own element, whose old value is used."""
    threads = rng.choice((64, 128))
    operation = rng.choice(("add", "xor", "max", "or", "sub"))
    lines = [
        f"threadgroup atomic_uint bins[{threads}];",
        X, "uint t = thread_index_in_threadgroup;",
        "atomic_store_explicit(&bins[t], x[i], memory_order_relaxed);",
        f"uint old = atomic_fetch_{operation}_explicit(&bins[t], i * 3u, memory_order_relaxed);",
        BARRIER,
        f"old += atomic_load_explicit(&bins[{rng.choice(('t', '0'))}], memory_order_relaxed);",
        "y[i] = old;",
    ]  # fmt: skip
    if rng.random() < 0.4:
        lines[4] = (
            f"uint old = i;\nif ((i & 3u) != 1u) {{\n{lines[4].replace('uint old', 'old')}\n}}"
        )
    inputs = [input_of(rng, "x", "uint", threads * 2)]
    grid = (threads * 2, 1, 1)
    return case_of(lines, inputs, [Output("y", "uint", threads * 2)], grid, (threads, 1, 1))


def float_runs(rng: random.Random) -> Case:
    """Floats are added to neighbours: one a lane, or four; to arrays that are also looked at."""
    threads, count = rng.choice((64, 128, 256)), rng.choice((1, 2, 4, 4, 4))
    lines = [X]
    value = "w[i]"
    if rng.random() < 0.5:
        lines.append(
            f"float base = atomic_load_explicit(&y[{threads * count}], memory_order_relaxed);"
        )
        value = "(w[i] + base)"
    place = rng.choice((f"i * {count}u", f"(i ^ 32u) * {count}u", f"(i / 2u) * {count}u"))
    adds = [
        f"atomic_fetch_add_explicit(&y[{place} + {k}u], {value} * {k + 1}, memory_order_relaxed);"
        for k in range(count)
    ]
    if rng.random() < 0.4:
        adds = [f"if (w[i] != {rng.randint(-2, 2)}.0f) {{", *adds, "}"]
    inputs = [Input("w", "float", small(rng, "float", threads))]
    outputs = [Output("y", "float", threads * count + 16, 0)]
    group = (rng.choice((32, 64)), 1, 1)
    return case_of(lines + adds, inputs, outputs, (threads, 1, 1), group, atomic=True)


def histogram(rng: random.Random) -> Case:
    """Counts of small keys, of several widths of keys."""
    element = rng.choice(("uchar", "uint", "ushort"))
    size = 256 if element == "uchar" else rng.choice((16, 64, 1024))
    threads = rng.choice((256, 2048))
    key = "x[i]" if element == "uchar" else f"(x[i] & {size - 1}u)"
    lines = [X, f"uint k = (uint){key};"]
    value = rng.choice(("1u", "i", "(k | 1u)"))
    add = f"atomic_fetch_add_explicit(&y[k], {value}, memory_order_relaxed);"
    if rng.random() < 0.4:
        add = f"if ((i & 3u) != {rng.randrange(4)}u) {add}"
    lines.append(add)
    inputs = [input_of(rng, "x", element, threads)]
    outputs = [Output("y", "uint", size, 0)]
    return case_of(
        lines, inputs, outputs, (threads, 1, 1), (rng.choice((64, 256)), 1, 1), atomic=True
    )
