"""The features of Metal that docs/metal-support.md lists: the reader of features.txt.

    ## Title                  a section
    @ half, float; 1 to 4     types of the features that follow
    in: math/*                cases that may prove them (all, if empty)
    with: bfloat16            and only those that have this dtype among their arrays
    () acos asin              functions: a case proves one if its kernel calls it
    atomic_int atomic_uint    other names: a case proves one if its kernel mentions it
    names | key: value | …    names, or a phrase, with a key of their own:
        cases: GLOBS          these cases prove it
        code: REGEX           cases whose kernel has this
        refused: GLOBS        an error, with Metal's reason; these cases expect it
        tests: FILES          tests in Python that prove it (besides cases, or alone)
        absent: REASON        why it is not there (where no case proves the opposite)
        accepted: REASON      it compiles, but means nothing, or Metal refuses it

A case may also say itself what it proves, by `// covers: NAME, NAME`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from anymetal import dtypes

_NAME = re.compile(r"\w+")
_KEYS = ("cases", "code", "refused", "tests", "absent", "accepted")


@dataclass(frozen=True)
class Feature:
    """One row of the table, and how to find the cases that prove it."""

    section: str
    name: str = ""
    types: str = ""
    code: str = ""  #: regular expression in the text of a kernel
    word: str = ""  #: and a word of it
    cases: tuple[str, ...] = ()  #: globs
    folders: tuple[str, ...] = ()  #: globs that limit `code`
    dtype: str = ""  #: limits `code` to cases with arrays of this type
    refused: tuple[str, ...] = ()  #: globs
    tests: tuple[str, ...] = ()
    absent: str = ""
    accepted: str = ""

    @property
    def scalar_types(self) -> list[str]:
        """The types, as far as they are listed by name, for which there must be a case."""
        return [word for word in re.split(r",\s*", self.types.partition(";")[0]) if word in DTYPES]


#: How the types of Metal are called in the directives of a case.
DTYPES = {name: str(dtype).removeprefix("mlx.core.") for name, dtype in dtypes.DTYPES.items()}


def features() -> list[Feature]:
    """All features, in the order of the page."""
    return list(read(Path(__file__).with_name("features.txt").read_text()))


@dataclass
class _Reader:
    """What holds for the lines that follow."""

    now: Feature = field(default_factory=lambda: Feature(""))

    def line(self, line: str) -> Iterator[Feature]:
        if line.startswith("## "):
            self.now = Feature(line[3:])
        elif line.startswith("@"):
            self.now = replace(self.now, types=line[1:].strip())
        elif line.startswith("in:"):
            self.now = replace(self.now, folders=tuple(line[3:].split()))
        elif line.startswith("with:"):
            self.now = replace(self.now, dtype=line[5:].strip())
        elif " | " in line:
            yield from self._with_keys(*line.split(" | "))
        elif line.startswith("() "):
            for name in line[3:].split():
                call = rf"\b{name}\s*(<[^;{{}}]*?>)?\s*\("
                yield replace(self.now, name=name, code=call, word=name)
        else:
            for name in line.split():
                yield replace(self.now, name=name, code=rf"\b{name}\b", word=name)

    def _with_keys(self, text: str, *keys: str) -> Iterator[Feature]:
        values: dict[str, str] = {}
        for key in keys:
            name, colon, value = key.partition(": ")
            if not colon or name not in _KEYS:
                raise ValueError(f"features.txt: {key!r} is none of {', '.join(_KEYS)}")
            values[name] = value
        words = text.split()
        names = words if all(_NAME.fullmatch(word) for word in words) and _alike(words) else [text]
        for name in names:
            yield replace(
                self.now,
                name=name,
                code=values.get("code", ""),
                cases=tuple(values.get("cases", "").split()),
                refused=tuple(values.get("refused", "").split()),
                tests=tuple(values.get("tests", "").split()),
                absent=values.get("absent", ""),
                accepted=values.get("accepted", ""),
            )


def _alike(words: list[str]) -> bool:
    """Whether the words are names of Metal, each a feature, and no phrase."""
    return all("_" in word or re.search(r"\d", word) for word in words)


def read(text: str) -> Iterator[Feature]:
    """The features of such a text."""
    reader = _Reader()
    for line in text.splitlines():
        if line.strip() and (not line.startswith("#") or line.startswith("## ")):
            yield from reader.line(line.rstrip())
