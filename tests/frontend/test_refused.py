"""What Metal refuses is reported at its place, and what is near to it and right is not.

The pairs are in refused.txt; docs/differences-from-mlx.md lists them.
"""

from __future__ import annotations

import re

import mlx.core as mx
import pytest

import anymetal
from anymetal import MetalCompileError
from anymetal.frontend import strict
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.complaints import Complaint
from anymetal.source import KernelSource
from tests.frontend.kernels import kernel_source
from tests.frontend.refused import PAGE, Pair, page_with, pairs, table

_PLACE = re.compile(r"^(?:k: )?(\w+):(\d+):(\d+): error: (.*)$", re.M)
_INPUTS = {"a": mx.zeros(1024), "n": mx.array(1), "m": mx.zeros(4, mx.int32)}


def reported(texts: dict[str, str]) -> list[tuple[str, str, int, int, str]]:
    """Kind, part, line, column and text of all that is said about a kernel."""
    heard: list[Complaint] = []
    try:
        source = _source(texts)
        compile_to_ir(source, heard=heard)
    except MetalCompileError as error:
        return [
            ("error", m[1], int(m[2]), int(m[3]), m[4]) for m in _PLACE.finditer(error.diagnostics)
        ]
    about = strict.complaints_about(source, heard)
    return [
        ("warning", one.file.removeprefix("k: "), one.line, one.column, one.text) for one in about
    ]


def _source(texts: dict[str, str]) -> KernelSource:
    if "file" in texts:
        library = anymetal.metal_library(texts["file"], name="file")
        return library[library.kernel_names[0]].source()
    body, header = texts.get("source", ""), texts.get("header", "")
    return kernel_source(body, header, inputs=_INPUTS)


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: pair.rule)
def test_a_pair(pair: Pair) -> None:
    (part,) = (name for name, text in pair.bad.items() if "§" in text)
    before = pair.bad[part].partition("§")[0]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    found = reported({name: text.replace("§", "") for name, text in pair.bad.items()})
    at = [text for *place, text in found if place == [pair.kind, part, line, column]]
    assert any(pair.says in text for text in at), found
    assert reported(pair.good) == []


def test_there_are_enough() -> None:
    rules = [pair.rule for pair in pairs()]
    assert len(rules) == len(set(rules)) >= 70


def test_the_page_lists_them() -> None:
    assert page_with(table()) == PAGE.read_text(), "python -m tests.frontend.refused --write"
