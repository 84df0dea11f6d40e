"""Bodies with cross-lane calls, each with the same written in NumPy: what the cases are made of.

A body writes `o[i]` from `v`, which is `x[i]`; `lane` is the lane. The expectation takes the `x` of
one SIMD-group (or of one threadgroup, where its SIMD-groups work together).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Case(NamedTuple):
    body: str
    expect: Callable[[np.ndarray], np.ndarray]
    whole: bool = False  #: `expect` takes a threadgroup, not a SIMD-group
    dtype: type = np.uint32


CASES: dict[str, Case] = {}


def case(body: str, whole: bool = False, dtype: type = np.uint32) -> Callable[..., None]:
    """Decorates the expectation; its name is that of the case."""

    def add(expect: Callable[[np.ndarray], np.ndarray]) -> None:
        CASES[expect.__name__] = Case(body, expect, whole, dtype)

    return add


def masked(x: np.ndarray, active: np.ndarray, value: np.ndarray | int) -> np.ndarray:
    """`value` in the active lanes, `x` in the others."""
    return np.where(active, value, x).astype(x.dtype)


def source(x: np.ndarray, active: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """What a shuffle reads from `lanes`: 0 from those that are inactive or do not exist."""
    table = np.zeros(1 << 16, x.dtype)
    table[: len(x)] = np.where(active, x, 0)
    return table[lanes]
