"""Arrays of more than 2^31 bytes, of which a few pages are touched: the rest takes no memory."""

from __future__ import annotations

import mmap
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.targets.cpu.launch import CpuTarget
from anymetal.testing.fenced import Array
from tests.frontend.kernels import kernel_source

_THREADS = 128
_GIB = 1 << 30
_E = np.arange(_THREADS)
_FAR = 2_200_000_000  #: bytes; as a number of 32 bits with a sign it is negative


def sparse(nbytes: int, dtype: type = np.float32) -> Array:
    """Zeros that lie nowhere until they are written."""
    nbytes = nbytes // mmap.PAGESIZE * mmap.PAGESIZE
    memory = mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
    return np.frombuffer(memory, dtype)


def launch(body: str, *arrays: Array) -> None:
    """Runs a kernel on these, x, y, … and the last one as out."""
    names = "xyzw"[: len(arrays) - 1]
    inputs = {name: mx.zeros(8, mx.float32) for name in names}
    text = "uint e = thread_position_in_grid.x;\n" + body
    source = kernel_source(text, inputs=inputs)
    CpuTarget().run_in_place(source, list(arrays), (_THREADS, 1, 1), (64, 1, 1))


#: Type of the elements, bytes of the array, how many elements a thread is from the next one.
_VIEWS = [
    ("uchar", np.uint8, 2.4, 1),
    ("uchar", np.uint8, 3.9, 1),
    ("uchar", np.uint8, 2.4, 257),
    ("half", np.float16, 4.5, 1),
    ("ushort", np.uint16, 4.5, 3),
    ("float", np.float32, 8.5, 1),
]


@pytest.mark.parametrize(("type_", "dtype", "gib", "step"), _VIEWS)
def test_offsets_of_smaller_elements_are_unsigned(
    type_: str, dtype: type, gib: float, step: int
) -> None:
    x = sparse(int(gib * _GIB))
    view = x.view(dtype)
    view[_FAR + _E * step] = _E + 1
    out = np.zeros(_THREADS, np.float32)
    launch(f"out[e] = ((const device {type_}*)x)[{_FAR}u + e * {step}u];", x, out)
    np.testing.assert_array_equal(out, _E + 1)
    pointer = f"const device {type_}* p = (const device {type_}*)x; p += e * {step}u + {_FAR}u;"
    launch(f"{pointer} out[e] = *p + 1;", x, out)
    np.testing.assert_array_equal(out, _E + 2)


@pytest.mark.parametrize(("type_", "dtype", "gib", "step"), _VIEWS)
def test_outputs_are_written_there(type_: str, dtype: type, gib: float, step: int) -> None:
    x, out = np.arange(_THREADS, dtype=np.float32), sparse(int(gib * _GIB))
    launch(f"((device {type_}*)out)[{_FAR}u + e * {step}u] = x[e] + 1;", x, out)
    np.testing.assert_array_equal(out.view(dtype)[_FAR + _E * step], _E + 1)


def test_one_of_several_arrays_is_large() -> None:
    x, y = sparse(int(2.4 * _GIB)), np.arange(_THREADS, dtype=np.float32)
    x.view(np.uint8)[_FAR : _FAR + _THREADS] = 7
    out = np.zeros(_THREADS, np.float32)
    launch(f"out[e] = ((const device uchar*)x)[{_FAR}u + e] + y[e];", x, y, out)
    np.testing.assert_array_equal(out, 7 + _E)


@pytest.mark.parametrize("gib", [0.1, 2.4, 7.9])
def test_offsets_of_whole_elements_may_be_negative(gib: float) -> None:
    """As long as there are fewer than 2^31 of them."""
    x = sparse(int(gib * _GIB))
    x[:1000] = np.arange(1000)
    out = np.zeros(_THREADS, np.float32)
    launch("const device float* last = x + 999; uint loc = 0u - e; out[e] = last[loc];", x, out)
    np.testing.assert_array_equal(out, 999 - _E)


def test_bytes_of_small_arrays_may_have_negative_offsets() -> None:
    x, out = np.arange(_THREADS, dtype=np.float32), np.zeros(_THREADS, np.float32)
    launch(
        """const device uchar* end = (const device uchar*)(x + 128); uint loc = 0u - 4u * (e + 1);
           out[e] = *(const device float*)(end + loc);""",
        x,
        out,
    )
    np.testing.assert_array_equal(out, 127 - _E)


@pytest.mark.parametrize(("inputs", "outputs"), [((3, 1), (1,)), ((1,), (1, 3))])
def test_nodes_of_the_graph_count_bytes(
    monkeypatch: pytest.MonkeyPatch, inputs: tuple[int, ...], outputs: tuple[int, ...]
) -> None:
    """Of arrays that nobody evaluates: sizes in 2^30 bytes."""
    seen = []
    plan = CpuTarget.lazy_plan

    def noted(self: CpuTarget, *arguments: Any) -> Any:
        seen.append(arguments[-1])
        return plan(self, *arguments)

    monkeypatch.setattr(CpuTarget, "lazy_plan", noted)
    kernel = anymetal.metal_kernel("k", list("xy"[: len(inputs)]), list("uv"[: len(outputs)]), "")
    kernel(
        inputs=[mx.zeros(gib << 28) for gib in inputs],
        output_shapes=[(gib << 28,) for gib in outputs],
        output_dtypes=[mx.float32] * len(outputs),
        grid=(1, 1, 1),
        threadgroup=(1, 1, 1),
    )
    assert seen and set(seen) == {1}
