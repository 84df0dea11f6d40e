"""Sectors and banks, against counts by NumPy over each byte of 32 lanes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anymetal.explain.sectors import conflicts, touched

_SIZES = st.sampled_from([1, 2, 4, 8, 16])
_LANES = np.arange(32)


def _bytes(offsets: np.ndarray, size: int) -> np.ndarray:
    return (np.asarray(offsets)[:, None] + np.arange(size)).ravel()


def _counted_conflicts(offsets: np.ndarray, size: int) -> int:
    """Words of each bank, of as many lanes at a time as 128 bytes are for."""
    lanes = min(32, 128 // size)
    worst = 0
    for part in np.asarray(offsets).reshape(-1, lanes):
        words = np.unique(_bytes(part, size) // 4)
        worst = max(worst, int(np.bincount(words % 32).max()))
    return worst


@given(_SIZES, st.integers(-40, 40), st.integers(0, 63), st.integers(1, 5), st.integers(-99, 99))
def test_affine_addresses(size: int, step: int, start: int, shift: int, row: int) -> None:
    """Of lanes in rows of 2, 4 … 32."""
    elements = start + step * (_LANES % 2**shift) + row * (_LANES >> shift)
    offsets = elements * size + 2**20
    sectors, least = touched(offsets.tolist(), size)
    touched_bytes = _bytes(offsets, size)
    assert sectors == len(np.unique(touched_bytes // 32))
    assert least == -(-len(np.unique(touched_bytes)) // 32) <= sectors <= 32
    assert conflicts(offsets.tolist(), size) == _counted_conflicts(offsets, size)


@given(_SIZES, st.lists(st.integers(0, 1000), min_size=32, max_size=32))
def test_any_addresses(size: int, elements: list[int]) -> None:
    offsets = np.array(elements) * size
    assert touched(offsets.tolist(), size).sectors == len(np.unique(_bytes(offsets, size) // 32))
    assert conflicts(offsets.tolist(), size) == _counted_conflicts(offsets, size)


@pytest.mark.parametrize(
    ("step", "size", "sectors", "least", "degree"),
    [
        (0, 4, 1, 1, 1),
        (4, 4, 4, 4, 1),
        (8, 4, 8, 4, 2),
        (12, 4, 12, 4, 1),
        (16, 16, 16, 16, 1),
        (32, 4, 32, 4, 8),
        (128, 4, 32, 4, 32),
        (132, 4, 32, 4, 1),
        (2, 2, 2, 2, 1),
        (8, 8, 8, 8, 1),
        (16, 8, 16, 8, 2),
    ],
)
def test_strides(step: int, size: int, sectors: int, least: int, degree: int) -> None:
    offsets = [step * lane for lane in range(32)]
    assert touched(offsets, size) == (sectors, least)
    assert conflicts(offsets, size) == degree
