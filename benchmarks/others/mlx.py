"""Kernels of MLX itself: the headers that come with it hold most of those that it runs on a Mac.

Their texts are read from the installed package when the program runs; nothing of them is here but
the names of the functions and what they are called with. The package lacks a few (`rms_norm.metal`
and others): they are read from a checkout of MLX's repository, if `sources` names one.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mlx.core as mx
import numpy as np

from anymetal.frontend.clang import INCLUDE
from anymetal.runtime.identity import MLX_HEADERS
from benchmarks.rivals import aligned

if TYPE_CHECKING:
    from benchmarks.others import Kernel

_INCLUDE = re.compile(r'^\s*#include "(mlx/[^"]+)"', re.M)
_FRONT = "#include <metal_stdlib>\n#include <metal_simdgroup>\nusing namespace metal;\n"

#: A checkout of MLX's repository.
sources: Path | None = None


class NotAvailable(RuntimeError):
    """The text of a kernel is not on this machine."""


def _text(*names: str) -> str:
    """MLX's headers and what they include, each once. What the compiler has in their place is left
    to it."""
    installed, seen = Path(mx.__file__).parent / "include", set[str]()
    root = installed if all(name.endswith(".h") for name in names) else sources
    if root is None:
        raise NotAvailable(f"{', '.join(names)} is in MLX's repository only: see --mlx-sources")

    def expanded(found: re.Match[str]) -> str:
        name = found[1]
        if name in seen or (INCLUDE / name).exists():
            return "" if name in seen else found[0]
        seen.add(name)
        text = (root / name).read_text().replace("#pragma once", "")
        if name.endswith(".metal"):  # instances for all types follow, of which we make our own
            text = text[: text.rindex("// clang-format off")]
        return _INCLUDE.sub(expanded, text)

    all_ = (f"{MLX_HEADERS}/{name}" for name in ("utils.h", *names))
    return _INCLUDE.sub(expanded, _FRONT + "".join(f'#include "{name}"\n' for name in all_))


class Case:
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
        self.headers = tuple(headers.split())
        self.function = function  #: with template arguments
        self.buffers = buffers
        self.grid, self.threadgroup, self.more = grid, threadgroup, more

    def bound(self, values: list[Any], comment: str = "") -> Callable[[], list[Any]]:
        """A launch with these values for the buffers."""
        kernel = _kernel(self.name, self.function, self.headers, comment)
        launch = {"grid": self.grid, "threadgroup": self.threadgroup, **self.more}
        return lambda: kernel(*values, **launch)

    def make(self, comment: str) -> Callable[[], list[Any]]:
        """The same with values of its own."""
        return self.bound(self.buffers(np.random.default_rng(7)), comment)


@functools.cache
def _kernel(name: str, function: str, headers: tuple[str, ...], comment: str) -> Any:
    """The function of a library. Reading some of the texts takes seconds."""
    from anymetal import metal_library

    instance = f'template [[host_name("{name}")]] [[kernel]] decltype({function}) {function};'
    return metal_library(f"{_text(*headers)}\n{instance}\n{comment}")[name]


def _out(*shape: int, dtype: Any = np.float32) -> Any:
    """An output: the kernel writes into this memory."""
    return aligned(*shape, dtype=dtype)


def _normal(r: np.random.Generator, *shape: int) -> mx.array:
    return mx.array(r.standard_normal(shape, np.float32))


def _ints(*values: int, dtype: Any = np.int32) -> mx.array:
    return mx.array(np.array(values, dtype))


def _longs(*values: int) -> mx.array:
    return _ints(*values, dtype=np.int64)


def _words(r: np.random.Generator, *shape: int) -> mx.array:
    return mx.array(r.integers(0, 2**32, shape, np.uint32))


_ALIGNED = {"has_batch": False, "use_out_source": False, "do_axpby": False,
            "align_M": True, "align_N": True, "align_K": True}  # fmt: skip


def _gemm(n: int) -> bytes:
    """The parameters of a product of n × n matrices by tiles of 64."""
    return struct.pack("8i3q3i4x", *[n] * 6, n // 64, n // 64, *[n * n] * 3, 0, n // 16, 0)


CASES = [
    Case("softmax", "softmax.h", "softmax_single_row<float, float>",
         lambda r: [_normal(r, 4096, 1024), _out(4096, 1024), 1024], (4096 * 256,), (256,)),
    Case("softmax_looped_half", "softmax.h", "softmax_looped<half, float>",
         lambda r: [_normal(r, 256, 8192).astype(mx.float16), _out(256, 8192, dtype=np.float16),
                    8192], (256 * 1024,), (1024,)),
    Case("logsumexp", "logsumexp.h", "logsumexp<float, float>",
         lambda r: [_normal(r, 4096, 1024), _out(4096), 1024], (4096 * 256,), (256,)),
    Case("cross_entropy", "cross_entropy.h", "cross_entropy<float>",
         lambda r: [_normal(r, 1024, 4096), _ints(*range(1024)), _out(1024), 4096],
         (1024 * 256,), (256,)),
    Case("searchsorted", "sort.h searchsorted.h", "searchsorted<float, false>",
         lambda r: [mx.sort(_normal(r, 4096)), _normal(r, 524288), _out(524288, dtype=np.uint32),
                    4096, 1], (524288, 1, 1), (256, 1, 1)),
    Case("hadamard_1024", "hadamard.h", "hadamard_n<float, 1024, 16, 4>",
         lambda r: [_normal(r, 4096, 1024), _out(4096, 1024), 0.03125], (64, 4096, 1), (64, 1, 1)),
    Case("gated_delta_seq", "gated_delta_update.h", "gated_delta_seq<float, 128, 128, 4, 4, 16>",
         lambda r: [_normal(r, 1, 32, 4, 128), 0.1 * _normal(r, 1, 32, 4, 128),
                    _normal(r, 1, 32, 4, 128), mx.zeros((1, 4, 128, 128)),
                    mx.full((1, 32, 4), 0.9), mx.full((1, 32, 4), 0.5), _out(1, 32, 4, 128),
                    _out(1, 4, 128, 128), 32, None],
         (32, 128, 4), (32, 4, 1), constants={"save_state": False}),
    Case("gemv", "gemv.h", "gemv<float, 4, 1, 1, 32, 4, 4, false, false>",
         lambda r: [_normal(r, 4096, 1024), _normal(r, 1024), _normal(r, 1), _out(4096), 1024,
                    4096, 1024, 1.0, 0.0, 1, _ints(1), _longs(0), _longs(0), _longs(0), 1],
         (256 * 32, 1, 4), (32, 1, 4)),
    Case("gemv_t", "gemv.h", "gemv_t<float, 1, 4, 8, 4, 4, 4, false, false>",
         lambda r: [_normal(r, 1024, 1024), _normal(r, 1024), _normal(r, 1), _out(1024), 1024,
                    1024, 1024, 1.0, 0.0, 1, _ints(1), _longs(0), _longs(0), _longs(0), 1],
         (16 * 32, 4, 1), (32, 4, 1)),
    Case("scan_contiguous", "binary_ops.h scan.h",
         "contiguous_scan<float, float, CumSum<float>, 4, true, false>",
         lambda r: [_normal(r, 1024, 4096), _out(1024, 4096), 4096],
         (1024, 1024, 1), (1024, 1, 1)),
    Case("scan_strided", "binary_ops.h scan.h",
         "strided_scan<float, float, CumSum<float>, 4, true, false>",
         lambda r: [_normal(r, 8, 512, 512), _out(8, 512, 512), 512, 512, 16],
         (256, 128, 1), (256, 1, 1)),
    Case("block_sort", "sort.h", "block_sort<float, float, false, 256, 4>",
         lambda r: [_normal(r, 1024, 1024), _out(1024, 1024), 1024, 1, 1, 1024, 1024],
         (256, 1024, 1), (256, 1, 1)),
    Case("sdpa_vector", "sdpa_vector.h", "sdpa_vector<float, 64>",
         lambda r: [_normal(r, 8, 64), _normal(r, 8, 2048, 64), _normal(r, 8, 2048, 64),
                    _out(8, 64), 1, 2048, 2048 * 64, 64, 2048 * 64, 64, 0.125, *[None] * 7],
         (8 * 1024, 1, 1), (1024, 1, 1),
         constants={"has_mask": False, "query_transposed": False, "do_causal": False,
                    "bool_mask": False, "float_mask": False, "has_sinks": False, "blocks": 1}),
    Case("quantised_matvec_4", "steel/gemm/gemm.h quantized_utils.h quantized.h",
         "affine_qmv_fast<float, 64, 4, false>",
         lambda r: [_words(r, 4096, 128), _normal(r, 4096, 16), _normal(r, 4096, 16),
                    _normal(r, 1024), _out(4096), 1024, 4096, 1, _ints(1), _longs(0), 1, _ints(1),
                    _longs(0), _longs(0), _longs(0)], (32, 1024, 1), (32, 2, 1)),
    Case("quantised_matvec_8_half", "steel/gemm/gemm.h quantized_utils.h quantized.h",
         "affine_qmv_fast<half, 64, 8, false>",
         lambda r: [_words(r, 512, 256), _normal(r, 512, 16).astype(mx.float16),
                    _normal(r, 512, 16).astype(mx.float16), _normal(r, 1024).astype(mx.float16),
                    _out(512, dtype=np.float16), 1024, 512, 1, _ints(1), _longs(0), 1, _ints(1),
                    _longs(0), _longs(0), _longs(0)], (32, 128, 1), (32, 2, 1)),
    Case("quantised_matmul_4", "steel/gemm/gemm.h quantized_utils.h quantized.h",
         "affine_qmm_t<float, 64, 4, true, false>",
         lambda r: [_words(r, 256, 64), _normal(r, 256, 8), _normal(r, 256, 8),
                    _normal(r, 64, 512), _out(64, 256), 512, 256, 64, 1, _ints(1), _longs(0), 1,
                    _ints(1), _longs(0), _longs(0), _longs(0)], (32 * 8, 2 * 2, 2), (32, 2, 2)),
    Case("dequantise_4", "steel/gemm/gemm.h quantized_utils.h quantized.h",
         "affine_dequantize<float, 64, 4>",
         lambda r: [mx.view(_words(r, 262144), mx.uint8), _normal(r, 32768), _normal(r, 32768),
                    _out(2097152)], (1048576, 1), (256, 1)),
    Case("quantise_4", "steel/gemm/gemm.h quantized_utils.h quantized.h",
         "affine_quantize<float, 64, 4>",
         lambda r: [_normal(r, 131072), _out(65536, dtype=np.uint8), _out(2048), _out(2048)],
         (65536, 1), (256, 1)),
    Case("unary_exp", "unary_ops.h unary.h", "unary_v<float, float, Exp, 4>",
         lambda r: [_normal(r, 4194304), _out(4194304), 4194304], (1048576,), (256,)),
    Case("binary_strided_3d", "binary_ops.h binary.h",
         "binary_g<float, float, Add, 4, int>",
         lambda r: [_normal(r, 512, 64, 64), _normal(r, 64, 64), _out(512, 64, 64),
                    _ints(512, 64, 64), _longs(4096, 64, 1), _longs(0, 1, 64), 3],
         (16, 64, 512), (16, 16, 1)),
    Case("copy_transposed", "copy.h", "copy_g_nd2<float, float, int>",
         lambda r: [_normal(r, 2048, 2048), _out(2048, 2048), _longs(1, 2048)],
         (2048, 2048, 1), (32, 32, 1)),
    Case("reduce_all", "atomic.h reduction/ops.h reduce_utils.h reduction/reduce_all.h",
         "all_reduce<float, float, Sum<float>>",
         lambda r: [_normal(r, 4194304), _out(1024), 4194304, 4096], (256, 1024, 1), (256, 1, 1)),
    Case("reduce_rows", "atomic.h reduction/ops.h reduction/reduce_row.h",
         "row_reduce_simple<float, float, Sum<float>>",
         lambda r: [_normal(r, 4096, 1024), _out(4096), 1024, 4096], (256, 1024, 1), (256, 1, 1)),
    Case("steel_gemm", "steel/gemm/gemm.h steel/gemm/kernels/steel_gemm_fused.h",
         "gemm<float, 64, 64, 16, 2, 2, false, false>",
         lambda r: [_normal(r, 512, 512), _normal(r, 512, 512), None, _out(512, 512), _gemm(512),
                    None, None, None], (8 * 32, 8 * 2, 2), (32, 2, 2), constants=_ALIGNED),
    Case("steel_gemm_half", "steel/gemm/gemm.h steel/gemm/kernels/steel_gemm_fused.h",
         "gemm<half, 64, 64, 16, 2, 2, false, false>",
         lambda r: [_normal(r, 512, 512).astype(mx.float16),
                    _normal(r, 512, 512).astype(mx.float16), None,
                    _out(512, 512, dtype=np.float16), _gemm(512), None, None, None],
         (8 * 32, 8 * 2, 2), (32, 2, 2), constants=_ALIGNED),
]  # fmt: skip
#: From a checkout.
MORE = [
    Case("rms_norm", "rms_norm.metal", "rms_single_row<float>",
         lambda r: [_normal(r, 4096, 1024), _normal(r, 1024), _out(4096, 1024), 1e-5, 1024, 1],
         (4096 * 256,), (256,)),
    Case("layer_norm", "layer_norm.metal", "layer_norm_single_row<float>",
         lambda r: [_normal(r, 4096, 1024), _normal(r, 1024), _normal(r, 1024),
                    _out(4096, 1024), 1e-5, 1024, 1, 1], (4096 * 128,), (128,)),
    Case("rope", "rope.metal", "rope<float, int32_t>",
         lambda r: [_normal(r, 32, 1024, 64), _out(32, 1024, 64), _ints(17), 1.0,
                    (1024 * 64, 64, 1), (1024 * 64, 64, 1), 0, 32, 13.287712379549449],
         (32, 1024, 8), (32, 32, 1),
         constants={"forward": True, "traditional": False, "hs_transpose": False}),
    Case("arg_reduce", "arg_reduce.metal", "arg_reduce_general<float, ArgMax<float>>",
         lambda r: [_normal(r, 2048, 4096), _out(2048, dtype=np.uint32), _ints(2048),
                    _longs(4096), _longs(1), 1, 1, 4096], (1024, 2048, 1), (1024, 1, 1)),
]  # fmt: skip


def kernels() -> list[Kernel]:
    """All of them."""
    from benchmarks.others import Kernel

    return [Kernel(f"mlx_{case.name}", case.make) for case in (CASES + MORE if sources else CASES)]
