"""Atomics whose results are the same in any order: sums, extremes and bits of integers, in device
and in threadgroup memory; floats with small whole numbers."""

from __future__ import annotations

import random
from math import prod

from anymetal.testing.lockstep.case import Case, Input, Output
from anymetal.testing.lockstep.generators.barriers import BARRIER, GROUPS
from anymetal.testing.lockstep.generators.common import GID, THREADS, element_leaf, input_of, launch
from anymetal.testing.lockstep.generators.floats import small
from anymetal.testing.lockstep.text import Text

_OPERATIONS = ("add", "sub", "min", "max", "and", "or", "xor")


def generate(rng: random.Random) -> Case:
    """A case."""
    return rng.choice((_device, _device, _floats, _threadgroup))(rng)


def _update(operation: str, array: str, place: str, value: str) -> str:
    return f"atomic_fetch_{operation}_explicit(&{array}[{place}], {value}, memory_order_relaxed);"


def _place(text: Text, size: int) -> str:
    """An element, the same for all lanes, one for each, or by data."""
    return text.choose(
        "0u", f"{text.rng.randrange(size)}u", f"gid % {size}u", f"(gid / 32u) % {size}u",
        f"x[gid % 512u] % {size}u", f"(uint)({text.integer('uint', 1)}) % {size}u",
        f"x[gid % 512u] & {(1 << (size.bit_length() - 1)) - 1}u",
        f"(uint)(uchar)x[gid % 512u] % {size}u",
    )  # fmt: skip


def _device(rng: random.Random) -> Case:
    text = Text(rng)
    inputs = [input_of(rng, "x", "uint", 512)]
    grid, threadgroup = rng.choice(
        (launch(rng), ((4096, 1, 1), (256, 1, 1)), ((300, 7, 1), (32, 7, 1)))
    )
    text.line(GID)
    text.declare("uint", "gid", "a")
    element_leaf(text, inputs)
    size = rng.choice((1, 16, 64, 256, 1000))
    element = rng.choice(("uint", "int", "uint"))
    outputs = [Output("y", element, size), Output("c", element, 64)]
    operation = rng.choice(_OPERATIONS)  # one for each array, so that the order is no matter
    for array, room, op in (("y", size, operation), ("c", 64, "add")):
        for _ in range(rng.randint(1, 2)):
            value = f"({element})({text.integer('uint', 1)})"
            add = _update(op, array, _place(text, room), value)
            roll = rng.random()
            if roll < 0.3:
                with text.block(f"if ({text.condition()})"):
                    text.line(add)
            elif roll < 0.5:
                counter = text.fresh("i")
                bound = text.choose("3", "(int)(gid & 3u)")
                with text.block(f"for (int {counter} = 0; {counter} < {bound}; {counter}++)"):
                    text.line(add)
            else:
                text.line(add)
            if text.chance(0.4):
                text.assign(1)
    return Case("", "", 0, text.body, tuple(inputs), tuple(outputs), grid, threadgroup, atomic=True)


def _floats(rng: random.Random) -> Case:
    text = Text(rng)
    inputs = [input_of(rng, "x", "uint", 512), Input("w", "float", small(rng, "float", 1024))]
    grid, threadgroup = rng.choice(
        (launch(rng), ((4096, 1, 1), (256, 1, 1)), ((1024, 8, 1), (32, 8, 1)))
    )
    text.line(GID)
    text.declare("uint", "gid", "a")
    size = rng.choice((4, 64, 1024, 4096))
    # The bytes of an output are 0 at first, which is the float 0.
    outputs = [Output("y", "float", size, 0)]
    for _ in range(rng.randint(1, 3)):
        value = rng.choice(
            ("w[gid & 1023u]", "1.0f", "w[(gid * 5u) & 1023u] * 2.0f", "w[gid & 15u]")
        )
        shape = rng.randrange(3)
        if shape == 0:  # neighbours
            base = text.fresh("at")
            text.line(f"uint {base} = (gid * 4u) % {size}u;")
            for k in range(4 if size > 4 else 1):
                text.line(
                    f"atomic_fetch_add_explicit(&y[{base} + {k}u], {value}, memory_order_relaxed);"
                )
        elif shape == 1:
            with text.block(f"if ({text.condition()})"):
                text.line(_update("add", "y", _place(text, size), value))
        else:
            text.line(_update("add", "y", _place(text, size), value))
    return Case("", "", 0, text.body, tuple(inputs), tuple(outputs), grid, threadgroup, atomic=True)


def _threadgroup(rng: random.Random) -> Case:
    text = Text(rng)
    grid, threadgroup = rng.choice(GROUPS)
    inputs = [input_of(rng, "x", "uint", 512)]
    size = rng.choice((4, 32, 100))
    text.line(f"threadgroup atomic_uint bins[{size}];")
    text.line(GID)
    text.line("uint t = thread_index_in_threadgroup;")
    text.line(THREADS)
    text.declare("uint", "gid", "a")
    with text.block(f"for (uint i = t; i < {size}u; i += n)"):
        text.line("atomic_store_explicit(&bins[i], i, memory_order_relaxed);")
    text.line(BARRIER)
    operation = rng.choice(_OPERATIONS)
    for _ in range(rng.randint(1, 2)):
        value = f"(uint)({text.integer('uint', 1)})"
        line = _update(operation, "bins", _place(text, size), value)
        if text.chance(0.4):
            with text.block(f"if ({text.condition()})"):
                text.line(line)
        else:
            text.line(line)
    text.line(BARRIER)
    text.line(f"y[gid] = atomic_load_explicit(&bins[gid % {size}u], memory_order_relaxed);")
    outputs = (Output("y", "uint", prod(grid)),)
    return Case("", "", 0, text.body, tuple(inputs), outputs, grid, threadgroup)
