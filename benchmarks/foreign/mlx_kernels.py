"""Rows of MLX's own kernels, as it launches them on a Mac; see `others/mlx.py`."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np

from benchmarks.foreign.row import Made, row_of
from benchmarks.harness import Row
from benchmarks.others import mlx

_CASES = {case.name: case for case in [*mlx.CASES, *mlx.MORE]}


_TAKEN_APART = (
    "Each thread adds four neighbours in their order, so these are taken apart, by two or three "
    "shuffles for each register."
)
_PRODUCTS = (
    "Of the 252 instructions of its loop over rows with AVX2 128 are multiply-adds, 32 broadcasts, "
    "80 loads and stores, and none a spill."
)
#: What to know about figures of rows, such as why we are behind.
_NOTES = {
    "reduce_rows": _TAKEN_APART,
    "reduce_all": _TAKEN_APART,
    "gemv_t": "Before pass `split-counters` there was, with which it takes 0.40 ms in a loop "
    "instead of 0.78; two fifths of what is left are vectors that find no register.",
    "steel_gemm": _PRODUCTS,
    "steel_gemm_half": _PRODUCTS,
    "gemv": "Four neighbours a lane, in rows that a thread has four of: of the 681 instructions of "
    "its loop with AVX2 174 are shuffles and 359 spills, 56 compute (`anymetal explain`).",
    "softmax_looped_half": "Halves by fours, with a maximum and a sum that change as the loop goes "
    "on: of the 5990 instructions of its first loop with AVX2 1225 are shuffles and 1772 spills, "
    "2338 compute (`anymetal explain`).",
    "block_sort": "Each thread looks for its place in two sorted runs of threadgroup memory, by a "
    "loop of 650 instructions for 32 threads, 73 of them branches (`anymetal explain`); PyTorch "
    "sorts by other means.",
    "copy_transposed": "Lanes read 8 KB apart, as in `docs_exp_transposed`.",
    "binary_strided_3d": "Threads take four elements each, and 16 of them make a row: half of the "
    "instructions are shuffles (458 of 932, `anymetal explain`).",
}


def _row(case_name: str, title: str, names: str = "x", written: int = -1, **more: Any) -> Row:
    """A row of one of them.

    `names` are those of the buffers that are arrays of MLX, in order. One output is compared, the
    last by default.
    """
    case = _CASES[case_name]

    def make(random: np.random.Generator) -> Made:
        values = case.buffers(random)
        launch = case.bound(values)
        arrays = [value for value in values if isinstance(value, mx.array)]
        inputs = dict(zip(names.split(), arrays, strict=False))
        size = sum(value.nbytes for value in values if isinstance(value, np.ndarray))
        return lambda: [launch()[written]], inputs, size

    return row_of(f"mlx_{case_name}", title, make, note=_NOTES.get(case_name, ""), **more)


_GEMV = {"operation": "torch.mv(a, x)", "mlx": "a @ x", "absolute": 1e-3, "names": "a x"}

ROWS = [
    _row("softmax", "4096 × 1024 float32", operation="F.softmax(x, -1)", mlx="mx.softmax(x, -1)"),
    _row("softmax_looped_half", "256 × 8192 float16", operation="F.softmax(x, -1)", relative=2e-3),
    _row("logsumexp", "4096 × 1024 float32", operation="x.logsumexp(-1)",
         mlx="mx.logsumexp(x, -1)"),
    _row("cross_entropy", "1024 × 4096 float32", "x targets",
         operation="F.cross_entropy(x, targets.long(), reduction='none')"),
    _row("searchsorted", "512 K float32 in 4096", "sorted x",
         operation="torch.searchsorted(sorted, x)", touched={"sorted": 0}),
    _row("hadamard_1024", "4096 × 1024 float32", mlx="mx.hadamard_transform(x)", oracle="mlx"),
    _row("gated_delta_seq", "32 steps, 4 heads, 128 × 128 numbers of state", "q k v _ g beta",
         written=0, composed="gated_delta(q[0], k[0], v[0], g[0], beta[0])[None]",
         flops=8 * 32 * 4 * 128 * 128, relative=1e-3, absolute=1e-3),
    _row("gemv", "4096 × 1024 float32 times a vector", **_GEMV),
    _row("gemv_t", "(1024 × 1024)ᵀ float32 times a vector",
         **{**_GEMV, "operation": "torch.mv(a.T, x)", "mlx": "a.T @ x"}),
    _row("scan_contiguous", "1024 × 4096 float32", operation="x.cumsum(1)", mlx="mx.cumsum(x, 1)",
         absolute=1e-3),
    _row("scan_strided", "8 × 512 × 512 float32, down columns", operation="x.cumsum(1)",
         mlx="mx.cumsum(x, 1)", absolute=1e-3),
    _row("block_sort", "1024 × 1024 float32", operation="x.sort(1).values", mlx="mx.sort(x, 1)"),
    _row("sdpa_vector", "8 heads, 2048 keys, 64 channels", "q k v",
         operation="sdpa(q[:, None], k, v)[:, 0]", flops=4 * 8 * 2048 * 64,
         mlx="mx.fast.scaled_dot_product_attention(q[None, :, None], k[None], v[None], "
             "scale=0.125)[0, :, 0]"),
    _row("quantised_matvec_4", "4096 × 1024 weights of 4 bits times a vector",
         "w scales biases x", oracle="quantised(w, scales, biases) @ x",
         mlx="mx.quantized_matmul(x[None], w, scales, biases, group_size=64, bits=4)[0]",
         absolute=5e-2, flops=2 * 4096 * 1024),
    _row("quantised_matmul_4", "64 × 512 times 512 × 256 weights of 4 bits", "w scales biases x",
         oracle="x @ quantised(w, scales, biases).T",
         mlx="mx.quantized_matmul(x, w, scales, biases, group_size=64, bits=4)", absolute=5e-2,
         flops=2 * 64 * 512 * 256),
    _row("dequantise_4", "2 M float32", "w scales biases",
         oracle="quantised(w.view(torch.uint32).view(-1, 8), scales[:, None], biases[:, None])"
                ".flatten()"),
    _row("unary_exp", "4 M float32", operation="torch.exp(x)", mlx="mx.exp(x)"),
    _row("binary_strided_3d", "512 × 64 × 64 float32 and a transposed matrix", "a b",
         operation="a + b.T", mlx="a + b.T"),
    _row("copy_transposed", "2048 × 2048 float32", operation="x.T.contiguous()",
         mlx="mx.contiguous(x.T)", moves=True),
    _row("reduce_all", "4 M float32 to 1024 sums", operation="x.view(1024, 4096).sum(1)",
         mlx="x.reshape(1024, 4096).sum(1)", absolute=1e-3),
    _row("reduce_rows", "4096 × 1024 float32", operation="x.sum(1)", mlx="x.sum(1)",
         absolute=1e-3),
    _row("steel_gemm", "512³ float32", "a b", operation="a @ b", mlx="a @ b", absolute=1e-3,
         flops=2 * 512**3),
    _row("steel_gemm_half", "512³ float16", "a b", operation="a @ b", mlx="a @ b", relative=1e-2,
         absolute=5e-2, flops=2 * 512**3),
    # Their texts are in MLX's repository only.
    _row("rms_norm", "4096 × 1024 float32", "x w", operation="F.rms_norm(x, (1024,), w, 1e-5)",
         mlx="mx.fast.rms_norm(x, w, 1e-5)"),
    _row("layer_norm", "4096 × 1024 float32", "x w b",
         operation="F.layer_norm(x, (1024,), w, b)", mlx="mx.fast.layer_norm(x, w, b, 1e-5)"),
    _row("rope", "32 heads, 1024 steps, 64 channels", absolute=1e-3,
         mlx="mx.fast.rope(x[None], 64, traditional=False, base=10000.0, scale=1.0, offset=17)[0]",
         oracle="mlx"),
    _row("arg_reduce", "2048 × 4096 float32", operation="x.argmax(1)", mlx="mx.argmax(x, 1)"),
]  # fmt: skip
