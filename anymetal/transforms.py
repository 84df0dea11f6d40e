"""Kernels that run at once, called while MLX transforms the function around them.

Under `mx.grad` arrays can be evaluated, so the kernel runs; but its results would be constants and
their gradient silently zero. Under `mx.compile` and `mx.vmap` arrays have no values yet, so the
target must record the kernel. This module tells the cases apart and answers each as MLX does for
its own Metal kernels. (A target that is lazy needs none of this: MLX does it all.)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NoReturn

import mlx.core as mx

from anymetal.errors import ToolchainError
from anymetal.targets.apple import recorded_for_export
from anymetal.targets.base import Launch, Target
from anymetal.targets.graph import GraphTarget

_NO_VALUES = "[eval] Attempting to eval an array during function transformations"

_probe_runs = 0


def _probe_body(*_: mx.array) -> None:
    global _probe_runs
    _probe_runs += 1


# MLX runs the Python body of a compiled function when it sees an argument's types for the first
# time, and always when an argument takes part in a transformation. `shapeless` keeps one entry
# per types, not per shapes.
_probe: Callable[..., Any] = mx.compile(_probe_body, shapeless=True)
_compiles = True  #: as far as `switch_compilation` knows


@functools.cache
def _bridge() -> ModuleType:
    from anymetal.runtime.bridge import loader  # takes time to import, and few programs ask

    return loader


def is_transformed(arrays: Sequence[mx.array]) -> bool:
    """Whether any of the arrays takes part in a transformation.

    The bridge can see that; without it, it costs about a microsecond to find out.
    """
    native = _bridge().loaded()
    if native is not None:
        traced: bool = native.traced(arrays)
        return traced
    if _compiles:
        return _runs_again(arrays)
    mx.enable_compile()
    try:
        return _runs_again(arrays)
    finally:
        mx.disable_compile()


def _runs_again(arrays: Sequence[mx.array]) -> bool:
    """Whether a compiled function runs for these arrays although it knows their types."""
    before = _probe_runs
    _probe(*arrays)
    if _probe_runs == before:
        return False
    before = _probe_runs
    _probe(*arrays)
    return _probe_runs != before


def switch_compilation(on: bool) -> None:
    """Has mx.compile compile, or not. (MLX does not tell whether it does.)"""
    global _compiles
    _compiles = on
    (mx.enable_compile if on else mx.disable_compile)()


def run_transformed(
    target: Target, launch: Launch, run: Callable[[], list[mx.array]]
) -> list[mx.array]:
    """A launch whose inputs take part in a transformation; `run` runs it at once."""
    try:
        mx.eval(launch.inputs)
    except ValueError as error:
        if not str(error).startswith(_NO_VALUES):
            raise
        return _record(target, launch, error)
    return _without_derivatives(launch.inputs, run())


def _record(target: Target, launch: Launch, error: ValueError) -> list[mx.array]:
    """Inputs without values: the kernel becomes a node of the graph, by whoever can do that."""
    exported = recorded_for_export(launch)
    if exported is not None:
        return exported
    here = f"Kernel `{launch.source.name}` runs at once here and needs the values of its inputs."
    if not isinstance(target, GraphTarget):
        raise ValueError(f"{error} {here} No kernel of the target {target.name!r} does without.")
    try:
        target.become_lazy()
    except ToolchainError as missing:
        raise ValueError(
            f"{error} {here} To become part of a compiled function it needs the bridge to MLX: "
            f"{missing}"
        ) from None
    return target.run(launch)


def _without_derivatives(inputs: Sequence[mx.array], outputs: list[mx.array]) -> list[mx.array]:
    """The outputs, tied to the inputs such that differentiating through them is an error."""
    kernel: Any = mx.custom_function(lambda *_: outputs)
    kernel.vjp(_refuse("vjp"))
    kernel.jvp(_refuse("jvp"))
    tied: list[mx.array] = kernel(*inputs)
    return tied


def _refuse(transformation: str) -> Callable[..., NoReturn]:
    def refuse(*_: object) -> NoReturn:
        raise ValueError(f"[Primitive::{transformation}] Not implemented for CustomKernel.")

    return refuse
