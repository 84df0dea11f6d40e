"""Gives each local variable a value that says it has none, for builds that look for such.

    float total;      becomes      %total.undefined.7 = call float @__am_undefined_float(i32 7)
                                   store float %total.undefined.7, ptr %total

LLVM takes the result for some number of which nothing is known, so it neither profits from the lack
of a value nor drops what depends on one, and still makes the variable a register. The calls that
are left in the optimised program are what passes/track_undefined.py begins with. Their names have
the name of the variable in front, and their place in the text is where it comes into scope.

Small structs and arrays are taken apart into fields, so padding is left alone. Large ones are
declared as a whole: `call void @__am_begin(ptr %table, i64 1024, i32 8)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from anymetal.ir import types as t
from anymetal.ir.calls import BEGIN, UNDEFINED, UNDEFINED_TYPES
from anymetal.ir.layout import scalars
from anymetal.ir.operands import OperandReader
from anymetal.ir.tokens import Tokens

#: Scalars of a variable that are set one by one.
MOST_SCALARS = 32

_NAME = r"%[\w.$-]+|%\"[^\"]*\""
_ALLOCA = re.compile(rf"^  (?P<name>{_NAME}) = alloca (?P<type>.+?), align \d+$", re.M)
_BIRTH = re.compile(
    rf"^  call void @llvm\.lifetime\.start\.p0\(ptr (?P<name>{_NAME})\).*?(?P<place>, !dbg !\d+)?$",
    re.M,
)
#: Where Clang keeps arguments, which it stores there at once.
_ARGUMENT = re.compile(r"\.(?:indirect_)?addr\d*\"?$")
_FUNCTION = re.compile(r"^define .*?^}$", re.M | re.S)
_NAMED_TYPE = re.compile(r"^(%(?:\"[^\"]*\"|[^ ]+)) = type (.*)$", re.M)
#: Variables that Clang has set to zero after all (frontend/clang.py).
_SET = re.compile(r"^(!\d+) = !\{!\"auto-init\"\}$", re.M)
#: Our own functions on vectors of three components, and how these lie in memory.
_ON_THREE = re.compile(
    r"^define .*@_ZNK?(?:4__am|5metal)\S*vec(?:_storage)?I\w{1,6}?Li3EE.*$", re.M
)
_ON_OTHERS = re.compile(
    r"vec(?:_storage)?I\w{1,6}?Li(?!3E)\d+EE|matrixI\w{1,6}?Li(?:(?!3E)\d+ELi\d+|3ELi(?!3E)\d+)EE"
)
_LOADED = re.compile(
    rf"^  (?P<name>{_NAME}) = (?P<load>load (?:volatile )?(?P<type><4 x \w+>).*)$", re.M
)


def mark_undefined(text: str) -> str:
    """The module with these calls. Threadgroup variables must be globals already."""
    marks = _Marks(text)
    for node in _SET.findall(text):
        text = re.sub(rf"^.*!annotation {node}$\n", "", text, flags=re.M)
    text = _FUNCTION.sub(lambda match: marks.function(match[0]), text)
    return text + "".join(f"{line}\n" for line in marks.declared.values())


class _Marks:
    """Marks the variables of one module."""

    def __init__(self, text: str) -> None:
        self.layouts = Layouts(text)
        self.number = 0  #: of variables so far
        self.places = 0  #: where variables come into scope, so far
        self.declared: dict[str, str] = {}

    def function(self, text: str) -> str:
        if _of_three(text.split("\n", 1)[0]):
            text = _LOADED.sub(_with_third_twice, text)
        born = {match["name"] for match in _BIRTH.finditer(text)}
        numbers: dict[str, int] = {}
        types: dict[str, str] = {}
        for match in _ALLOCA.finditer(text):
            if not _ARGUMENT.search(match["name"]):
                self.number += 1
                numbers[match["name"]], types[match["name"]] = self.number, match["type"]

        def marked(match: re.Match[str]) -> str:
            name = match["name"]
            if name not in numbers or (name in born and "type" in match.groupdict()):
                return match[0]
            place = match.groupdict().get("place") or ""
            return "\n".join([match[0], *self._marks(name, types[name], numbers[name], place)])

        return _ALLOCA.sub(marked, _BIRTH.sub(marked, text))

    def _marks(self, name: str, type_text: str, number: int, place: str) -> Iterator[str]:
        """The lines for a variable that comes into scope."""
        self.places += 1
        type_ = self.layouts.type(type_text)
        parts = list(islice(scalars(type_), MOST_SCALARS + 1))
        if len(parts) > MOST_SCALARS or not all(str(kind) in UNDEFINED_TYPES for _, kind in parts):
            self.declared[BEGIN] = (
                f"declare void @{BEGIN}(ptr captures(none), i64, i32) "
                "nounwind willreturn memory(argmem: write, inaccessiblemem: readwrite)"
            )
            yield f"  call void @{BEGIN}(ptr {name}, i64 {type_.size}, i32 {number}){place}"
            return
        values: dict[t.Type, str] = {}
        for at, (offset, kind) in enumerate(parts):
            if kind not in values:
                callee = f"{UNDEFINED}{kind}"
                self.declared[callee] = (
                    f"declare {kind} @{callee}(i32) nounwind willreturn speculatable memory(none)"
                )
                values[kind] = _derived(name, f"undefined.{self.places}.{kind}")
                yield f"  {values[kind]} = call {kind} @{callee}(i32 {number}){place}"
            target = name
            if offset:
                target = _derived(name, f"undefined.{self.places}.at.{at}")
                yield f"  {target} = getelementptr i8, ptr {name}, i64 {offset}"
            yield f"  store {kind} {values[kind]}, ptr {target}, align {_aligned(offset, kind)}"


class Layouts(OperandReader):
    """Types as a module names them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.type_texts = dict(_NAMED_TYPE.findall(text))

    def type(self, text: str) -> t.Type:
        return self._type(Tokens(text))


def _aligned(offset: int, kind: t.Type) -> int:
    """The alignment of a scalar: not all structs give it its own."""
    return 1 if offset % kind.align else kind.align


def _derived(name: str, word: str) -> str:
    if name[1:].isdigit():  # LLVM numbers these itself
        return f"%value.{name[1:]}.{word}"
    return f'{name[:-1]}.{word}"' if name.endswith('"') else f"{name}.{word}"


def _of_three(head: str) -> bool:
    """Whether a function of our headers is about vectors of three components, and no others."""
    return bool(_ON_THREE.match(head)) and not _ON_OTHERS.search(head)


def _with_third_twice(match: re.Match[str]) -> str:
    """A load of a vector of three, which has four in memory, of which nobody sets the last."""
    loaded, type_ = _derived(match["name"], "four"), match["type"]
    return (
        f"  {loaded} = {match['load']}\n  {match['name']} = shufflevector {type_} {loaded}, "
        f"{type_} poison, <4 x i32> <i32 0, i32 1, i32 2, i32 2>"
    )
