"""Loads by quotient and remainder of an index that counts on: the elements, and nothing beside."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from mlx import core as mx

from anymetal.targets.cpu.compiler import compile_kernel
from anymetal.targets.cpu.variant import variant_for
from anymetal.testing.fenced import run_fenced
from anymetal.testing.lockstep.fired import Fired
from tests.frontend.kernels import kernel_source

_GROUPS = [(16, 16, 1), (32, 8, 1), (256, 1, 1), (8, 8, 1)]
_PLACE = """
uint3 l = thread_position_in_threadgroup, s = threads_per_threadgroup;
uint id = l.y * s.x + l.x, g = threadgroup_position_in_grid.x;
"""


def _check(
    body: str, arrays: dict[str, np.ndarray], out: np.ndarray, wanted: np.ndarray,
    group: tuple[int, int, int],
) -> None:  # fmt: skip
    kinds = {name: mx.zeros(a.size, getattr(mx, str(a.dtype))) for name, a in arrays.items()}
    source = kernel_source(
        _PLACE + body, inputs=kinds, outputs={"out": getattr(mx, str(out.dtype))}
    )
    found = run_fenced(source, [*arrays.values()], out, (2 * group[0], group[1], 1), group)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("group", _GROUPS)
@pytest.mark.parametrize("length", [3, 11, 13, 18, 31, 33, 100])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "int64"])
def test_tiles_by_one_index(dtype: str, length: int, group: tuple[int, int, int]) -> None:
    """Two threadgroups copy tiles, which lie below each other; the array ends with the last."""
    random, width = np.random.default_rng(length), 2 * length + 5
    tile = length * 7
    x = random.integers(0, 99, (2 * 7 - 1) * width + 3 + length).astype(dtype)
    body = f"""
        for (uint q = id; q < {tile}; q += s.x * s.y)
            out[g * {tile} + q] = x[(g * 7 + q / {length}) * {width} + 3 + q % {length}];
    """
    q = np.arange(2 * tile)
    rows = q // tile * 7 + q % tile // length
    wanted = x[rows * width + 3 + q % tile % length]
    _check(body, {"x": x}, np.zeros(2 * tile, dtype), wanted, group)


@pytest.mark.parametrize("group", _GROUPS)
@pytest.mark.parametrize("length", [12, 18, 40])
@pytest.mark.parametrize("mask", ["q >= 5", "m[id] != 0", "q % 3 != 1", "int(q) > 40"])
def test_lanes_that_do_not_take_part(mask: str, length: int, group: tuple[int, int, int]) -> None:
    """Indices of others may lie in front of the first row, or behind the last."""
    threads, random = group[0] * group[1], np.random.default_rng(length)
    m = (random.random(threads) < 0.4).astype(np.int32)
    i = np.arange(threads)
    takes: dict[str, Callable[[], np.ndarray]] = {
        "q >= 5": lambda: i >= 5,
        "m[id] != 0": lambda: m != 0,
        "q % 3 != 1": lambda: i % 3 != 1,
        "int(q) > 40": lambda: i > 40,
    }
    active = takes[mask]()
    back = 5 if mask == "q >= 5" else 0
    at = (i - back) // length * 77 + (i - back) % length
    x = random.standard_normal(at[active].max() + 1).astype(np.float32)
    body = f"""
        uint q = id;
        if (g == 1 && {mask}) {{ q -= {back}; out[id] = x[q / {length} * 77 + q % {length}]; }}
    """
    out = np.full(threads, 7, np.float32)
    wanted = out.copy()
    wanted[active] = x[at[active]]
    _check(body, {"x": x, "m": m}, out, wanted, group)


@pytest.mark.parametrize("group", _GROUPS)
@pytest.mark.parametrize("length", [12, 19, 100])
def test_a_remainder_alone_and_rows_that_follow(length: int, group: tuple[int, int, int]) -> None:
    threads = group[0] * group[1]
    i = np.arange(2 * threads)
    x = np.random.default_rng(1).integers(0, 99, length + 3).astype(np.int32)
    wanted = np.zeros(2 * threads, np.int32)
    wanted[i] = x[i % length + 3]
    body = f"""
        uint q = g * {threads} + id;
        out[q / {length} * {length} + q % {length}] = x[q % {length} + 3];
    """
    _check(body, {"x": x}, np.zeros(2 * threads, np.int32), wanted, group)


@pytest.mark.parametrize(
    ("index", "split"),
    [
        ("q / 18 * 50 + q % 18", True),
        ("q / 18 * n + q % 18", True),
        ("q % 18", True),
        ("q / 18 * 50 + q % 18 * 2", False),  # every second element
        ("q / 18 * 50 + q % 20", False),
        ("q / 7 * 50 + q % 7", False),  # too many rows
        ("q * 3 / 18 * 50 + q * 3 % 18", False),  # counts on in threes
    ],
)
def test_what_is_split(index: str, split: bool) -> None:
    text = f"uint q = thread_position_in_grid.x, n = a_shape[0]; out[q] = a[{index}];"
    with Fired() as fired:
        compile_kernel(kernel_source(text), variant_for((256, 1, 1), (256, 1, 1)), fired)
    assert ("pass:split-rows" in fired.names) is split
