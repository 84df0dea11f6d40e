"""Kernels of MLX itself: the headers that come with it hold most of those that it runs on a Mac.

Their texts are read from the installed package when the program runs; nothing of them is here but
the names of the functions and what they are called with.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mlx.core as mx
import numpy as np

from anymetal.frontend.clang import INCLUDE
from anymetal.runtime.identity import MLX_HEADERS

if TYPE_CHECKING:
    from benchmarks.others import Kernel

_INCLUDE = re.compile(r'^\s*#include "(mlx/[^"]+)"', re.M)
_FRONT = "#include <metal_stdlib>\n#include <metal_simdgroup>\nusing namespace metal;\n"


def _text(*headers: str) -> str:
    """MLX's headers and what they include, each once. What the compiler has in their place is left
    to it."""
    root, seen = Path(mx.__file__).parent / "include", set[str]()

    def expanded(found: re.Match[str]) -> str:
        name = found[1]
        if name in seen or (INCLUDE / name).exists():
            return "" if name in seen else found[0]
        seen.add(name)
        text = (root / name).read_text().replace("#pragma once", "")
        return _INCLUDE.sub(expanded, text)

    names = (f"{MLX_HEADERS}/{name}" for name in ("utils.h", *headers))
    return _INCLUDE.sub(expanded, _FRONT + "".join(f'#include "{name}"\n' for name in names))


class _Case:
    """One kernel function: its header, instance, buffers and launch."""

    def __init__(
        self,
        name: str,
        headers: str,
        function: str,
        buffers: Callable[[np.random.Generator], list[Any]],
        grid: tuple[int, ...],
        threadgroup: tuple[int, ...],
        **more: Any,
    ) -> None:
        self.name = name
        self.headers = headers.split()
        self.function = function  #: with template arguments
        self.buffers = buffers
        self.grid, self.threadgroup, self.more = grid, threadgroup, more

    def make(self, comment: str) -> Callable[[], list[Any]]:
        from anymetal import metal_library

        f = self.function
        instance = f'template [[host_name("{self.name}")]] [[kernel]] decltype({f}) {f};'
        library = metal_library(f"{_text(*self.headers)}\n{instance}\n{comment}")
        values = self.buffers(np.random.default_rng(7))
        launch = {"grid": self.grid, "threadgroup": self.threadgroup, **self.more}
        kernel = library[self.name]
        return lambda: kernel(*values, **launch)


def _out(*shape: int, dtype: mx.Dtype = mx.float32) -> mx.array:
    return mx.zeros(shape, dtype)


def _normal(r: np.random.Generator, *shape: int) -> mx.array:
    return mx.array(r.standard_normal(shape, np.float32))


def _ints(*values: int, dtype: Any = np.int32) -> mx.array:
    return mx.array(np.array(values, dtype))


def _longs(*values: int) -> mx.array:
    return _ints(*values, dtype=np.int64)


def _words(r: np.random.Generator, *shape: int) -> mx.array:
    return mx.array(r.integers(0, 2**32, shape, np.uint32))


_CASES = [
    _Case("softmax", "softmax.h", "softmax_single_row<float, float>",
          lambda r: [_normal(r, 256, 1024), _out(256, 1024), 1024], (256 * 256,), (256,)),
    _Case("softmax_looped_half", "softmax.h", "softmax_looped<half, float>",
          lambda r: [_normal(r, 16, 8192).astype(mx.float16), _out(16, 8192, dtype=mx.float16),
                     8192], (16 * 1024,), (1024,)),
    _Case("logsumexp", "logsumexp.h", "logsumexp<float, float>",
          lambda r: [_normal(r, 256, 1024), _out(256), 1024], (256 * 256,), (256,)),
    _Case("cross_entropy", "cross_entropy.h", "cross_entropy<float>",
          lambda r: [_normal(r, 64, 4096), _ints(*range(64)), _out(64), 4096],
          (64 * 256,), (256,)),
    _Case("searchsorted", "sort.h searchsorted.h", "searchsorted<float, false>",
          lambda r: [mx.sort(_normal(r, 4096)), _normal(r, 32768), _out(32768, dtype=mx.uint32),
                     4096, 1], (32768, 1, 1), (256, 1, 1)),
    _Case("hadamard_1024", "hadamard.h", "hadamard_n<float, 1024, 16, 4>",
          lambda r: [_normal(r, 256, 1024), _out(256, 1024), 0.03125], (64, 256, 1), (64, 1, 1)),
    _Case("gated_delta_seq", "gated_delta_update.h", "gated_delta_seq<float, 128, 128, 4, 4, 16>",
          lambda r: [_normal(r, 1, 32, 4, 128), 0.1 * _normal(r, 1, 32, 4, 128),
                     _normal(r, 1, 32, 4, 128), _out(1, 4, 128, 128),
                     mx.full((1, 32, 4), 0.9), mx.full((1, 32, 4), 0.5), _out(1, 32, 4, 128),
                     _out(1, 4, 128, 128), 32, None],
          (32, 128, 4), (32, 4, 1), constants={"save_state": False}),
    _Case("gemv", "gemv.h", "gemv<float, 4, 1, 1, 32, 4, 4, false, false>",
          lambda r: [_normal(r, 1024, 1024), _normal(r, 1024), _normal(r, 1), _out(1024), 1024,
                     1024, 1024, 1.0, 0.0, 1, _ints(1), _longs(0), _longs(0), _longs(0), 1],
          (64 * 32, 1, 4), (32, 1, 4)),
    _Case("gemv_t", "gemv.h", "gemv_t<float, 1, 4, 8, 4, 4, 4, false, false>",
          lambda r: [_normal(r, 1024, 1024), _normal(r, 1024), _normal(r, 1), _out(1024), 1024,
                     1024, 1024, 1.0, 0.0, 1, _ints(1), _longs(0), _longs(0), _longs(0), 1],
          (16 * 32, 4, 1), (32, 4, 1)),
    _Case("scan_contiguous", "binary_ops.h scan.h",
          "contiguous_scan<float, float, CumSum<float>, 4, true, false>",
          lambda r: [_normal(r, 64, 4096), _out(64, 4096), 4096], (1024, 64, 1), (1024, 1, 1)),
    _Case("scan_strided", "binary_ops.h scan.h",
          "strided_scan<float, float, CumSum<float>, 4, true, false>",
          lambda r: [_normal(r, 512, 512), _out(512, 512), 512, 512, 16],
          (256, 16, 1), (256, 1, 1)),
    _Case("block_sort", "sort.h", "block_sort<float, float, false, 256, 4>",
          lambda r: [_normal(r, 64, 1024), _out(64, 1024), 1024, 1, 1, 1024, 1024],
          (256, 64, 1), (256, 1, 1)),
    _Case("sdpa_vector", "sdpa_vector.h", "sdpa_vector<float, 64>",
          lambda r: [_normal(r, 8, 64), _normal(r, 8, 512, 64), _normal(r, 8, 512, 64),
                     _out(8, 64), 1, 512, 512 * 64, 64, 512 * 64, 64, 0.125, *[None] * 7],
          (8 * 1024, 1, 1), (1024, 1, 1),
          constants={"has_mask": False, "query_transposed": False, "do_causal": False,
                     "bool_mask": False, "float_mask": False, "has_sinks": False, "blocks": 1}),
    _Case("quantised_matvec_4", "steel/gemm/gemm.h quantized_utils.h quantized.h",
          "affine_qmv_fast<float, 64, 4, false>",
          lambda r: [_words(r, 512, 128), _normal(r, 512, 16), _normal(r, 512, 16),
                     _normal(r, 1024), _out(512), 1024, 512, 1, _ints(1), _longs(0), 1, _ints(1),
                     _longs(0), _longs(0), _longs(0)], (32, 128, 1), (32, 2, 1)),
    _Case("quantised_matvec_8_half", "steel/gemm/gemm.h quantized_utils.h quantized.h",
          "affine_qmv_fast<half, 64, 8, false>",
          lambda r: [_words(r, 512, 256), _normal(r, 512, 16).astype(mx.float16),
                     _normal(r, 512, 16).astype(mx.float16), _normal(r, 1024).astype(mx.float16),
                     _out(512, dtype=mx.float16), 1024, 512, 1, _ints(1), _longs(0), 1, _ints(1),
                     _longs(0), _longs(0), _longs(0)], (32, 128, 1), (32, 2, 1)),
    _Case("quantised_matmul_4", "steel/gemm/gemm.h quantized_utils.h quantized.h",
          "affine_qmm_t<float, 64, 4, true, false>",
          lambda r: [_words(r, 256, 64), _normal(r, 256, 8), _normal(r, 256, 8),
                     _normal(r, 64, 512), _out(64, 256), 512, 256, 64, 1, _ints(1), _longs(0), 1,
                     _ints(1), _longs(0), _longs(0), _longs(0)], (32 * 8, 2 * 2, 2), (32, 2, 2)),
    _Case("dequantise_4", "steel/gemm/gemm.h quantized_utils.h quantized.h",
          "affine_dequantize<float, 64, 4>",
          lambda r: [mx.view(_words(r, 32768), mx.uint8), _normal(r, 4096), _normal(r, 4096),
                     _out(262144)], (131072, 1), (256, 1)),
    _Case("quantise_4", "steel/gemm/gemm.h quantized_utils.h quantized.h",
          "affine_quantize<float, 64, 4>",
          lambda r: [_normal(r, 131072), _out(65536, dtype=mx.uint8), _out(2048), _out(2048)],
          (65536, 1), (256, 1)),
    _Case("unary_exp", "unary_ops.h unary.h", "unary_v<float, float, Exp, 4>",
          lambda r: [_normal(r, 262144), _out(262144), 262144], (65536,), (256,)),
    _Case("binary_strided_3d", "binary_ops.h binary.h",
          "binary_g<float, float, Add, 4, int>",
          lambda r: [_normal(r, 64, 64, 64), _normal(r, 64, 64), _out(64, 64, 64),
                     _ints(64, 64, 64), _longs(4096, 64, 1), _longs(0, 1, 64), 3],
          (16, 64, 64), (16, 16, 1)),
    _Case("copy_transposed", "copy.h", "copy_g_nd2<float, float, int>",
          lambda r: [_normal(r, 512, 512), _out(512, 512), _longs(1, 512)],
          (512, 512, 1), (32, 32, 1)),
    _Case("reduce_all", "atomic.h reduction/ops.h reduce_utils.h reduction/reduce_all.h",
          "all_reduce<float, float, Sum<float>>",
          lambda r: [_normal(r, 262144), _out(64), 262144, 4096], (256, 64, 1), (256, 1, 1)),
    _Case("reduce_rows", "atomic.h reduction/ops.h reduction/reduce_row.h",
          "row_reduce_simple<float, float, Sum<float>>",
          lambda r: [_normal(r, 512, 1024), _out(512), 1024, 512], (256, 128, 1), (256, 1, 1)),
]  # fmt: skip


def kernels() -> list[Kernel]:
    """All of them."""
    from benchmarks.others import Kernel

    return [Kernel(f"mlx_{case.name}", case.make) for case in _CASES]
