"""An Apple GPU that is not there: what MLX answers under `install(pretend_gpu=True)`.

The GPU is a `Device` that MLX's C++ code sees as the CPU and Python code sees as a GPU. As
`mx.gpu` it can be given to every MLX function as device or stream, and the work runs here.
Code that took `gpu` out of `mlx.core` before still holds `mx.DeviceType.gpu`: the functions for
devices and streams accept it, other operations of MLX refuse it as before.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

import mlx.core as mx

from anymetal import arguments, targets
from anymetal.imported import import_function
from anymetal.targets.graph import new_epoch
from anymetal_start.patches import Patches

_Device = mx.Device
_DeviceType = mx.DeviceType
_Stream = (mx.Stream, mx.ThreadLocalStream)
_NARROW = (mx.float16, mx.bfloat16)


class Device(_Device):
    """`mx.Device` that can be a GPU to everybody but MLX's C++ code."""

    def __init__(self, type: _DeviceType | _Device, index: int = 0) -> None:
        self._type = _type_of(type)
        super().__init__(_DeviceType.cpu, index)

    @property
    def type(self) -> _DeviceType:
        """`gpu` or `cpu`."""
        return self._type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (_Device, _DeviceType)) and self._type is _type_of(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.type)

    def __repr__(self) -> str:
        return f"Device({self.type.name}, 0)"


def _type_of(device: object) -> _DeviceType:
    if isinstance(device, _DeviceType):
        return device
    if isinstance(device, _Device):
        return device.type
    raise TypeError(f"A device is mx.cpu, mx.gpu or an mx.Device, got {type(device).__name__}.")


def _type_equals(left: _DeviceType, right: object) -> bool:
    """`DeviceType.__eq__`, whose C++ code would ask a GPU of ours what it really is."""
    return isinstance(right, (_Device, _DeviceType)) and left is _type_of(right)


GPU = Device(_DeviceType.gpu)
CPU = Device(_DeviceType.cpu)


def apply(patches: Patches) -> None:
    """Replace the functions of `mlx.core` that tell a CPU from a GPU; where there is a GPU, those
    only that tell whether it is one of Apple's."""
    patches.replace(mx.metal, "device_info", apple_device_info)
    patches.replace(mx.metal, "is_available", lambda: True)
    if targets.has_cuda():
        return
    state = _State()

    patches.replace(mx, "gpu", GPU)
    patches.replace(mx, "Device", Device)
    patches.replace(mx.DeviceType, "__eq__", _type_equals)
    patches.replace(mx, "default_device", lambda: state.default)
    patches.replace(mx, "set_default_device", state.set_default_device)
    patches.replace(mx, "stream", state.stream)
    for stream_class in _Stream:
        patches.replace(stream_class, "device", property(state.device_of))
    for maker in ("new_stream", "new_thread_local_stream", "new_thread_unsafe_stream"):
        patches.replace(mx, maker, state.making_streams(getattr(mx, maker)))
    for function in ("default_stream", "synchronize", "is_available"):
        patches.replace(mx, function, _seeing_gpu(getattr(mx, function)))
    patches.replace(mx, "device_count", _device_count)
    patches.replace(mx, "device_info", state.device_info(mx.device_info))
    patches.replace(mx, "import_function", import_function)
    for function in ("gather_mm", "block_masked_mm", "quantized_matmul", "gather_qmm"):
        patches.replace(mx, function, _in_float32(getattr(mx, function)))
    patches.replace(arguments, "is_of_cpu", state.is_of_cpu)
    new_epoch()  # calls that name the CPU were welcome before


def apple_device_info() -> dict[str, str | int]:
    """What MLX tells about the smallest Apple GPU, with the memory of this machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "architecture": "applegpu_g13g",
        "device_name": "Apple M1 (AnyMetal)",
        "max_buffer_length": memory // 2,
        "max_recommended_working_set_size": memory * 3 // 4,
        "memory_size": memory,
        "resource_limit": 499000,
    }


def _believed(device: object) -> Device:
    """The device that Python code means."""
    return GPU if _type_of(device) is _DeviceType.gpu else CPU


def _takeable(argument: Any) -> Any:
    """A device as MLX can take it; anything else unchanged."""
    is_device = isinstance(argument, (_Device, _DeviceType))
    return _believed(argument) if is_device else argument


def _seeing_gpu(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def wrapped(*args: object, **kwargs: object) -> Any:
        return function(
            *map(_takeable, args), **{name: _takeable(value) for name, value in kwargs.items()}
        )

    return wrapped


def _in_float32(multiply: Callable[..., mx.array]) -> Callable[..., mx.array]:
    """A product of matrices with 16-bit operands as MLX's GPU computes it.

    That sums in float32 and rounds once, at the end. MLX's CPU back end adds up in the operands'
    type where they are quantized, and has the others for float32 only.
    """

    def widened(value: Any) -> Any:
        return value.astype(mx.float32) if _is_one_of(value, _NARROW) else value

    @wraps(multiply)
    def wrapped(*args: Any, **kwargs: Any) -> mx.array:
        given = (*args, *kwargs.values())
        floats = {value.dtype for value in given if _is_one_of(value, (*_NARROW, mx.float32))}
        if len(floats) != 1 or mx.float32 in floats:
            return multiply(*args, **kwargs)  # in float32 anyway
        wide = {name: widened(value) for name, value in kwargs.items()}
        return multiply(*map(widened, args), **wide).astype(floats.pop())

    return wrapped


def _is_one_of(value: object, dtypes: tuple[mx.Dtype, ...]) -> bool:
    return isinstance(value, mx.array) and value.dtype in dtypes


def _device_count(device_type: _Device | _DeviceType) -> int:
    """One CPU, one GPU."""
    return 1


class _State:
    """The default device that Python code believes in; one for the process, as in MLX."""

    def __init__(self) -> None:
        self.default = GPU
        # By the text of the stream, which has its number: Python cannot get that otherwise.
        self._made: dict[str, Device] = {}
        self._real_stream = mx.stream

    def set_default_device(self, device: _Device | _DeviceType) -> None:
        """`mx.set_default_device`."""
        self.default = _believed(device)

    def stream(self, s: Any) -> _StreamContext:
        """`mx.stream`."""
        device = self.device_of(s) if isinstance(s, _Stream) else _believed(s)
        return _StreamContext(self, device, self._real_stream(_takeable(s)))

    def device_of(self, stream: Any) -> Device:
        """What a stream was made for; MLX's default streams serve every device here."""
        return self._made.get(str(stream), self.default)

    def is_of_cpu(self, stream: Any) -> bool:
        """Whether a kernel of Metal could not run there."""
        if isinstance(stream, _Stream):
            return self._made.get(str(stream), GPU) is CPU
        return _believed(stream) is CPU

    def making_streams(self, make: Callable[..., Any]) -> Callable[..., Any]:
        """A stream maker that remembers what each stream was made for."""

        @wraps(make)
        def wrapped(device: _Device | _DeviceType) -> Any:
            believed = _believed(device)
            stream = make(believed)
            self._made[str(stream)] = believed
            return stream

        return wrapped

    def device_info(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """`mx.device_info`, for the default device or the given one."""

        @wraps(real)
        def wrapped(d: _Device | _DeviceType | None = None) -> Any:
            device = self.default if d is None else _believed(d)
            return apple_device_info() if device is GPU else real(CPU)

        return wrapped


class _StreamContext:
    """`mx.StreamContext` that switches the believed default device, too."""

    def __init__(self, state: _State, device: Device, real: Any) -> None:
        self._state = state
        self._device = device
        self._real = real

    def __enter__(self) -> None:
        self._outer = self._state.default
        self._state.default = self._device
        self._real.__enter__()

    def __exit__(self, *error: object) -> None:
        self._real.__exit__(*error)
        self._state.default = self._outer
