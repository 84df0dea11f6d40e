"""Which groups of neighbours stay in the order of memory, and what is converted for that."""

from __future__ import annotations

from collections import Counter

import pytest

from anymetal.simd import questions
from tests.analysis.shapes import ALIGNED, analyse

_ID = "uint i = thread_position_in_grid.x;\nfloat4 v = ((const device float4*)a)[i];\n"
_STORE = "((device float4*)out)[i] = {};"
_BOTH = "2 groups"


def ordered(body: str) -> str:
    """How many groups are in the order of memory, and how many conversions there are each way."""
    known = analyse(_ID + body, ALIGNED)
    ops = Counter(i.op for i in known.program.instructions())
    groups = known(questions.groups).values()
    ordered = {group for group in groups if group.is_ordered}
    found = [f"{len(ordered)} groups"]
    found += [f"{ops[op]} {op}" for op in ("in_memory_order", "in_lane_order") if ops[op]]
    return ", ".join(found)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (_STORE.format("v * 2 + 1"), _BOTH),
        (_STORE.format("exp(v - b[n])"), _BOTH),
        (_STORE.format("select(v, v * v, v > 0)"), _BOTH),
        # operands that are not the same for all
        (_STORE.format("v * float4(1, 2, 3, 4)"), "2 groups, 4 in_memory_order"),
        (_STORE.format("v * float(b[i])"), "2 groups, 4 in_memory_order"),
        (_STORE.format("v * float4(b[i], b[i + 1], b[i + 2], b[i + 7])"),
         "2 groups, 4 in_memory_order"),
        (_STORE.format("v * float4(b[i], b[i + 1], b[i + 2], b[i + 7])"
                       " * float4(b[i + 3], b[i + 9], b[i + 2], b[i])"), "0 groups"),
        # each lane needs its own
        ("out[i] = v.x + v.y * v.z - v.w;", "0 groups"),
        (_STORE.format("v.wzyx"), "0 groups"),
        (_STORE.format("v * v.x"), "0 groups"),
        ("if (v.x > 0) " + _STORE.format("v"), "0 groups"),
        ("if (v.x > 0) v += ((const device float4*)a)[i + n];" + _STORE.format("v"), "0 groups"),
        # some uses do, and it pays all the same
        (_STORE.format("v * 2") + "to[i] = v.x * v.y * v.z * v.w;", "2 groups, 4 in_lane_order"),
        (_STORE.format("v * 2 + v.x"), "0 groups"),
        # totals
        (_STORE.format("v - simd_max(max(max(v.x, v.y), max(v.z, v.w)))"), _BOTH),
        (_STORE.format("v - simd_max(max(max(v.x, v.y), v.z))"), "2 groups, 4 in_lane_order"),
        (_STORE.format("v - simd_max(v.x)"), "2 groups, 4 in_lane_order"),
        (_STORE.format("v * simd_sum(dot(v, v))"), _BOTH),
        (_STORE.format("v * simd_sum(dot(v.xyz, v.xyz))"), "2 groups, 4 in_lane_order"),
        # exact sums need the lanes, which is worth it where more is saved
        (_STORE.format("v * simd_sum(v.x + v.y + v.z + v.w)"), "2 groups, 4 in_lane_order"),
        ("out[i] = simd_sum(v.x + v.y + v.z + v.w);", "0 groups"),
        # loops
        ("float4 s = 0; for (int k = 0; k < n; ++k) s += ((const device float4*)a)[32 * k + i];"
         + _STORE.format("s + v"), "3 groups"),
        ("float4 s = v; for (int k = 0; k < n; ++k) s = s * 3 + 1;" + _STORE.format("s"), _BOTH),
    ],
)  # fmt: skip
def test_ordered_groups(body: str, expected: str) -> None:
    assert ordered(body) == expected
