"""Lanes that share elements of a row, have several rows, or take elements from two arrays in turn,
under masks: nothing is touched beside what they load and store."""

from __future__ import annotations

import numpy as np
import pytest
from mlx import core as mx

from anymetal.testing.fenced import run_fenced
from tests.frontend.kernels import kernel_source

_TYPES = ["uint8", "int16", "float16", "uint32", "float32", "int64"]
_THREADS = 192


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("each", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("condition", ["i < 180", "(i & 1) == 1", "m[i] != 0", "lane > 19"])
def test_under_a_mask(condition: str, each: int, dtype: str) -> None:
    """The array ends with the last element that a thread loads."""
    i = np.arange(_THREADS)
    random = np.random.default_rng(each)
    m = (random.random(_THREADS) < 0.4).astype(np.int32)
    m[:32], m[32:64], m[-64:] = 0, 1, 0
    active = {"i < 180": i < 180, "(i & 1) == 1": i % 2 == 1, "m[i] != 0": m != 0}.get(
        condition, i % 32 > 19
    )
    x = random.integers(0, 99, (i[active] // each).max() + 1).astype(dtype)
    kind = getattr(mx, dtype)
    source = kernel_source(
        f"""uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup;
            if ({condition}) out[i] = x[i / {each}];""",
        inputs={"x": mx.zeros(x.size, kind), "m": mx.zeros(_THREADS, mx.int32)},
        outputs={"out": kind},
    )
    out = np.full(_THREADS, 7, dtype)
    found = run_fenced(source, [x, m], out, (_THREADS, 1, 1))
    out[active] = x[i[active] // each]
    np.testing.assert_array_equal(found, out)


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize(("length", "each"), [(16, 1), (8, 1), (4, 1), (2, 1), (8, 2), (4, 4)])
@pytest.mark.parametrize("condition", ["lane % 16 < 2", "m[i] != 0", "m[i / 32] != 0"])
def test_rows_under_a_mask(condition: str, length: int, each: int, dtype: str) -> None:
    """`length` elements of each row, each for `each` lanes; both arrays end with the last one."""
    i = np.arange(_THREADS)
    random = np.random.default_rng(length)
    m = (random.random(_THREADS) < 0.3).astype(np.int32)
    m[1:3] = 1, 0
    active = {"lane % 16 < 2": i % 16 < 2, "m[i] != 0": m != 0}.get(condition, m[i // 32] != 0)
    group, lane = i // 32, i % 32
    from_ = (group * 9 + lane // (length * each)) * 37 + lane % (length * each) // each
    to = (group * 33 + lane // length) * 41 + lane % length
    x = random.integers(0, 99, from_[active].max() + 1).astype(dtype)
    kind = getattr(mx, dtype)
    source = kernel_source(
        f"""uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup, g = i / 32;
            if ({condition}) out[(g * 33 + lane / {length}) * 41 + lane % {length}]
                = x[(g * 9 + lane / {length * each}) * 37 + lane % {length * each} / {each}];""",
        inputs={"x": mx.zeros(x.size, kind), "m": mx.zeros(_THREADS, mx.int32)},
        outputs={"out": kind},
    )
    out = np.full(to[active].max() + 1, 7, dtype)
    found = run_fenced(source, [x, m], out, (_THREADS, 1, 1))
    out[to[active]] = x[from_[active]]
    np.testing.assert_array_equal(found, out)


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("chosen", ["i & 1", "(i & 3) == 2", "lane < 7", "m[i]"])
def test_of_two_arrays(chosen: str, dtype: str) -> None:
    i = np.arange(_THREADS)
    random = np.random.default_rng(3)
    m = random.integers(0, 2, _THREADS).astype(np.int32)
    takes = {"i & 1": i % 2 == 1, "(i & 3) == 2": i % 4 == 2, "lane < 7": i % 32 < 7}.get(
        chosen, m == 1
    )
    a, b = (
        random.integers(0, 99, 1 + (i[own] // 2).max()).astype(dtype) for own in (~takes, takes)
    )
    kind = getattr(mx, dtype)
    source = kernel_source(
        f"""uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup;
            out[i] = ({chosen}) ? b[i / 2] : a[i / 2];""",
        inputs={
            "a": mx.zeros(a.size, kind),
            "b": mx.zeros(b.size, kind),
            "m": mx.zeros(_THREADS, mx.int32),
        },
        outputs={"out": kind},
    )
    found = run_fenced(source, [a, b, m], np.zeros(_THREADS, dtype), (_THREADS, 1, 1))
    padded = [np.resize(x, _THREADS) for x in (a, b)]
    np.testing.assert_array_equal(found, np.where(takes, padded[1][i // 2], padded[0][i // 2]))
