"""The user's variables and their types, from Clang's debug information.

    !112 = !DILocalVariable(name: "i", scope: !113, file: !114, line: 2, type: !115)

Only `anymetal.trace` has Clang write as much as this.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

_ENTRY = re.compile(r"^(!\d+) = (?:distinct )?!(\w+)\((.*)\)$", re.M)
_LIST = re.compile(r"^(!\d+) = !\{(.*)\}$", re.M)
_FIELD = re.compile(r'(\w+): ("(?:[^"\\]|\\.)*"|[^,"()]+(?:\([^)]*\))?)')
_THROUGH = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type")
_ADDRESSES = ("DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type")
_VECTOR = re.compile(r"(?:packed_)?vec<.*, (\d+)>")
MOST_PARTS = 64  #: of one value that are shown


class Scalar(NamedTuple):
    """A number inside of a value."""

    path: str  #: how to get there from the value: "", ".x", "[3]", ".weights[2]"
    offset: int  #: in bytes
    size: int
    kind: str  #: "float", "bfloat", "signed", "unsigned", "boolean", "address"


@dataclass(frozen=True)
class Type:
    """A type as the user sees it."""

    scalars: tuple[Scalar, ...] = ()  #: at most MOST_PARTS
    element: str = ""  #: metadata of what a pointer leads to, or an array consists of
    is_address: bool = False
    is_pointer: bool = False  #: and no reference


@dataclass(frozen=True)
class Variable:
    """A local variable or a parameter."""

    name: str
    type: str  #: its metadata
    line: str  #: its metadata, as a place
    is_parameter: bool = False


@dataclass(eq=False)
class DebugInformation:
    """The metadata of a module."""

    kinds: dict[str, str] = field(default_factory=dict)
    fields: dict[str, dict[str, str]] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    _types: dict[str, Type] = field(default_factory=dict)

    @classmethod
    def of(cls, ir: str) -> DebugInformation:
        """That of LLVM IR."""
        found = cls()
        for number, kind, text in _ENTRY.findall(ir):
            found.kinds[number] = kind
            found.fields[number] = {name: value.strip('"') for name, value in _FIELD.findall(text)}
        for number, text in _LIST.findall(ir):
            found.lists[number] = text.split(", ")
        return found

    def file(self, number: str) -> str:
        """The file of a place: scopes name it, or the scope around them does."""
        while told := self.fields.get(number):
            if "file" in told:
                return self.fields.get(told["file"], {}).get("filename", "")
            number = told.get("scope", "")
        return ""

    def variable(self, number: str) -> Variable | None:
        """The variable that an entry describes."""
        if self.kinds.get(number) != "DILocalVariable":
            return None
        told = self.fields[number]
        if "name" not in told or told.get("flags", "").startswith("DIFlagArtificial"):
            return None
        return Variable(told["name"], told.get("type", ""), number, "arg" in told)

    def type(self, number: str) -> Type:
        """What is known of a type."""
        if number not in self._types:
            self._types[number] = self._type(number)
        return self._types[number]

    def _type(self, number: str) -> Type:
        told, kind = self.fields.get(number, {}), self.kinds.get(number)
        tag, base = told.get("tag", ""), told.get("baseType", "")
        if kind == "DIBasicType":
            return Type((Scalar("", 0, int(told.get("size", 0)) // 8, _kind(told)),))
        if kind == "DIDerivedType" and tag in _THROUGH:
            return self.type(base)
        if kind == "DIDerivedType" and tag in _ADDRESSES:
            return Type((Scalar("", 0, 8, "address"),), base, True, tag == _ADDRESSES[0])
        if kind == "DICompositeType" and tag == "DW_TAG_enumeration_type":
            return self.type(base)
        if kind == "DICompositeType" and tag == "DW_TAG_array_type":
            return self._array(told)
        if kind == "DICompositeType":
            return self._struct(told)
        return Type()

    def _array(self, told: dict[str, str]) -> Type:
        """Of one dimension or several."""
        element = self.type(told["baseType"])
        counts = [int(self.fields[one].get("count", "0")) for one in self.lists[told["elements"]]]
        scalars = element.scalars
        size = self._size(told["baseType"])
        for count in reversed(counts):
            scalars = tuple(
                one._replace(path=f"[{i}]{one.path}", offset=one.offset + i * size)
                for i in range(min(count, MOST_PARTS))
                for one in scalars
            )[:MOST_PARTS]
            size *= count
        return Type(scalars, told["baseType"])

    def _struct(self, told: dict[str, str]) -> Type:
        size = int(told.get("size", 0)) // 8
        if vector := _VECTOR.fullmatch(told.get("name", "")):
            first = self.lists.get(told.get("templateParams", ""), [""])[0]
            (number, *_) = self.type(self.fields.get(first, {}).get("type", "")).scalars or (None,)
            if number is not None:
                return Type(
                    tuple(
                        number._replace(path=path, offset=i * number.size)
                        for i, path in enumerate(_components(int(vector[1])))
                    )
                )
        scalars: list[Scalar] = []
        for member in self.lists.get(told.get("elements", ""), []):
            own = self.fields.get(member, {})
            if (
                self.kinds.get(member) != "DIDerivedType"
                or own.get("flags", "") == "DIFlagStaticMember"
            ):
                continue
            at = int(own.get("offset", 0)) // 8
            path = f".{own['name']}" if own.get("tag") == "DW_TAG_member" and "name" in own else ""
            scalars += (
                one._replace(path=path + one.path, offset=one.offset + at)
                for one in self.type(own.get("baseType", "")).scalars
            )
        return Type(tuple(scalars[:MOST_PARTS])) if size else Type()

    def _size(self, number: str) -> int:
        """Bytes of a type."""
        told = self.fields.get(number, {})
        if self.kinds.get(number) == "DIDerivedType" and told.get("tag") in _THROUGH:
            return self._size(told.get("baseType", ""))
        return int(told.get("size", 0)) // 8


def _components(count: int) -> list[str]:
    """How those of a vector are called."""
    return [".x", ".y", ".z", ".w"][:count] if count <= 4 else [f"[{i}]" for i in range(count)]


def _kind(told: dict[str, str]) -> str:
    encoding = told.get("encoding", "")
    if encoding == "DW_ATE_float":
        return "bfloat" if "bf" in told.get("name", "") else "float"
    if encoding == "DW_ATE_boolean":
        return "boolean"
    return "signed" if encoding in ("DW_ATE_signed", "DW_ATE_signed_char") else "unsigned"
