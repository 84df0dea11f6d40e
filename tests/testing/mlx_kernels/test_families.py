"""What checks ask of kernels, by stand-ins that compute in NumPy as MLX's kernels do."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from anymetal.testing.mlx_kernels.families import CHECKS
from anymetal.testing.mlx_kernels.families.data import Wrong


def root(x: Any) -> Any:
    """MLX's square root of complex numbers, in float32."""
    size = np.hypot(x.real, x.imag)
    half = np.float32(0.5)
    small = np.sqrt((size - x.real) * half)
    return np.sqrt((size + x.real) * half) + np.complex64(1j) * np.copysign(small, x.imag)


_MLX = {
    "Sqrt": root,
    "ArcCos": lambda x: -1j * np.log(x + np.complex64(1j) * root(1 - x * x)),
    "ArcSin": lambda x: -1j * np.log(np.complex64(1j) * x + root(1 - x * x)),
}


@pytest.mark.parametrize("op", _MLX)
def test_complex_roots(op: str) -> None:
    def kernel(x: mx.array, *_: Any, off: float = 0.0, **__: Any) -> list[mx.array]:
        return [mx.array((_MLX[op](np.array(x)) * (1 + off)).astype(np.complex64))]

    def wrong(*given: Any, **launch: Any) -> list[mx.array]:
        return kernel(*given, **launch, off=1e-4)

    name = f"v_{op}complex64complex64"
    for seed in range(40):
        assert 0 < CHECKS["unary"](kernel, name, np.random.default_rng(seed)) < 4e-6
        with pytest.raises(Wrong):
            CHECKS["unary"](wrong, name, np.random.default_rng(seed))


class _Launched(Exception):
    """A stand-in has seen what it wants to see."""


@pytest.mark.parametrize("name", ["layer_normfloat16", "vjp_layer_normfloat32"])
def test_no_thread_lies_behind_its_row(name: str) -> None:
    def kernel(x: mx.array, *_: Any, threadgroup: int, **__: Any) -> None:
        lengths.add(x.shape[1])
        assert all(x.shape[1] - 8 * thread >= 0 for thread in range(threadgroup))
        raise _Launched

    lengths: set[int] = set()
    for seed in range(60):
        with pytest.raises(_Launched):
            CHECKS["layer_norm"](kernel, name, np.random.default_rng(seed))
    assert len(lengths) > 10


def test_numbers_of_8_bits_that_are_none() -> None:
    def kernel(x: mx.array, *_: Any, **__: Any) -> list[mx.array]:
        bits = np.array(x)
        assert (bits & 127 != 127).all() and len(np.unique(bits)) > 100
        return [mx.from_fp8(x, mx.float32, stream=mx.cpu)]

    name = "v_FromFP8uint8float32"
    assert CHECKS["unary"](kernel, name, np.random.default_rng(7)) == 0
