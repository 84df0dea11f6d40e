"""Constants that come last in sums."""

from __future__ import annotations

from anymetal.coarsening import reassociate
from anymetal.ir.spec import Stage, check
from tests.ir.programs import program


def result(lines: str) -> list[str]:
    """The operations of `lines`, and the constants that they end with."""
    kernel = program(f"%x = load i32, ptr %a\n{lines}\nstore i32 %r, ptr %out\nret void")
    reassociate.run(kernel)
    check(kernel, Stage.SCALAR)
    needed = [kernel.blocks[0].instrs[-2].operands[0]]
    found = []
    while needed:
        value = needed.pop()
        if getattr(value, "op", "load") != "load":
            constant = getattr(value.operands[1], "text", "")
            found.append(f"{value.op} {constant}".strip())
            needed.extend(value.operands)
    return found


def test_they_wander_outwards() -> None:
    lines = "%b = add i32 %x, 1\n%c = add i32 %x, %b\n%r = add i32 %c, %b"
    assert result(lines) == ["add 2", "add", "add"]


def test_through_products_with_constants() -> None:
    assert result("%b = add i32 %x, 3\n%r = mul i32 %b, 5") == ["add 15", "mul 5"]


def test_they_meet_and_vanish() -> None:
    assert result("%b = add i32 %x, 3\n%r = add i32 %b, -3") == []


def test_they_wrap() -> None:
    lines = "%b = add i32 %x, 2147483647\n%r = add i32 %b, 1"
    assert result(lines) == ["add -2147483648"]
