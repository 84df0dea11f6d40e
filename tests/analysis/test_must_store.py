"""What a launch is certain to store, whatever the data."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.analysis.must_store import certain_stores
from anymetal.targets.base import Extent
from anymetal.targets.cpu.covered import covered_bytes
from tests.ir.programs import program
from tests.ir.short import llvm

_ARGS = "ptr %a, ptr %b, ptr %out, ptr %to"
_OUT = 2
#: %i and %j are the place in the grid.
_ENTRY = """
    i = group_x() * full_size_x() + thread_x()
    j = group_y() * full_size_y() + thread_y()
    v = a[i]
    high = v > 0
"""
_ROW = (64, 1, 1), (32, 1, 1)
_ROWS = (64, 8, 1), (32, 4, 1)


def covered(body: str, grid: Extent, group: Extent) -> int:
    """Bytes of the output `out`."""
    kernel = program(llvm(f"{_ENTRY}{body}\nret void", {"b": "i32"}), _ARGS)
    return covered_bytes(certain_stores(Analyses(kernel)), grid, group).get(_OUT, 0)


def loop(body: str, step: str = "1", limit: str = "30") -> str:
    return f"""br label %before
    before:
    limit = b[0]
    br label %loop
    loop:
    %k = phi i32 [ 0, %before ], [ %next, %again ]
    {body}
    br label %again
    again:
    next = k + {step}
    more = next < {limit}
    br i1 %more, label %loop, label %end
    end:"""


def if_high(body: str) -> str:
    return f"br i1 %high, label %then, label %join\nthen:\n{body}\nbr label %join\njoin:"


@pytest.mark.parametrize(
    ("body", "grid", "group", "expected"),
    [
        ("out[i] = v", *_ROW, 256),
        ("out[i] = v", (64, 3, 1), (32, 1, 1), 256),
        ("out[i] = v", (65, 1, 1), (32, 1, 1), 0),  # a smaller threadgroup at the edge
        ("\n".join(f"out[4 * i + {part}] = v" for part in range(4)), *_ROW, 1024),
        ("out[2 * i] = 1\nout[2 * i + 1] = v", *_ROW, 512),
        ("out[2 * i] = v", *_ROW, 0),
        ("out[i + 1] = v", *_ROW, 0),
        ("out[i - 1] = v", *_ROW, 0),
        ("out[i + -1] = v", *_ROW, 0),
        ("out[j * grid_x() + i] = 1", *_ROWS, 2048),
        ("out[j * 64 + i] = 1", *_ROWS, 2048),
        ("out[j * 65 + i] = 1", *_ROWS, 0),
        ("out[j * 63 + i] = 1", *_ROWS, 2020),
        ("out[i * 8 + j] = 1", *_ROWS, 2048),
    ],
)
def test_addresses(body: str, grid: Extent, group: Extent, expected: int) -> None:
    assert covered(body, grid, group) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (loop("out[k * 64 + i] = v"), 7680),
        (loop("out[k * 64 + i] = v", step="2"), 0),
        (loop("out[k * 32 + i] = v", step="2"), 3840),
        (loop("out[k * 64 + i] = v", limit="limit"), 0),
        (loop("out[k * 64 + i] = v\nbr i1 %high, label %end, label %go\ngo:"), 0),
        (loop(if_high("out[k * 64 + i] = v")), 0),
    ],
)
def test_loops(body: str, expected: int) -> None:
    assert covered(body, *_ROW) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (if_high("out[i] = 1"), 0),
        (if_high("to[i] = 1") + "\nout[i] = 2", 256),
        ("out[i] = 1\nto[i] = out[i + 1]", 0),
        ("out[i] = out[i] + 1", 0),
        ("out[b[i]] = 1", 0),
        ("out[i] = 1\nout[b[i]] = 2", 256),
        ("%low = trunc i32 %i to i8\n%wide = zext i8 %low to i32\nout[wide] = 1", 0),
    ],
)
def test_stores_that_some_threads_may_not_do(body: str, expected: int) -> None:
    assert covered(body, (512, 1, 1) if "i8" in body else _ROW[0], _ROW[1]) == expected
