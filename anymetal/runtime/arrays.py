"""MLX arrays as a kernel sees them: addresses of evaluated arrays, and arrays for its outputs.

Inputs are not copied, whatever their dtype: DLPack gives the address. Outputs are ordinary MLX
arrays that nothing else refers to yet, so the kernel may write into them.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import mlx.core as mx

from anymetal.ir.sizes import DESCRIPTION_BYTES
from anymetal.runtime.pool import Pool

#: Outputs up to this many bytes are copied from a template. MLX does that at once, while filling
#: an array goes through its scheduler, which takes longer than a small kernel.
_TEMPLATE_BYTES = 1 << 16
_TEMPLATES = 128

_templates: dict[tuple[tuple[int, ...], mx.Dtype, str | None], mx.array] = {}


def new_output(shape: tuple[int, ...], dtype: mx.Dtype, init_value: float | None) -> mx.array:
    """A fresh array, evaluated: filled with `init_value` rounded to float32.

    Without `init_value` it holds zeros, where MLX promises nothing.
    """
    # As text, because 0.0 and -0.0 are equal, and NaN is not even equal to itself.
    key = (shape, dtype, None if init_value is None else repr(init_value))
    template = _templates.get(key)
    if template is None:
        template = _filled(shape, dtype, init_value)
        if template.nbytes > _TEMPLATE_BYTES:
            return template
        if len(_templates) >= _TEMPLATES:
            _templates.clear()
        _templates[key] = template
    return mx.from_dlpack(template, copy=True)


def _filled(shape: tuple[int, ...], dtype: mx.Dtype, value: float | None) -> mx.array:
    if value is None:
        array = mx.zeros(shape, dtype, stream=mx.cpu)
    else:
        scalar = mx.array(value, mx.float32).astype(dtype, stream=mx.cpu)
        array = mx.full(shape, scalar, dtype, stream=mx.cpu)
    mx.eval(array)
    return array


class Exporter(Protocol):
    """An array that gives its address by DLPack: of MLX, or another one (foreign.py)."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""

    def __dlpack__(self) -> object:
        """A capsule with the address; the array stays as it is while the capsule lives."""


class BufferExtent(ctypes.Structure):
    """The memory of a buffer, as `am_extent` in launch.h."""

    _fields_ = [("before", ctypes.c_uint64), ("bytes", ctypes.c_uint64)]


class BufferTable:
    """The buffer addresses of a launch; written anew for each one, by one thread at a time.

    `slots` gives, for each array that `bind` gets, its position among the buffers. Behind the
    addresses stands that of `extents`, what memory each buffer has (`am_extent` in launch.h), and
    room for what a checked build notes.
    """

    __slots__ = ("_addresses", "_pool", "_slots", "_strided", "buffers", "extents")

    def __init__(self, pool: Pool, buffers: int, slots: Sequence[int]) -> None:
        self._pool = pool
        self.buffers = (ctypes.c_uint64 * (buffers + 2))()
        self.extents = (BufferExtent * buffers)()
        self.buffers[buffers] = ctypes.addressof(self.extents)
        self._slots = (ctypes.c_int32 * len(slots))(*slots)
        self._strided = (ctypes.c_uint8 * len(slots))()
        memory = (self._slots, self.buffers, self.extents, self._strided)  # as `am_bind` wants them
        self._addresses = [ctypes.addressof(block) for block in memory]

    def describe(self, slot: int, numbers: Numbers) -> None:
        """Binds what a parameter says about an input."""
        self.buffers[slot] = numbers.address
        self.extents[slot].bytes = numbers.bytes

    def content(self, slot: int, most: int) -> bytes | None:
        """What a bound buffer holds, if it is no larger than `most` bytes."""
        size = self.extents[slot].bytes
        return ctypes.string_at(self.buffers[slot], size) if size <= most else None

    def shares_memory(self, slot: int) -> bool:
        """Whether a bound buffer and any other one overlap."""
        first, size = self.buffers[slot], self.extents[slot].bytes
        return any(
            self.buffers[other] < first + size and first < self.buffers[other] + extent.bytes
            for other, extent in enumerate(self.extents)
            if other != slot
        )

    def note(self, strays: int) -> None:
        """Says where a checked build notes stray accesses (`am_strays` in launch.h)."""
        self.buffers[len(self.extents) + 1] = strays

    def bind(self, arrays: list[Exporter], contiguous: bool) -> list[object]:
        """Writes the addresses of evaluated arrays. The result keeps the arrays alive.

        With `contiguous`, MLX arrays that are not row-contiguous are replaced by copies that are.
        """
        capsules: list[object] = [array.__dlpack__() for array in arrays]
        found = self._pool.bind(capsules, *self._addresses)
        if found and contiguous:
            for number, strided in enumerate(self._strided):
                if strided:
                    array = arrays[number]
                    assert isinstance(array, mx.array)
                    arrays[number] = mx.contiguous(array, stream=mx.cpu)
            mx.eval(arrays)
            return self.bind(arrays, False)
        return capsules


class Numbers(NamedTuple):
    """Integers in memory, for a kernel that uses an array's shape, strides, ndim or size."""

    memory: ctypes.Array[ctypes.c_int32] | ctypes.Array[ctypes.c_int64] | ctypes.c_int32
    address: int
    bytes: int  #: of these integers; the memory is larger


@functools.lru_cache(maxsize=1024)
def shape_numbers(shape: tuple[int, ...]) -> Numbers:
    """`<input>_shape`, an int32 for each axis."""
    memory = (ctypes.c_int32 * max(len(shape), DESCRIPTION_BYTES // 4))(*shape)
    return Numbers(memory, ctypes.addressof(memory), 4 * len(shape))


@functools.lru_cache(maxsize=1024)
def ndim_numbers(ndim: int) -> Numbers:
    """`<input>_ndim`, one int32."""
    return shape_numbers((ndim,))


@functools.lru_cache(maxsize=1024)
def size_numbers(size: int) -> Numbers:
    """The element count behind `<input>_size`, one uint32."""
    number = ctypes.c_int32(size)  # wraps beyond 32 bits; the bits are those of the uint32
    memory = (ctypes.c_int32 * (DESCRIPTION_BYTES // 4))(number)
    return Numbers(memory, ctypes.addressof(memory), 4)


def stride_numbers(pool: Pool, capsule: object, ndim: int) -> Numbers:
    """`<input>_strides` of an array bound by `BufferTable`, an int64 for each axis, in elements."""
    memory = (ctypes.c_int64 * max(ndim, DESCRIPTION_BYTES // 8))()
    pool.strides(capsule, ctypes.addressof(memory))
    return Numbers(memory, ctypes.addressof(memory), 8 * ndim)
