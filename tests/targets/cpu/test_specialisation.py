"""Special versions of kernels: the same bits, for the launches that they fit, and not too many."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal import targets
from anymetal.runtime import disk_cache
from anymetal.source import KernelSource
from anymetal.targets import versions
from anymetal.targets.cpu import CpuTarget, code_lookup, specialisation
from anymetal.targets.cpu.variant import Variant

Asked = Collection[tuple[KernelSource, Variant]]

BODY = """
uint i = thread_position_in_grid.x;
if (i < uint(x_shape[0] * x_shape[1])) {
    uint row = i / x_shape[1], column = i % x_shape[1];
    float sum = 0;
    for (uint k = 0; k < uint(x_shape[1]); k++) {
        sum += x[row * x_strides[0] + k] * scale + float(threads_per_grid.x) * 1e-3f;
    }
    y[i] = sum + x[row * x_strides[0] + column * x_strides[1]] * float(x_ndim);
}
"""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """The code that was asked for, by a target that has no plans yet."""
    targets.select(CpuTarget())
    yield code_lookup.follow()
    monkeypatch.setattr(code_lookup, "_followed", None)
    targets.select(None)


def special(asked: Asked) -> list[Variant]:
    return [variant for _, variant in asked if variant.known]


def kernel(name: str) -> Any:
    return anymetal.metal_kernel(
        name=name, input_names=["x", "scale"], output_names=["y"], source=BODY
    )


def launch(kernel: Any, x: mx.array, scale: float, threads: int = 64) -> np.ndarray:
    (y,) = kernel(
        inputs=[x, mx.array(float(scale))],
        grid=(threads, 1, 1),
        threadgroup=(32, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[mx.float32],
    )
    return np.array(y)


def expected(x: mx.array, scale: float, threads: int = 64) -> np.ndarray:
    values = np.array(x, np.float64)
    each = values * scale + threads * 1e-3
    return each.sum(1, keepdims=True) + 2 * values


def random(*shape: int) -> mx.array:
    return mx.array(np.random.default_rng(shape).normal(size=shape).astype(np.float32))


def test_results_with_all_facts_compiled_in(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """More shapes and scalars than there may be versions, each of them several times."""
    eager, general = kernel("eager"), kernel("general")
    for _ in range(2):
        for rows, columns, scale in [(8, 8, 2), (4, 16, 2), (8, 8, -3), (2, 31, 0.5), (1, 9, 1),
                                     (64, 1, 2), (3, 9, 2)]:  # fmt: skip
            x = random(rows, columns)
            monkeypatch.setenv("ANYMETAL_SPECIALISE", "eager")
            found = launch(eager, x, scale)
            monkeypatch.setenv("ANYMETAL_SPECIALISE", "0")
            np.testing.assert_array_equal(found, launch(general, x, scale))
            np.testing.assert_allclose(found, expected(x, scale), rtol=1e-5, atol=1e-5)
    versions = special(asked)
    assert len(versions) == 4  # of one grid and threadgroup
    assert {content.name for content in versions[0].known.contents} == {
        "x_shape", "x_strides", "x_ndim", "scale"
    }  # fmt: skip


def test_views_have_their_own_strides(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_SPECIALISE", "eager")
    strided = anymetal.metal_kernel(
        name="strided",
        input_names=["x", "scale"],
        output_names=["y"],
        source=BODY,
        ensure_row_contiguous=False,
    )
    whole = random(16, 16)
    mx.eval(whole)
    for view in (whole[:8, :8], whole[::2, :8], whole[:8, :8]):
        np.testing.assert_allclose(launch(strided, view, 2), expected(view, 2), rtol=1e-5)
    assert len(special(asked)) == 2


def test_a_hot_kernel_gets_a_version_in_the_background(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Based on what stays the same: `scale` does not."""
    monkeypatch.setattr(specialisation, "_HOT", 1.0)
    monkeypatch.setenv("ANYMETAL_SPECIALISE", "1")
    hot, x = kernel("hot"), random(4, 16)
    end = time.monotonic() + 120
    number = 0
    while not special(asked):
        assert time.monotonic() < end, "no version was made"
        number += 1
        found = launch(hot, x, number)
        np.testing.assert_allclose(found, expected(x, number), rtol=1e-5, atol=1e-4)
        time.sleep(0.01)
    (version,) = special(asked)
    assert "scale" not in {content.name for content in version.known.contents}
    for _ in range(3):  # by now with the new version
        np.testing.assert_allclose(launch(hot, x, 7), expected(x, 7), rtol=1e-5, atol=1e-4)


def test_a_kernel_that_is_not_hot_has_one_version(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANYMETAL_SPECIALISE", "1")
    cold, x = kernel("cold"), random(4, 16)
    for _ in range(20):
        launch(cold, x, 2)
    assert len(asked) == 1 and not special(asked)


def test_a_thousand_shapes(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each makes its version if it may: in all there are as many as a kernel may have."""
    monkeypatch.setenv("ANYMETAL_SPECIALISE", "eager")
    many = kernel("many")
    for rows in range(8, 1008):
        x = mx.full((rows, 2), rows, mx.float32)
        threads = 2 * rows
        found = launch(many, x, 2, threads)
        np.testing.assert_allclose(found, expected(x, 2, threads), rtol=1e-5)
    assert len(special(asked)) == versions.MOST_VERSIONS


def test_sizes_alone(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_SPECIALISE", "eager")
    stride = anymetal.metal_kernel(
        name="stride",
        input_names=["x"],
        output_names=["y"],
        source="uint l = thread_position_in_threadgroup.x; float sum = 0;"
        "for (uint i = l; i < 1000; i += threads_per_threadgroup.x) sum += x[i];"
        "y[thread_position_in_grid.x] = sum;",
    )
    x = mx.arange(1000.0)
    (y,) = stride(
        inputs=[x],
        grid=(160, 1, 1),  # the last threadgroup is cut short
        threadgroup=(64, 1, 1),
        output_shapes=[(160,)],
        output_dtypes=[mx.float32],
    )
    steps = [64] * 128 + [32] * 32
    wanted = [sum(range(i % 64, 1000, step)) for i, step in enumerate(steps)]
    assert y.tolist() == wanted
    assert len(special(asked)) == 1


def test_places_in_the_threadgroup_alone(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many there are of them is known then, and with that how often a loop runs."""
    monkeypatch.setenv("ANYMETAL_SPECIALISE", "eager")
    copy = anymetal.metal_kernel(
        name="copy",
        input_names=["x"],
        output_names=["y"],
        source="uint2 t = thread_position_in_threadgroup.xy;"
        "for (uint j = t.y; j < 32; j += 8) y[j * 32 + t.x] = x[j * 32 + t.x] + j;",
    )
    x = random(32, 32)
    (y,) = copy(
        inputs=[x],
        grid=(32, 8, 1),
        threadgroup=(32, 8, 1),
        output_shapes=[x.shape],
        output_dtypes=[mx.float32],
    )
    np.testing.assert_array_equal(
        np.array(y), np.array(x) + np.arange(32, dtype=np.float32)[:, None]
    )
    (version,) = special(asked)
    assert version.known.group == (32, 8, 1)


LIBRARY = """
struct Sizes { int columns; float scale; };
kernel void rows(device const float* x [[buffer(0)]], device float* y [[buffer(3)]],
                 constant Sizes& sizes [[buffer(5)]], constant long* strides [[buffer(7)]],
                 uint i [[thread_position_in_grid]]) {
  y[i] += 1;
  y[i] += sizes.scale * x[i / sizes.columns * strides[0] + i % sizes.columns * strides[1]];
}
"""


def sizes(columns: int, scale: float) -> bytes:
    return np.int32(columns).tobytes() + np.float32(scale).tobytes()


#: What a kernel of a library writes: a node of the graph, or in place, where Python launches.
WAYS = [lambda: ((32,), mx.float32), lambda: np.zeros(32, np.float32)]


@pytest.mark.parametrize("output", WAYS, ids=["graph", "in place"])
def test_kernels_of_libraries(asked: Asked, monkeypatch: pytest.MonkeyPatch, output: Any) -> None:
    """Numbers, structs and small arrays in constant memory are compiled in."""
    monkeypatch.setenv("ANYMETAL_SPECIALISE", "eager")
    library = anymetal.metal_library(LIBRARY)
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    for columns, scale, strides in [(8, 2.0, [8, 1]), (4, -1.0, [1, 8]), (8, 2.0, [8, 1])]:
        given = sizes(columns, scale), np.array(strides)
        (y,) = library.rows(x, output(), *given, grid=32, threadgroup=32)
        i = np.arange(32)
        at = i // columns * strides[0] + i % columns * strides[1]
        np.testing.assert_array_equal(np.array(y), 1 + scale * x.reshape(-1)[at])
    first, _ = special(asked)
    assert [content.name for content in first.known.contents] == ["sizes", "strides"]


def test_buffers_of_libraries_that_share_memory(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions rely on it that what is read is not written; the general one does not."""
    monkeypatch.setenv("ANYMETAL_SPECIALISE", "eager")
    library = anymetal.metal_library(LIBRARY)
    given = sizes(32, 1.0), np.array([32, 1])
    apart, shared = np.arange(32, dtype=np.float32), np.arange(64, dtype=np.float32)
    for _ in range(2):
        library.rows(apart, apart.copy(), *given, grid=32, threadgroup=32)
    assert len(special(asked)) == 1
    wanted = (shared[:32] + 1) * 2
    library.rows(shared[:32], shared[:32], *given, grid=32, threadgroup=32)
    np.testing.assert_array_equal(shared[:32], wanted)
    library.rows(shared[31:63], shared[:32], *given, grid=32, threadgroup=32)
    np.testing.assert_array_equal(shared[1:32], wanted[1:] + 1 + np.arange(32, 63))


@pytest.mark.parametrize("output", WAYS, ids=["graph", "in place"])
def test_a_hot_kernel_of_a_library(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, output: Any
) -> None:
    """The version is made in the background; numbers that change are not compiled in."""
    monkeypatch.setattr(specialisation, "_HOT", 1.0)
    monkeypatch.setenv("ANYMETAL_SPECIALISE", "1")
    library = anymetal.metal_library(LIBRARY)
    x = np.arange(64, dtype=np.float32)
    end, scale = time.monotonic() + 120, 0
    while not special(asked):
        assert time.monotonic() < end, "no version was made"
        scale += 1
        given = sizes(32, scale), np.array([32, 1])
        (y,) = library.rows(x, output(), *given, grid=32, threadgroup=32)
        np.testing.assert_array_equal(np.array(y), 1 + scale * x[:32])
        time.sleep(0.01)
    (version,) = special(asked)
    assert [content.name for content in version.known.contents] == ["strides"]


def test_a_version_is_kept_where_the_general_one_is(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also if the environment names another cache by the time at which it is made."""
    monkeypatch.setattr(specialisation, "_HOT", 1.0)
    monkeypatch.setenv("ANYMETAL_SPECIALISE", "1")
    library = anymetal.metal_library(LIBRARY.replace("+= 1", "+= 2"))  # in no cache yet
    x, given = np.arange(64, dtype=np.float32), (sizes(32, 2.0), np.array([32, 1]))

    def run_until(many: int, cache: Path) -> list[disk_cache.Entry]:
        monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(cache))
        end = time.monotonic() + 120
        while len(asked) < many:
            assert time.monotonic() < end, "nothing was made"
            library.rows(x, np.zeros(32, np.float32), *given, grid=32, threadgroup=32)
            time.sleep(0.01)
        return [entry for entry in disk_cache.entries() if entry.name == "kernel rows"]

    assert len(run_until(1, tmp_path / "first")) == 1
    assert run_until(2, tmp_path / "second") == []
    assert len(run_until(2, tmp_path / "first")) == 2


def test_shapes_under_compile(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a compiled function was traced with is not what it relies on."""
    monkeypatch.setenv("ANYMETAL_SPECIALISE", "eager")
    traced = kernel("traced")

    @mx.compile
    def function(x: mx.array, scale: mx.array) -> mx.array:
        (y,) = traced(
            inputs=[x, scale],
            grid=(64, 1, 1),
            threadgroup=(32, 1, 1),
            output_shapes=[x.shape],
            output_dtypes=[mx.float32],
        )
        return y

    for shape in ((8, 8), (4, 16), (8, 8)):
        for scale in (2.0, -1.0):
            x = random(*shape)
            np.testing.assert_allclose(
                function(x, mx.array(scale)), expected(x, scale), rtol=1e-5, atol=1e-5
            )


@pytest.mark.parametrize("text", ["2", "yes"])
def test_a_wrong_value_is_an_error(
    text: str, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANYMETAL_SPECIALISE", text)
    with pytest.raises(
        ValueError, match=f"ANYMETAL_SPECIALISE must be 0, 1 or eager, not '{text}'"
    ):
        launch(kernel("wrong"), random(4, 16), 2)
