"""Which loads of a few lanes go one by one: those of what was stored one element at a time."""

from __future__ import annotations

import pytest

from anymetal.simd import questions
from tests.analysis.shapes import analyse

_START = """
    threadgroup float parts[32];
    uint lane = thread_index_in_simdgroup;
    float mine = 0;
"""
_STORE = "if (lane == 0) parts[n] = a[0];"
_BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"


def few(body: str) -> list[list[int]]:
    """The lanes of each such load."""
    return list(analyse(_START + body + "out[lane] = mine;")(questions.few).values())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (_STORE + _BARRIER + "if (lane < 8) mine = parts[lane];", [[0, 1, 2, 3, 4, 5, 6, 7]]),
        (_STORE + _BARRIER + "if (lane - 5 < 3) mine = parts[lane];", [[5, 6, 7]]),
        (_STORE + _BARRIER + "if (lane >= 30) mine = parts[lane];", [[30, 31]]),
        # Too many lanes, or nobody knows which.
        (_STORE + _BARRIER + "if (lane < 9) mine = parts[lane];", []),
        (_STORE + _BARRIER + "if (lane < n) mine = parts[lane];", []),
        # Some lanes may be gone.
        (_STORE + _BARRIER + "if (b[lane] > 0) { if (lane < 8) mine = parts[lane]; }", []),
        # A vector was stored, as a whole.
        ("parts[lane] = a[lane];" + _BARRIER + "if (lane < 8) mine = parts[lane];", []),
        (_STORE + "parts[lane] = 1;" + _BARRIER + "if (lane < 8) mine = parts[lane];", []),
        # Not threadgroup memory.
        ("if (lane == 0) out[n] = 1;" + _BARRIER + "if (lane < 8) mine = out[lane];", []),
        # Not neighbours.
        (_STORE + _BARRIER + "if (lane < 8) mine = parts[2 * lane];", []),
    ],
)
def test_loads_of_few_lanes(body: str, expected: list[list[int]]) -> None:
    assert few(body) == expected
