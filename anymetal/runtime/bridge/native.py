"""Loading the built bridge, and making sure that it and MLX mean the same by an array."""

from __future__ import annotations

import ctypes
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Protocol, cast

import mlx.core as mx

_DOMAIN = "mlx"


class Native(Protocol):
    """What the C++ module offers (module.cpp)."""

    def empty(self, shape: tuple[int, ...], dtype: mx.Dtype) -> mx.array:
        """An evaluated array with arbitrary contents."""


class Unusable(Exception):
    """The bridge was built, but must not be used."""


def load(path: Path) -> Native:
    """The bridge in this file, tried out; raises `Unusable`."""
    loader = ExtensionFileLoader("anymetal.runtime.bridge.extension", str(path))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    try:
        module = module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:
        raise Unusable(f"the bridge does not load: {error}") from error
    native = cast(Native, module)
    try:
        _try_out(native)
    except Exception as error:
        raise Unusable(f"the bridge does not fit MLX: {_mismatch() or error}") from error
    return native


def _try_out(native: Native) -> None:
    array = native.empty((2, 3), mx.int32)
    if type(array) is not mx.array:
        raise TypeError(f"it makes arrays of the type {type(array)}, not {mx.array}")
    if array.shape != (2, 3) or array.dtype != mx.int32:
        raise ValueError(f"asked for int32 of shape (2, 3), it made {array.dtype} {array.shape}")
    numbers = (ctypes.c_int32 * 6).from_buffer(cast(bytearray, array))
    numbers[:] = list(range(6))
    if (found := (array + 1).tolist()) != [[1, 2, 3], [4, 5, 6]]:
        raise ValueError(f"MLX reads {found} where 1 to 6 should be")


def _mismatch() -> str:
    """Two ABIs of nanobind in MLX's domain, if that is why arrays are foreign."""
    current = ctypes.pythonapi.PyInterpreterState_Get
    current.restype = ctypes.c_void_p
    dictionary = ctypes.pythonapi.PyInterpreterState_GetDict
    dictionary.restype, dictionary.argtypes = ctypes.py_object, [ctypes.c_void_p]
    start, end = "__nb_internals_", f"_{_DOMAIN}__"
    tags = [
        key.removeprefix(start).removesuffix(end)
        for key in dictionary(current())
        if isinstance(key, str) and key.startswith(start) and key.endswith(end)
    ]
    if len(tags) < 2:
        return ""
    return f"MLX was built for nanobind's ABI {tags[0]}, the bridge for {', '.join(tags[1:])}"
