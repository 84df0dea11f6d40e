"""Long rows: what the shuffles do, by a small interpreter of the text."""

from __future__ import annotations

import re
from typing import Any

import pytest

from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.simd.emit.transpose import Rows, Transposition

WIDTH = 32
_SHUFFLE = re.compile(r"shufflevector <(\d+) x float> (\S+), <\d+ x float> (\S+), .*> <(.*)>$")


def run(lines: list[str], values: dict[str, Any]) -> dict[str, Any]:
    """Names and values: offsets of pointers, and lists of elements. Memory holds its own index."""
    for line in lines:
        name, _, text = line.strip().partition(" = ")
        if match := re.match(r"getelementptr i8, ptr %memory, i64 (\d+)", text):
            values[name] = int(match[1])
        elif match := re.match(r"load <(\d+) x float>, ptr (\S+),", text):
            first = values[match[2]] // 4
            values[name] = list(range(first, first + int(match[1])))
        elif match := _SHUFFLE.match(text):
            both = [values.get(one, [None] * int(match[1])) for one in match.group(2, 3)]
            values[name] = [(both[0] + both[1])[int(n.split()[1])] for n in match[4].split(",")]
    return values


@pytest.mark.parametrize("size", [4, 8, 16])
@pytest.mark.parametrize("count", [16, 32])
def test_rows_become_columns(size: int, count: int) -> None:
    w = Writer(WIDTH)
    names = Transposition(w, t.FLOAT, count, size).load("%memory", 4)
    values = run(w.lines, {})
    columns = [[lane * count + k for lane in range(WIDTH)] for k in range(count)]
    assert [values[name] for name in names] == columns
    shuffles = [line for line in w.lines if f"shufflevector <{size} x float>" in line]
    rounds = size.bit_length() - 1
    joins = count * WIDTH // size // 2 if size < WIDTH else 0
    assert len(shuffles) == rounds * count * WIDTH // size + joins


@pytest.mark.parametrize("size", [4, 8, 16])
@pytest.mark.parametrize("count", [16, 32])
def test_columns_become_rows(size: int, count: int) -> None:
    w = Writer(WIDTH)
    parts = {f"%p{k}": [lane * count + k for lane in range(WIDTH)] for k in range(count)}
    written: Rows = []
    Transposition(w, t.FLOAT, count, size).store(list(parts), "%memory", written.extend)
    values = run(w.lines, dict(parts))
    rows = {values[at] // 4: values[name] for _, name, at in written}
    assert len(rows) == count * WIDTH // size
    assert all(row == list(range(first, first + size)) for first, row in rows.items())
