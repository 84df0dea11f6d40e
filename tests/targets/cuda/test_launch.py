"""What a launch hands to MLX, whose CUDA back end is not needed for that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal import targets
from anymetal.errors import KernelLaunchError, ToolchainError, UnsupportedFeatureError
from anymetal.targets.cuda.launch import CudaTarget, newest_for

_SOURCE = "uint i = thread_position_in_grid.x; o[i] = x[i] * s + x_shape[0] + x_strides[0];"


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """The calls of MLX's function, which returns zeros here."""
    calls: list[dict[str, Any]] = []

    def launch(**call: Any) -> list[mx.array]:
        calls.append(call)
        pairs = zip(call["output_shapes"], call["output_dtypes"], strict=True)
        return [mx.zeros(shape, dtype) for shape, dtype in pairs]

    monkeypatch.setattr(CudaTarget, "_kernel", lambda _: launch)
    targets.select(CudaTarget("sm_80"))
    yield calls
    targets.select(None)


def _call(grid: tuple[int, int, int] = (12, 1, 1), group: int = 8) -> list[mx.array]:
    kernel = anymetal.metal_kernel(
        name="scaled", input_names=["x", "s"], output_names=["o"], source=_SOURCE
    )
    result: list[mx.array] = kernel(
        inputs=[mx.arange(12.0).reshape(3, 4), 2.0],
        output_shapes=[(12,)],
        output_dtypes=[mx.float32],
        grid=grid,
        threadgroup=(group, 1, 1),
        init_value=3,
    )
    return result


def test_arguments(handed: list[dict[str, Any]]) -> None:
    _call()
    (call,) = handed
    assert b".entry am_kernel(" in call["compiled_source"]
    assert b".target sm_80" in call["compiled_source"]
    assert call["name"] == "am_kernel"
    x, shape, strides, s = map(np.array, call["inputs"])
    assert x.shape == (3, 4) and s == 2
    assert shape.tolist() == [3, 4] and shape.dtype == np.int32
    assert strides.tolist() == [4, 1] and strides.dtype == np.int64
    assert call["scalars"] == [12, 1, 1]
    assert call["grid"] == (12, 1, 1) and call["threadgroup"] == (8, 1, 1)
    assert call["init_value"] == 3 and call["ensure_row_contiguous"] is True


def test_a_parameter_for_each_argument(handed: list[dict[str, Any]]) -> None:
    _call()
    head = handed[0]["compiled_source"].split(b".entry")[1].split(b")")[0]
    assert head.count(b".param") == len(handed[0]["inputs"]) + 1 + 3


def test_launches_without_threads(handed: list[dict[str, Any]]) -> None:
    (result,) = _call(grid=(0, 1, 1))
    assert not handed
    assert np.array(result).tolist() == [3] * 12


def test_threadgroups_that_are_too_large(handed: list[dict[str, Any]]) -> None:
    with pytest.raises(KernelLaunchError, match="2048"):
        _call(group=2048)
    assert not handed


def test_kernels_of_libraries_are_refused(handed: list[dict[str, Any]]) -> None:
    library = anymetal.metal_library("kernel void f(device float* o [[buffer(0)]]) { o[0] = 1; }")
    with pytest.raises(UnsupportedFeatureError, match=r"`f`.*'cuda'"):
        library.f(mx.zeros((4,)), grid=(1, 1, 1), threadgroup=(1, 1, 1))


@pytest.mark.skipif(mx.is_available(mx.gpu), reason="MLX has a GPU here")
def test_a_machine_without_cuda_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_TARGET", "cuda")
    targets.select(None)
    try:
        with pytest.raises(ToolchainError, match=r"no CUDA.*anymetal\[cuda13\]"):
            _call()
    finally:
        monkeypatch.undo()
        targets.select(None)


def test_an_unknown_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_TARGET", "gpu")
    targets.select(None)
    try:
        with pytest.raises(ToolchainError, match=r"'gpu', but the targets are apple, cpu, cuda"):
            targets.active()
    finally:
        monkeypatch.undo()
        targets.select(None)


def test_the_architecture_follows_the_gpu() -> None:
    assert newest_for(90) == "sm_90"
    assert newest_for(87) == "sm_86"
    assert newest_for(120) == "sm_100"
    with pytest.raises(UnsupportedFeatureError, match=r"6\.1"):
        newest_for(61)
