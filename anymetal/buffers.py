"""What a caller passes for a buffer of a library kernel, as memory that the kernel can have.

const device T*, constant T*/&    arrays as they are, numbers and bytes as copies: read only
device T*/&                       MLX arrays and (shape, dtype) stand for new arrays, which the
                                  call returns; other arrays are written in place

Other arrays are those of NumPy, PyTorch, JAX and whatever else speaks DLPack, on the CPU.
"""

from __future__ import annotations

import ctypes
import struct
from math import prod
from typing import Any, NamedTuple, cast

import mlx.core as mx

from anymetal.arguments import check_output
from anymetal.errors import KernelLaunchError
from anymetal.frontend.parameters import ELEMENTS, LibraryParameter
from anymetal.runtime import arrays
from anymetal.runtime.arrays import Exporter
from anymetal.runtime.foreign import Foreign, device, speaks

#: How `struct` packs one scalar; bfloat16 and complex64 are made of floats.
_FORMATS = {
    "bool": "?",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float16": "e",
}


def read_only(kernel: str, parameter: LibraryParameter, value: Any) -> Exporter:
    """Memory that the kernel only reads. Arrays of MLX may have any strides; of others, those that
    are not row-contiguous are copied."""
    if isinstance(value, mx.array):
        _check_type(kernel, parameter, value)
        array = value
    elif speaks(value):
        shared = _shared(kernel, parameter, value)
        if shared.contiguous:
            return shared
        array = _bytes(shared.content())
    else:
        array = _bytes(_packed(kernel, parameter, value))
    _check_size(kernel, parameter, array.nbytes)
    return array


def kept(memory: Exporter) -> mx.array:
    """The same for later: others may change what is in an array that is not MLX's."""
    if not isinstance(memory, Foreign):
        return cast(mx.array, memory)
    # MLX makes float32 of float64; a kernel that takes any type gets the bytes that it was given.
    if memory.dtype not in ELEMENTS[1:]:
        return _bytes(memory.content())
    return mx.from_dlpack(cast(Any, memory), copy=True)


def _bytes(content: bytes) -> mx.array:
    return mx.array(bytearray(content))  # type: ignore[arg-type]


class New(NamedTuple):
    """An array that the kernel is to make."""

    shape: tuple[int, ...]
    dtype: mx.Dtype
    start: mx.array | None  #: holds what it begins with

    def made(self, init_value: float | None) -> mx.array:
        """The array, evaluated. Nobody else has it: arrays of MLX are values."""
        if self.start is None:
            return arrays.new_output(self.shape, self.dtype, init_value)
        copy = mx.contiguous(self.start, stream=mx.cpu)
        mx.eval(copy)
        return mx.from_dlpack(copy, copy=True)


#: For parameters that function constants switch off: memory that nobody should touch.
ABSENT = New((16,), mx.uint8, None)


def is_in_place(value: object) -> bool:
    """Whether a kernel that writes to this argument changes what the caller has."""
    return speaks(value) and not isinstance(value, mx.array)


def in_place(kernel: str, parameter: LibraryParameter, value: Any) -> Foreign:
    """The caller's memory, which the kernel writes to."""
    shared = _shared(kernel, parameter, value)
    if not shared.contiguous or not shared.writable:
        what = "read only" if shared.contiguous else "not contiguous"
        raise KernelLaunchError(
            f"{_place(kernel, parameter)} writes to its argument, which is {what}: pass a "
            "contiguous, writable array, or an mx.array and use what the call returns."
        )
    return shared


def _shared(kernel: str, parameter: LibraryParameter, value: Any) -> Foreign:
    try:
        where = device(value)
        shared = None if where else Foreign(value)
    except Exception as error:  # of another library, which can be anything
        raise KernelLaunchError(
            f"{_place(kernel, parameter)} cannot have the memory of this {_kind(value)}: {error} "
            "(Pass a copy, or its bytes.)"
        ) from error
    if shared is None:
        raise KernelLaunchError(
            f"{_place(kernel, parameter)} got an array on another device ({where}): move it to "
            "the CPU."
        )
    _check_type(kernel, parameter, shared)
    _check_size(kernel, parameter, shared.nbytes)
    return shared


def new(kernel: str, parameter: LibraryParameter, value: Any) -> New:
    """What an array of MLX, or a shape and a dtype, stand for where the kernel writes."""
    if isinstance(value, mx.array):
        made = New(value.shape, value.dtype, value)
    else:
        made = _fresh(kernel, parameter, value)
    _check_type(kernel, parameter, made)
    _check_size(kernel, parameter, prod(made.shape) * made.dtype.size)
    return made


def _fresh(kernel: str, parameter: LibraryParameter, value: Any) -> New:
    if not (isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], mx.Dtype)):
        raise TypeError(
            f"{_place(kernel, parameter)} writes to its argument: pass an array, or a pair "
            f"(shape, dtype) for a new one, not {_kind(value)}."
        )
    shape = (value[0],) if isinstance(value[0], int) else tuple(value[0])
    check_output(kernel, parameter.name, shape, value[1].size)
    return New(shape, value[1], None)


def _packed(kernel: str, parameter: LibraryParameter, value: Any) -> bytes:
    """Numbers, or the bytes of a struct, as they lie in memory."""
    if isinstance(value, (bytes, bytearray, memoryview, ctypes.Structure, ctypes.Array)):
        return bytes(value)
    if hasattr(value, "item") and not isinstance(value, (list, tuple)):
        value = value.item()  # a scalar of NumPy
    numbers = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(numbers) == 2 and isinstance(numbers[1], mx.Dtype):
        raise TypeError(
            f"{_place(kernel, parameter)} only reads its argument: pass an array or numbers; a "
            "pair (shape, dtype) is for what a kernel writes to."
        )
    if not parameter.element:
        raise TypeError(
            f"{_place(kernel, parameter)} needs the bytes of a struct: pass `bytes`, a "
            f"ctypes.Structure or an array, not {_kind(value)}."
        )
    try:
        memory = b"".join(_scalar(parameter.element, number) for number in numbers)
    except (struct.error, TypeError, OverflowError) as error:
        raise TypeError(
            f"{_place(kernel, parameter)} cannot hold {value!r} ({_kind(value)}): {error}."
        ) from None
    if parameter.form == 2 and len(numbers) != parameter.lanes:
        raise TypeError(
            f"{_place(kernel, parameter)} takes {parameter.lanes} numbers, got {len(numbers)}."
        )
    # A vector of three has room for four.
    return memory.ljust(parameter.size, b"\0") if parameter.form == 2 else memory


def _scalar(element: str, number: Any) -> bytes:
    if element == "complex64":
        return _scalar("float32", complex(number).real) + _scalar("float32", complex(number).imag)
    if element == "float32":
        return bytes(ctypes.c_float(number))  # too large a number is infinite
    if element == "bfloat16":
        bits = struct.unpack("<I", _scalar("float32", number))[0]
        rounded = bits + 0x7FFF + (bits >> 16 & 1) if number == number else bits | 1 << 22
        return struct.pack("<I", rounded & 0xFFFFFFFF)[2:]
    return struct.pack(f"<{_FORMATS[element]}", number)


def _check_type(kernel: str, parameter: LibraryParameter, array: Any) -> None:
    dtype = str(array.dtype).rpartition(".")[2].removesuffix("_")
    if not parameter.element or dtype == parameter.element:
        return
    raise TypeError(
        f"{_place(kernel, parameter)} needs an array of {parameter.element}, got {dtype}: "
        f"convert it (astype), or reinterpret its bits (view)."
    )


def _check_size(kernel: str, parameter: LibraryParameter, nbytes: int) -> None:
    if parameter.form == 2 and nbytes < parameter.size:
        raise KernelLaunchError(
            f"{_place(kernel, parameter)} needs {parameter.size} bytes, got {nbytes}."
        )


def _place(kernel: str, parameter: LibraryParameter) -> str:
    return (
        f"kernel `{kernel}`: parameter `{parameter.name}` ({parameter.type_name}, "
        f"buffer {parameter.number})"
    )


def _kind(value: object) -> str:
    return type(value).__name__
