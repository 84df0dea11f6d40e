"""Sizes of the tiles that matrix products are cut into, by device and by environment."""

from __future__ import annotations

import os
import re
import warnings
from typing import NamedTuple

import mlx.core as mx

from anymetal.ir.sizes import SIMD_GROUP
from anymetal.linalg.registers import sums_at_once
from anymetal.targets import HAS_METAL, has_cuda

#: Rows of an operand that a threadgroup shares at a time.
DEPTH = 16

_THREADS, _MEMORY, _SUMS = 1024, 32 * 1024, 128


class Tile(NamedTuple):
    """How many rows and columns of a product belong together.

    A tile that is whole SIMD-groups long, in the direction in which lanes read memory, belongs to
    one SIMD-group, which adds up a few rows or columns of it at a time, in registers. Any other
    belongs to a threadgroup with a thread for each element, which shares what it reads in
    threadgroup memory.
    """

    rows: int
    columns: int
    sums: int  #: of each lane that are in registers at a time; 0 for tiles of a threadgroup

    @property
    def in_registers(self) -> bool:
        return self.sums > 0


def tile_av() -> Tile:
    """The tile TM×T of A @ V, ANYMETAL_GEMM_TILE_AV or that of the device."""
    return _tile("ANYMETAL_GEMM_TILE_AV", "TMxT", lanes=1, cpu=(32, 32), m3=(32, 8))


def tile_atb() -> Tile:
    """The tile TN×TK of Aᵀ @ B, ANYMETAL_GEMM_TILE_ATB or that of the device."""
    return _tile("ANYMETAL_GEMM_TILE_ATB", "TNxTK", lanes=0, cpu=(64, 64), m3=(8, 32))


Extent = tuple[int, int]


def _tile(variable: str, form: str, *, lanes: int, cpu: Extent, m3: Extent) -> Tile:
    """`lanes` is the direction in which lanes read memory: 0 for rows, 1 for columns."""
    text = os.environ.get(variable, "").strip() or _of_other_code(variable)
    size = _parsed(variable, form, text) if text else _of_device(cpu, m3)
    tile = Tile(*size, sums=sums_at_once() if size[lanes] % SIMD_GROUP == 0 else 0)
    if trouble := _beyond_limits(tile):
        raise ValueError(
            f"{variable}={text!r}: {trouble}. It must be {form}, such as "
            f"{m3[0]}x{m3[1]}: two whole numbers with at most {_THREADS} threads and "
            f"{_MEMORY // 1024} KiB of threadgroup memory."
        )
    return tile


def _of_other_code(variable: str) -> str:
    """What METALFAISS_GEMM_TILE_… says, the name under which published kernels have this."""
    other = variable.replace("ANYMETAL", "METALFAISS")
    text = os.environ.get(other, "").strip()
    if text:
        warnings.warn(f"{other}={text} is taken; here its name is {variable}.", stacklevel=2)
    return text


def _of_device(cpu: Extent, m3: Extent) -> Extent:
    if not HAS_METAL and not has_cuda():
        return cpu
    name = str(mx.device_info().get("device_name", ""))
    return m3 if re.match(r"Apple M3\b", name) else (16, 16)


def _parsed(variable: str, form: str, text: str) -> Extent:
    match = re.fullmatch(r"(\d{1,5})[xX×](\d{1,5})", text)
    if match is None or 0 in map(int, match.groups()):
        raise ValueError(
            f"{variable}={text!r} is no tile. It must be {form}, such as 16x16: two whole numbers "
            f"with at most {_THREADS} threads and {_MEMORY // 1024} KiB of threadgroup memory."
        )
    return int(match[1]), int(match[2])


def _beyond_limits(tile: Tile) -> str | None:
    """What a tile needs too much of."""
    elements = tile.rows * tile.columns
    if tile.in_registers:
        sums = elements // SIMD_GROUP
        return f"{sums} sums per thread, {_SUMS} are possible" if sums > _SUMS else None
    if elements > _THREADS:
        return f"a thread for each element makes {elements}"
    memory = 4 * DEPTH * (tile.rows + tile.columns)
    return f"it takes {memory} bytes of threadgroup memory" if memory > _MEMORY else None
