"""`import_function`: functions that MLX exported, with Metal kernels in them.

`mx.export_function` writes a graph to a file, and a Metal kernel in it as its generated text. MLX
reads such a file anywhere but runs the kernels on Apple GPUs only. Here MLX builds the graph as it
always does; then the bridge moves every node to the CPU and puts our kernels in the place of
MLX's. What they are is read from the text, which MLX generates in one known form.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, overload

import mlx.core as mx
from mlx.utils import tree_flatten

from anymetal import targets
from anymetal.errors import UnsupportedFeatureError
from anymetal.permission import Permission, Policy
from anymetal.source import ATTRIBUTES, KernelSource, MathMode, Parameter, ParameterKind
from anymetal.targets.base import Extent
from anymetal.targets.cpu import CpuTarget

if TYPE_CHECKING:
    from anymetal.runtime.bridge.native import Native, NativeLazyPlan

#: MLX's own, also where `install(pretend_gpu=True)` has put ours in its place.
_mlx_import_function = mx.import_function

_MATH_MODES: tuple[MathMode, ...] = ("safe", "relaxed", "fast")

# One parameter a line. What ends the list may also stand between outputs: where MLX miscounts (see
# signature.py), it closes the list after each of the last outputs.
_PARAMETER = r"  (?:[^\n]+ \[\[buffer\(\d+\)\]\]|\w+ \w+ \[\[\w+\]\])"
_SIGNATURE = rf"{_PARAMETER}(?:(?:,|\) \{{)\n{_PARAMETER})*"

#: The function with a given name.
_FUNCTION = r"\[\[kernel\]\] void {name}\(\n(?P<signature>{signature})\) \{{\n"
_TEMPLATE = re.compile(r"template <([^\n]*)>\n\Z")
_INSTANCE = re.compile(
    r"\n\ntemplate \[\[host_name\(\"(?P<name>\w+)\"\)\]\] \[\[kernel\]\] "
    r"decltype\((?P=name)(?P<arguments><[^\n]*>)\) (?P=name)(?P=arguments);\n\Z"
)
_END = "\n}\n"

_BUFFER = re.compile(r"  (?P<declaration>[^\n]*?(?P<name>\w+)) \[\[buffer\(\d+\)\]\]")
_ATTRIBUTE = re.compile(r"\[\[(\w+)\]\]")


Function = Callable[..., tuple[mx.array, ...]]


@overload
def import_function(
    file: str | os.PathLike[str], return_metadata: Literal[False] = False, *, kernels: Policy = ...
) -> Function: ...
@overload
def import_function(
    file: str | os.PathLike[str], return_metadata: Literal[True], *, kernels: Policy = ...
) -> tuple[Function, str]: ...
def import_function(
    file: str | os.PathLike[str], return_metadata: bool = False, *, kernels: Policy = "run"
) -> Any:
    """A function that `mx.export_function` wrote, Metal kernels included.

    On a Mac this is `mx.import_function`. Elsewhere the whole function runs on the CPU, whatever
    device it was exported for, and is lazy as any other.

    Args:
        file: The path of the file, which by custom ends in ".mlxfn".
        return_metadata: Also return the text that was exported with the function.
        kernels: Whether the Metal kernels in it may run, which are native code with the rights of
            this process: "run"; "ask" to see each and be asked on the terminal (without one the
            answer is no); or "refuse", for files that should have none.

    Returns:
        The function; with `return_metadata` a tuple of it and the text. It takes the arguments that
        it was exported with, positional or by keyword, and returns a tuple of arrays.

    Raises:
        KernelRefusedError: The file has kernels that may not run.
        ToolchainError: The bridge to MLX is missing (`anymetal doctor` tells why).
        RuntimeError, ValueError: What MLX says of the file or, in calls, of the arguments.
        UnsupportedFeatureError: In calls, for kernels that were written for CUDA.

    Example:
        >>> import mlx.core as mx
        >>> import anymetal
        >>> kernel = mx.fast.metal_kernel(  # MLX exports its kernels on any machine
        ...     name="twice",
        ...     input_names=["x"],
        ...     output_names=["y"],
        ...     source="uint i = thread_position_in_grid.x; y[i] = 2 * x[i];",
        ... )
        >>> def twice(x):
        ...     return kernel(
        ...         inputs=[x],
        ...         grid=(x.size, 1, 1),
        ...         threadgroup=(256, 1, 1),
        ...         output_shapes=[x.shape],
        ...         output_dtypes=[x.dtype],
        ...     )
        >>> mx.export_function("twice.mlxfn", twice, mx.array([1.0, 2.0, 3.0]))
        >>> imported = anymetal.import_function("twice.mlxfn")
        >>> imported(mx.array([1.0, 2.0, 3.0]))
        (array([2, 4, 6], dtype=float32),)
    """
    path = os.fspath(file)
    permission = Permission(path, kernels)
    if targets.HAS_METAL:
        return _mlx_import_function(path, return_metadata)
    from anymetal.runtime.bridge import loader

    native = loader.require()
    function, metadata = _read(path)
    made = Kernels(native, permission)

    def imported(*args: Any, **kwargs: Any) -> tuple[mx.array, ...]:
        given = cast("list[tuple[str, Any]]", tree_flatten((args, kwargs)))
        arrays = [value for _, value in given if isinstance(value, mx.array)]
        return tuple(native.adopt(function(*args, **kwargs), arrays, made.lazy_plan))

    return (imported, metadata) if return_metadata else imported


def _read(path: str) -> tuple[Function, str]:
    """The function and its metadata, as MLX reads them."""
    try:
        return cast(
            "tuple[Callable[..., tuple[mx.array, ...]], str]",
            _mlx_import_function(path, return_metadata=True),
        )
    except ValueError as error:
        # MLX notices that a stream of a GPU cannot be made, and only at the first such import.
        if "without gpu backend" not in str(error):
            raise
        return cast(
            "tuple[Callable[..., tuple[mx.array, ...]], str]",
            _mlx_import_function(path, return_metadata=True),
        )


class Recorded(NamedTuple):
    """A kernel as MLX's graph has it; the bridge fills this in (adopt.cpp)."""

    name: str
    text: str  #: all that MLX generated
    grid: Extent
    threadgroup: Extent
    infos: Sequence[tuple[bool, bool, bool]]  #: per input: takes its shape, strides, ndim
    math_mode: int
    precompiled: bool
    large: int  #: how many times 2³¹ bytes an array has


class Kernels:
    """The kernels of one imported function, each understood once."""

    def __init__(self, native: Native, permission: Permission) -> None:
        self._native = native
        self._permission = permission
        self._target = CpuTarget()
        self._sources: dict[tuple[str, int], KernelSource] = {}

    def lazy_plan(self, *recorded: Any) -> NativeLazyPlan:
        """The bridge's plan for a recorded kernel."""
        kernel = Recorded(*recorded)
        targets.active().pass_over(f"kernel `{kernel.name}` of an imported function")
        key = (kernel.text, kernel.math_mode)
        source = self._sources.get(key)
        if source is None:
            self._permission.check(kernel.name, kernel.text)
            source = self._sources[key] = source_of(kernel)
        return self._target.lazy_plan(
            self._native, source, kernel.grid, kernel.threadgroup, kernel.large
        )


def source_of(kernel: Recorded) -> KernelSource:
    """What `signature.metal_text` would print as this kernel's text.

    The text of the user in it may look like anything, so this goes by what is certain: the name of
    the function, the form of the signature, the end.
    """
    function = _FUNCTION.format(name=re.escape(kernel.name), signature=_SIGNATURE)
    found = re.search(function, kernel.text)
    instance = _INSTANCE.search(kernel.text)
    text = kernel.text[: instance.start() + 1] if instance else kernel.text
    if kernel.precompiled or found is None or not text.endswith(_END):
        raise UnsupportedFeatureError(
            f"kernel `{kernel.name}` of an imported function is not one of mx.fast.metal_kernel: "
            "only those run here. Its text begins:\n" + kernel.text[:200]
        )
    header, signature = kernel.text[: found.start()], found["signature"]
    parameters = _TEMPLATE.search(header) if instance else None
    return KernelSource(
        name=kernel.name.removeprefix("custom_kernel_"),
        entry=kernel.name,
        header=header[: parameters.start()] if parameters else header,
        body=text[found.end() : -len(_END)],
        parameters=tuple(_parameters(list(_BUFFER.finditer(signature)), kernel.infos)),
        attributes=tuple(name for name in _ATTRIBUTE.findall(signature) if name in ATTRIBUTES),
        template_parameters=parameters[1] if parameters else "",
        template_arguments=instance["arguments"] if instance else "",
        math_mode=_MATH_MODES[kernel.math_mode],
    )


def _parameters(
    buffers: Sequence[re.Match[str]], infos: Sequence[tuple[bool, bool, bool]]
) -> list[Parameter]:
    kinds: tuple[ParameterKind, ...] = ("shape", "strides", "ndim")
    roles: list[tuple[ParameterKind, int]] = []
    for number, wanted in enumerate(infos):
        roles.append(("input", number))
        scalar = "&" in buffers[len(roles) - 1]["declaration"]
        if not scalar:  # MLX passes nothing about an array without axes
            roles += [(kind, number) for kind, yes in zip(kinds, wanted, strict=True) if yes]
    outputs = len(buffers) - len(roles)
    roles += [("output", number) for number in range(outputs)]
    return [
        Parameter(buffer["name"], kind, number, buffer["declaration"])
        for buffer, (kind, number) in zip(buffers, roles, strict=True)
    ]
