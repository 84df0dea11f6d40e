"""Which loads of a few lanes go one by one: those of what was stored one element at a time."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.simd import questions
from tests.compiling import planned
from tests.ir.programs import program
from tests.ir.short import llvm

_TOP = '@"threadgroup.0.parts" = external global [32 x float], align 4'
_ARGS = "ptr %a, ptr %b, ptr %shape, ptr %out, ptr %to"
_ENTRY = """
%parts = getelementptr i8, ptr @"threadgroup.0.parts", i64 0
lane = lane()
n = shape[0]
v = a[lane]
"""
_FIRST = """
%is_first = icmp eq i32 %lane, 0
br i1 %is_first, label %store, label %stored
store:
{}
br label %stored
stored:
"""
_STORE = _FIRST.format("parts[n] = a[0]")
_BARRIER = "call void @__am_threadgroup_barrier(i32 2)\n"


def _below(count: object) -> str:
    return f"%some = icmp ult i32 %lane, {count}"


def load(condition: str, what: str = "parts[lane]") -> str:
    """By the lanes for which a comparison, or two, hold."""
    return f"""
    {_BARRIER}
    {condition}
    br i1 %some, label %load, label %end
    load:
    to[lane] = {what}
    br label %end
    end:
    """


_IF_HIGH = f"""
{_BARRIER}
high = b[lane] > 0
br i1 %high, label %inside, label %end
inside:
%some = icmp ult i32 %lane, 8
br i1 %some, label %load, label %end
load:
out[lane] = parts[lane]
br label %end
end:
"""


def few(body: str) -> list[list[int]]:
    """The lanes of each such load."""
    text = llvm(f"{_ENTRY}{body}\nret void", {"shape": "i32", "b": "i32"})
    launch = LaunchFacts(linear=True, aligned=False, flat=True)
    return list(planned(program(text, _ARGS, _TOP), launch)(questions.few).values())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (_STORE + load(_below(8)), [[0, 1, 2, 3, 4, 5, 6, 7]]),
        (_STORE + load("at = lane + -5\n%some = icmp ult i32 %at, 3"), [[5, 6, 7]]),
        (_STORE + load("%some = icmp ugt i32 %lane, 29"), [[30, 31]]),
        # Too many lanes, or nobody knows which.
        (_STORE + load(_below(9)), []),
        (_STORE + load(_below("%n")), []),
        # Some lanes may be gone.
        (_STORE + _IF_HIGH, []),
        # A vector was stored, as a whole.
        ("parts[lane] = v" + load(_below(8)), []),
        (_STORE + "parts[lane] = 1" + load(_below(8)), []),
        # Not threadgroup memory.
        (_FIRST.format("out[n] = 1") + load(_below(8), "out[lane]"), []),
        # Not neighbours.
        (_STORE + load(_below(8), "parts[lane * 2]"), []),
    ],
)
def test_loads_of_few_lanes(body: str, expected: list[list[int]]) -> None:
    assert few(body) == expected
