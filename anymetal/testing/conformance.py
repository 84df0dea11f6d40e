"""docs/metal-support.md: every feature of Metal, its state, and the test cases that prove it.

    python -m anymetal.testing.conformance --write    runs the cases and writes the page
    python -m anymetal.testing.conformance --check    1 if the page is not what --write would write,
                                                      or a feature has neither a case nor a reason

With --quick the cases count as passed: the test suite runs them anyway.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import groupby
from pathlib import Path

import anymetal
from anymetal.testing.features import DTYPES, Feature, features
from anymetal.testing.metal_case import MetalCase, parse, run

_ROOT = Path(anymetal.__file__).parent.parent
_KERNELS = _ROOT / "tests" / "kernels"
PAGE = _ROOT / "docs" / "metal-support.md"

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TYPE = re.compile(rf"\b({'|'.join(DTYPES)})(?:[234](?:x[234])?)?\b")
_FIXED = re.compile(rf"\b({'|'.join(DTYPES.values())})_t\b")
#: The types of the parts of complex numbers.
_PARTS = {"complex64": "float32", "complex64_t": "float32", "complex32_t": "float16"}
_LINKS = 3

_INTRODUCTION = """\
# What of Metal is there

One row for each function and language feature that a compute kernel can use: MLX's prelude and \
the Metal Shading Language. Written by

    python -m anymetal.testing.conformance --write

which runs the cases under [tests/kernels](../tests/kernels/README.md): `.metal` files with a \
launch and the result that follows from a feature's definition. A feature **works** if all cases \
that use it pass. It is **refused** if Metal refuses it, and the cases expect an error with that \
reason. The last column counts the cases and names those that show most; a link to a `.py` file \
leads to tests that compare whole ranges of values. Types are those for which Metal has the \
feature; cases exist for each that is named.

"""
_HEAD = ["| feature | types | state | cases |", "| --- | --- | --- | --- |"]


@dataclass(frozen=True)
class Case:
    """A case, and what it says about itself."""

    case: MetalCase

    @cached_property
    def name(self) -> str:
        """The path under tests/kernels, without its ending."""
        return self.case.path.relative_to(_KERNELS).with_suffix("").as_posix()

    @cached_property
    def code(self) -> str:
        return _COMMENT.sub(" ", f"{self.case.header}\n{self.case.body}")

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", self.code))

    @cached_property
    def refuses(self) -> bool:
        return bool(self.case.all("error"))

    @cached_property
    def covers(self) -> set[str]:
        return {name.strip() for text in self.case.all("covers") for name in text.split(",")} - {""}

    @cached_property
    def dtypes(self) -> set[str]:
        """Names of the types that its arrays, and its kernel's variables, have."""
        arrays = " ".join(self.case.all("input") + self.case.all("output") + self.case.dtypes)
        found = set(re.findall(r"\w+", arrays)) | set(_FIXED.findall(self.code))
        found |= {DTYPES[name] for name in _TYPE.findall(self.code)}
        return found | {part for name, part in _PARTS.items() if name in arrays + self.code}

    @cached_property
    def reason(self) -> str:
        """What the first comment of the file says."""
        return self.case.path.read_text().partition("\n")[0].removeprefix("//").strip()

    def within(self, globs: Iterable[str]) -> bool:
        return any(fnmatchcase(self.name, glob) for glob in globs)

    def proves(self, feature: Feature) -> bool:
        """Whether the feature is there if this case passes."""
        if self.refuses:
            return False
        if feature.name in self.covers or self.within(feature.cases):
            return True
        if feature.folders and not self.within(feature.folders):
            return False
        if feature.dtype and feature.dtype not in self.dtypes:
            return False
        if feature.word and feature.word not in self.words:
            return False
        return bool(feature.code and re.search(feature.code, self.code))

    def shows_refusal(self, feature: Feature) -> bool:
        return self.refuses and (feature.name in self.covers or self.within(feature.refused))


def all_cases() -> list[Case]:
    return [Case(parse(path)) for path in sorted(_KERNELS.rglob("*.metal"))]


@dataclass(frozen=True)
class Row:
    """A feature with its cases."""

    feature: Feature
    proofs: tuple[Case, ...]
    refusals: tuple[Case, ...]

    @property
    def cases(self) -> tuple[Case, ...]:
        return self.proofs or self.refusals

    def state(self, failing: frozenset[str]) -> str:
        if wrong := [case.name for case in self.cases if case.name in failing]:
            return f"**fails** in {', '.join(wrong)}"
        if self.proofs:
            return "works"
        if self.refusals:
            return f"refused: {self.refusals[0].reason}"
        if self.feature.accepted:
            return f"accepted: {self.feature.accepted}"
        return "works" if self.feature.tests else f"not available: {self.feature.absent}"

    def problems(self) -> Iterator[str]:
        feature = self.feature
        if not (self.cases or feature.tests or feature.absent or feature.accepted):
            yield f"{feature.section}: {feature.name}: neither a case nor a reason"
        missing = [test for test in feature.tests if not (_ROOT / test).exists()]
        if missing:
            yield f"{feature.section}: {feature.name}: there is no {', '.join(missing)}"
        if self.proofs:
            seen = set[str]().union(*(case.dtypes for case in self.proofs))
            for name in feature.scalar_types:
                if DTYPES[name] not in seen:
                    yield f"{feature.section}: {feature.name}: no case with {name}"


def rows(listed: Sequence[Feature], cases: Sequence[Case]) -> list[Row]:
    return [
        Row(
            feature,
            tuple(case for case in cases if case.proves(feature)),
            tuple(case for case in cases if case.shows_refusal(feature)),
        )
        for feature in listed
    ]


def problems(table: Sequence[Row], cases: Sequence[Case]) -> list[str]:
    """What is wrong with the table, a line for each."""
    found = [problem for row in table for problem in row.problems()]
    names = {row.feature.name for row in table}
    for case in cases:
        unknown = sorted(case.covers - names)
        if unknown:
            found.append(f"{case.name}: covers {', '.join(unknown)}, which features.txt has not")
    return found


def page(table: Sequence[Row], failing: frozenset[str] = frozenset()) -> str:
    """The whole document."""
    uses: dict[str, int] = {}
    for row in table:
        for case in row.cases:
            uses[case.name] = uses.get(case.name, 0) + 1
    parts = [_INTRODUCTION + _summary(table, failing)]
    for title, section in groupby(table, key=lambda row: row.feature.section):
        lines = [f"## {title}", "", *_HEAD]
        for row in section:
            cells = (_label(row.feature.name), row.feature.types, row.state(failing))
            lines.append(f"| {' | '.join(cells)} | {_links(row, uses)} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _summary(table: Sequence[Row], failing: frozenset[str]) -> str:
    states = Counter(re.split(r"\W", row.state(failing).strip("*"))[0] for row in table)
    used = len({case.name for row in table for case in row.cases})
    parts = [
        f"{states['works']} work",
        f"{states['refused']} are refused as in Metal",
        f"{states['accepted']} are only accepted",
        f"{states['not']} are not available",
        f"{states['fails']} fail",
    ]
    return f"{len(table)} features: {', '.join(parts)}. {used} cases prove it.\n"


def _label(name: str) -> str:
    return f"`{name}`" if re.fullmatch(r"[\w:]+", name) else name


def _links(row: Row, uses: dict[str, int]) -> str:
    """The number of cases, and links to those that have little else to show."""

    def generality(case: Case) -> tuple[bool, int, str]:
        return row.feature.name not in case.name, uses[case.name], case.name

    shown = sorted(row.cases, key=generality)[:_LINKS]
    links = [f"[{case.name}](../tests/kernels/{case.name}.metal)" for case in shown]
    links += [f"[{Path(test).name}](../{test})" for test in row.feature.tests]
    number = f"{len(row.cases)}: " if row.cases else ""
    return number + ", ".join(links) if links else ""


def run_all(cases: Iterable[Case]) -> frozenset[str]:
    """Runs the cases and returns the names of those that fail."""
    failing = set()
    for case in cases:
        for dtype in case.case.dtypes:
            try:
                run(case.case, dtype)
            except Exception as error:  # any failure of a case is a result
                print(f"{case.name} {dtype}: {error}", file=sys.stderr)
                failing.add(case.name)
    return frozenset(failing)


def main(given: list[str] | None = None) -> int:
    """Writes or checks the page; returns 1 if something is missing, stale or failing."""
    parser = argparse.ArgumentParser(prog="python -m anymetal.testing.conformance")
    parser.add_argument("--write", action="store_true", help="write docs/metal-support.md")
    parser.add_argument("--check", action="store_true", help="is it what --write would write?")
    parser.add_argument("--quick", action="store_true", help="do not run the cases")
    options = parser.parse_args(given)
    if options.write == options.check:
        parser.error("pass either --write or --check")
    cases = all_cases()
    table = rows(features(), cases)
    used = {case.name: case for row in table for case in row.cases}
    failing = frozenset[str]() if options.quick else run_all(used.values())
    found = problems(table, cases)
    text = page(table, failing)
    if options.write:
        PAGE.write_text(text)
        print(f"written: {PAGE}")
    elif not PAGE.exists() or PAGE.read_text() != text:
        found.append(f"{PAGE.name} is not current: write it with --write")
    for problem in found:
        print(problem, file=sys.stderr)
    return int(bool(found or failing))


if __name__ == "__main__":
    sys.exit(main())
