"""What the 32 lanes of a warp touch in one access: sectors of device memory, banks of threadgroup
memory.

Device memory comes in sectors of 32 bytes. Threadgroup memory has 32 banks, which give one word of
4 bytes each at a time; lanes that want the same word get it together. (NVIDIA, CUDA C++ Programming
Guide: "Device Memory Accesses", "Shared Memory" of each compute capability.)

Offsets are in bytes, one a lane, from a place that is a multiple of 128. Accesses are aligned to
their size, as PTX demands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

SECTOR = 32
BANKS = 32
WORD = 4


class Touched(NamedTuple):
    """Of an access to device memory."""

    sectors: int
    least: int  #: sectors that so many different bytes fill


def touched(offsets: Sequence[int], size: int) -> Touched:
    """The sectors that lanes touch with `size` bytes each, 1 to 32."""
    first = {offset // size * size for offset in offsets}
    return Touched(len({at // SECTOR for at in first}), -(-len(first) * size // SECTOR))


def conflicts(offsets: Sequence[int], size: int) -> int:
    """How often a bank is asked for words, one after the other: 1 is no conflict.

    More than 4 bytes a lane take several turns: of 8 bytes 16 lanes come at a time, of 16 bytes 8.
    """
    lanes = len(offsets) // max(1, size // WORD)
    return max(_degree(offsets[at : at + lanes], size) for at in range(0, len(offsets), lanes))


def _degree(offsets: Sequence[int], size: int) -> int:
    words = {(offset + more) // WORD for offset in offsets for more in range(0, size, WORD)}
    banks = [word % BANKS for word in words]
    return max(map(banks.count, banks))
