"""Private arrays: small ones, those of tens of kilobytes, of several widths, of structs, indexed by
constants, counters, and data."""

from __future__ import annotations

import random

from anymetal.testing.lockstep.case import Case
from anymetal.testing.lockstep.generators.common import (
    element_leaf,
    finish,
    input_of,
    launch,
    starts,
)
from anymetal.testing.lockstep.text import BITS, Text


def generate(rng: random.Random) -> Case:
    """A case."""
    text = Text(rng)
    inputs = [input_of(rng, "x", rng.choice(("uint", "int", "ulong")), 128)]
    starts(text, inputs)
    element_leaf(text, inputs)
    header = ""
    for _ in range(rng.randint(1, 2)):
        roll = rng.random()
        if roll < 0.25:
            header = "struct Item {\n  uint a;\n  uchar b;\n  ushort c;\n  ulong d;\n};\n"
            _structs(text)
        elif roll < 0.4:
            _views(text)
        else:
            _array(text)
    grid, threadgroup = launch(rng)
    if rng.random() < 0.3:  # threads meet while they keep the arrays
        line = "threadgroup_barrier(mem_flags::mem_threadgroup);"
        places = [i for i, at in enumerate(text.lines) if not at.startswith((" ", "}"))]
        text.lines.insert(rng.choice(places), line)
    return finish(text, inputs, grid, threadgroup, header=header)


def _size(rng: random.Random, element: str) -> int:
    """Elements: mostly few, now and then tens of kilobytes."""
    few = rng.choice((3, 4, 7, 8, 16, 33, 64, 100))
    if rng.random() < 0.75:
        return few
    return rng.choice((2000, 8000, 16000, 32000)) // (BITS[element] // 8)


def _array(text: Text) -> None:
    rng = text.rng
    element = rng.choice(("uint", "uint", "int", "uchar", "ushort", "ulong"))
    size, name = _size(rng, element), text.fresh("p")
    text.line(f"{element} {name}[{size}];")
    counter = text.fresh("i")
    with text.block(f"for (int {counter} = 0; {counter} < {size}; {counter}++)"):
        text.line(
            f"{name}[{counter}] = ({element})({counter} * {rng.randrange(1, 99)} + (int)gid);"
        )
    for _ in range(rng.randint(1, 4)):
        index = _index(text, size)
        roll = rng.random()
        if roll < 0.4:
            value = f"({element})({text.integer('uint', 1)})"
            text.line(f"{name}[{index}] {text.choose('=', '+=', '^=')} {value};")
        elif roll < 0.6 and size <= 128:
            other = text.fresh("i")
            with text.block(f"for (int {other} = 1; {other} < {size}; {other}++)"):
                text.line(f"{name}[{other}] += {name}[{other} - 1] * ({element})3;")
        elif roll < 0.7:
            with text.block(f"if ({text.condition()})"):
                text.line(f"{name}[{index}] = ({element})7;")
        else:
            text.declare(element, f"{name}[{index}]", "r")
    text.declare(element, f"{name}[{_index(text, size)}]", "r")


def _index(text: Text, size: int) -> str:
    roll = text.rng.random()
    if roll < 0.35:
        return str(text.rng.randrange(size))
    if roll < 0.6:
        return f"gid % {size}u"
    return f"(uint)({text.integer('uint', 1)}) % {size}u"


def _structs(text: Text) -> None:
    rng = text.rng
    size, name, counter = rng.choice((4, 9, 40, 300)), text.fresh("s"), text.fresh("i")
    text.line(f"Item {name}[{size}];")
    with text.block(f"for (int {counter} = 0; {counter} < {size}; {counter}++)"):
        text.line(f"{name}[{counter}].a = (uint){counter} * gid;")
        text.line(f"{name}[{counter}].b = (uchar){counter};")
        text.line(f"{name}[{counter}].c = (ushort)({counter} + gid);")
        text.line(f"{name}[{counter}].d = (ulong){counter} << 33;")
    for _ in range(rng.randint(1, 3)):
        field, type_ = rng.choice((("a", "uint"), ("b", "uchar"), ("c", "ushort"), ("d", "ulong")))
        place = f"{name}[{_index(text, size)}].{field}"
        if text.chance(0.5):
            text.line(f"{place} ^= ({type_})({text.integer('uint', 1)});")
        else:
            text.declare(type_, place, "r")
    if text.chance(0.5):
        text.line(f"Item {name}c = {name}[{_index(text, size)}];")
        text.declare("uint", f"{name}c.a + {name}c.b + {name}c.c + (uint){name}c.d", "r")
    text.declare("uint", f"{name}[{_index(text, size)}].a", "r")


def _views(text: Text) -> None:
    """An array of words, written and read as bytes and as longs."""
    rng = text.rng
    size, name, counter = rng.choice((4, 16, 64, 256)), text.fresh("w"), text.fresh("i")
    text.line(f"uint {name}[{size}];")
    with text.block(f"for (int {counter} = 0; {counter} < {size}; {counter}++)"):
        text.line(f"{name}[{counter}] = gid * {rng.randrange(1, 1 << 20)}u + (uint){counter};")
    text.line(f"thread uchar* {name}b = (thread uchar*){name};")
    text.line(f"{name}b[{_index(text, size * 4)}] = (uchar)({text.integer('uint', 1)});")
    text.line(f"thread ushort* {name}h = (thread ushort*){name};")
    text.declare("ushort", f"{name}h[{_index(text, size * 2)}]", "r")
    text.declare("uchar", f"{name}b[{_index(text, size * 4)}]", "r")
    text.declare("uint", f"{name}[{_index(text, size)}]", "r")
