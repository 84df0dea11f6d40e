"""Asks, in sanitized builds, whether operations get what Metal leaves undefined.

This is done on Clang's raw text, in front of everything that gives such operations a meaning
(defined.py), and under the control flow of the user's text. What is asked, as calls that the CPU
target lowers:

    __am_wrong(bad, kind, id)      a division, shift or conversion is about to go wrong if `bad`
    __am_lanes(what, value, id)    lanes work together: see `Together`
    __am_returned(id)              the thread executes a `return` of the kernel

The text of our headers has no places, and its divisions and shifts guard themselves. So only
functions with places are looked at, which are the user's, and those of the headers that stand for
an operator or a conversion of the user's: on vectors, or between constants (language.h).
"""

from __future__ import annotations

import enum
import re
import struct
from collections.abc import Iterator
from typing import NamedTuple


class Kind(enum.IntEnum):
    """What is wrong; the numbers of all kinds of findings (targets/cpu/observer/observer.h)."""

    DIVISION_BY_ZERO = 19
    SHIFT_COUNT = 20
    FLOAT_TO_INT = 21
    INDEX_OVERFLOW = 22
    DIVISION_OVERFLOW = 25


class Together(enum.IntEnum):
    """What lanes do together."""

    SHUFFLE = 0  #: the lane `value` of the SIMD-group is read
    QUAD_SHUFFLE = 1  #: the same, and it must be of the same quad
    UNIFORM = 2  #: `value` is an argument that must be the same in all lanes
    ALL = 3  #: all lanes of the SIMD-group must take part
    MEET = 5  #: a barrier follows; so that it stays in its loop (convergence.py)


_MARKER = "nounwind willreturn nomerge memory(inaccessiblemem: readwrite)"
WRONG_DECLARATION = f"declare void @__am_wrong(i1, i32, i32) {_MARKER}\n"
_DECLARATIONS = (
    f"{WRONG_DECLARATION}"
    f"declare void @__am_lanes(i32, i32, i32) convergent {_MARKER}\n"
    f"declare void @__am_returned(i32) convergent {_MARKER}\n"
)

_NAME = r"%[\w.$-]+|%\"[^\"]*\""
_OPERAND = rf"{_NAME}|-?\d+|<[^<>]*>|splat \([^()]*\)|[a-z]+"
_FUNCTION = re.compile(r"^define .*?^}$", re.M | re.S)
_HEAD = re.compile(r"define (?P<before>.*?)@(?P<name>\"[^\"]+\"|[\w.$]+)\((?P<rest>.*)")
_PLACE = r"(?P<place>, !dbg !\d+)?"
_INTEGER = re.compile(
    rf"  (?:{_NAME}) = (?P<op>shl|lshr|ashr|udiv|sdiv|urem|srem)(?: exact| nuw| nsw)* "
    rf"(?P<type>i\d+|<\d+ x i\d+>) (?P<left>{_OPERAND}), (?P<right>{_OPERAND}){_PLACE}$"
)
_VECTOR_CONVERT = re.compile(
    rf"  (?:{_NAME}) = fpto(?P<sign>[su])i (?P<source><\d+ x \w+>) (?P<value>.+) "
    rf"to (?P<target><\d+ x i\d+>){_PLACE}$"
)
_CONVERT = re.compile(
    rf"  (?:{_NAME}) = call (?P<target>i\d+) @llvm\.fpto(?P<sign>[su])i\.sat\.\S+?"
    rf"\((?P<source>half|bfloat|float) (?P<value>[^)]+)\){_PLACE}$"
)
_MASKED = re.compile(rf"  (?P<name>{_NAME}) = and \S+(?: x i\d+>)? (?P<count>[^,]+), ")
_SHUFFLE = re.compile(
    r"^  .*call .*@_ZN4__am7shuffleI\S*\(.*, i32 noundef (?P<lane>[^),]+)\).*$", re.M
)
_RETURN = re.compile(
    r"^  (?:store i32 1, ptr %cleanup\.dest\.slot, align 4\n  br label %cleanup\w*"
    r"|br label %return)(?P<place>, !dbg !\d+)$(?!\n\nreturn:)",
    re.M,
)
#: Operators and conversions of vectors, and operators on constants. 3 of 4 components may count.
_OPERATORS = re.compile(
    r"_ZN4__am(?:6layout(?:dv|rm|dV|rM|ls|rs|lS|rS)I|7convertI|5threeI|5splatI|11concatenateI"
    r"|12shifted_leftI|13shifted_rightI)"
)
_DIVIDING = re.compile(r"_ZN4__am(?:8quotient|9remainder)I")
_COMPONENTS = re.compile(r"Li([234])E")
_FILL = re.compile(r"_ZN4__am(?:7fill_up|9fill_down)I")
_SHUFFLING = re.compile(r"_Z(?:N5metal)?\d+(?P<group>simd|quad)_(?:shuffle|broadcast)(?!_first)")
#: Arguments of these must be the same in all lanes.
_UNIFORM = re.compile(r"_Z(?:N5metal)?\d+simd_(?:broadcast|shuffle_(?:up|down|xor|rotate|and))")
_UNIFORM_ARGUMENT = re.compile(
    r"(?P<type>i16|i32) noundef(?: zeroext)? %(?P<name>delta|lane|mask)\b"
)
_MATRICES = re.compile(r"_ZN5metal\d+simdgroup_(?:load|store|multiply(?:_accumulate)?)I")
_BARRIER = re.compile(r"_ZN5metal\d+(?:threadgroup|simdgroup)_barrierE")
_ARGUMENT = re.compile(r"(?P<type>i\d+) noundef (?:signext |zeroext )?%(?P<name>[ab])\b")

#: For each type of numbers: bits of the significand with the hidden one, the largest power of two,
#: and how infinity is spelled.
_FORMATS = {
    "half": (11, 15, "0xH7C00"),
    "bfloat": (8, 127, "0xR7F80"),
    "float": (24, 127, "0x7FF0000000000000"),
}


def with_checks(raw: str) -> str:
    """Clang's output with these calls."""
    editor = _Editor(_called_by_entry(raw))
    return _FUNCTION.sub(editor.function, raw) + _DECLARATIONS


def _called_by_entry(raw: str) -> set[str]:
    """What `__am_kernel` calls: the user's kernel is among it."""
    kernel = next(f[0] for f in _FUNCTION.finditer(raw) if "@__am_kernel(" in f[0].split("\n")[0])
    return set(re.findall(r"call void @([\w.$]+)\(", kernel))


class _Editor:
    """Goes through the functions of a module."""

    def __init__(self, entries: set[str]) -> None:
        self.entries = entries
        self.number = 0  #: of the latest call

    def function(self, match: re.Match[str]) -> str:
        text = match[0]
        head = _HEAD.match(text)
        assert head, text[:200]
        name = head["name"].strip('"')
        if "!dbg" in text.partition("\n")[0]:
            if name in self.entries:
                text = _RETURN.sub(self._return, text)
            return self._operations(text)
        if found := _OPERATORS.match(name):
            components = _COMPONENTS.search(name, found.end())
            return self._operations(text, int(components[1]) if components else 0)
        if _DIVIDING.match(name):
            return self._dividing(text)
        if found := _SHUFFLING.match(name):
            what = Together.QUAD_SHUFFLE if found["group"] == "quad" else Together.SHUFFLE
            return self._uniform(_SHUFFLE.sub(lambda m: self._shuffle(m, what), text), name)
        if _FILL.match(name):  # its two shuffles are from the same lane
            return _SHUFFLE.sub(lambda m: self._shuffle(m, Together.SHUFFLE), text, count=1)
        if _MATRICES.match(name):
            return _at_entry(text, [self._lanes(Together.ALL, "0")])
        if _BARRIER.match(name):
            return _at_entry(text, [self._lanes(Together.MEET, "0")])
        return text

    # -- operations ---------------------------------------------------------------------------

    def _operations(self, text: str, components: int = 0) -> str:
        """`components`: of vectors, if it is an operator of vectors. In memory 3 take as much as 4,
        and the last one does not count."""
        masked: dict[
            str, str
        ] = {}  # counts of shifts as they were before our headers made them fit
        lines = []
        for line in text.split("\n"):
            if "!dbg" not in line and (found := _MASKED.match(line)):
                masked[found["name"]] = found["count"]
            elif found := _INTEGER.match(line):
                right = masked.get(found["right"], found["right"])
                for check in _of_integers(found["op"], found["type"], found["left"], right):
                    lines += self._wrong(check, found["place"], components)
            elif found := _CONVERT.match(line) or _VECTOR_CONVERT.match(line):
                lines += self._wrong(_of_conversion(found), found["place"], components)
            lines.append(line)
        return "\n".join(lines)

    def _dividing(self, text: str) -> str:
        """A division of constants, which guards itself: the question is whether it has to."""
        arguments = _ARGUMENT.findall(text.partition("\n")[0])
        if len(arguments) != 2:
            return text  # of floating point numbers
        (left, _), (right, _) = arguments
        op = "sdiv" if left == right else "udiv"
        checks = _of_integers(op, right, "%a", "%b")
        return _at_entry(text, [line for check in checks for line in self._wrong(check, None, 0)])

    def _wrong(self, check: _Check, place: str | None, components: int) -> list[str]:
        """Lines that compute a condition and tell of it."""
        prefix = f"%am.wrong.{self._next()}"
        lines = [f"  {line}".replace("%?", prefix) for line in check.lines]
        bad, type_ = f"{prefix}.bad", check.type_
        if type_.startswith("<"):
            count = int(type_[1:].split(" ")[0])
            for n in range(components or count):
                part = f"{prefix}.{n} = extractelement <{count} x i1> {prefix}.bad, i64 {n}"
                bad = f"{prefix}.any.{n}"
                either = f"{bad} = or i1 {prefix}.{n}, {f'{prefix}.any.{n - 1}' if n else 'false'}"
                lines += [f"  {part}", f"  {either}"]
        call = f"call void @__am_wrong(i1 {bad}, i32 {check.kind.value}, i32 {self.number})"
        return [*lines, f"  {call}{place or ''}"]

    # -- lanes --------------------------------------------------------------------------------

    def _shuffle(self, match: re.Match[str], what: Together) -> str:
        return f"{self._lanes(what, match['lane'])}\n{match[0]}"

    def _uniform(self, text: str, name: str) -> str:
        argument = _UNIFORM_ARGUMENT.search(text.partition("\n")[0])
        if not argument or not _UNIFORM.match(name):
            return text
        value, wide = f"%{argument['name']}", f"%am.wide.{self._next()}"
        if argument["type"] == "i32":
            return _at_entry(text, [self._lanes(Together.UNIFORM, value)])
        widened = f"  {wide} = zext i16 {value} to i32"
        return _at_entry(text, [widened, self._lanes(Together.UNIFORM, wide)])

    def _lanes(self, what: Together, value: str) -> str:
        return f"  call void @__am_lanes(i32 {what.value}, i32 {value}, i32 {self._next()})"

    def _return(self, match: re.Match[str]) -> str:
        call = f"  call void @__am_returned(i32 {self._next()}){match['place']}"
        return f"{call}\n{match[0]}"

    def _next(self) -> int:
        self.number += 1
        return self.number


class _Check(NamedTuple):
    """Lines that compute whether something is wrong, as `%?.bad`, with operands of this type."""

    kind: Kind
    type_: str
    lines: tuple[str, ...]


def _of_integers(op: str, type_: str, left: str, right: str) -> Iterator[_Check]:
    bits = int(re.findall(r"i(\d+)", type_)[0])
    constant = int(right) if re.fullmatch(r"-?\d+", right) else None
    if op in ("shl", "lshr", "ashr"):
        if constant is None or not 0 <= constant < bits:
            count = f"%?.bad = icmp uge {type_} {right}, {_constant(type_, bits)}"
            yield _Check(Kind.SHIFT_COUNT, type_, (count,))
        return
    if constant in (None, 0):
        zero = f"%?.bad = icmp eq {type_} {right}, {_constant(type_, 0)}"
        yield _Check(Kind.DIVISION_BY_ZERO, type_, (zero,))
    if op in ("sdiv", "srem") and constant in (None, -1):
        flags = f"<{type_[1:].split(' ')[0]} x i1>" if type_.startswith("<") else "i1"
        lines = (
            f"%?.least = icmp eq {type_} {left}, {_constant(type_, -(1 << (bits - 1)))}",
            f"%?.minus = icmp eq {type_} {right}, {_constant(type_, -1)}",
            f"%?.bad = and {flags} %?.least, %?.minus",
        )
        yield _Check(Kind.DIVISION_OVERFLOW, type_, lines)


def _of_conversion(found: re.Match[str]) -> _Check:
    """A conversion of a floating point number is right if the number without its fraction is one of
    the integer type: it lies between two numbers that the floating point type may not have."""
    source, target, value = found["source"], found["target"], found["value"]
    element = source.strip("<>").split(" x ")[-1]
    bits = int(re.findall(r"i(\d+)", target)[0])
    digits, largest, infinity = _FORMATS[element]
    signed = found["sign"] == "s"
    power = bits - 1 if signed else bits
    above = _number(element, 1 << power) if power <= largest else infinity
    if not signed:
        below = f"ogt {source} {value}, {_spread(source, _number(element, -1))}"
    elif power > largest:
        below = f"ogt {source} {value}, {_spread(source, _negated(infinity))}"
    elif power < digits:
        below = f"ogt {source} {value}, {_spread(source, _number(element, -(1 << power) - 1))}"
    else:
        below = f"oge {source} {value}, {_spread(source, _number(element, -(1 << power)))}"
    flags = f"<{source[1:].split(' ')[0]} x i1>" if source.startswith("<") else "i1"
    lines = (
        f"%?.low = fcmp {below}",
        f"%?.high = fcmp olt {source} {value}, {_spread(source, above)}",
        f"%?.fits = and {flags} %?.low, %?.high",
        f"%?.bad = xor {flags} %?.fits, {_constant(flags, -1)}",
    )
    return _Check(Kind.FLOAT_TO_INT, source, lines)


def _constant(type_: str, number: int) -> str:
    if not type_.startswith("<"):
        return "true" if type_ == "i1" else str(number)
    element = type_.split(" x ")[1][:-1]
    return f"splat ({element} {_constant(element, number)})"


def _spread(type_: str, number: str) -> str:
    return f"splat ({type_.split(' x ')[1][:-1]} {number})" if type_.startswith("<") else number


def _number(element: str, number: int) -> str:
    """A whole number of a floating point type, as LLVM spells its bits."""
    single = struct.unpack(">I", struct.pack(">f", float(number)))[0]
    if element == "bfloat":
        return f"0xR{single >> 16:04X}"
    if element == "half":
        return f"0xH{struct.unpack('>H', struct.pack('>e', float(number)))[0]:04X}"
    return f"0x{struct.unpack('>Q', struct.pack('>d', float(number)))[0]:016X}"


def _negated(infinity: str) -> str:
    """Minus infinity."""
    return infinity.replace("0x7F", "0xFF").replace("0xH7C", "0xHFC").replace("0xR7F", "0xRFF")


def _at_entry(text: str, lines: list[str]) -> str:
    """The function with these lines at its beginning."""
    return text.replace("\nentry:\n", "\n".join(["\nentry:", *lines, ""]), 1)
