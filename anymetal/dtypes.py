"""The names of MLX's data types in Metal."""

from __future__ import annotations

import mlx.core as mx

#: dtype, the name that stands in signatures, kernel names and template arguments, and Metal's own.
_NAMES: tuple[tuple[mx.Dtype, str, str], ...] = (
    (mx.bool_, "bool", "bool"),
    (mx.int8, "int8_t", "char"),
    (mx.int16, "int16_t", "short"),
    (mx.int32, "int32_t", "int"),
    (mx.int64, "int64_t", "long"),
    (mx.uint8, "uint8_t", "uchar"),
    (mx.uint16, "uint16_t", "ushort"),
    (mx.uint32, "uint32_t", "uint"),
    (mx.uint64, "uint64_t", "ulong"),
    (mx.float16, "float16_t", "half"),
    (mx.bfloat16, "bfloat16_t", "bfloat"),
    (mx.float32, "float", "float"),
    (mx.float64, "double", ""),  # has a name, but no kernel may take or return it
    (mx.complex64, "complex64_t", ""),
)
#: dtype -> the name in signatures.
METAL_NAMES = {dtype: name for dtype, name, _ in _NAMES}
#: Metal's own name of a scalar type -> dtype.
DTYPES = {own: dtype for dtype, _, own in _NAMES if own}


def metal_name(dtype: mx.Dtype) -> str:
    """The Metal type of one element; MLX's error for a dtype that has none."""
    try:
        return METAL_NAMES[dtype]
    except KeyError:
        raise RuntimeError(f"Unsupported compilation type {dtype}") from None
