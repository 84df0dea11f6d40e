"""Conversion of what callers pass into exact types, by the rules of MLX's Python binding.

Values of a wrong type raise `TypeError` with a text that starts like the binding's own and goes
on to say which value is wrong and what would be right.
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Mapping, Sequence, Set
from functools import wraps
from math import prod
from typing import Any, ParamSpec, TypeVar, cast

import mlx.core as mx

from anymetal.errors import KernelLaunchError
from anymetal.locations import homeward
from anymetal.signature import KernelDefinition, Template
from anymetal.source import MathMode

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: Threads that one threadgroup may have, on every Apple GPU.

_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_LARGEST_OUTPUT = 2**47  # bytes; a process cannot address more

# The classes as MLX defines them: `install` may put others in their place.
_STREAM_TYPES = (mx.Stream, mx.ThreadLocalStream, mx.Device, mx.DeviceType)


def incompatible(function: str, problem: str) -> TypeError:
    """The error for an argument of a wrong type."""
    return TypeError(f"{function}(): incompatible function arguments. {problem}")


def reports_wrong_arguments(function: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Decorator: missing, surplus and unknown arguments raise `incompatible`, too."""

    def decorate(implementation: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(implementation)
        def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            try:
                return implementation(*args, **kwargs)
            except TypeError as error:
                trace = error.__traceback__
                if trace is None or trace.tb_next is not None:
                    raise homeward(error)  # noqa: B904  from inside: the arguments did fit
                raise incompatible(function, f"{error}.") from None
            except Exception as error:
                raise homeward(error)  # noqa: B904  it is the same one

        return checked

    return decorate


def sequence(function: str, argument: str, value: Any) -> Sequence[Any]:
    """Anything with a length and elements by number, except text, sets and dictionaries."""
    if type(value) is list or type(value) is tuple:
        return value
    if not isinstance(value, (str, bytes, bytearray, Mapping, Set)):
        try:
            return [value[i] for i in range(len(value))]
        except TypeError:
            pass
    raise incompatible(function, f"`{argument}` must be a list or tuple, got {_kind(value)}.")


def string(function: str, argument: str, value: object) -> str:
    """A `str` that can be written as UTF-8."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise incompatible(
                function, f"`{argument}` holds characters that are no text."
            ) from None
        return str(value)
    raise incompatible(function, f"`{argument}` must be a str, got {_kind(value)}.")


def names(function: str, argument: str, value: object) -> tuple[str, ...]:
    """A sequence of `str`."""
    items = sequence(function, argument, value)
    return tuple(string(function, f"{argument}[{i}]", item) for i, item in enumerate(items))


def flag(function: str, argument: str, value: Any) -> bool:
    """Exactly True or False."""
    if value is True or value is False:
        return value
    raise incompatible(function, f"`{argument}` must be True or False, got {_kind(value)}.")


def math_mode(compile_options: object) -> MathMode:
    """The only compile option there is; absent means "safe"."""
    if compile_options is None:
        return "safe"
    if not isinstance(compile_options, dict):
        raise ValueError("[metal_kernel] Expected `compile_options` to be a dict.")
    mode: MathMode = "safe"
    for key, value in compile_options.items():
        if not isinstance(key, str):
            raise RuntimeError(
                f"std::bad_cast: a key of `compile_options` is {_kind(key)}, not str"
            )
        if key != "math_mode":
            raise ValueError(f"[metal_kernel] Unknown compile option `{key}`.")
        if not isinstance(value, str):
            raise RuntimeError(f"std::bad_cast: `math_mode` is {_kind(value)}, not str")
        if value not in ("safe", "relaxed", "fast"):
            raise ValueError(
                "[metal_kernel] Expected math_mode to be 'safe', 'relaxed', or 'fast'."
            )
        mode = cast(MathMode, str(value))
    return mode


def extent(argument: str, value: object) -> tuple[int, int, int]:
    """Three integers of 32 bits: `grid` or `threadgroup`."""
    items = sequence("__call__", argument, value)
    if len(items) != 3:
        problem = f"`{argument}` must be three integers (x, y, z), got {len(items)}."
        raise incompatible("__call__", problem)
    x, y, z = items
    if type(x) is not int or type(y) is not int or type(z) is not int:
        x, y, z = (_index(argument, item) for item in items)
    for number in (x, y, z):
        if not _INT32_MIN <= number <= _INT32_MAX:
            problem = f"`{argument}` holds {number}, which does not fit in 32 bits."
            raise incompatible("__call__", problem)
    return x, y, z


def shapes(value: object) -> list[tuple[int, ...]]:
    """`output_shapes`; dimensions are checked by `check_output`."""
    result = []
    for i, shape in enumerate(sequence("__call__", "output_shapes", value)):
        dims = shape if type(shape) is tuple else _dims(i, shape)
        for dim in dims:
            if type(dim) is not int:
                dims = _dims(i, shape)
                break
        result.append(dims)
    return result


def _dims(output: int, shape: object) -> tuple[int, ...]:
    argument = f"output_shapes[{output}]"
    return tuple(_index(argument, dim) for dim in sequence("__call__", argument, shape))


def dtypes(value: object) -> Sequence[mx.Dtype]:
    """`output_dtypes`: MLX's own dtypes only."""
    items = tuple(sequence("__call__", "output_dtypes", value))
    for i, item in enumerate(items):
        if type(item) is not mx.Dtype:
            problem = (
                f"`output_dtypes[{i}]` must be an mx.Dtype such as mx.float32, got {_kind(item)}."
            )
            raise incompatible("__call__", problem)
    return items


def template_pairs(value: object) -> list[tuple[str, Any]]:
    """`template` as pairs; the values are checked by `check_template`."""
    pairs = []
    for i, item in enumerate(sequence("__call__", "template", value)):
        pair = item if type(item) is str else sequence("__call__", f"template[{i}]", item)
        if len(pair) != 2:
            problem = f"`template[{i}]` must be a (name, value) pair, got {len(pair)} items."
            raise incompatible("__call__", problem)
        name = pair[0]
        if type(name) is not str:
            name = string("__call__", f"template[{i}][0]", name)
        pairs.append((name, pair[1]))
    return pairs


def check_template(kernel: str, pairs: list[tuple[str, Any]]) -> Template:
    """The same pairs, once every value is a dtype, a bool or an int of 32 bits."""
    for name, value in pairs:
        kind = type(value)
        if kind is mx.Dtype or kind is bool:
            continue
        if kind is int and _INT32_MIN <= value <= _INT32_MAX:
            continue
        raise ValueError(
            "[metal_kernel] Invalid template argument. Must be `mlx.core.Dtype`, `int` or `bool`."
            f"{_explained_template(kernel, name, value)}"
        )
    return pairs


def _explained_template(kernel: str, name: str, value: object) -> str:
    told = f" `{name}` of kernel `{kernel}` is {_shown(value)}"
    if type(value) is int:
        return f"{told}, which does not fit in 32 bits: pass it as an input."
    if isinstance(value, float):
        return f"{told}: pass it as an input, or write it into the source."
    if hasattr(value, "__index__"):
        return f"{told}: convert it with int() or bool()."
    return f"{told}."


def _shown(value: object) -> str:
    """A value and its type, in few characters."""
    text = repr(value)
    text = text if len(text) <= 40 and "\n" not in text else f"{text.split()[0][:37]}..."
    return f"{text} ({_kind(value)})"


def no_float64(
    definition: KernelDefinition, inputs: Sequence[mx.array], outputs: Sequence[mx.Dtype]
) -> ValueError:
    """The error for a call with an array of float64."""
    named = [(f"input `{n}`", x.dtype) for n, x in zip(definition.input_names, inputs, strict=True)]
    named += [(f"output `{n}`", t) for n, t in zip(definition.output_names, outputs, strict=True)]
    what = next(name for name, dtype in named if dtype == mx.float64)
    convert = "Convert it with astype(mx.float32)" if what[0] == "i" else "Use mx.float32"
    return ValueError(
        f"float64 is not supported on the GPU: {what} of kernel `{definition.name}`. {convert}."
    )


def float32(argument: str, value: object) -> float:
    """A number rounded to float32, too large ones to infinity."""
    try:
        return ctypes.c_float(value).value  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        problem = f"`{argument}` must be a real number, got {_kind(value)}."
        raise incompatible("__call__", problem) from None


def check_stream(value: object) -> None:
    """Any stream or device will do: the kernel runs on the target in use."""
    if not isinstance(value, _STREAM_TYPES):
        problem = f"`stream` must be a stream, a device or None, got {_kind(value)}."
        raise incompatible("__call__", problem)


def is_of_cpu(stream: object) -> bool:
    """Whether a stream or device is the CPU's to a program that believes in a GPU.

    Without `install(pretend_gpu=True)`, which puts another function here, there is no such program.
    """
    return False


def check_output(kernel: str, output: str, shape: tuple[int, ...], itemsize: int) -> None:
    """Refuse shapes that no array can have; MLX would crash on them."""
    nbytes = itemsize
    for dim in shape:
        if not 0 <= dim <= _INT32_MAX:
            raise KernelLaunchError(
                f"[metal_kernel] Output `{output}` of kernel `{kernel}` has the shape {shape}: "
                f"{dim} is not between 0 and {_INT32_MAX}."
            )
        nbytes *= dim
    if nbytes > _LARGEST_OUTPUT:
        raise KernelLaunchError(
            f"[metal_kernel] Output `{output}` of kernel `{kernel}` has the shape {shape}: "
            f"{nbytes} bytes are more than a process can address."
        )


def counts_threadgroups(
    body: str, sizes: Sequence[int], grid: Sequence[int], threadgroup: Sequence[int]
) -> bool:
    """Whether a grid looks like a number of threadgroups, as CUDA has it.

    So it does if it is smaller than a threadgroup, the two together just cover an output, of these
    sizes, and the body counts in threadgroups, of which there is only one.
    """
    groups, threads = prod(grid), prod(threadgroup)
    if not 1 < groups < threads or "threadgroup_position_in_grid" not in body:
        return False
    if any(size < extent for size, extent in zip(threadgroup, grid, strict=True)):
        return False
    return any(threads * (groups - 1) < size <= threads * groups for size in sizes)


def as_array(definition: KernelDefinition, index: int, value: object) -> mx.array:
    """One input as MLX converts it."""
    if isinstance(value, mx.array):
        return value
    if isinstance(value, bool):
        return mx.array(value)
    if isinstance(value, int):
        if not _INT64_MIN <= value <= _INT64_MAX:
            raise RuntimeError(f"std::bad_cast: inputs[{index}] = {value} does not fit in 64 bits")
        small = _INT32_MIN <= value <= _INT32_MAX
        return mx.array(value, dtype=mx.int32 if small else mx.int64)
    if isinstance(value, (float, complex)):
        return mx.array(value)
    # NumPy's kinds of dtype that MLX can hold; on some others, such as dates, it would crash.
    kind = getattr(getattr(value, "dtype", None), "kind", "f")
    if isinstance(value, (list, tuple, str)) or kind not in "biufcV":
        names = definition.input_names
        name = f"`{names[index]}`" if index < len(names) else f"inputs[{index}]"
        raise ValueError(
            f"Invalid type {_kind(value)} received in array initialization. Input {name} of kernel "
            f"`{definition.name}` is {_shown(value)}: pass an mx.array, a number or a NumPy array."
        )
    try:
        return mx.array(value)  # type: ignore[arg-type]
    except ValueError:
        if isinstance(value, type) or not any(
            hasattr(value, name) for name in ("__complex__", "__float__", "__index__")
        ):
            raise
    return mx.array(complex(value))  # type: ignore[call-overload]


def _index(argument: str, value: object) -> int:
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        problem = f"`{argument}` must hold integers, got {value!r} ({_kind(value)})."
        raise incompatible("__call__", problem) from None


def _kind(value: object) -> str:
    return type(value).__name__
