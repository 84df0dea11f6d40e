"""Mistakes: each changes one place of a kernel's text and leaves its lines where they are."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from anymetal.targets.base import Launch
from anymetal.testing.mutants.recording import with_text

#: What is wrong with a changed kernel, if anything: threads do not wait for each other, an access
#: leaves its array, or a value is used that nobody has written.
Harm = Literal["order", "bounds", "undefined"]


class Mutant(NamedTuple):
    """A kernel with a mistake."""

    operator: str
    harm: Harm
    line: int  #: of the body or header; 0 for an argument of the call
    change: str
    launch: Launch
    #: A launch that tells whether the mistake does harm, if that is another one: with the barrier
    #: gone whose flags were weakened, or with FILLING in place of the value that is missing.
    instead: Launch | None = None

    def __str__(self) -> str:
        return f"{self.launch.source.name}:{self.line} {self.operator}: {self.change}"


_WORDLESS = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
_BARRIER = re.compile(r"\b(?:threadgroup_barrier|simdgroup_barrier)\s*\([^;]*\)\s*;")
_FLAG = re.compile(r"\bmem_flags::mem_(?:threadgroup|device)\b")
_POINTER = re.compile(r"\b(?:device|constant)\b[^,;(){}*]*\*\s*(?:__restrict\s*)?(\w+)")
_GUARD = re.compile(r"\bif\s*\([^;{}]*\)\s*(?:return\s*;|\{\s*return\s*;\s*\})")
_LESS = re.compile(
    r"\b(?:if|while)\s*\([^;{}()<]*?(?<!<)(?P<less><)(?![<=])"
    r"|\bfor\s*\([^;]*;[^;<]*(?<!<)(?P<last><)(?![<=])[^;]*;"
)
_PICKED = re.compile(
    r"(?P<test>[^;={}()?,]+)\?\s*(?P<value>\w+\[[^\[\]]*\])\s*:\s*(?P<other>[^;?:,]+)(?=;)"
)
_NUMBER = r"-?(?:\d+\.?\d*(?:[eE][-+]?\d+)?[fhuUL]*|INFINITY)"
_VARIABLE = re.compile(
    r"(?:^|[;{}])\s*(?P<type>float|half|bfloat|int|uint|T)\s+\w+"
    rf"(?P<init>\s*=\s*(?P<value>{_NUMBER}))\s*;",
    re.M,
)
#: Stands for a value that is missing.
FILLING = "AM_FILLING"
#: What may be there instead, by type: two values that have nothing in common.
FILLINGS = dict.fromkeys(("float", "half", "bfloat", "T"), ("-3.0e4", "7.25e3")) | {
    "int": ("-77777", "1234567"),
    "uint": ("777777777u", "13u"),
}


def mutants(launch: Launch) -> Iterator[Mutant]:
    """Every mistake that the kernel has a place for."""
    for part in ("body", "header"):
        text = _Text(launch, part)
        yield from _barriers(text)
        yield from _indices(text)
        yield from _guards(text)
        yield from _initialisers(text)
    if launch.init_value is not None:
        without = dataclasses.replace(launch, init_value=None)
        yield Mutant("drop-init-value", "undefined", 0, "no init_value", without, launch)


class _Text:
    """The body or header of a kernel."""

    def __init__(self, launch: Launch, part: str) -> None:
        self.launch, self.part = launch, part
        self.text: str = getattr(launch.source, part)
        #: The same without comments and literals, to search in.
        self.words = _WORDLESS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), self.text)

    def with_(self, span: tuple[int, int], new: str) -> Launch:
        start, end = span
        lines = "\n" * (self.text.count("\n", start, end) - new.count("\n"))
        return with_text(
            self.launch, **{self.part: self.text[:start] + new + lines + self.text[end:]}
        )

    def mutant(
        self,
        operator: str,
        harm: Harm,
        span: tuple[int, int],
        new: str,
        instead: Launch | None = None,
    ) -> Mutant:
        start, end = span
        line = self.text.count("\n", 0, start) + 1
        change = f"`{' '.join(self.text[start:end].split())}` to `{new}`"
        return Mutant(operator, harm, line, change, self.with_(span, new), instead)


def _barriers(text: _Text) -> Iterator[Mutant]:
    for found in _BARRIER.finditer(text.words):
        yield text.mutant("drop-barrier", "order", found.span(), ";")
        if found[0].startswith("threadgroup_barrier"):
            start = found.start()
            word = start, start + len("threadgroup_barrier")
            yield text.mutant("narrow-barrier", "order", word, "simdgroup_barrier")
        for flag in _FLAG.finditer(text.words, *found.span()):
            # On a processor flags mean nothing. Weak ones do harm if no barrier at all does.
            without = text.with_(found.span(), ";")
            none = "mem_flags::mem_none"
            yield text.mutant("weaken-barrier", "order", flag.span(), none, without)


def _indices(text: _Text) -> Iterator[Mutant]:
    """Of arrays that the kernel is given, which a test can put at the end of mapped memory."""
    arrays = {p.name for p in text.launch.source.parameters if "*" in p.declaration}
    arrays |= set(_POINTER.findall(text.words))
    for found in re.finditer(rf"\b(?:{'|'.join(sorted(arrays)) or '$^'})\s*\[", text.words):
        end = _closing(text.words, found.end())
        if end is not None:
            span = found.end(), end
            index = text.text[slice(*span)]
            yield text.mutant("index-too-high", "bounds", span, f"({index}) + 1")
            yield text.mutant("index-too-low", "bounds", span, f"({index}) - 1")


def _closing(words: str, start: int) -> int | None:
    """Where the bracket closes that was opened in front of `start`."""
    depth = 1
    for at in range(start, len(words)):
        depth += {"[": 1, "]": -1}.get(words[at], 0)
        if depth == 0:
            return at
    return None


def _guards(text: _Text) -> Iterator[Mutant]:
    for found in _GUARD.finditer(text.words):
        yield text.mutant("drop-guard", "bounds", found.span(), ";")
    for found in _LESS.finditer(text.words):
        where = "less" if found["less"] else "last"
        yield text.mutant("one-too-many", "bounds", found.span(where), "<=")
    for found in _PICKED.finditer(text.words):
        test, value, other = (
            text.text[slice(*found.span(name))].strip() for name in ("test", "value", "other")
        )
        loaded = f"select({other}, {value}, bool({test}))"
        yield text.mutant("load-first", "bounds", found.span(), loaded)


def _initialisers(text: _Text) -> Iterator[Mutant]:
    for found in _VARIABLE.finditer(text.words):
        filled = text.with_(found.span("value"), f"{FILLING}_{found['type']}")
        yield text.mutant("drop-initialiser", "undefined", found.span("init"), "", filled)
