"""A case: the text of a kernel, its arrays, and the launch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

Extent = tuple[int, int, int]
Data = NDArray[np.generic]

#: Metal's names of element types, and how NumPy holds them. bfloat is held as its words.
ELEMENTS = {
    "bool": np.dtype(np.bool_),
    "char": np.dtype(np.int8),
    "uchar": np.dtype(np.uint8),
    "short": np.dtype(np.int16),
    "ushort": np.dtype(np.uint16),
    "int": np.dtype(np.int32),
    "uint": np.dtype(np.uint32),
    "long": np.dtype(np.int64),
    "ulong": np.dtype(np.uint64),
    "half": np.dtype(np.float16),
    "bfloat": np.dtype(np.uint16),
    "float": np.dtype(np.float32),
}


@dataclass(frozen=True)
class Input:
    """An array that the kernel reads."""

    name: str
    element: str
    data: Data
    checked: bool = False  #: the oracle reads 0 outside of it; AnyMetal must not look there


@dataclass(frozen=True)
class Output:
    """An array that the kernel writes; before, each byte has the value `fill`."""

    name: str
    element: str
    size: int
    fill: int = 0x5A


@dataclass(frozen=True)
class Case:
    """Everything that decides what a kernel computes."""

    name: str
    kind: str  #: the class of the generator
    seed: int
    body: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    grid: Extent
    threadgroup: Extent
    header: str = ""
    template: tuple[tuple[str, int | bool | str], ...] = ()  #: a str is an element type
    atomic: bool = False  #: outputs are arrays of atomics
    low_limits: bool = False  #: small launches count as large (builds.py)
    off: tuple[str, ...] = ()  #: passes of the compiler that are switched off
    notes: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def threads(self) -> int:
        return prod(self.grid)

    @property
    def meets(self) -> bool:
        """Whether its threads meet: in cross-lane calls, or at barriers."""
        return any(word in self.body for word in ("simd_", "quad_", "_barrier("))

    def with_body(self, body: str) -> Case:
        return replace(self, body=body)
