"""Arrays between fences: every access outside of one is a fault, not a matter of luck.

MLX's own arrays lie beside each other, so a stray load mostly finds something. Kernels run on these
by `run_fenced`.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anymetal.runtime.arrays import Exporter
from anymetal.source import KernelSource
from anymetal.targets.cpu.launch import CpuTarget

Array = npt.NDArray[Any]

#: Bytes on each side that nobody may touch. Addresses alone: they take no memory.
_FENCE = 1 << 32
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_int64]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_NO_RESERVE = 0x4000
_FAILED = ctypes.c_void_p(-1).value


class _Mapping:
    """Some pages between two fences, which go when nobody refers to them."""

    def __init__(self, size: int) -> None:
        pages = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        self.length = pages + 2 * _FENCE
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
        self.start = _libc.mmap(None, self.length, 0, flags, -1, 0)
        assert self.start != _FAILED, ctypes.get_errno()
        self.first, self.end = self.start + _FENCE, self.start + _FENCE + pages
        access = mmap.PROT_READ | mmap.PROT_WRITE
        assert _libc.mprotect(self.first, pages, access) == 0, ctypes.get_errno()

    def __del__(self) -> None:
        _libc.munmap(self.start, self.length)


def fenced(array: Array, at_end: bool = True) -> Array:
    """A copy that ends where the pages end, or begins where they begin."""
    mapping = _Mapping(array.nbytes)
    address = mapping.end - array.nbytes if at_end else mapping.first
    memory = (ctypes.c_uint8 * array.nbytes).from_address(address)
    memory.mapping = mapping  # type: ignore[attr-defined]
    result: Array = np.frombuffer(memoryview(memory), array.dtype).reshape(array.shape)
    result[...] = array
    return result


def run_fenced(
    source: KernelSource,
    inputs: Sequence[Array],
    output: Array,
    grid: tuple[int, int, int],
    threadgroup: tuple[int, int, int] = (64, 1, 1),
) -> Array:
    """Runs a kernel with its inputs at the end of their pages, then at the beginning.

    Both times it must give the same; `output` holds what its output starts with.
    """
    results = []
    for at_end in (True, False):
        arrays: list[Exporter] = [fenced(a, at_end) for a in (*inputs, output)]
        CpuTarget().run_in_place(source, arrays, grid, threadgroup)
        results.append(np.array(arrays[-1]))
    np.testing.assert_array_equal(results[0].view(np.uint8), results[1].view(np.uint8))
    return results[0]
