"""How many threads an NVIDIA GPU has in flight of a kernel, by its registers and memory.

The limits are those of NVIDIA's CUDA C++ Programming Guide, table "Technical Specifications per
Compute Capability"; how registers and memory are handed out is as in `cuda_occupancy.h` of the CUDA
toolkit.
"""

from __future__ import annotations

from typing import NamedTuple

from anymetal.ir.sizes import SIMD_GROUP

_PARTITIONS = 4  #: of a multiprocessor, each with a quarter of the registers
_REGISTERS = 65536
_REGISTER_UNIT = 256  #: of a warp
_RESERVED = 1024  #: bytes of each block from 8.0 on, for the system


class Limits(NamedTuple):
    """Of a multiprocessor."""

    warps: int
    blocks: int
    memory: int  #: bytes of threadgroup memory
    unit: int  #: of which a block gets whole ones
    reserved: int  #: beside


LIMITS = {
    "sm_70": Limits(64, 32, 96 << 10, 256, 0),
    "sm_75": Limits(32, 16, 64 << 10, 256, 0),
    "sm_80": Limits(64, 32, 164 << 10, 128, _RESERVED),
    "sm_86": Limits(48, 16, 100 << 10, 128, _RESERVED),
    "sm_89": Limits(48, 24, 100 << 10, 128, _RESERVED),
    "sm_90": Limits(64, 32, 228 << 10, 128, _RESERVED),
    "sm_100": Limits(64, 32, 228 << 10, 128, _RESERVED),
}


class Occupancy(NamedTuple):
    """Of a multiprocessor that runs nothing else."""

    blocks: int  #: at a time
    warps: int
    most: int  #: warps that it could have
    limit: str  #: what allows no more: "warps", "blocks", "registers" or "threadgroup memory"

    @property
    def share(self) -> float:
        """Of the warps that there could be."""
        return self.warps / self.most


def occupancy(architecture: str, threads: int, registers: int, memory: int) -> Occupancy:
    """`threads` of a block; `registers` of a thread; `memory`: bytes of a block's threadgroup
    memory."""
    limits = LIMITS[architecture]
    warps = -(-threads // SIMD_GROUP)
    blocks = {"warps": limits.warps // warps, "blocks": limits.blocks}
    if registers:
        each = _whole(registers * SIMD_GROUP, _REGISTER_UNIT)
        fits = each * _whole(warps, _PARTITIONS) <= _REGISTERS
        fitting = _REGISTERS // _PARTITIONS // each * _PARTITIONS
        blocks["registers"] = fitting // warps if fits else 0
    if taken := _whole(memory + limits.reserved, limits.unit):
        blocks["threadgroup memory"] = limits.memory // taken
    limit = min(blocks, key=lambda name: blocks[name])
    return Occupancy(blocks[limit], blocks[limit] * warps, limits.warps, limit)


def _whole(number: int, unit: int) -> int:
    return -(-number // unit) * unit
