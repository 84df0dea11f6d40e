"""How much of an output a launch stores: sums of positions and counters, against all of them."""

from __future__ import annotations

import json
from itertools import product
from math import prod
from typing import NamedTuple

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anymetal
from anymetal.targets.cpu.covered import covered

Extent = tuple[int, int, int]
Term = tuple[int, int, list[str]]
_OUTPUTS = [1, 2]


def _threads(grid: Extent, group: Extent) -> list[dict[str, int]]:
    """Where each thread stands."""
    found = []
    for at in product(*map(range, grid)):
        place = {}
        sizes = []
        for axis, i, threads, size in zip("xyz", at, grid, group, strict=True):
            dispatched = min(size, threads - i // size * size)
            sizes.append(dispatched)
            place |= {f"group_{axis}": i // size, f"thread_{axis}": i % size}
            place |= {f"grid_{axis}": threads, f"full_size_{axis}": size}
            place[f"size_{axis}"] = dispatched
        index = place["thread_x"] + sizes[0] * (place["thread_y"] + sizes[1] * place["thread_z"])
        found.append(place | {"lane": index % 32, "gang": index // 32})
    return found


def _stored(bytes_: int, terms: list[Term], grid: Extent, group: Extent) -> set[int]:
    """The bytes that threads store."""
    found = set()
    for place in _threads(grid, group):
        values = [stride * prod(place[name] for name in names) for stride, _, names in terms]
        for counters in product(*(range(count) for _, count, _ in terms)):
            at = sum(
                value * (counter if count > 1 else 1)
                for value, counter, (_, count, _) in zip(values, counters, terms, strict=True)
            )
            found |= set(range(at, at + bytes_))
    return found


_NAMES = [f"{what}_{axis}" for what in ("thread", "group") for axis in "xy"] + ["lane", "gang"]
_SIZES = ["full_size_x", "size_x", "grid_x", "full_size_y"]
_FACTORS = st.lists(st.sampled_from(_SIZES), max_size=2)
_STRIDES = st.sampled_from([1, 2, 3, 4, 8, 16, 32, 64])
_TERMS = st.one_of(
    st.builds(lambda s, n, more: (s, 1, [n, *more]), _STRIDES, st.sampled_from(_NAMES), _FACTORS),
    st.builds(lambda s, c, more: (s, c, more), _STRIDES, st.integers(2, 3), _FACTORS),
)
_POSITIONS = st.builds(  # of the grid, as kernels have them
    lambda s, axis: [(s, 1, [f"group_{axis}", f"full_size_{axis}"]), (s, 1, [f"thread_{axis}"])],
    _STRIDES,
    st.sampled_from("xy"),
)
_EXTENTS = st.tuples(st.sampled_from([1, 2, 3, 5, 8, 32, 64]), st.sampled_from([1, 2, 3, 4]))


@given(
    bytes_=st.sampled_from([1, 2, 4]),
    terms=st.lists(_TERMS, max_size=3),
    positions=st.lists(_POSITIONS, max_size=2),
    sizes=st.tuples(_EXTENTS, _EXTENTS),
)
def test_all_of_it_is_stored(
    bytes_: int,
    terms: list[Term],
    positions: list[list[Term]],
    sizes: tuple[tuple[int, int], tuple[int, int]],
) -> None:
    (x, y), (width, height) = sizes
    grid, group = (x, y, 1), (min(x, width), min(y, height), 1)
    every = [*terms, *(term for pair in positions for term in pair)]
    notes = json.dumps([[1, bytes_, every]])
    at_y, at_z = covered(notes, _OUTPUTS, grid, group)
    assert at_z == 0
    assert set(range(at_y)) <= _stored(bytes_, every, grid, group)


class _Case(NamedTuple):
    terms: list[Term]
    grid: Extent
    group: Extent
    bytes: int  #: that are covered


_GRID = [(4, 1, ["group_x", "full_size_x"]), (4, 1, ["thread_x"])]


@pytest.mark.parametrize(
    "case",
    [
        _Case(_GRID, (1000, 1, 1), (256, 1, 1), 4000),
        _Case([*_GRID, (4, 1, ["grid_x", "group_y"])], (1000, 7, 1), (256, 1, 1), 28000),
        _Case([(4, 1, ["thread_x"]), (1024, 1, ["group_x"])], (1000, 1, 1), (256, 1, 1), 4000),
        _Case([(4, 1, ["thread_x"]), (1024, 1, ["group_y"])], (256, 3, 1), (256, 1, 1), 3072),
        _Case([(4, 1, ["lane"]), (128, 1, ["gang"])], (256, 1, 1), (256, 1, 1), 1024),
        _Case([(4, 1, ["lane"]), (128, 1, ["gang"])], (200, 1, 1), (200, 1, 1), 0),  # not whole
        _Case([(4, 1, ["thread_x"]), (1024, 32, [])], (256, 1, 1), (256, 1, 1), 32768),
        _Case([(8, 1, ["thread_x"])], (256, 1, 1), (256, 1, 1), 0),  # with gaps
        _Case([(4, 1, ["thread_x"]), (4, 1, ["lane"])], (32, 1, 1), (32, 1, 1), 0),
        _Case([(4, 1, ["group_x"]), (4, 2**29, [])], (4, 1, 1), (1, 1, 1), 0),  # beyond 31 bits
    ],
)
def test_bytes(case: _Case) -> None:
    notes = json.dumps([[1, 4, case.terms]])
    assert covered(notes, _OUTPUTS, case.grid, case.group) == [case.bytes, 0]


def test_a_kernel_that_tells_nothing() -> None:
    assert covered("", _OUTPUTS, (64, 1, 1), (32, 1, 1)) == [0, 0]


_INDICES = [
    "thread_position_in_grid.y * threads_per_grid.x + thread_position_in_grid.x",
    "threadgroup_position_in_grid.x * 64 + thread_position_in_threadgroup.x",
    "threadgroup_position_in_grid.x * 64 + simdgroup_index_in_threadgroup * 32"
    " + thread_index_in_simdgroup",
    "thread_position_in_grid.x",
    "thread_position_in_threadgroup.x",
    "2 * thread_position_in_grid.x + k",
    "k * threads_per_grid.x + thread_position_in_grid.x",
]


@pytest.mark.parametrize("mode", ["0", "eager"])
@pytest.mark.parametrize("index", _INDICES)
@pytest.mark.parametrize("grid", [(64, 1, 1), (192, 2, 1), (200, 3, 1)])
def test_what_is_not_stored_keeps_its_first_value(
    index: str, grid: Extent, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the memory of an output was used for something else before."""
    monkeypatch.setenv("ANYMETAL_SPECIALISE", mode)
    monkeypatch.setenv("ANYMETAL_BRIDGE", "wait")
    size = 2 * grid[0] * grid[1]
    kernel = anymetal.metal_kernel(
        name="stores",
        input_names=["x"],
        output_names=["y", "z"],
        source=f"""
            for (uint k = 0; k < 2; ++k) {{
                uint i = {index};
                y[i] = i;
                if (i < uint(x_shape[0])) z[i] = i;
            }}
        """,
    )
    group = (64, 1, 1)
    for length in (size, size // 2, 7):
        mx.eval(mx.full((size,), 3.0))
        y, z = kernel(
            inputs=[mx.zeros(length)],
            grid=grid,
            threadgroup=group,
            output_shapes=[(size,), (size,)],
            output_dtypes=[mx.float32, mx.float32],
            init_value=-1,
        )
        expected = _expected(index, grid, group, size)
        np.testing.assert_array_equal(y, expected)
        np.testing.assert_array_equal(z, np.where(np.arange(size) < length, expected, -1))


def _expected(index: str, grid: Extent, group: Extent, size: int) -> np.ndarray:
    found = np.full(size, -1.0, np.float32)
    words = {
        "thread_position_in_grid.x": "(group_x * full_size_x + thread_x)",
        "thread_position_in_grid.y": "(group_y * full_size_y + thread_y)",
        "threads_per_grid": "grid",
        "threadgroup_position_in_grid": "group",
        "thread_position_in_threadgroup": "thread",
        "simdgroup_index_in_threadgroup": "gang",
        "thread_index_in_simdgroup": "lane",
        ".x": "_x",
    }
    for word, ours in words.items():
        index = index.replace(word, ours)
    for place in _threads(grid, group):
        for k in range(2):
            at = eval(index, {**place, "k": k})
            found[at] = at
    return found
