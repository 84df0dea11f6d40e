"""What a launch hands to MLX, whose CUDA back end is not needed for that.

With the bridge, nodes of its own have MLX launch kernels, on a GPU: test_on_gpu.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal import targets
from anymetal.errors import KernelLaunchError, ToolchainError, UnsupportedFeatureError
from anymetal.targets import by_source
from anymetal.targets.cuda import launch as launch_module
from anymetal.targets.cuda.code_lookup import Version
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
    monkeypatch.setattr(launch_module.bridge, "native", lambda: None)
    monkeypatch.setattr(targets, "has_cuda", lambda: True)
    # The default device, which is this MLX's CPU, stands for a GPU.
    monkeypatch.setattr(targets, "is_of_cpu", lambda s: s is not None and s == mx.cpu)
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
    assert f".entry {call['name']}(".encode() in call["compiled_source"]
    assert b".target sm_80" in call["compiled_source"]
    assert call["name"].startswith("metal_custom_kernel_scaled")
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


def test_kernels_of_libraries_have_what_they_write_to_last(handed: list[dict[str, Any]]) -> None:
    library = anymetal.metal_library(
        "kernel void f(device float* o [[buffer(0)]], device const int* x [[buffer(1)]],"
        " uint i [[thread_position_in_grid]]) { o[i] += x[i]; }"
    )
    x = mx.arange(4)
    library.f(((4,), mx.float32), x, grid=(4, 1, 1), threadgroup=(4, 1, 1))
    (call,) = handed
    assert [array.dtype for array in call["inputs"]] == [mx.int32]
    assert call["output_shapes"] == [(4,), (1,)]
    head = call["compiled_source"].split(b".entry")[1].split(b")")[0]
    assert head.count(b".param") == 1 + 2 + 3


def test_kernels_of_libraries_write_to_copies_of_what_has_contents(
    handed: list[dict[str, Any]],
) -> None:
    library = anymetal.metal_library(
        "kernel void f(device float* o [[buffer(0)]], device const int* x [[buffer(1)]],"
        " uint i [[thread_position_in_grid]]) { o[i] += x[i]; }"
    )
    (result,) = library.f(mx.ones(4), mx.arange(4), grid=4, threadgroup=4)
    before, kernel, behind = handed
    assert result.shape == (4,) and result.dtype == mx.float32
    assert before["output_shapes"] == behind["output_shapes"] == [(4,)]
    assert [a.dtype for a in kernel["inputs"]] == [mx.int32, mx.float32]
    assert kernel["output_shapes"] == [(1,)]
    assert kernel["name"] == "metal_f" and b".entry metal_f(" in kernel["compiled_source"]


def test_launches_that_cuda_numbers_otherwise(handed: list[dict[str, Any]]) -> None:
    _call(grid=(2, 3, 100))
    kernel = anymetal.metal_kernel(
        name="high",
        input_names=[],
        output_names=["o"],
        source="uint3 p = thread_position_in_grid; o[p.z] = p.z;",
    )
    for group in (1, 128):
        kernel(
            inputs=[], output_shapes=[(70000,)], output_dtypes=[mx.uint32],
            grid=(2, 3, 70000), threadgroup=(1, 1, group),
        )  # fmt: skip
    plain, *rows = handed
    assert plain["grid"] == (2, 3, 100) and plain["scalars"] == [2, 3, 100]
    assert [row["grid"] for row in rows] == [(420000, 1, 1), (6 * 547 * 128, 1, 1)]
    assert [row["threadgroup"] for row in rows] == [(1, 1, 1), (128, 1, 1)]
    assert rows[1]["scalars"] == [2, 3, 70000, 1, 1, 128]
    with pytest.raises(KernelLaunchError, match=r"`high`.*65535"):
        kernel(
            inputs=[], output_shapes=[(70000,)], output_dtypes=[mx.uint32],
            grid=(2000, 3000, 70000), threadgroup=(1, 1, 1),
        )  # fmt: skip


def test_calls_like_earlier_ones(
    handed: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = anymetal.metal_kernel(
        name="scaled", input_names=["x", "s"], output_names=["o"], source=_SOURCE
    )

    def call(size: int, **more: Any) -> None:
        x = mx.arange(float(size)).reshape(3, -1)
        kernel(
            inputs=[x, mx.array(2.0)],
            output_shapes=[(size,)],
            output_dtypes=[mx.float32],
            grid=(size, 1, 1),
            threadgroup=(8, 1, 1),
            **more,
        )

    looked = []
    run = CudaTarget.run
    monkeypatch.setattr(CudaTarget, "run", lambda t, launch: looked.append(1) or run(t, launch))
    call(12)
    call(12)
    assert len(looked) == 1 and len(handed) == 2
    first, second = handed
    names = first.keys() - {"inputs"}
    assert all(first[name] == second[name] for name in names)
    for one, other in zip(first["inputs"], second["inputs"], strict=True):
        assert np.array_equal(np.array(one), np.array(other)) and one.dtype == other.dtype
    call(15)
    call(12, init_value=0.0)
    call(12, init_value=-0.0)
    assert len(looked) == 4
    call(12, init_value=0.0)
    assert len(looked) == 4 and str(handed[-1]["init_value"]) == "0.0"
    targets.select(CudaTarget("sm_75"))
    call(12)
    assert len(looked) == 5 and b".target sm_75" in handed[-1]["compiled_source"]


def test_streams_of_the_cpu(handed: list[dict[str, Any]]) -> None:
    kernel = anymetal.metal_kernel(
        name="squares",
        input_names=[],
        output_names=["o"],
        source="uint i = thread_position_in_grid.x; o[i] = i * i;",
    )
    call = {
        "inputs": [], "output_shapes": [(4,)], "output_dtypes": [mx.int32],
        "grid": (4, 1, 1), "threadgroup": (4, 1, 1),
    }  # fmt: skip
    for _ in range(2):
        (result,) = kernel(**call, stream=mx.cpu)
        assert result.tolist() == [0, 1, 4, 9]
    assert not handed
    kernel(**call, stream=mx.gpu)
    assert len(handed) == 1


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


def test_no_more_texts_are_kept_than_are_allowed(
    handed: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not kept is asked for again, and is the same."""
    asked: list[str] = []

    def text_of(version: Version) -> bytes:
        asked.append(version.source.name)
        return f"{version.source.name} {version.form.threads}".encode()

    monkeypatch.setattr(launch_module, "ptx_of", text_of)
    monkeypatch.setattr(by_source, "_SOURCES", 20)
    monkeypatch.setattr(by_source, "_PER_SOURCE", 3)
    target = CudaTarget("sm_80")
    targets.select(target)
    kernels = [
        anymetal.metal_kernel(name=f"k{n}", input_names=[], output_names=["o"], source="o[0] = 1;")
        for n in range(50)
    ]

    def launch(number: int, size: int = 32, begin: float = 0) -> None:
        kernels[number](
            inputs=[], output_shapes=[(1,)], output_dtypes=[mx.int32],
            grid=(size, 1, 1), threadgroup=(size, 1, 1), init_value=begin,
        )  # fmt: skip
        assert handed[-1]["compiled_source"] == f"k{number} {size}".encode()

    known = target._texts._known
    for number in range(50):
        launch(number)
        assert len(known) <= 20
    assert len(asked) == 50 and len(known) == 10
    for turn, size in enumerate((32, 64, 128, 256, 512, 1024, 32)):
        launch(49, size, begin=turn)  # like no call before
        assert len(target._texts._known) <= 20
        assert max(len(texts) for _, texts in known.values()) <= 3
    assert len(asked) == 50 + 5 + 1  # the first size had to go, and came again
