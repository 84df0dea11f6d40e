"""Cross-lane functions, in straight code, under conditions, and in loops that lanes leave."""

from __future__ import annotations

import random

from anymetal.testing.lockstep.case import Case, Extent
from anymetal.testing.lockstep.generators.common import (
    element_leaf,
    finish,
    input_of,
    launch,
    starts,
)
from anymetal.testing.lockstep.text import Text

_REDUCE = ("sum", "product", "min", "max", "and", "or", "xor")
_SCAN = (
    "prefix_inclusive_sum", "prefix_exclusive_sum", "prefix_inclusive_product",
    "prefix_exclusive_product",
)  # fmt: skip
_BY_NUMBER = (
    "shuffle_up",
    "shuffle_down",
    "shuffle_rotate_up",
    "shuffle_rotate_down",
    "shuffle_xor",
)
WHOLE: tuple[tuple[Extent, Extent], ...] = (
    ((64, 1, 1), (32, 1, 1)), ((128, 1, 1), (64, 1, 1)), ((256, 1, 1), (256, 1, 1)),
    ((64, 4, 1), (32, 4, 1)), ((16, 16, 1), (16, 16, 1)), ((96, 1, 1), (96, 1, 1)),
)  # fmt: skip


def generate(rng: random.Random) -> Case:
    """A case."""
    text = Text(rng)
    inputs = [input_of(rng, "x", rng.choice(("uint", "int", "ushort", "uchar", "short")), 64),
              input_of(rng, "z", "uint", 128)]  # fmt: skip
    starts(text, inputs)
    element_leaf(text, inputs)
    text.line("uint lane = thread_index_in_simdgroup;")
    whole = rng.random() < 0.6
    if rng.random() < 0.2:
        _many(text)
    _statements(text, rng.randint(2, 6), 2, whole)
    return finish(text, inputs, *(rng.choice(WHOLE) if whole else launch(rng)))


def _statements(text: Text, count: int, deep: int, shuffles: bool) -> None:
    for _ in range(count):
        roll = text.rng.random()
        if deep and roll < 0.15:
            with text.block(f"if ({text.condition()})"):
                _statements(text, 2, deep - 1, False)
            if text.chance(0.5):
                with text.block("else"):
                    _statements(text, 2, deep - 1, False)
        elif deep and roll < 0.27:
            counter = text.fresh("i")
            bound = text.choose("3", "(int)(gid & 3u)", "(int)(lane & 7u)", "(int)(lane / 8u)")
            uniform = bound == "3" and shuffles
            with text.loop(f"for (int {counter} = 0; {counter} < {bound}; {counter}++)"):
                _statements(text, 2, deep - 1, uniform)
                if text.chance(0.3):
                    with text.block(f"if ({text.condition()})"):
                        _call(text, False)
                        text.line("break;")
        elif roll < 0.75:
            _call(text, shuffles)
        else:
            text.assign(1)


def _call(text: Text, shuffles: bool) -> None:
    """One call; shuffles only where all lanes are active, since others give nothing certain."""
    rng = text.rng
    type_ = rng.choice(("uint", "uint", "int", "short", "ushort", "uchar", "char"))
    value = f"({type_})({text.integer(type_, 1)})"
    group = "simd" if rng.random() < 0.8 else "quad"
    most = 32 if group == "simd" else 4
    roll = rng.random()
    if roll < 0.3:
        call = f"{group}_{rng.choice(_REDUCE)}({value})"
    elif roll < 0.42:
        call = f"{group}_{rng.choice(_SCAN[:2] if group == 'quad' else _SCAN)}({value})"
    elif roll < 0.55:
        vote = rng.choice(("any", "all", "ballot", "first", "mask"))
        type_ = "uint"
        if vote == "ballot":
            call = f"(uint)(ulong)simd_ballot({text.condition()})"
        elif vote == "mask":
            call = "(uint)(ulong)simd_active_threads_mask()"
        elif vote == "first":
            call = "(uint)simd_is_first()"
        else:
            call = f"(uint){group}_{vote}({text.condition()})"
    elif roll < 0.62 or not shuffles:
        call, type_ = f"simd_broadcast_first({value})", type_
    elif roll < 0.75:
        name = rng.choice(_BY_NUMBER[:2] + _BY_NUMBER[4:] if group == "quad" else _BY_NUMBER)
        call = f"{group}_{name}({value}, {rng.randrange(most)}u)"
    elif roll < 0.88:
        far = f"lane * {rng.randrange(1, 32)}u + 3u"
        number = rng.choice((f"{rng.randrange(most)}u", far, f"(uint)({text.integer('uint', 1)})"))
        lane = f"({number}) & {most - 1}u"
        call = f"{group}_shuffle({value}, {lane})"
    elif roll < 0.94:
        call = f"{group}_broadcast({value}, {rng.randrange(most)}u)"
    else:
        way = rng.choice(("up", "down"))
        other = f"({type_})({text.integer(type_, 1)})"
        call = f"simd_shuffle_and_fill_{way}({value}, {other}, {rng.randrange(1, 32)}u)"
    text.declare(type_, call, "s")


def _many(text: Text) -> None:
    """Long straight code: an elimination whose rows are lanes, with whole numbers."""
    rng = text.rng
    count = rng.choice((4, 8, 16, 24))
    for i in range(count):
        text.declare("int", f"(int)(z[(gid * {i + 1}u) & 127u] & 15u) + {i}", f"r{i}_")
    rows = [v.name for v in text.variables[-count:]]
    for i in range(count - 1):
        head = text.declare("int", f"simd_shuffle({rows[i]}, {i}u)", "h").name
        for j in range(i + 1, min(count, i + 1 + rng.choice((2, 4, count)))):
            part = text.fresh("f")
            text.line(f"int {part} = simd_shuffle({rows[j]}, {rng.choice((i, j))}u);")
            text.line(f"{rows[j]} -= {part} * {rows[i]} + {head};")
