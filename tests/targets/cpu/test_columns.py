"""Kernels that cannot tell their threadgroups run in columns of gangs where these share loads."""

from __future__ import annotations

import os

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.explain.kernels import explain
from anymetal.targets.cpu import code_lookup, plan
from anymetal.targets.cpu.llvm_target import machine_for

_PRODUCT = """
    uint column = thread_position_in_grid.x, row = thread_position_in_grid.y;
    if (row >= a_shape[0] || column >= b_shape[1]) return;
    float sum = 0;
    for (uint k = 0; k < a_shape[1]; ++k) {
        sum += a[row * a_shape[1] + k] * b[k * b_shape[1] + column];
    }
    out[row * b_shape[1] + column] = sum;
"""
_STENCIL = """
    uint column = thread_position_in_grid.x, row = thread_position_in_grid.y;
    float sum = 0;
    for (uint k = 0; k < a_shape[1]; ++k) sum += a[row * a_shape[1] + (column + k) % a_shape[1]];
    out[row * b_shape[1] + column] = sum * b[0];
"""
_MACHINE = machine_for(os.environ.get("ANYMETAL_CPU", ""))
#: Of AVX-512: elsewhere a team may be too large for them.
_MANY_REGISTERS = _MACHINE.registers * _MACHINE.words >= 512


@pytest.fixture
def planned(monkeypatch):
    """The threadgroups that launches run in from now on."""
    groups = []

    class Plan(plan.Plan):
        def __init__(self, *given):
            super().__init__(*given)
            groups.append((self.group, self.code.declined))

    monkeypatch.setattr("anymetal.targets.cpu.launch.Plan", Plan)
    return groups


def _run(body, name, a, b, grid, threadgroup):
    kernel = anymetal.metal_kernel(
        name=name, input_names=["a", "b"], output_names=["out"], source=body
    )
    (out,) = kernel(
        inputs=[mx.array(a), mx.array(b)],
        grid=grid,
        threadgroup=threadgroup,
        output_shapes=[(a.shape[0], b.shape[1])],
        output_dtypes=[mx.float32],
    )
    return np.array(out)


@pytest.mark.parametrize("threadgroup", [(16, 16, 1), (256, 1, 1), (1, 1, 1), (8, 4, 1), (7, 3, 1)])
@pytest.mark.parametrize(
    ("rows", "columns", "grid", "height"),
    [
        (64, 96, (96, 64, 1), 8),
        (12, 64, (64, 12, 1), 4),
        (29, 50, (64, 32, 1), 8),  # the kernel's own bounds leave threads out
        (31, 64, (64, 31, 1), 8),  # columns that lead beyond the edge
        (33, 70, (70, 33, 1), 8),
        (9, 33, (33, 9, 1), 4),
        (1, 64, (64, 1, 1), 0),
        (30, 31, (31, 30, 1), 0),
    ],
)
def test_products_share_the_columns(planned, threadgroup, rows, columns, grid, height):
    random = np.random.default_rng()
    a, b = (random.standard_normal(s, dtype=np.float32) for s in ((rows, 37), (37, columns)))
    out = _run(_PRODUCT, "product", a, b, grid, threadgroup)
    np.testing.assert_allclose(out, a.astype(float) @ b.astype(float), rtol=1e-4, atol=1e-4)
    ((group, declined),) = planned
    if _MANY_REGISTERS:
        assert (group == (32, height, 1)) == bool(height)
        assert not declined


def test_other_kernels_run_along_rows(planned):
    random = np.random.default_rng()
    a, b = (random.standard_normal((64, 64), dtype=np.float32) for _ in range(2))
    out = _run(_STENCIL, "stencil", a, b, (64, 64, 1), (16, 16, 1))
    right = np.broadcast_to(a.sum(axis=1, keepdims=True, dtype=float) * b[0, 0], (64, 64))
    np.testing.assert_allclose(out, right, rtol=1e-4, atol=1e-4)
    assert planned == [((64, 1, 1), True)]


def test_explanations_are_of_the_class_that_was_taken():
    variants = code_lookup.follow()
    ones = np.ones((64, 64), np.float32)
    _run(_PRODUCT, "taken", ones, ones, (64, 64, 1), (16, 16, 1))
    _run(_STENCIL, "declined", ones, ones, (64, 64, 1), (16, 16, 1))
    texts = {source.name: explain(source, variant).launch for source, variant in variants}
    if _MANY_REGISTERS:
        assert texts["taken"].startswith("full SIMD-groups of rows of 32")
    assert texts["declined"].startswith("full SIMD-groups along x")


@pytest.mark.parametrize("dtype", [mx.uint8, mx.float16, mx.float32, mx.int64], ids=str)
@pytest.mark.parametrize("reads", [False, True], ids=["writes", "reads"])
@pytest.mark.parametrize(("height", "width"), [(64, 96), (33, 50), (7, 200)])
def test_transpositions_access_runs(planned, dtype, reads, height, width):
    """By columns of gangs, each lane reads or writes neighbours one after the other."""
    a = mx.random.randint(0, 100, (height, width)).astype(dtype)
    reading, writing = (
        "out[p.y * H + p.x] = a[p.x * W + p.y]",
        "out[p.x * H + p.y] = a[p.y * W + p.x]",
    )
    body = reading if reads else writing
    kernel = anymetal.metal_kernel(
        name="transpose",
        input_names=["a"],
        output_names=["out"],
        source=f"""
            uint H = a_shape[0], W = a_shape[1];
            uint2 p = thread_position_in_grid.xy;
            {body};
        """,
    )
    (out,) = kernel(
        inputs=[a],
        grid=(height, width, 1) if reads else (width, height, 1),
        threadgroup=(16, 16, 1),
        output_shapes=[(width, height)],
        output_dtypes=[dtype],
    )
    assert mx.array_equal(out, a.T)
    ((group, declined),) = planned
    if _MANY_REGISTERS and (height if reads else width) > 32:
        assert group[0] == 32 and not declined


@pytest.mark.parametrize("inner", [1, 3, 37])
def test_versions_for_launches_keep_the_class_that_was_taken(monkeypatch, planned, inner):
    """With its size compiled in, a short loop is gone, and with it the reason for a team."""
    monkeypatch.setenv("ANYMETAL_SPECIALISE", "eager")
    random = np.random.default_rng()
    a, b = (random.standard_normal(s, dtype=np.float32) for s in ((64, inner), (inner, 96)))
    out = _run(_PRODUCT, f"special_{inner}", a, b, (96, 64, 1), (16, 16, 1))
    np.testing.assert_allclose(out, a.astype(float) @ b.astype(float), rtol=1e-4, atol=1e-4)
    assert len(planned) == 1


_FLAT_PRODUCT = """
    uint i = thread_position_in_grid.x;
    uint row = i / b_shape[1], column = i % b_shape[1];
    float sum = 0;
    for (uint k = 0; k < a_shape[1]; ++k) {
        sum += a[row * a_shape[1] + k] * b[k * b_shape[1] + column];
    }
    out[i] = sum;
"""


@pytest.mark.parametrize("threadgroup", [32, 64, 100, 256, 1024])
@pytest.mark.parametrize(
    ("rows", "columns", "folds"),
    [(64, 128, True), (32, 96, True), (64, 64, True), (33, 64, False), (64, 50, False)],
)
def test_versions_for_launches_find_rows_in_one_axis(
    monkeypatch, threadgroup, rows, columns, folds
):
    monkeypatch.setenv("ANYMETAL_SPECIALISE", "eager")
    variants = code_lookup.follow()
    random = np.random.default_rng()
    a, b = (random.standard_normal(s, dtype=np.float32) for s in ((rows, 37), (37, columns)))
    name = f"flat_{threadgroup}_{rows}_{columns}"
    out = _run(_FLAT_PRODUCT, name, a, b, (rows * columns, 1, 1), (threadgroup, 1, 1))
    np.testing.assert_allclose(out, a.astype(float) @ b.astype(float), rtol=1e-4, atol=1e-4)
    launches = [
        explain(source, variant).launch for source, variant in variants if source.name == name
    ]
    assert len(launches) == 2
    if _MANY_REGISTERS and threadgroup == 256:
        assert (f"above each other in rows of {columns}" in launches[1]) == folds
