"""From what the observer notes to findings: numbers become names, indices, places and sentences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, Protocol

from anymetal.findings import Finding, Place
from anymetal.sanitizer.kinds import KINDS, Kind
from anymetal.sanitizer.texts import Texts
from anymetal.source import KernelSource

Extent = tuple[int, int, int]
#: Finding.other_site of a finding that has no second access.
NO_SITE = 2**32 - 1
_VERBS = {
    "read": "reads",
    "wrote": "writes",
    "updated": "updates atomically",
    "gave an argument": "gives an argument that must be the same in all threads of its SIMD-group, "
    "and others give another",
    "used matrices": "makes a call that all threads of its SIMD-group have to make, and not all do",
}
_OF_SEVERAL = {"read": "read", "wrote": "write", "updated": "update atomically"}
#: In place of the other thread: several, none of which is known.
_SEVERAL = 2**32 - 1
#: What happens at the other place of a finding.
_INSTEAD = {
    "barrier-divergent": "it comes to this barrier instead",
    "barrier-after-return": "it returns here",
}


class RawFinding(Protocol):
    """`Finding` of targets/cpu/observer/observer.h."""

    kind: int
    site: int
    object: int
    bytes: int
    offset: int  #: in bytes from the beginning of the object
    thread: Sequence[int]
    group: Sequence[int]
    other_site: int
    other_thread: Sequence[int]
    other_group: Sequence[int]
    detail: int
    count: int


class Bound(NamedTuple):
    """An array of a launch."""

    shape: tuple[int, ...]
    itemsize: int


class _Object(NamedTuple):
    """Memory that the kernel may touch."""

    kind: str  #: buffer, threadgroup, private or constant; nothing if it is none of these
    name: str
    shape: tuple[int, ...]
    itemsize: int

    @property
    def text(self) -> str:
        if not self.kind:
            return "all arrays"
        elements = prod(self.shape)
        size = f"{elements} element{'' if elements == 1 else 's'}"
        shape = f", shape {self.shape}" if len(self.shape) > 1 else ""
        what = "" if self.kind == "buffer" else f"{self.kind} memory "
        return f"{what}`{self.name}` ({size}{shape})"


class Reporter:
    """Findings of the launches of one sanitized build."""

    def __init__(
        self, source: KernelSource, notes: str, slots: Sequence[int], texts: Texts
    ) -> None:
        known = json.loads(notes)
        self._source = source
        self._arrays: list[list[Any]] = known["arrays"]
        self._sites: list[list[Any]] = known["sites"]
        #: What undefined values come from: kind, name and place, by the number of the site.
        self._origins: dict[str, list[tuple[str, str, str]]] = known.get("undefined", {}).get(
            "origins", {}
        )
        self._slots = slots
        self._texts = texts

    def findings(
        self, raw: Iterable[RawFinding], bound: Sequence[Bound], wanted: Iterable[str]
    ) -> Iterator[Finding]:
        """The findings of one launch, of the kinds whose check is wanted.

        `bound`: the arrays, inputs then outputs.
        """
        checks = frozenset(wanted)
        for one in raw:
            kind = KINDS[one.kind]
            if kind.check in checks:
                yield self._finding(kind, one, bound)

    def _finding(self, kind: Kind, raw: RawFinding, bound: Sequence[Bound]) -> Finding:
        object_ = self._object(raw.object, bound)
        index = _index(object_, raw.offset)
        instead = _INSTEAD.get(kind.name)
        other = raw.other_site if instead or raw.kind in _WITH_OTHER else NO_SITE
        words = {
            "who": _who(raw.thread, raw.group),
            "group": _tuple(raw.group),
            "object": object_.text,
            "element": _element(object_, raw),
            "bytes": self._sites[raw.site][1] if raw.site < len(self._sites) else raw.bytes,
            "align": self._sites[raw.site][3] if raw.site < len(self._sites) else 1,
            "offset": _signed(raw.offset),
            "detail": raw.detail,
            "accesses": self._verb(raw.site),
            "other": _who(raw.other_thread, raw.other_group, raw.group),
            "other_accesses": self._verb(other, several=_tuple(raw.other_thread)[0] == _SEVERAL),
        }
        details: dict[str, Any] = {}
        if object_.kind:
            details = {"buffer" if object_.kind == "buffer" else "array": object_.name}
            details |= {"shape": object_.shape, "index": index}
        if kind.name not in _WITHOUT_THREAD:
            details |= {"thread": _tuple(raw.thread), "threadgroup": _tuple(raw.group)}
        others = tuple(self._declarations(raw.site)) if kind.check == "undefined" else ()
        if other < len(self._sites) and instead:
            others = (self._place(other, instead),)
        elif other < len(self._sites):
            if _tuple(raw.other_thread)[0] != _SEVERAL:
                details["other_thread"] = _tuple(raw.other_thread)
            details["other_threadgroup"] = _tuple(raw.other_group)
            others = (self._place(other, f"the other access, by {words['other']}"),)
        return Finding(
            code=kind.name,
            severity=kind.severity,
            message=kind.message.format_map(words),
            kernel=self._source.name,
            place=self._place(raw.site),
            others=others,
            details=details,
            hint=kind.hint,
            count=max(1, raw.count),
        )

    def order_finding(
        self, output: int, offset: int, detail: str, details: Mapping[str, Any], count: int,
        bound: Sequence[Bound],
    ) -> Finding:  # fmt: skip
        """An element of an output that other orders give another value."""
        kind = next(kind for kind in KINDS if kind.name == "order-dependent")
        shaped = bound[output]
        name = self._source.parameters[self._slots[output]].name
        object_ = _Object("buffer", name, shaped.shape, shaped.itemsize)
        index = _index(object_, offset)
        return Finding(
            code=kind.name,
            severity=kind.severity,
            message=kind.message.format(element=_named(object_, index), detail=detail),
            kernel=self._source.name,
            place=self._texts.whole(),
            details={"buffer": name, "shape": shaped.shape, "index": index, **details},
            hint=kind.hint,
            count=count,
        )

    def too_many_buffers(self, count: int) -> Finding:
        """Here all buffers can be bound; a Mac refuses to compile the kernel."""
        kind = next(kind for kind in KINDS if kind.name == "metal-limit")
        return Finding(
            code=kind.name,
            severity=kind.severity,
            message=kind.message.format(detail=count),
            kernel=self._source.name,
            place=self._texts.whole(),
            details={"buffers": count},
            hint=kind.hint,
        )

    def _declarations(self, site: int) -> Iterator[Place]:
        """Where that comes into scope what a value that was never set may come from."""
        for what, name, where in self._origins.get(str(site), ()):
            yield self._texts.place(where, _DECLARED[what].format(name=name or "a temporary"))

    def _verb(self, site: int, several: bool = False) -> str:
        action: str = self._sites[site][0] if site < len(self._sites) else ""
        if several:
            return _OF_SEVERAL.get(action, "access")
        return _VERBS.get(action, action or "accesses")

    def _place(self, site: int, message: str = "") -> Place:
        where = self._sites[site][2] if site < len(self._sites) else ""
        return self._texts.place(where, message)

    def _object(self, number: int, bound: Sequence[Bound]) -> _Object:
        if number >= len(self._arrays):
            return _Object("", "", (), 1)
        kind, name, bytes_, element = self._arrays[number][:4]
        if kind == "buffer" and number in self._slots:
            shaped = bound[self._slots.index(number)]
            return _Object(kind, name, shaped.shape, shaped.itemsize)
        element = element or 1
        return _Object(kind, name, (bytes_ // element,), element)


_DECLARED = {
    "variable": "`{name}` has no value here",
    "threadgroup": "threadgroup memory `{name}` is undefined when a threadgroup begins",
    "output": "output `{name}` is undefined when the kernel begins: there is no init_value",
}
_WITH_OTHER = frozenset(n for n, kind in enumerate(KINDS) if "{other}" in kind.message)
_WITHOUT_THREAD = frozenset(kind.name for kind in KINDS if "{who}" not in kind.message)


def _tuple(numbers: Sequence[int]) -> Extent:
    x, y, z = numbers
    return (x, y, z)


def _who(thread: Sequence[int], group: Sequence[int], besides: Sequence[int] | None = None) -> str:
    """A thread; its threadgroup only if that is not the one that was named before."""
    text = "other threads" if _tuple(thread)[0] == _SEVERAL else f"thread {_tuple(thread)}"
    if besides is not None and _tuple(besides) == _tuple(group):
        return text
    return f"{text} of threadgroup {_tuple(group)}"


def _signed(offset: int) -> int:
    return (offset + 2**63) % 2**64 - 2**63


def _index(object_: _Object, offset: int) -> tuple[int, ...]:
    """Along each axis; outside of the array only the first may leave its range."""
    number, index = _signed(offset) // object_.itemsize, []  # the last axis first
    for extent in reversed(object_.shape[1:]):
        number, at = divmod(number, extent) if extent else (number, 0)
        index.append(at)
    return (number, *reversed(index))


def _named(object_: _Object, index: Sequence[int]) -> str:
    return f"{object_.name}[{', '.join(map(str, index))}]"


def _element(object_: _Object, raw: RawFinding) -> str:
    if not object_.kind:
        return f"address {raw.offset:#x}"
    offset = _signed(raw.offset)
    name = _named(object_, _index(object_, raw.offset))
    if raw.bytes <= object_.itemsize and offset % object_.itemsize == 0:
        return name
    last = offset + max(1, raw.bytes) - 1
    return f"bytes {offset} to {last} of `{object_.name}` (from {name} on)"
