"""Markers for `anymetal.trace`, put into raw IR: which lines a thread comes to, what they assign.

    store float %20, ptr %sum, !dbg !48
    %am.3 = bitcast float %20 to i32                     ; of the marker, as what follows
    %am.4 = zext i32 %am.3 to i64
    call void @__am_trace(i32 7, i32 0, i64 %am.4)

In raw IR each variable is still memory and each statement still where the user wrote it; markers
keep both from being optimised away. A call tells the number of a site, which number of the value
this is, and its bits.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from anymetal.frontend.unit import part_name
from anymetal.frontend.variables import DebugInformation, Scalar, Type, Variable
from anymetal.ir.calls import TRACE
from anymetal.source import KernelSource

_NAME = r'%(?:"[^"]*"|[\w.$-]+)'
_FUNCTION = re.compile(r"^define .*?^}$", re.M | re.S)
_PLACE = re.compile(r", !dbg (!\d+)")
_DECLARED = re.compile(rf"^    #dbg_declare\(ptr ({_NAME}), (!\d+), !DIExpression\(\), ", re.M)
_DEBUG = re.compile(r"^    #dbg_\w+\(.*\)\n", re.M)
_ALLOCA = re.compile(rf"^  ({_NAME}) = alloca ", re.M)
_LOAD = re.compile(rf"^  ({_NAME}) = load ptr, ptr ({_NAME}),")
_GEP = re.compile(
    rf"^  (?P<name>{_NAME}) = getelementptr (?:inbounds |nuw |nusw )*"
    rf"(?P<type>\[[^%]*?\]|{_NAME}|\[.*?\]|\w+), ptr (?P<base>{_NAME})"
    r"(?P<indices>(?:, i\d+ [^,]+)+)"
)
_STORE = re.compile(
    rf"^  store (?:volatile )?(?P<type><[^>]*>|\w+) (?P<value>.+), ptr (?P<to>{_NAME}), align"
)
_CALL = re.compile(
    r"^  (?:\S+ = )?(?:tail )?call .*?@(?P<callee>\"[^\"]*\"|[\w.$]+)\((?P<arguments>.*)\)"
)
_BRACKETS = re.compile(r"\([^()]*\)")
_POINTERS = re.compile(rf"ptr ((?:[a-z_]+ |\d+ )*)({_NAME})")
_BRANCH = re.compile(r"^  br i1 (?P<value>\S+), ")
_QUIET = re.compile(
    r"^  (?:\]|unreachable|%\S+ = (?:alloca|phi) |"
    r"call void @llvm\.(?:lifetime|var\.annotation))"
)
#: Functions that change what their first pointer leads to: assignments, constructors, and those of
#: our headers that set a component.
_ASSIGNS = re.compile(
    r"(?:aS|pL|mI|mL|dV|rM|aN|oR|eO|lS|rS|C[12])E|put_|^llvm\.mem(?:cpy|move|set)"
)
_LVALUE = re.compile(r"([A-Za-z_]\w*(?:\s*(?:\.|->)\s*\w+|\s*\[[^\[\]]*\])*)\s*$")
_FLOATS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
_ATTRIBUTES = "nounwind willreturn nomerge memory(inaccessiblemem: readwrite)"
_DECLARATION = f"\ndeclare void @{TRACE}(i32, i32, i64) {_ATTRIBUTES}\n"

Place = tuple[str, int, int]  #: part, line, column


class Site(NamedTuple):
    """Something that a thread does in a line."""

    what: str  #: "line", "value", "condition", or "before": a value that may change now
    part: str  #: "source", "header" …
    line: int
    name: str = ""  #: of what is assigned, without its indices
    indices: int = 0  #: how many there are; they come in front of the value
    scalars: tuple[Scalar, ...] = ()  #: of the value
    perhaps: bool = False  #: the value may be the same as before
    variable: str = ""  #: which one of this name


class _Target(NamedTuple):
    """Where a pointer leads."""

    variable: Variable
    indices: tuple[str, ...] | None = ()  #: with their types; None if there are members among them
    type: Type = Type()
    own: str = ""  #: the variable's memory; empty: it holds a pointer, and that leads there


def with_markers(source: KernelSource, ir: str) -> tuple[str, list[Site]]:
    """Raw IR with markers instead of debug records, and what the numbers of sites mean."""
    information = DebugInformation.of(ir)
    sites: list[Site] = []
    texts = {part: text.split("\n") for part, text in source.parts.items()}
    parts = {part_name(source, part): part for part in texts}

    @functools.cache
    def place(entry: str) -> Place | None:
        """The place that an entry tells, if it is in the user's text."""
        told = information.fields.get(entry, {})
        part = parts.get(information.file(entry))
        line = int(told.get("line", 0))
        if part is None or not 0 < line <= len(texts[part]):  # the end of a body is ours
            return None
        return part, line, int(told.get("column", 1))

    def marked(found: re.Match[str]) -> str:
        return _Function(found[0], information, place, texts, sites).marked()

    return _DEBUG.sub("", _FUNCTION.sub(marked, ir)) + _DECLARATION, sites


class _Function:
    """One function on its way."""

    def __init__(
        self,
        text: str,
        information: DebugInformation,
        place: Callable[[str], Place | None],
        texts: dict[str, list[str]],
        sites: list[Site],
    ) -> None:
        self._text, self._information, self._place = text, information, place
        self._texts, self._sites = texts, sites
        self._allocas = set(_ALLOCA.findall(text))
        self._targets: dict[str, _Target] = {}
        for name, number in _DECLARED.findall(text):
            if variable := information.variable(number):
                type_ = information.type(variable.type)
                self._targets[name] = _Target(variable, type=type_, own=name)
        self._lines: list[str] = []
        self._fresh = 0

    def marked(self) -> str:
        """The function with markers. One that Clang has made has no lines of its own."""
        entry = _PLACE.search(self._text.split("\n", 1)[0].replace(" !dbg", ", !dbg"))
        if entry and "Artificial" in self._information.fields[entry[1]].get("flags", ""):
            return self._text
        current: tuple[str, int] | None = None
        for line in self._text.split("\n"):
            if not line.startswith("  ") or line.startswith("    "):
                self._lines.append(line)
                current = None if line.endswith(":") or ":  " in line else current
                continue
            found = _PLACE.search(line)
            place = self._place(found[1]) if found and not _QUIET.match(line) else None
            if place and place[:2] != current:
                current = place[:2]
                if self._texts[place[0]][place[1] - 1].strip(" \t{};"):
                    self._tell(Site("line", *current), [])
            if place and (branch := _BRANCH.match(line)):
                scalar = Scalar("", 0, 1, "boolean")
                site = Site("condition", place[0], place[1], scalars=(scalar,))
                self._tell(site, [self._bits("i1", branch["value"])])
            self._follow(line)
            passed = list(self._passed(line)) if place else []
            for target, sure in passed:
                if not sure and place:
                    self._whole(target, place, "before")
            self._lines.append(line)
            if "!annotation" in line:  # a variable that has no value yet
                continue
            if found := _STORE.match(line):
                self._stored(found, place)
            for target, _ in passed:
                if place:
                    self._whole(target, place)
        return "\n".join(self._lines)

    # -- where pointers lead --------------------------------------------------------------

    def _follow(self, line: str) -> None:
        if found := _LOAD.match(line):
            held = self._targets.get(found[2])
            if held and held.own and held.type.is_address and held.indices == ():
                pointee = self._information.type(held.type.element)
                self._targets[found[1]] = _Target(held.variable, (), pointee)
        elif found := _GEP.match(line):
            base = self._targets.get(found["base"])
            if base is None:
                return
            indices = tuple(found["indices"].removeprefix(", ").split(", "))
            whole, type_ = base.indices, base.type
            if found["type"].startswith("["):
                indices = indices[1:]
                type_ = self._information.type(type_.element) if type_.element else type_
            elif len(indices) > 1:  # a member, whose name is in the text
                whole, type_ = None, Type()
            known = None if whole is None else (*whole, *indices)
            self._targets[found["name"]] = base._replace(indices=known, type=type_)

    # -- what is assigned -----------------------------------------------------------------

    def _passed(self, line: str) -> Iterator[tuple[tuple[str, _Target], bool]]:
        """What a call may change: the pointers that it gets, and whether it is sure to."""
        found = _CALL.match(line)
        if found is None or "llvm.lifetime" in line or "llvm.var.annotation" in line:
            return
        callee, arguments = found["callee"].strip('"'), found["arguments"]
        while _BRACKETS.search(arguments):
            arguments = _BRACKETS.sub("", arguments)
        for number, (words, pointer) in enumerate(_POINTERS.findall(arguments)):
            target = self._targets.get(pointer)
            if target is None or (number == 0 and callee.startswith("_ZNK")):
                continue
            sure = "sret" in words or (number == 0 and bool(_ASSIGNS.search(callee)))
            if target.own and self._place(target.variable.line) is not None:
                if target.indices != ():  # a part of it: shown as a whole
                    type_ = self._information.type(target.variable.type)
                    pointer, target = target.own, target._replace(indices=(), type=type_)
                    sure = False
                yield (pointer, target), sure
            elif sure and not target.own and target.indices is not None:
                yield (pointer, target), sure

    def _whole(self, where: tuple[str, _Target], place: Place, what: str = "value") -> None:
        """All that lies there now."""
        pointer, target = where
        scalars = tuple(one for one in target.type.scalars if one.kind != "address")
        if bits := [self._loaded(pointer, one) for one in scalars]:
            self._value(target, place, scalars, bits, what, perhaps=bool(target.own))

    def _stored(self, found: re.Match[str], place: Place | None) -> None:
        target = self._targets.get(found["to"])
        if target is None and (place is None or found["to"] in self._allocas):
            return  # a temporary, or code that is not the user's
        if place is None:
            assert target is not None
            declared = self._place(target.variable.line)
            if not target.variable.is_parameter or declared is None or target.type.is_address:
                return
            place = declared
        if target and target.own and target.indices != () and not self._lvalue(*place):
            type_ = self._information.type(target.variable.type)  # a part of an initialisation
            return self._whole((target.own, target._replace(indices=(), type=type_)), place)
        bits = self._vector(found["type"], found["value"])
        scalars = target.type.scalars if target else ()
        if len(scalars) != len(bits):
            scalars = _plain(found["type"], len(bits))
        self._value(target, place, scalars, bits)

    def _value(
        self,
        target: _Target | None,
        place: Place,
        scalars: tuple[Scalar, ...],
        bits: list[str],
        what: str = "value",
        perhaps: bool = False,
    ) -> None:
        if target is None or target.indices is None:
            name, indices = self._lvalue(*place) or "…", []
        else:
            name, indices = target.variable.name, [self._index(one) for one in target.indices]
            if not target.own and not indices:
                pointer = self._information.type(target.variable.type).is_pointer
                name = f"*{name}" if pointer else name
        variable = target.variable.line if target else ""
        site = Site(what, *place[:2], name, len(indices), scalars, perhaps, variable)
        self._tell(site, [*indices, *bits])

    def _lvalue(self, part: str, line: int, column: int) -> str:
        """What stands in front of an assignment, as the user wrote it."""
        before = self._texts[part][line - 1].encode()[: column - 1]  # Clang counts bytes
        found = _LVALUE.search(before.decode(errors="ignore"))
        return re.sub(r"\s+", "", found[1]) if found else ""

    # -- LLVM IR --------------------------------------------------------------------------

    def _tell(self, site: Site, bits: list[str]) -> None:
        number = len(self._sites)
        self._sites.append(site)
        for part, one in enumerate(bits or ["0"]):
            self._lines.append(f"  call void @{TRACE}(i32 {number}, i32 {part}, i64 {one})")

    def _do(self, text: str) -> str:
        self._fresh += 1
        self._lines.append(f"  %am.traced.{self._fresh} = {text}")
        return f"%am.traced.{self._fresh}"

    def _index(self, operand: str) -> str:
        type_, value = operand.split(" ", 1)
        return value if type_ == "i64" else self._do(f"sext {operand} to i64")

    def _vector(self, type_: str, value: str) -> list[str]:
        """The bits of a scalar or of all elements of a vector; none of a pointer."""
        if vector := re.fullmatch(r"<(\d+) x (\w+)>", type_):
            elements = [
                self._do(f"extractelement {type_} {value}, i64 {i}") for i in range(int(vector[1]))
            ]
            return [self._bits(vector[2], one) for one in elements]
        return [] if type_ == "ptr" else [self._bits(type_, value)]

    def _bits(self, type_: str, value: str) -> str:
        if width := _FLOATS.get(type_):
            value, type_ = self._do(f"bitcast {type_} {value} to i{width}"), f"i{width}"
        return value if type_ == "i64" else self._do(f"zext {type_} {value} to i64")

    def _loaded(self, pointer: str, scalar: Scalar) -> str:
        at = self._do(f"getelementptr i8, ptr {pointer}, i64 {scalar.offset}")
        type_ = f"i{8 * scalar.size}"
        return self._bits(type_, self._do(f"load {type_}, ptr {at}, align 1"))


def _plain(type_: str, count: int) -> tuple[Scalar, ...]:
    """As what to read a value that is known by LLVM's type only."""
    element = re.sub(r"<\d+ x (\w+)>", r"\1", type_)
    if element in _FLOATS:
        size, kind = _FLOATS[element] // 8, "bfloat" if element == "bfloat" else "float"
    else:
        bits = int(element[1:]) if re.fullmatch(r"i\d+", element) else 64
        size, kind = max(1, bits // 8), "boolean" if bits == 1 else "signed"
    paths = [""] if count == 1 else [f"[{i}]" for i in range(count)]
    return tuple(Scalar(path, size * i, size, kind) for i, path in enumerate(paths[:count]))
