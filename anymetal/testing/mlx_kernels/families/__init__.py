"""How the kernels of each family are launched, and what must come out.

A check is `check(kernel, name, rng)`: it draws arguments as MLX's host code would give them for the
name, runs the kernel, and returns the largest error; `data.Wrong` says what is not as it must be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families import (
    attention,
    bits,
    convolution,
    elementwise,
    fourier,
    gemm,
    implicit,
    masked,
    matrices,
    quantized,
    reductions,
    rotation,
    rows,
    sorting,
)
from anymetal.testing.mlx_kernels.families.data import Random

Check: TypeAlias = Callable[[LibraryFunction, str, Random], float]

CHECKS: dict[str, Check] = {
    "unary": elementwise.unary,
    "binary": elementwise.binary,
    "binary_two": elementwise.binary_two,
    "ternary": elementwise.ternary,
    "copy": elementwise.copy,
    "reduce": reductions.reduce,
    "scan": reductions.scan,
    "arg_reduce": reductions.arg_reduce,
    "searchsorted": reductions.searchsorted,
    "arange": reductions.arange,
    "sort": sorting.sort,
    "softmax": rows.softmax,
    "logsumexp": rows.logsumexp,
    "rms_norm": rows.rms_norm,
    "layer_norm": rows.layer_norm,
    "dot": rows.dot,
    "rope": rotation.rope,
    "random": bits.random,
    "fence": bits.fence,
    "fft": fourier.fft,
    "scaled_dot_product_attention": attention.vector,
    "steel_attention": attention.tiles,
    "steel_attention_nax": attention.tiles,
    "conv": convolution.conv,
    "steel_conv": implicit.conv,
    "steel_conv_3d": implicit.conv,
    "steel_conv_general": implicit.general,
    "gemv": matrices.gemv,
    "gemv_masked": masked.gemv,
    "quantized": quantized.product,
    "fp_quantized": quantized.product,
    "quantized_nax": quantized.product,
    "fp_quantized_nax": quantized.product,
    "steel_gemm_fused": gemm.fused,
    "steel_gemm_gather": gemm.gather,
    "steel_gemm_masked": masked.gemm,
    "steel_gemm_splitk": gemm.split,
    "steel_gemm_segmented": gemm.segmented,
    "steel_gemm_fused_nax": gemm.fused,
    "steel_gemm_gather_nax": gemm.gather,
    "steel_gemm_splitk_nax": gemm.split,
    "steel_gemm_segmented_nax": gemm.segmented,
}
