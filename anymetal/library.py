"""`metal_library`: the kernels of a whole Metal text, with signatures of their own."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from anymetal import arguments, buffers
from anymetal.call_cache import CurrentCache, cached
from anymetal.errors import UnsupportedFeatureError
from anymetal.frontend.code_base import code_base
from anymetal.frontend.library_text import Library, read_library
from anymetal.frontend.library_wrapper import Constants, Number
from anymetal.frontend.parameters import LibraryKernel, LibraryParameter
from anymetal.library_launch import LibraryLaunch
from anymetal.locations import Location, caller, leads_home
from anymetal.runtime.arrays import Exporter
from anymetal.runtime.foreign import Foreign
from anymetal.source import LibrarySource, Prelude
from anymetal.targets import graph
from anymetal.targets.base import Launch, check_extents
from anymetal.targets.graph import CallArguments, GraphTarget

_SOURCES_PER_KERNEL = 256
#: What a call of a kernel may leave out.
_DEFAULTS: dict[str, Any] = {
    "constants": None,
    "threadgroup_memory": None,
    "init_value": 0,
    "stream": None,
}


@leads_home
def metal_library(
    source: str | os.PathLike[str],
    *,
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    defines: Mapping[str, object] | None = None,
    prelude: Prelude | None = None,
    name: str | None = None,
    compile_options: object | None = None,
) -> MetalLibrary:
    """The kernels of a Metal text, each as an attribute that can be called.

    Args:
        source: The text, or the path of a file: a `Path`, or a `str` that ends in ".metal".
        include_dirs: Folders in which `#include` looks for files, in this order. `#include "x"`
            looks beside the file that says so first.
        defines: Macros and what they stand for, as those of a compiler's option -D: text, numbers;
            True is 1. None stands for nothing.
        prelude: "metal": the text finds Metal's own names, as with Apple's compiler. "mlx": also
            what MLX puts in front of custom kernels: `using namespace metal`, complex numbers,
            `elem_to_loc` and its like, and MLX's headers in `#include "mlx/backend/metal/…"`.
            By default "metal" for a text that includes something, "mlx" for one that does not.
        name: How errors call the text; by default the name of the file, or "metal_library".
        compile_options: None, or `{"math_mode": "safe" | "relaxed" | "fast"}`.

    Returns:
        The library: `lib.name` or `lib["ns::name"]` is a kernel, `lib.kernel_names` lists them.

    Raises:
        MetalCompileError: There is a syntax error anywhere in the text. What a template does wrong
            shows up when a kernel made of it is called: kernels are compiled then.
        OSError: The file, or one that it includes, cannot be read.
        TypeError: `source` is neither a text nor a path, or `include_dirs` or `defines` have
            something else in them than they may.
        ValueError: `compile_options` or `prelude` has a value that it may not have, or the name of
            a macro is none.
        RuntimeError: A key or the mode in `compile_options` is no `str`, as in MLX.

    Example:
        >>> import mlx.core as mx
        >>> import anymetal
        >>> lib = anymetal.metal_library('''
        ...     kernel void add(device const float* a [[buffer(0)]],
        ...                     device const float* b [[buffer(1)]],
        ...                     device float* out [[buffer(2)]],
        ...                     uint i [[thread_position_in_grid]]) {
        ...       out[i] = a[i] + b[i];
        ...     }
        ... ''')
        >>> a = mx.array([1.0, 2.0, 3.0])
        >>> (out,) = lib.add(a, a, (a.shape, a.dtype), grid=a.size, threadgroup=256)
        >>> out
        array([2, 4, 6], dtype=float32)
    """
    if prelude not in ("metal", "mlx", None):
        raise ValueError(f'metal_library: prelude must be "metal" or "mlx", not {prelude!r}.')
    path = _path(source)
    text = path.read_text() if path else arguments.string("metal_library", "source", source)
    code = code_base(
        text,
        name or (path.name if path else "metal_library"),
        path.parent if path else None,
        _folders(include_dirs),
        _macros(defines or {}),
        prelude,
    )
    library = read_library(code, arguments.math_mode(compile_options))
    return MetalLibrary(library, caller())


def _path(source: object) -> Path | None:
    if isinstance(source, os.PathLike) or (
        isinstance(source, str) and source.endswith(".metal") and "\n" not in source
    ):
        return Path(source)
    return None


def _folders(include_dirs: object) -> list[Path]:
    if isinstance(include_dirs, (str, os.PathLike)):
        raise TypeError("metal_library: include_dirs must be a list of folders, not one folder.")
    return [Path(one) for one in arguments.sequence("metal_library", "include_dirs", include_dirs)]


def _macros(defines: Mapping[str, object]) -> dict[str, str]:
    macros = {}
    for name, value in defines.items():
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*(\([\w, .]*\))?", name):
            raise ValueError(f"metal_library: defines has {name!r}, which is no name of a macro.")
        if value is not None and not isinstance(value, (str, int, float)):
            raise TypeError(
                f"metal_library: the macro {name} must stand for text or a number, not {value!r}."
            )
        text = "" if value is None else str(int(value) if isinstance(value, bool) else value)
        if "\n" in text or name.startswith("__am_"):
            raise ValueError(f"metal_library: the macro {name} cannot stand for {text!r}.")
        macros[name] = text
    return macros


class MetalLibrary:
    """The kernels of one Metal text. Made by `metal_library`."""

    def __init__(self, library: Library, made: Location | None = None) -> None:
        self._library = library
        self._functions = {
            name: LibraryFunction(library, kernel, made) for name, kernel in library.kernels.items()
        }

    @property
    def kernel_names(self) -> list[str]:
        """The host names of all kernels, in the order of the text."""
        return list(self._functions)

    @property
    def function_constants(self) -> dict[str, int]:
        """The function constants of the text, and their indices."""
        return dict(self._library.constants)

    def __getitem__(self, name: str) -> LibraryFunction:
        """A kernel whose name is no Python identifier, such as `ns::add`."""
        try:
            return self._functions[name]
        except KeyError:
            raise KeyError(self._unknown(name)) from None

    def __getattr__(self, name: str) -> LibraryFunction:
        functions: dict[str, LibraryFunction] = self.__dict__.get("_functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(self._unknown(name))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._functions]

    def __repr__(self) -> str:
        return f"<metal_library {self._library.file}: {', '.join(self._functions)}>"

    def _unknown(self, name: str) -> str:
        known = ", ".join(self.__dict__.get("_functions", ()))
        return f"the Metal library has no kernel {name!r}; it has: {known}"


class LibraryFunction:
    """One kernel of a library, ready to be called."""

    def __init__(
        self, library: Library, kernel: LibraryKernel, made: Location | None = None
    ) -> None:
        self.made = made  #: by which line of the program, with its library
        self._library = library
        self._kernel = kernel
        self._buffers = kernel.bound("buffer")
        self._memory = kernel.bound("threadgroup")
        self._refusal = kernel.refusal
        self._sources: dict[object, LibrarySource] = {}
        self.calls = CurrentCache()

    @property
    def name(self) -> str:
        """The host name."""
        return self._kernel.name

    @property
    def threadgroup_memory(self) -> list[int]:
        """The numbers of its `threadgroup` pointers and references."""
        return [p.number for p in self._memory]

    def __repr__(self) -> str:
        parameters = ", ".join(f"{p.name}: {p.type_name}" for p in self._buffers)
        return f"<kernel {self.name}({parameters}) of {self._library.file}>"

    @cached
    def __call__(
        self,
        *values: Any,
        grid: int | Sequence[int],
        threadgroup: int | Sequence[int],
        constants: Mapping[str | int, Number | Sequence[Number]] | None = None,
        threadgroup_memory: Mapping[int, int] | None = None,
        init_value: float | None = 0,
        stream: object = None,
    ) -> list[Any]:
        """Record that the kernel shall run, or run it, and return what it writes.

        If all that the kernel writes is new, the call makes a node of MLX's graph, as that of a
        `metal_kernel` does: what goes wrong beyond the arguments is raised when an output is
        evaluated. A kernel that writes in place, or nothing, runs to its end, and so do all without
        the bridge to MLX (`anymetal doctor` tells).

        Args:
            values: One per buffer, in the order of their numbers. Read by the kernel: arrays,
                numbers, or the bytes of a struct. Written: an `mx.array`, whose contents a new
                array begins with, `(shape, dtype)` for a new one, or an array of another library,
                which is written in place. None if a function constant switches it off. Arrays of
                other libraries are those that speak DLPack (https://dmlc.github.io/dlpack/latest/):
                of NumPy, PyTorch, JAX. They are copied where the call is lazy or their memory is
                not row-contiguous, else read where they lie.
            grid: Number of threads in x, or in x, y and z (not of threadgroups).
            threadgroup: Threads per threadgroup; clamped to the grid, smaller at its edges.
            constants: Values of function constants, by name or index.
            threadgroup_memory: Bytes of the `threadgroup` pointers, by the number of each.
            init_value: What arrays given as `(shape, dtype)` hold before the kernel runs; None
                leaves it undefined.
            stream: Any stream or device, as for a `metal_kernel`, if the kernel does not run at
                once.

        Returns:
            The buffers that the kernel may write to, in order; None for what is switched off.

        Raises:
            TypeError: There are too few or too many values, or one is not what its parameter takes.
            ValueError: A function constant or the length of threadgroup memory is missing, unknown
                or impossible, or there is a stream for a kernel that runs at once.
            KernelLaunchError: Grid or threadgroup is impossible, or a buffer is too small, not
                writable, not contiguous or not on the CPU.
            MetalCompileError: The kernel does not compile.
            KernelLoadError: It needs more threadgroup or private memory than there is.
            UnsupportedFeatureError: It needs something that the target lacks, or a kernel that
                runs at once is called inside of a transformation of MLX.
            KernelMemoryError: It writes outside of its buffers, or faults otherwise.
            KernelTimeoutError: It takes longer than the limits that the environment sets.
        """
        constants = None if constants is None else dict(constants)
        threadgroup_memory = None if threadgroup_memory is None else dict(threadgroup_memory)
        options = {
            "grid": grid,
            "threadgroup": threadgroup,
            "constants": constants,
            "threadgroup_memory": threadgroup_memory,
            "init_value": init_value,
            "stream": stream,
        }
        keep = partial(self._keep, graph.epoch, CallArguments(values, options, _DEFAULTS))
        grid, threadgroup = _extent("grid", grid), _extent("threadgroup", threadgroup)
        check_extents(self.name, grid, threadgroup)
        source = self._source(constants or {}, threadgroup_memory or {})
        if len(values) != len(self._buffers):
            raise self._wrong_count(len(values))
        if init_value is not None:
            init_value = arguments.float32("init_value", init_value)
        if stream is not None:
            arguments.check_stream(stream)
        given = list(zip(self._buffers, values, strict=True))
        read = [self._read(p, value) for p, value in given if p.constant]
        written = [self._written(p, value) for p, value in given if not p.constant]
        launch = LibraryLaunch(
            source, read, written, grid, threadgroup, init_value, stream, self.made
        )
        wanted = (value is not None for p, value in given if not p.constant)
        return [one if yes else None for one, yes in zip(launch.run(keep), wanted, strict=True)]

    def _keep(
        self, epoch: object, call: CallArguments, target: GraphTarget, launch: Launch
    ) -> None:
        """Has calls like this one become nodes at once. A list may be another one by now."""
        if any(value is None for value in call.positional):
            return  # the call returns None for these, too
        if not any(map(_holds_a_list, (*call.positional, *call.given.values()))):
            self.calls.keep(epoch, target, launch, call)

    def source(
        self,
        constants: Mapping[str | int, Number | Sequence[Number]] | None = None,
        threadgroup_memory: Mapping[int, int] | None = None,
    ) -> LibrarySource:
        """The kernel with these values for function constants and lengths of threadgroup memory.

        Raises ValueError if it needs others, UnsupportedFeatureError if it takes textures.
        """
        return self._source(constants or {}, threadgroup_memory or {})

    def _read(self, parameter: LibraryParameter, value: Any) -> Exporter:
        if value is None:
            return self._absent(parameter).made(0.0)
        return buffers.read_only(self.name, parameter, value)

    def _written(self, parameter: LibraryParameter, value: Any) -> buffers.New | Foreign:
        if value is None:
            return self._absent(parameter)
        bind = buffers.in_place if buffers.is_in_place(value) else buffers.new
        return bind(self.name, parameter, value)

    def _absent(self, parameter: LibraryParameter) -> buffers.New:
        if parameter.optional:
            return buffers.ABSENT
        raise TypeError(f"kernel `{self.name}`: buffer `{parameter.name}` is None.")

    def _source(
        self, constants: Mapping[str | int, Any], threadgroup: Mapping[int, int]
    ) -> LibrarySource:
        """One object for equal calls: the target knows kernels by identity."""
        if self._refusal:
            raise UnsupportedFeatureError(self._refusal)
        values = self._constants(constants)
        self._check_memory(threadgroup)
        key = (repr(values), tuple(sorted(threadgroup.items())))  # 1, 1.0 and True differ
        source = self._sources.get(key)
        if source is None:
            if len(self._sources) >= _SOURCES_PER_KERNEL:
                self._sources.clear()
            source = self._library.source(self._kernel, values, threadgroup)
            self._sources[key] = source
        return source

    def _constants(self, given: Mapping[str | int, Any]) -> Constants:
        known = self._library.constants
        if not known and not given:
            return ()
        values: dict[int, tuple[Number, ...]] = {}
        for key, value in given.items():
            index = known.get(key) if isinstance(key, str) else key
            if index is None or index not in known.values():
                names = ", ".join(f"{name} ({i})" for name, i in known.items()) or "none"
                raise ValueError(
                    f"kernel `{self.name}`: there is no function constant {key!r}; "
                    f"the library has: {names}."
                )
            values[index] = _numbers(self.name, key, value)
        missing = [
            name
            for name in self._kernel.constants
            if known[name] not in values and name not in self._library.asked
        ]
        if missing:
            raise ValueError(
                f"kernel `{self.name}`: function constants without a value: {', '.join(missing)}. "
                f"Pass constants={{{missing[0]!r}: …}}; only those that the text asks about with "
                "is_function_constant_defined() may be left out."
            )
        used = {known[name] for name in self._kernel.constants}  # others make no other kernel
        return tuple(sorted((index, value) for index, value in values.items() if index in used))

    def _check_memory(self, given: Mapping[int, int]) -> None:
        numbers = [p.number for p in self._memory]
        for number, length in given.items():
            if number not in numbers:
                raise ValueError(
                    f"kernel `{self.name}` has no [[threadgroup({number})]]; it has: "
                    f"{', '.join(map(str, numbers)) or 'none'}."
                )
            if not isinstance(length, int) or length <= 0:
                raise ValueError(
                    f"kernel `{self.name}`: threadgroup_memory[{number}] must be a number of "
                    f"bytes above 0, not {length!r}."
                )
        for p in self._memory:
            if p.number not in given and p.form == 1:
                raise ValueError(
                    f"kernel `{self.name}`: the length of threadgroup memory `{p.name}` is "
                    f"missing. Pass threadgroup_memory={{{p.number}: bytes}}."
                )

    def _wrong_count(self, count: int) -> TypeError:
        expected = ", ".join(f"{p.name}: {p.type_name}" for p in self._buffers) or "none"
        return TypeError(
            f"kernel `{self.name}` has {len(self._buffers)} buffers ({expected}), got {count}."
        )


def _extent(argument: str, value: int | Sequence[int]) -> tuple[int, int, int]:
    """Three numbers; those in y and z may be left out."""
    if isinstance(value, int):
        return arguments.extent(argument, (value, 1, 1))
    items = arguments.sequence("__call__", argument, value)
    return arguments.extent(argument, (*items, 1, 1)[:3] if len(items) in (1, 2) else items)


def _holds_a_list(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_a_list, value.values()))
    return isinstance(value, list) or (isinstance(value, tuple) and any(map(_holds_a_list, value)))


def _numbers(kernel: str, key: object, value: Any) -> tuple[Number, ...]:
    items = list(value) if isinstance(value, (list, tuple)) else [value]
    items = [item.item() if hasattr(item, "item") else item for item in items]
    if not items or not all(isinstance(item, (bool, int, float)) for item in items):
        raise TypeError(
            f"kernel `{kernel}`: function constant {key!r} must be a number or a sequence of "
            f"numbers, got {value!r}."
        )
    return tuple(items)
