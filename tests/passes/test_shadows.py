"""Shadows against all values that undefined bits may have."""

from __future__ import annotations

import itertools
import random

import pytest

from anymetal.ir import types as t
from anymetal.ir.model import Const, Instr, Value
from anymetal.passes.shadows import Shadows

BITS = 4
WORD, HALF_WORD, DOUBLE_WORD = t.Int(BITS), t.Int(BITS // 2), t.Int(2 * BITS)


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def evaluated(type_: t.Type, op: str, operands: list[int], arg: object, bits: int) -> int:
    """What an instruction gives; `bits` has its first operand."""
    a, b = operands[0], operands[1] if len(operands) > 1 else 0
    results = {
        "and": lambda: a & b,
        "or": lambda: a | b,
        "xor": lambda: a ^ b,
        "add": lambda: a + b,
        "sub": lambda: a - b,
        "mul": lambda: a * b,
        "shl": lambda: a << b,
        "lshr": lambda: a >> b,
        "ashr": lambda: signed(a, bits) >> b,
        "udiv": lambda: a // b,
        "zext": lambda: a,
        "sext": lambda: signed(a, bits),
        "trunc": lambda: a,
        "select": lambda: operands[1] if a else operands[2],
        "eq": lambda: a == b,
        "ne": lambda: a != b,
        "slt": lambda: signed(a, bits) < signed(b, bits),
        "sgt": lambda: signed(a, bits) > signed(b, bits),
        "ult": lambda: a < b,
    }
    assert isinstance(type_, t.Int)
    return int(results[str(arg) if op == "icmp" else op]()) % (1 << type_.bits)


def number(value: Value) -> int:
    assert isinstance(value, Const) and isinstance(value.type, t.Int)
    return (value.int_value or 0) % (1 << value.type.bits)


def now(type_: t.Type, op: str, operands: list[Value], arg: object = None) -> Instr:
    """An instruction as soon as it is made: its result is a constant."""
    first = operands[0].type
    assert isinstance(first, t.Int)
    result = evaluated(type_, op, [number(v) for v in operands], arg, first.bits)
    made: Value = Const(type_, str(result))
    return made  # type: ignore[return-value]


def shadow_of(type_: t.Type, op: str, arg: object, values: list[Const], known: list[int]) -> int:
    shadows = Shadows(now)
    for value, bits in zip(values, known, strict=True):
        if bits:
            shadows.of[value] = Const(value.type, str(bits))
    found = shadows.instruction(Instr(type_, op, list(values), arg))
    return 0 if found is None else number(found)


def completions(value: int, undefined: int) -> list[int]:
    """All values that differ in undefined bits only."""
    return [v for v in range(1 << DOUBLE_WORD.bits) if not (v ^ value) & ~undefined]


#: Operation, its argument, type of the result, types of the operands, whether shadows are exact.
CASES = [
    ("and", None, WORD, (WORD, WORD), True),
    ("or", None, WORD, (WORD, WORD), True),
    ("xor", None, WORD, (WORD, WORD), True),
    ("add", None, WORD, (WORD, WORD), False),
    ("sub", None, WORD, (WORD, WORD), False),
    ("mul", None, WORD, (WORD, WORD), False),
    ("udiv", None, WORD, (WORD, WORD), False),
    ("zext", None, DOUBLE_WORD, (WORD,), True),
    ("sext", None, DOUBLE_WORD, (WORD,), True),
    ("trunc", None, HALF_WORD, (WORD,), True),
    ("icmp", "eq", t.I1, (WORD, WORD), True),
    ("icmp", "ne", t.I1, (WORD, WORD), True),
    ("icmp", "ult", t.I1, (WORD, WORD), False),
    ("select", None, WORD, (t.I1, WORD, WORD), True),
]


@pytest.mark.parametrize(("op", "arg", "type_", "types", "exact"), CASES)
def test_bits_that_may_differ_have_shadows(op, arg, type_, types, exact):
    draw = random.Random(op)
    for _ in range(150):
        values = [draw.randrange(1 << kind.bits) for kind in types]
        known = [draw.randrange(1 << kind.bits) & draw.randrange(1 << kind.bits) for kind in types]
        if op == "udiv":
            values[1], known[1] = values[1] | 1, known[1] & ~1  # nothing divides by 0
        operands = [Const(kind, str(v)) for kind, v in zip(types, values, strict=True)]
        found = shadow_of(type_, op, arg, operands, known)
        base = evaluated(type_, op, values, arg, types[0].bits)
        ways = itertools.product(*(completions(v, s) for v, s in zip(values, known, strict=True)))
        differ = 0
        for way in ways:
            differ |= base ^ evaluated(type_, op, list(way), arg, types[0].bits)
        assert differ & ~found == 0, (values, known)
        assert not exact or differ == found, (values, known)


@pytest.mark.parametrize("op", ["shl", "lshr", "ashr"])
@pytest.mark.parametrize("count", range(BITS))
def test_shifts_by_known_counts_move_shadows(op, count):
    for shadow in range(1 << BITS):
        operands = [Const(WORD, "5"), Const(WORD, str(count))]
        expected = evaluated(WORD, op, [shadow, count], None, BITS)
        assert shadow_of(WORD, op, None, operands, [shadow, 0]) == expected


def test_the_sign_alone_decides_comparisons_with_zero():
    for shadow in range(1 << BITS):
        operands = [Const(WORD, "3"), Const(WORD, "0")]
        assert shadow_of(t.I1, "icmp", "slt", operands, [shadow, 0]) == shadow >> (BITS - 1)


def test_what_is_defined_has_no_shadow():
    shadows = Shadows(now)
    one, other = Const(WORD, "1"), Const(WORD, "2")
    for op in ("and", "or", "xor", "add", "udiv", "shl"):
        assert shadows.instruction(Instr(WORD, op, [one, other])) is None
