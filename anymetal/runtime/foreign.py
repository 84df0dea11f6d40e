"""Arrays that are not MLX's, where they lie: whatever speaks DLPack says so, in structures that
https://dmlc.github.io/dlpack/latest/c_api.html describes.
"""

from __future__ import annotations

import ctypes
import sys
from math import prod
from typing import Any

_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
_CPU = 1
_DEVICES = {2: "CUDA", 3: "CUDA's host", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm"}
_LEGACY, _VERSIONED = b"dltensor", b"dltensor_versioned"
_READ_ONLY = 1  #: a flag of versioned tensors


class _Tensor(ctypes.Structure):
    """DLTensor"""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("axes", ctypes.c_int32),
        ("kind", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),  # in elements; null: row-contiguous
        ("offset", ctypes.c_uint64),
    ]


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned"""

    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def speaks(value: object) -> bool:
    """Whether this is an array by DLPack's protocol."""
    return hasattr(value, "__dlpack__")


def device(value: Any) -> str:
    """The device that an array is on; empty for the CPU."""
    number = value.__dlpack_device__()[0]
    return "" if number == _CPU else _DEVICES.get(number, f"DLPack's number {int(number)}")


class Foreign:
    """An array on the CPU, whose memory stays as long as this object does.

    Raises what the array does if it gives no memory: BufferError, by the protocol.
    """

    __slots__ = (
        "_capsule",
        "address",
        "contiguous",
        "dtype",
        "itemsize",
        "shape",
        "value",
        "writable",
    )

    def __init__(self, value: Any) -> None:
        self.value = value  #: the array itself
        self._capsule = _exported(value)  # which keeps the memory
        flags, tensor = _tensor_in(self._capsule)
        self.shape: tuple[int, ...] = tuple(tensor.shape[: tensor.axes])
        kind = _KINDS.get(tensor.kind, "")
        bits = "" if kind == "bool" else tensor.bits
        #: "float32"; empty for what no scalar of Metal's is like
        self.dtype = f"{kind}{bits}" if kind and tensor.lanes == 1 else ""
        self.itemsize: int = tensor.bits * tensor.lanes // 8
        self.address = (tensor.data or 0) + tensor.offset
        self.contiguous = not tensor.strides or _is_packed(self.shape, tensor.strides)
        self.writable = not flags & _READ_ONLY and not _is_of_jax(value)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return prod(self.shape) * self.itemsize

    def __dlpack__(self, **options: Any) -> object:
        return self.value.__dlpack__(**options) if options else _exported(self.value)

    def __dlpack_device__(self) -> object:
        return self.value.__dlpack_device__()

    def content(self) -> bytes:
        """The bytes of all elements, row by row. Raises TypeError for an array that is neither
        contiguous nor has a buffer."""
        if self.contiguous:
            return ctypes.string_at(self.address, self.nbytes)
        return memoryview(self.value).tobytes()


def _exported(value: Any) -> object:
    try:
        return value.__dlpack__(max_version=(1, 0))
    except TypeError:  # by whom only the first version of the protocol is known
        return value.__dlpack__()


def _tensor_in(capsule: object) -> tuple[int, _Tensor]:
    """Flags and tensor."""
    if _name(capsule) == _VERSIONED:
        managed = _Versioned.from_address(_pointer(capsule, _VERSIONED))
        return int(managed.flags), managed.tensor
    return 0, _Tensor.from_address(_pointer(capsule, _LEGACY))


def _is_packed(shape: tuple[int, ...], strides: Any) -> bool:
    """Whether elements follow each other row by row. (An axis of one may have any stride.)"""
    expected = 1
    for axis in reversed(range(len(shape))):
        if shape[axis] != 1 and strides[axis] != expected:
            return 0 in shape
        expected *= shape[axis]
    return True


def _is_of_jax(value: object) -> bool:
    """Arrays of JAX never change, and do not say so."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.Array)
