"""Which tiles of a product of matrices are asked for a step ahead, and how far they lie."""

from __future__ import annotations

import pytest

from anymetal.analysis.affine import ONE
from anymetal.simd import questions
from tests.analysis.shapes import analyse

_KERNEL = """
threadgroup float left[256];
uint lane = thread_index_in_simdgroup, row = lane / 8, column = lane % 8, size = n;
simdgroup_float8x8 sum(0), x;
#pragma unroll 1
for (uint k = 0; k < size; k += 8) {{
  threadgroup_barrier(mem_flags::mem_threadgroup);
  left[lane] = {0};
  threadgroup_barrier(mem_flags::mem_threadgroup);
  {1}
}}
simdgroup_store(sum, out, 8);
"""
_PRODUCT = """
simdgroup_load(x, left, 8);
simdgroup_multiply_accumulate(sum, x, x, sum);
"""


def distances(loaded: str, work: str = _PRODUCT) -> list[dict[int, int]]:
    """By the number of values that are multiplied."""
    known = analyse(_KERNEL.format(loaded, work))
    return [
        {len(product): factor for product, factor in distance.items()}
        for distance in known(questions.next_steps).values()
    ]


@pytest.mark.parametrize(
    ("loaded", "expected"),
    [
        ("a[row * size + k + column]", [{len(ONE): 32}]),
        ("a[(row + k) * size + column]", [{1: 32}]),
        ("a[(row + k) * size + k + column]", [{0: 32, 1: 32}]),
        ("a[row * size + column]", []),  # the same in each step
        ("a[k * k + row * size + column]", []),  # farther in each step
        ("a[b[k] + row * size + column]", []),
        ("a[(k ^ 8) * 3 + row * size + k + column]", []),  # which grows, too, but not evenly
    ],
)
def test_how_far_the_next_step_lies(loaded: str, expected: list[dict[int, int]]) -> None:
    assert distances(loaded) == expected


def test_without_products_there_is_no_time() -> None:
    assert distances("a[row * size + k + column]", "out[lane] = left[31 - lane];") == []
