"""The names of MLX's data types in Metal."""

from __future__ import annotations

import mlx.core as mx

#: dtype -> the name that stands in signatures, kernel names and template arguments.
METAL_NAMES: dict[mx.Dtype, str] = {
    mx.bool_: "bool",
    mx.int8: "int8_t",
    mx.int16: "int16_t",
    mx.int32: "int32_t",
    mx.int64: "int64_t",
    mx.uint8: "uint8_t",
    mx.uint16: "uint16_t",
    mx.uint32: "uint32_t",
    mx.uint64: "uint64_t",
    mx.float16: "float16_t",
    mx.bfloat16: "bfloat16_t",
    mx.float32: "float",
    mx.float64: "double",  # has a name, but no kernel may take or return it
    mx.complex64: "complex64_t",
}


def metal_name(dtype: mx.Dtype) -> str:
    """The Metal type of one element; MLX's error for a dtype that has none."""
    try:
        return METAL_NAMES[dtype]
    except KeyError:
        raise RuntimeError(f"Unsupported compilation type {dtype}") from None
