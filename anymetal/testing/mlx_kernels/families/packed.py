"""What the bits of quantized matrices stand for, in double, and such matrices at random.

`affine_qmm_t_float16_t_gs_64_b_3_…`: 64 numbers of 3 bits share a scale and a bias. `nvfp4`,
`mxfp4` and `mxfp8` are small floats that share a scale, with 4 and 8 bits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from anymetal.testing.mlx_kernels.families.data import (
    Array,
    Random,
    array,
    random,
    values,
)

_NAME = re.compile(
    r"(?P<mode>affine|nvfp4|mxfp4|mxfp8)_(?P<op>\w+?)_(?P<type>float16_t|bfloat16_t|float)"
    r"_gs_(?P<group>\d+)_b_(?P<bits>\d)(?P<rest>\w*)"
)
_TYPES = {"float": "float32", "float16_t": "float16", "bfloat16_t": "bfloat16"}
#: The numbers of 4 bits, without those below 0.
_SMALL = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
#: The largest number of 4 bits times that of 8: a scale for all is divided by it.
RANGE = 6.0 * 448.0


@dataclass(frozen=True)
class Kind:
    """What the name of a kernel says."""

    mode: str
    op: str
    dtype: str
    group: int
    bits: int
    rest: dict[str, str]  #: what follows, by its letters

    @staticmethod
    def of(name: str) -> Kind:
        """The parts of a name."""
        match = _NAME.fullmatch(name)
        assert match, name
        rest = dict(re.findall(r"_([a-zA-Z]+)_?(\d+|true|false)(?=_|$)", match["rest"]))
        if match["rest"].endswith("_hgs"):
            rest["hgs"] = "true"
        dtype, group, bits = _TYPES[match["type"]], int(match["group"]), int(match["bits"])
        return Kind(match["mode"], match["op"], dtype, group, bits, rest)

    @property
    def affine(self) -> bool:
        return self.mode == "affine"

    @property
    def scaled(self) -> bool:
        """Whether one more scale is for the whole matrix."""
        return self.rest.get("hgs") == "true"

    def number(self, key: str) -> int:
        return int(self.rest[key])


def unpacked(packed: Array, bits: int) -> Array:
    """The integers in rows of bytes, the lowest bits first."""
    ones = np.unpackbits(packed, axis=-1, bitorder="little")
    return ones.reshape(*packed.shape[:-1], -1, bits) @ (1 << np.arange(bits))


def float8(codes: Array) -> Array:
    """Numbers with 4 bits of exponent and 3 of fraction."""
    codes = codes.astype(int)
    exponent, fraction = (codes >> 3) & 15, codes & 7
    normal = np.ldexp(1 + fraction / 8, exponent - 7)
    size = np.where(exponent == 0, fraction * 2.0**-9, normal)
    return np.where(codes & 128, -size, size)


def float4(codes: Array) -> Array:
    """Numbers with 2 bits of exponent and 1 of fraction."""
    return np.where(codes & 8, -_SMALL[codes & 7], _SMALL[codes & 7])


def scale8(mode: str, codes: Array) -> Array:
    """Scales of one byte: powers of 2, or numbers of 8 bits."""
    return float8(codes) if mode == "nvfp4" else np.ldexp(1.0, codes.astype(int) - 127)


@dataclass(frozen=True)
class Weights:
    """A stack of quantized matrices in memory, and their numbers."""

    arrays: list[mx.array]  #: integers, scales, and biases
    shapes: list[list[int]]  #: of these, with the batch
    held: Array
    size: Array  #: what the numbers are made of, added up: what may be rounded

    def steps(self) -> list[list[int]]:
        return [strides(shape) for shape in self.shapes]


def strides(shape: Sequence[int]) -> list[int]:
    """Those of an array without gaps."""
    return [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]


def weights(rng: Random, kind: Kind, batch: Sequence[int], rows: int, columns: int) -> Weights:
    """Bits at random."""
    packed = rng.integers(0, 256, (*batch, rows, columns * kind.bits // 8), np.uint8)
    if kind.mode == "mxfp8":  # no NaN
        packed[(packed & 127) == 127] = 0
    groups = columns // kind.group
    place = np.arange(rows)[:, None] * groups + np.arange(columns) // kind.group
    shape = (*batch, rows, groups)
    codes = unpacked(packed, kind.bits)
    scales = _drawn_scales(rng, kind, shape)
    scale = scale8(kind.mode, values(scales)) if not kind.affine else values(scales)
    scale = scale.reshape(*batch, -1)[..., place]
    arrays = [mx.array(packed.view(np.uint32)), scales]
    if kind.affine:
        biases = random(rng, kind.dtype, shape, -1, 1)
        bias = values(biases).reshape(*batch, -1)[..., place]
        arrays.append(biases)
        held, size = codes * scale + bias, codes * np.abs(scale) + np.abs(bias)
    else:
        held = scale * (float8(codes) if kind.bits == 8 else float4(codes))
        size = np.abs(held)
    return Weights(arrays, [list(one.shape) for one in arrays], held, size)


def _drawn_scales(rng: Random, kind: Kind, shape: Sequence[int]) -> mx.array:
    if kind.affine:
        return random(rng, kind.dtype, shape, -(2.0**-kind.bits), 2.0**-kind.bits)
    low, high = (0x20, 0x38) if kind.mode == "nvfp4" else (116, 124)
    return array(rng.integers(low, high, shape), "uint8")
