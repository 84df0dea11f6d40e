"""Asks, in sanitized builds, whether an index was too large for the 32 bits it was computed in.

    x[row * columns + column]      of more than 2^32 elements: the wrapped index is that of another

Beside an index of 32 bits that is made by +, -, * and <<, the program computes the same in 64 bits.
Only indices that reach an address in this way count: hash functions and random generators wrap on
purpose, but end with %, & or >>, behind which counting starts anew. So do variables that a loop
carries on. What is negative as `int` counts as negative also if it is `uint`: kernels subtract from
unsigned indices, and multiply them by negative strides.
"""

from __future__ import annotations

import re

from anymetal.frontend.wrong_operands import WRONG_DECLARATION, Kind

_NAME = r"%(?:[\w.$-]+|\"[^\"]*\")"
_FUNCTION = re.compile(r"^define .*?^}$", re.M | re.S)
#: Clang's own names for the conversion of an array index and of a pointer offset.
_INDEX = re.compile(
    rf"  %(?:idxprom|idx\.ext)[\w.]* = [sz]ext (?:nneg )?i32 (?P<value>{_NAME}) to i64"
    r"(?P<place>, !dbg !\d+)?$"
)
_DEFINITION = re.compile(rf"  (?P<name>{_NAME}) = (?P<rest>.*?)(?:, !dbg !\d+)?$")
_ARITHMETIC = re.compile(
    rf"(?P<op>add|sub|mul|shl)(?: nuw| nsw)* i32 (?P<left>{_NAME}|-?\d+), "
    rf"(?P<right>{_NAME}|-?\d+)"
)
_NARROWED = re.compile(rf"trunc (?:nuw |nsw )*i64 (?P<value>{_NAME}) to i32")
#: LLVM's name for a member of a struct that it keeps in one value of 64 bits.
_MEMBER = re.compile(r"\.extract\.trunc[\w.]*$")
_DEEPEST = 12  #: operations on each other that are followed
#: From -2^31 up to 2^32: what some index of 32 bits stands for.
_LOW, _COUNT = 1 << 31, (1 << 32) + (1 << 31)


def with_checks(text: str) -> str:
    """A module of one function in which variables are values, with a call of `__am_wrong` in front
    of such indices."""
    checked = _FUNCTION.sub(_checked, text)
    is_declared = checked == text or re.search(r"^declare .*@__am_wrong\(", text, re.M)
    return checked if is_declared else checked + WRONG_DECLARATION


def _checked(function: re.Match[str]) -> str:
    lines: list[str] = []
    made = {d["name"]: d["rest"] for d in map(_DEFINITION.match, function[0].split("\n")) if d}
    number = 0
    for line in function[0].split("\n"):
        if found := _INDEX.match(line):
            number += 1
            index = _Exact(made, f"%am.index.{number}")
            index.value(found["value"])
            if index.may_wrap:
                lines += index.asked(found["value"], number, found["place"] or "")
        lines.append(line)
    return "\n".join(lines)


class _Exact:
    """Computes in 64 bits what is an index in 32."""

    def __init__(self, made: dict[str, str], prefix: str) -> None:
        self.made, self.prefix = made, prefix
        self.lines: list[str] = []
        self.known: dict[str, str] = {}
        self.may_wrap = False  #: a sum of two is still one of the numbers that an index stands for

    def asked(self, index: str, number: int, place: str) -> list[str]:
        """Lines that compute it, and the question."""
        arguments = f"i1 {self.prefix}.bad, i32 {Kind.INDEX_OVERFLOW.value}, i32 {-number}"
        return [
            *self.lines,
            f"  {self.prefix}.from = add i64 {self.value(index)}, {_LOW}",
            f"  {self.prefix}.bad = icmp uge i64 {self.prefix}.from, {_COUNT}",
            f"  call void @__am_wrong({arguments}){place}",
        ]

    def value(self, value: str, depth: int = 0) -> str:
        """A value of 32 bits, in 64."""
        if re.fullmatch(r"-?\d+", value):
            return value
        if value not in self.known:
            self.known[value] = self._made(value, depth)
        return self.known[value]

    def _made(self, value: str, depth: int) -> str:
        made = self.made.get(value, "")
        if (found := _NARROWED.fullmatch(made)) and not _MEMBER.search(value):
            self.may_wrap = True
            return found["value"]
        found = _ARITHMETIC.fullmatch(made)
        if not found or depth == _DEEPEST or (found["op"] == "shl" and "%" in found["right"]):
            return self._add(f"sext i32 {value} to i64")
        self.may_wrap |= found["op"] in ("mul", "shl")
        left, right = (self.value(found[side], depth + 1) for side in ("left", "right"))
        return self._add(f"{found['op']} i64 {left}, {right}")

    def _add(self, instruction: str) -> str:
        name = f"{self.prefix}.{len(self.lines)}"
        self.lines.append(f"  {name} = {instruction}")
        return name
