"""Memory for the arrays of a launch: each ends at pages that nobody may touch.

A vector that reaches over the end of an array is a fault, and a store in front of it is found.
"""

from __future__ import annotations

import ctypes
import mmap

import numpy as np

from anymetal.testing.lockstep.case import ELEMENTS, Case, Data

_PAGE = mmap.PAGESIZE
_PROT_NONE = 0
#: Bytes behind each array that nobody may touch.
_GUARD = 16 * _PAGE
#: Bytes in front of each array that nobody may change.
_FRONT = 64
_MARK = 0xA7

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class Arrays:
    """Fresh arrays for one run of a case: inputs with their data, outputs with their fill."""

    def __init__(self, case: Case) -> None:
        self._maps: list[mmap.mmap] = []
        self._fronts: list[Data] = []
        self.addresses: list[int] = []
        self.sizes: list[int] = []  #: bytes
        self.outputs: list[Data] = []
        self.inputs: list[Data] = []
        self._given = [given.data for given in case.inputs]
        for given in case.inputs:
            array = self._array(ELEMENTS[given.element], given.data.size)
            array[:] = given.data
            self.inputs.append(array)
        for wanted in case.outputs:
            array = self._array(ELEMENTS[wanted.element], wanted.size)
            array.view(np.uint8)[:] = wanted.fill
            self.outputs.append(array)

    def _array(self, dtype: np.dtype[np.generic], size: int) -> Data:
        room = dtype.itemsize * max(size, 1)
        whole = -(-(room + _FRONT + 16) // _PAGE) * _PAGE
        memory = mmap.mmap(-1, whole + _GUARD)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        if _libc.mprotect(start + whole, _GUARD, _PROT_NONE):
            raise OSError(ctypes.get_errno(), "mprotect")
        # MLX's arrays start at multiples of 16 bytes.
        at = (whole - room) // 16 * 16
        self._maps.append(memory)
        self.addresses.append(start + at)
        self.sizes.append(dtype.itemsize * size)
        front = np.frombuffer(memory, np.uint8, _FRONT, at - _FRONT)
        front[:] = _MARK
        self._fronts.append(front)
        return np.frombuffer(memory, dtype, size, at)

    def damage(self) -> str:
        """What was written where nothing may be written; empty if nothing was."""
        for number, front in enumerate(self._fronts):
            if (front != _MARK).any():
                return f"the bytes in front of array {number} were overwritten"
        for given, array in zip(self._given, self.inputs, strict=True):
            if array.tobytes() != given.tobytes():
                return "an input was overwritten"
        return ""
