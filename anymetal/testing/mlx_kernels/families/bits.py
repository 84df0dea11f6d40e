"""Random bits, and what orders memory."""

from __future__ import annotations

import mlx.core as mx
import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.data import Array, Random, array, error

#: Of Threefry with two words of 32 bits: how far words are turned, and a constant of the key's.
#: (Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3, 2011.)
_TURNS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def _threefry(key: Array, first: Array, second: Array) -> list[Array]:
    """What 20 rounds make of pairs of counters."""
    keys = np.array([key[0], key[1], key[0] ^ key[1] ^ _PARITY], np.uint32)
    x, y = first.astype(np.uint32) + keys[0], second.astype(np.uint32) + keys[1]
    for five in range(5):
        for turn in _TURNS[five % 2]:
            x = x + y
            y = x ^ (y << turn | y >> (32 - turn))
        x = x + keys[(five + 1) % 3]
        y = y + keys[(five + 2) % 3] + np.uint32(five + 1)
    return [x, y]


def random(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`rbits`: keys that lie anywhere, `rbitsc`: keys one behind the other. The first half of the
    words are the first words of pairs, and the last one has no other beside it if they are odd."""
    keys, size = int(rng.integers(1, 5)), int(rng.integers(1, 150))  # bytes for each key
    pairs = rng.integers(0, 2**32, (keys, 2), np.uint32)
    words = -(-size // 4)
    odd = words % 2
    half = words // 2 + odd
    strided = name == "rbits"
    memory = array(pairs.T if strided else pairs, "uint32")
    more = [2, [keys, 2], [1, keys]] if strided else []
    grid = (keys, half, 1)
    out = ((keys, size), mx.int8)
    got = kernel(memory, out, bool(odd), size, *more, grid=grid, threadgroup=grid)[0]
    counters = np.arange(half), np.arange(half) + half
    counters[1][words - half :] = 0
    want = [np.concatenate(_threefry(key, *counters)).view(np.int8)[:size] for key in pairs]
    return error(got, np.stack(want), "int8")


def fence(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`input_coherent`, `fence_update` and `fence_wait`, which returns at once if the number that
    it waits for is there."""
    count, number = int(rng.integers(1, 100)), int(rng.integers(1, 1000))
    held = array(rng.integers(number, 2**32, count), "uint32")
    if name == "input_coherent":
        got = kernel(held, count, grid=count, threadgroup=min(count, 64))[0]
        return error(got, np.array(held), "uint32")
    got = kernel(held[:1], number, grid=1, threadgroup=1)[0]
    return error(
        got, np.array([number]) if name == "fence_update" else np.array(held[:1]), "uint32"
    )
