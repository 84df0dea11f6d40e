"""Which arrays each worker thread may have for itself, of what type and how large."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.ir import types as t
from anymetal.simd.access.privatised_sums import find_privatised_sums
from tests.compiling import known_of
from tests.ir.programs import program

_LAUNCH = LaunchFacts(linear=True, aligned=True, flat=False, whole=True)
_INT, _FLOAT = ("add", "i32 1"), ("fadd", "float 1.0")


def add(place: str, operation: tuple[str, str], name: str = "old") -> str:
    kind, value = operation
    return f"%{name} = atomicrmw {kind} ptr {place}, {value} monotonic"


def sums_of(*lines: str) -> list[tuple[str, t.Type, int]]:
    """Name, type and elements of each."""
    body = """
        %thread = call i32 @__am_thread_x()
        %lane = call i32 @__am_lane()
        %four = shl i32 %thread, 2
        %in.lane = getelementptr i32, ptr %out, i32 %lane
        %in.row = getelementptr i32, ptr %out, i32 %four
        %in.next = getelementptr i8, ptr %in.row, i64 12
        %between = getelementptr i8, ptr %in.row, i64 2
        %far = load i32, ptr %a
        %anywhere = getelementptr i32, ptr %out, i32 %far
        %less = and i32 %far, 16777215
        %in.large = getelementptr i32, ptr %out, i32 %less
    """
    kernel = program("\n".join([body, *lines, "ret void"]))
    found = find_privatised_sums(known_of(kernel, _LAUNCH))
    return [(sums.argument.name, sums.type, sums.bins) for sums in found.values()]


@pytest.mark.parametrize(
    ("place", "bins"),
    [
        ("%out", 16),  # a whole line
        ("%in.lane", 32),
        ("%in.row", 4096),  # a threadgroup has 1024 threads at most
        ("%in.next", 4096),
        ("%anywhere", 0),  # as many as the array has
        ("%in.large", 0),  # which may be fewer
        ("%between", None),
    ],
)
@pytest.mark.parametrize("operation", [_INT, _FLOAT])
def test_the_index_shows_how_large(
    place: str, bins: int | None, operation: tuple[str, str]
) -> None:
    type_ = t.I32 if operation == _INT else t.FLOAT
    assert sums_of(add(place, operation)) == ([] if bins is None else [("%out", type_, bins)])


@pytest.mark.parametrize(
    "line",
    [
        add("%in.lane", _FLOAT, "other"),
        "%seen = load i32, ptr %in.lane",
        "store i32 1, ptr %in.lane",
        "store i32 %old, ptr %a",
    ],
)
def test_nothing_else_is_done_with_it(line: str) -> None:
    assert sums_of(add("%in.lane", _INT)) == [("%out", t.I32, 32)]
    assert sums_of(add("%in.lane", _INT), line) == []


def test_one_index_that_does_not_show_it() -> None:
    both = sums_of(add("%in.lane", _INT), add("%anywhere", _INT, "other"))
    assert both == [("%out", t.I32, 0)]
    assert sums_of(add("%anywhere", _INT), add("%between", _INT, "other")) == []
