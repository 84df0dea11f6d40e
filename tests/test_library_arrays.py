"""Arrays that are not MLX's, as arguments of library kernels: read where they lie or copied,
written in place, or refused with what to do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.errors import KernelLaunchError, SanitizerError

TEXT = """
kernel void add(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  y[i] += x[i];
}
kernel void copy(device const void* x, device uchar* y, uint i [[thread_position_in_grid]]) {
  y[i] = ((device const uchar*)x)[i];
}
kernel void halve(device bfloat* x, uint i [[thread_position_in_grid]]) { x[i] = x[i] / 2; }
kernel void flip(device bool* x, uint i [[thread_position_in_grid]]) { x[i] = !x[i]; }
"""


@pytest.fixture(scope="module")
def library() -> anymetal.MetalLibrary:
    return anymetal.metal_library(TEXT)


class Speaker:
    """Speaks DLPack and has nothing else. `versioned`: also its second version."""

    def __init__(self, array: np.ndarray[Any, Any], versioned: bool = True, device: int = 1):
        self.array, self.versioned, self.device = array, versioned, device

    def __dlpack__(self, **options: Any) -> object:
        if options and not self.versioned:
            raise TypeError("unexpected keyword argument")
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


def floats(count: int = 6) -> np.ndarray[Any, Any]:
    return np.arange(count, dtype=np.float32)


def locked(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.flags.writeable = False
    return array


READ: dict[str, Any] = {
    "NumPy": floats(),
    "only DLPack": Speaker(floats()),
    "only DLPack's first version": Speaker(floats(), versioned=False),
    "read only": locked(floats()),
    "of bytes": np.frombuffer(floats().tobytes(), np.float32),
    "every second": np.repeat(floats(), 2)[::2],
    "backwards": floats()[::-1].copy()[::-1],
    "a column": np.stack([floats(), floats()], 1)[:, 0],
    "transposed": np.ascontiguousarray(floats().reshape(2, 3).T).T,
    "one row of many": floats().reshape(1, 6)[:, :],
}


@pytest.mark.parametrize("x", READ.values(), ids=READ)
@pytest.mark.parametrize("lazy", [True, False], ids=["lazy", "at once"])
def test_what_a_kernel_reads(x: Any, lazy: bool, library: Any) -> None:
    y = mx.ones(6) if lazy else np.ones(6, np.float32)
    (out,) = library.add(x, y, grid=6, threadgroup=6)
    assert out.tolist() == [1, 2, 3, 4, 5, 6]
    assert lazy or out is y


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int16", "bool"])
@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("lazy", [True, False], ids=["lazy", "at once"])
def test_any_type_has_its_bytes(dtype: str, step: int, lazy: bool, library: Any) -> None:
    x = (floats(12) * 3).astype(dtype)[::step]
    y = ((x.nbytes,), mx.uint8) if lazy else np.zeros(x.nbytes, np.uint8)
    (out,) = library.copy(x, y, grid=x.nbytes, threadgroup=32)
    assert bytes(out.tolist()) == x.tobytes()


def test_a_lazy_call_keeps_what_it_reads(library: Any) -> None:
    x = floats()
    (out,) = library.add(x, ((6,), mx.float32), grid=6, threadgroup=6)
    x[:] = -1
    assert out.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("wrap", [lambda a: a, Speaker, lambda a: Speaker(a, versioned=False)])
def test_what_is_written_in_place(wrap: Any, library: Any) -> None:
    memory = np.zeros((3, 2), np.float32)
    given = wrap(memory[1:])
    (out,) = library.add(floats(4), given, grid=4, threadgroup=4)
    assert out is given
    assert memory.tolist() == [[0, 0], [0, 1], [2, 3]]


def test_all_types_of_metal_are_written_in_place(library: Any) -> None:
    flags = np.array([True, False])
    library.flip(flags, grid=2, threadgroup=2)
    assert flags.tolist() == [False, True]


REFUSED: dict[str, tuple[Any, str]] = {
    "read only": (locked(floats()), "writes to its argument, which is read only: pass a contig"),
    "not contiguous": (floats(12)[::2], "writes to its argument, which is not contiguous"),
    "a type that DLPack lacks": (floats().astype(">f4"), "cannot have the memory of this ndarray"),
    "CUDA": (Speaker(floats(), device=2), r"on another device \(CUDA\): move it to the CPU"),
    "Metal": (Speaker(floats(), device=8), r"on another device \(Metal\)"),
    "unknown": (Speaker(floats(), device=99), r"on another device \(DLPack's number 99\)"),
    "another dtype": (floats().astype(np.int32), "needs an array of float32, got int32"),
}


@pytest.mark.parametrize(("y", "problem"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_written(y: Any, problem: str, library: Any) -> None:
    with pytest.raises((KernelLaunchError, TypeError), match=rf"`add`: parameter `y` .*{problem}"):
        library.add(floats(), y, grid=6, threadgroup=6)


@pytest.mark.parametrize("case", ["CUDA", "a type that DLPack lacks", "another dtype"])
def test_what_cannot_be_read(case: str, library: Any) -> None:
    x, problem = REFUSED[case]
    with pytest.raises((KernelLaunchError, TypeError), match=rf"`add`: parameter `x` .*{problem}"):
        library.add(x, mx.ones(6), grid=6, threadgroup=6)


def test_arrays_of_jax_are_read_and_not_written(library: Any) -> None:
    """JAX does not say that its arrays never change."""
    jnp = pytest.importorskip("jax.numpy")
    (out,) = library.add(jnp.arange(6.0), mx.ones(6), grid=6, threadgroup=6)
    assert out.tolist() == [1, 2, 3, 4, 5, 6]
    at_once = np.ones(6, np.float32)
    library.add(jnp.arange(6.0), at_once, grid=6, threadgroup=6)
    assert at_once.tolist() == [1, 2, 3, 4, 5, 6]
    with pytest.raises(KernelLaunchError, match=r"parameter `x` .* which is read only"):
        library.halve(jnp.arange(6, dtype=jnp.bfloat16), grid=6, threadgroup=6)


def test_immutable_arrays_of_jax_without_jax(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same by a stand-in, as JAX need not be installed."""

    class Jax:
        Array = Speaker

    monkeypatch.setitem(sys.modules, "jax", Jax)
    x = Speaker(floats())
    with pytest.raises(KernelLaunchError, match=r"parameter `y` .* which is read only"):
        library.add(floats(), x, grid=6, threadgroup=6)
    (out,) = library.add(x, mx.ones(6), grid=6, threadgroup=6)
    assert out.tolist() == [1, 2, 3, 4, 5, 6]


def test_observed_launches_leave_arrays_as_one_launch_does(library: Any, tmp_path: Path) -> None:
    """In other orders they run on copies; a replay file has what the arrays held."""
    file = tmp_path / "add.amreplay"
    x, y = locked(floats()), np.ones(6, np.float32)
    observed = anymetal.sanitize(order="shuffle", replay=file)
    with pytest.raises(SanitizerError, match="outside of `x`"), observed:
        library.add(x, y, grid=6, threadgroup=2)
        library.add(x, y, grid=7, threadgroup=7)
    assert y.tolist() == [1, 3, 5, 7, 9, 11]
    saved = mx.load(str(file), "safetensors")
    assert saved["input.0"].tolist() == x.tolist()
    assert saved["output.0"].tolist() == [1, 2, 3, 4, 5, 6]
