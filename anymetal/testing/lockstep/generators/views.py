"""Bytes seen as other types: reinterpreted pointers, mixed widths, structs, packed vectors."""

from __future__ import annotations

import random
from math import prod

from anymetal.testing.lockstep.case import Case, Output
from anymetal.testing.lockstep.generators.common import GID, input_of, launch
from anymetal.testing.lockstep.text import BITS, Text

_VECTORS = ("uint2", "uint4", "int4", "ushort4", "uchar4", "char2", "short2", "ulong2", "int2")
_PACKED = ("packed_uchar3", "packed_short3", "packed_int3", "packed_uint3", "packed_char4")
_LETTERS = "xyzw"


def generate(rng: random.Random) -> Case:
    """A case."""
    text = Text(rng)
    inputs = [input_of(rng, "x", rng.choice(list(BITS)), 256), input_of(rng, "z", "uchar", 2048)]
    grid, threadgroup = launch(rng)
    header = ""
    if rng.random() < 0.6:
        header = _struct(rng)
    text.line(GID)
    text.declare("uint", "gid", "a")
    size = inputs[0].data.nbytes
    for _ in range(rng.randint(2, 5)):
        array, room = rng.choice((("x", size), ("z", 2048)))
        _read(text, array, room, header)
        if text.chance(0.4):
            text.assign()
    outputs = [Output("y", "uint", prod(grid)), Output("b", "uchar", 32 * prod(grid))]
    _write(text)
    text.line(f"y[gid] = {text.mixed()};")
    return Case("", "", 0, text.body, tuple(inputs), tuple(outputs), grid, threadgroup, header)


def _struct(rng: random.Random) -> str:
    fields = [
        f"  {rng.choice((*BITS, 'uchar4', 'ushort2'))} f{i};" for i in range(rng.randint(2, 5))
    ]
    lines = "\n".join(field.replace("uchar4", "packed_uchar4") for field in fields)
    return f"struct Record {{\n{lines}\n}};\n"


def _read(text: Text, array: str, room: int, header: str) -> None:
    """A load through a pointer of another type, in range."""
    rng = text.rng
    step = rng.choice(("gid", "gid * 3u", "gid / 2u", "(gid ^ 5u)", f"({text.integer('uint', 1)})"))
    roll = rng.random()
    if roll < 0.4:
        type_ = rng.choice(list(BITS))
        count = room // (BITS[type_] // 8)
        text.declare(type_, f"((const device {type_}*){array})[({step}) % {count}u]", "r")
    elif roll < 0.65:
        vector = rng.choice(_VECTORS)
        element, width = vector[:-1], int(vector[-1])
        count = room // (BITS[element] // 8 * width)
        name = text.fresh("q")
        text.line(f"{vector} {name} = ((const device {vector}*){array})[({step}) % {count}u];")
        for letter in _LETTERS[:width]:
            if text.chance(0.7):
                text.declare(element, f"{name}.{letter}", "r")
    elif roll < 0.8:
        packed = rng.choice(_PACKED)
        element, width = packed[7:-1], int(packed[-1])
        count = room // (BITS[element] // 8 * width)
        name = text.fresh("q")
        text.line(
            f"const device {packed}& {name} = "
            f"((const device {packed}*){array})[({step}) % {count}u];"
        )
        text.declare(element, f"{name}[{rng.randrange(width)}]", "r")
        text.declare(element, f"{name}[{rng.randrange(width)}]", "r")
    elif header:
        name = text.fresh("q")
        records = f"(uint)({room} / sizeof(Record))"
        text.line(
            f"const device Record& {name} = ((const device Record*){array})[({step}) % {records}];"
        )
        for field in range(header.count(";") - 1):
            if (
                "packed" in header.splitlines()[1 + field]
                or "ushort2" in header.splitlines()[1 + field]
            ):
                text.declare("uint", f"(uint){name}.f{field}[1]", "r")
            else:
                text.declare("long", f"(long){name}.f{field}", "r")
    else:
        offset = rng.choice((4, 8, 12, 16, 64))
        count = (room - offset) // 4
        text.declare(
            "uint",
            f"*(const device uint*)((const device uchar*){array} + {offset} + "
            f"4u * (({step}) % {count}u))",
            "r",
        )


def _write(text: Text) -> None:
    """The thread's own 32 bytes, with several widths."""
    at = 0
    while at < 32:
        type_ = text.rng.choice(
            [t for t in BITS if at % (BITS[t] // 8) == 0 and at + BITS[t] // 8 <= 32]
        )
        place = f"(b + 32u * gid + {at}u)"
        if text.chance(0.85):
            text.line(f"*(device {type_}*){place} = ({type_})({text.integer('uint', 1)});")
        at += BITS[type_] // 8
