"""Loading the built bridge, and making sure that it and MLX mean the same by an array."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any, Protocol, cast

import mlx.core as mx

from anymetal.locations import PACKAGE, Location, lead_home
from anymetal.runtime.pool import pool

_DOMAIN = "mlx"


class NativeLazyPlan(Protocol):
    """A kernel for one grid and threadgroup, in C++ (plan.h)."""


class NativeDescriptor(Protocol):
    """What equal calls have in common, in C++ (kernel.h)."""


class NativeCallCache(Protocol):
    """Calls of a kernel, and what they came to (call_cache.cpp)."""

    def __call__(self, positional: tuple[Any, ...], call: dict[str, Any]) -> list[mx.array] | None:
        """The outputs of a call, given by its arguments, if one like it was kept."""

    def keep(
        self,
        positional: tuple[Any, ...],
        call: dict[str, Any],
        descriptor: NativeDescriptor,
        inputs: Sequence[mx.array],
    ) -> None:
        """Keeps a call, if its arguments are plain enough to be compared.

        `inputs`: those of the launch, if the call has positional arguments.
        """


class Native(Protocol):
    """What the C++ module offers (module.cpp, calls.cpp, call_cache.cpp)."""

    def lazy_plan(
        self,
        kernel: str,
        compile: Callable[[], object],
        check: Callable[[], object] | None = None,
    ) -> NativeLazyPlan:
        """A plan that calls `compile` when it is first evaluated, and `check` when it has faulted.

        They return a `Plan` (targets/cpu/plan.py), or None for a launch without threads.
        """

    def descriptor(
        self,
        plan: NativeLazyPlan,
        shapes: Sequence[tuple[int, ...]],
        dtypes: Sequence[mx.Dtype],
        contiguous: bool,
        init_value: float | None,
        lift: Callable[..., object] | None,
        starts: Sequence[int] = (),
        made: Location | None = None,
    ) -> NativeDescriptor:
        """A launch without its inputs; shapes and dtypes are those of the outputs.

        `starts`: for each output the number of the input whose contents it begins with, or -1. The
        kernel does not have these inputs, which are the last ones. `made`: where the program made
        the kernel, for errors.
        """

    def gpu_descriptor(
        self,
        name: str,
        text: bytes,
        text_for_any: Callable[[], bytes],
        numbers: Sequence[int],
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        order: Sequence[int],
        descriptions: Sequence[mx.array],
        shapes: Sequence[tuple[int, ...]],
        dtypes: Sequence[mx.Dtype],
        init_value: float | None,
        lift: Callable[..., object] | None,
        made: Location | None = None,
        when_hot: Callable[[Callable[[bytes], None]], None] | None = None,
    ) -> NativeDescriptor:
        """A launch on an NVIDIA GPU without its inputs.

        `name` and `text`: the function in PTX, for buffers at multiples of 16 bytes; `text_for_any`
        makes that for all others. `numbers` are behind its arrays. `order`: for each
        buffer in front of the outputs the number of the input, or of one of the `descriptions`
        behind these. `when_hot` is called once, after some evaluations, with what takes another
        text for buffers at multiples of 16 bytes.
        """

    def call(
        self,
        descriptor: NativeDescriptor,
        inputs: Sequence[mx.array],
        ignored_interrupts: int,
        stream: object,
    ) -> list[mx.array]:
        """A launch as a node of MLX's graph: its outputs, not evaluated yet."""

    def CallCache(  # a class
        self, defaults: dict[str, Any], ignored_interrupts: Callable[[], int]
    ) -> NativeCallCache:
        """No calls yet. `defaults` of arguments that calls may leave out."""

    def exporting(self, arrays: Sequence[mx.array]) -> bool:
        """Whether these arrays are part of a function that is being exported."""

    def traced(self, arrays: Sequence[mx.array]) -> bool:
        """Whether any of the arrays takes part in a transformation."""

    def adopt(
        self,
        outputs: Sequence[mx.array],
        inputs: Sequence[mx.array],
        maker: Callable[..., NativeLazyPlan],
    ) -> list[mx.array]:
        """Makes a graph run on the CPU; `maker` gets what `Recorded` in imported.py lists."""

    def on_error(self, guide: Callable[..., None], package: str) -> None:
        """Who tells exceptions where kernels come from: `lead_home` of locations.py.

        `package`: the folder of code that is never what called a kernel.
        """

    def on_failure(self, maker: Callable[[str, int, int, int], BaseException]) -> None:
        """Who makes exceptions of launches that end badly: kernel, status, signal, address."""


class Unusable(Exception):
    """The bridge was built, but must not be used."""


#: The first bridge of this process. nanobind registers the types of it, and not again those of
#: another one, such as the one that is beside the package while a wheel is made.
_first: Native | None = None


@functools.cache
def load(path: Path) -> Native:
    """The bridge in this file, tried out, or the first one if there was one before; raises
    `Unusable`."""
    global _first
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
        native.on_error(lead_home, PACKAGE)
        native.on_failure(lambda *call: pool().failure(*call))
        _try_out(native)
    except Exception as error:
        raise Unusable(f"the bridge does not fit MLX: {_mismatch() or error}") from error
    _first = _first or native
    return _first


def _try_out(native: Native) -> None:
    """A launch without threads, which only fills its output."""
    plan = native.lazy_plan("trial", lambda: None)
    descriptor = native.descriptor(plan, [(2, 3)], [mx.int32], True, 7.0, None)
    (array,) = native.call(descriptor, [], 0, None)
    if type(array) is not mx.array:
        raise TypeError(f"it makes arrays of the type {type(array)}, not {mx.array}")
    if array.shape != (2, 3) or array.dtype != mx.int32:
        raise ValueError(f"asked for int32 of shape (2, 3), it made {array.dtype} {array.shape}")
    if (found := (array + 1).tolist()) != [[8, 8, 8], [8, 8, 8]]:
        raise ValueError(f"MLX reads {found} where 8 should be")


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
