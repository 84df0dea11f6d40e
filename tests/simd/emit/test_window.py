"""Indices close together: what is loaded, and that nothing beside it is touched."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx import core as mx

from anymetal.source import KernelSource
from anymetal.testing.fenced import Array, run_fenced
from tests.frontend.kernels import kernel_source

_GANG = 32
_TYPES = ["uint8", "int8", "uint16", "int16", "float16", "uint32", "int32", "float32", "int64"]


def _source(dtype: str, body: str, size: int) -> KernelSource:
    inputs = {"x": mx.zeros(size, getattr(mx, dtype)), "at": mx.zeros(64, mx.int32)}
    return kernel_source(body, inputs=inputs, outputs={"out": getattr(mx, dtype)})


def _numbers(dtype: str, size: int) -> Array:
    random = np.random.default_rng(size)
    return random.integers(0, 120, size).astype(dtype)


#: Indices of a gang's lanes, from the first one on.
_PATTERNS = {
    "divided": np.arange(_GANG) // 3,
    "scaled": np.arange(_GANG) * 5 // 3,
    "up to the last of a window": np.arange(_GANG) * 63 // 31,
    "one behind it": np.arange(_GANG) * 64 // 31,
    "in two windows of bytes": np.arange(_GANG) * 127 // 31,
    "behind those": np.arange(_GANG) * 128 // 31,
    "mixed": np.r_[0, np.arange(30)[::-1], 31],
    "one in front": np.r_[5, 4, np.arange(6, 36)],
    "one behind the last": np.r_[np.arange(31), 40, 5][:_GANG],
    "down": np.arange(_GANG)[::-1],
    "the same": np.zeros(_GANG, int),
    "a run": np.arange(_GANG),
    "far apart": np.arange(_GANG) * 1000,
}


@pytest.mark.parametrize("dtype", _TYPES)
def test_patterns(dtype: str) -> None:
    """All patterns in one launch, each at the beginning, inside and at the end of an array."""
    size = 40_000
    gangs = []
    for pattern in _PATTERNS.values():
        for start in (0, 777, size - 1 - pattern.max()):
            gangs.append(start + pattern - min(0, pattern.min()))
    at = np.concatenate(gangs).astype(np.int32)
    x = _numbers(dtype, size)
    source = _source(dtype, "uint i = thread_position_in_grid.x; out[i] = x[at[i]];", size)
    found = run_fenced(source, [x, at], np.zeros(at.size, dtype), (at.size, 1, 1))
    np.testing.assert_array_equal(found, x[at])


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "int64"])
def test_neighbours(dtype: str, count: int) -> None:
    """Points of several numbers, the last of which ends where the array does."""
    points = 200
    x = _numbers(dtype, points * count)
    spreads = [1, 5, 9, 14, 15, 16, 20, 21, 30, 31, 32, 42, 61, 62, 63, 64, 126, 127, 150]
    gangs = [np.arange(_GANG) * spread // 31 for spread in spreads]
    gangs += [points - 1 - gang[::-1].max() + gang for gang in gangs]
    at = np.concatenate(gangs).astype(np.int32)
    sums = " + ".join(f"x[at[i] * {count} + {k}] * T({k + 1})" for k in range(count))
    body = f"""using T = metal::remove_cvref_t<decltype(x[0])>;
               uint i = thread_position_in_grid.x; out[i] = {sums};"""
    source = _source(dtype, body, x.size)
    found = run_fenced(source, [x, at], np.zeros(at.size, dtype), (at.size, 1, 1))
    rows = x.reshape(points, count)[at]
    expected = sum(rows[:, k] * np.array(k + 1, dtype) for k in range(count))
    np.testing.assert_array_equal(found, np.asarray(expected).astype(dtype))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_indices(data: st.DataObject) -> None:
    """Gangs of indices of any spread, also with lanes that have left."""
    dtype = data.draw(st.sampled_from(_TYPES))
    size = data.draw(st.integers(1, 300))
    spread = data.draw(st.integers(1, size))
    start = data.draw(st.integers(0, size - spread))
    seed = data.draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    at = start + random.integers(0, spread, 128)
    if data.draw(st.booleans()):
        at = np.sort(at.reshape(4, _GANG), axis=1).reshape(-1)
    count = data.draw(st.integers(1, 128))
    x, at = _numbers(dtype, size), at.astype(np.int32)
    source = _source(dtype, "uint i = thread_position_in_grid.x; out[i] = x[at[i]];", size)
    found = run_fenced(source, [x, at], np.zeros(128, dtype), (count, 1, 1))
    np.testing.assert_array_equal(found[:count], x[at[:count]])
