"""Which counters of loops are there in 64 bits, too."""

from __future__ import annotations

import pytest

from anymetal.ir import types as t
from anymetal.ir.model import Const, Instr
from tests.analysis.shapes import analyse

_BODY = """
uint lane = thread_index_in_simdgroup, row = lane / 8, column = lane % 8, size = n;
float v = 0;
{}
out[lane] = v;
"""


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        ("for (uint k = 0; k < size; k += 8) v += a[row * 32 + k + column];", [8]),
        ("for (uint k = 0; k < size; k += 4) v += a[(k + row) * size + column];", [4]),
        ("for (uint k = size; k > 0; k -= 8) v += a[row * 32 + k + column];", [-8]),
        ("for (uint k = 0; k < size; k += size / 2) v += a[row * 32 + k + column];", [None]),
        # No part of an index, or one of each lane.
        ("for (uint k = 0; k < size; k += 8) v += a[lane] * k;", []),
        ("for (uint k = lane; k < size; k += 8) v += a[k];", []),
        # The next number is no sum.
        ("for (uint k = 1; k < size; k *= 3) v += a[row * 32 + k + column];", []),
    ],
)
def test_which_counters_are_wide(body: str, steps: list[int | None]) -> None:
    counters = analyse(_BODY.format("#pragma unroll 1\n" + body)).program.twins
    found = []
    for counter, wide in counters.items():
        assert (counter.type, wide.type, wide.op) == (t.I32, t.I64, "phi")
        (grown,) = (v for v in wide.operands if isinstance(v, Instr) and wide in v.operands)
        step = grown.operands[1]
        found.append(step.int_value if isinstance(step, Const) else None)
    assert found == steps
