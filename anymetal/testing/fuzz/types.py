"""The scalar and vector types of the Metal subset, and the C++ conversions between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Kind = Literal["bool", "int", "uint", "float"]
Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Type:
    """A scalar type, or a vector of `width` scalars."""

    base: str  #: Metal name of the element type
    kind: Kind
    bits: int
    width: int = 1

    @property
    def name(self) -> str:
        """The type as Metal text."""
        return self.base if self.width == 1 else f"{self.base}{self.width}"

    @property
    def element(self) -> Type:
        """The type of one component."""
        return self.vector(1)

    @property
    def is_vector(self) -> bool:
        return self.width > 1

    @property
    def is_integer(self) -> bool:
        return self.kind in ("int", "uint")

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def dtype(self) -> np.dtype[Any]:
        """How the oracle stores one component. NumPy has no bfloat16: a float32 serves, because
        the programs keep bfloat values exact."""
        return np.dtype(_DTYPES[self.base])

    @property
    def precision(self) -> int:
        """Significant bits of a floating type: integers up to 2**precision are exact."""
        return {"float": 24, "half": 11, "bfloat": 8}[self.base]

    @property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest value of an integer type."""
        info = np.iinfo(self.dtype)
        return int(info.min), int(info.max)

    def vector(self, width: int) -> Type:
        """The vector type with this element and that many components."""
        return Type(self.base, self.kind, self.bits, width)


BOOL = Type("bool", "bool", 8)
CHAR = Type("char", "int", 8)
UCHAR = Type("uchar", "uint", 8)
SHORT = Type("short", "int", 16)
USHORT = Type("ushort", "uint", 16)
INT = Type("int", "int", 32)
UINT = Type("uint", "uint", 32)
LONG = Type("long", "int", 64)
ULONG = Type("ulong", "uint", 64)
HALF = Type("half", "float", 16)
BFLOAT = Type("bfloat", "float", 16)
FLOAT = Type("float", "float", 32)

NARROW = (CHAR, UCHAR, SHORT, USHORT)
INTEGERS = (*NARROW, INT, UINT, LONG, ULONG)
FLOATS = (FLOAT, HALF, BFLOAT)

_DTYPES = {
    "bool": np.bool_,
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
    "half": np.float16,
    "bfloat": np.float32,
    "float": np.float32,
}

_BY_DTYPE = {
    "bool": BOOL,
    "int8": CHAR,
    "uint8": UCHAR,
    "int16": SHORT,
    "uint16": USHORT,
    "int32": INT,
    "uint32": UINT,
    "int64": LONG,
    "uint64": ULONG,
    "float16": HALF,
    "bfloat16": BFLOAT,
    "float32": FLOAT,
}
_MLX_NAMES = {kind.base: name for name, kind in _BY_DTYPE.items()}


def mlx_name(kind: Type) -> str:
    """The name of the MLX dtype that arrays of this scalar type have."""
    return _MLX_NAMES[kind.base]


def promote(kind: Type) -> Type:
    """C++ integer promotion of a scalar: everything below 32 bits computes as int."""
    return INT if not kind.is_float and kind.bits < 32 else kind


def common(left: Type, right: Type) -> Type:
    """The type in which C++ computes `left op right`."""
    if left.is_vector or right.is_vector:
        return left if left.is_vector else right  # a scalar operand converts to the element type
    if left.is_float or right.is_float:
        if left.is_float and right.is_float:
            return left if left.bits >= right.bits else right
        return left if left.is_float else right
    left, right = promote(left), promote(right)
    if left.bits != right.bits:
        return left if left.bits > right.bits else right
    return left if left.kind == "uint" else right
