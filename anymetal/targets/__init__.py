"""The targets, and the choice of the one in use."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import mlx.core as mx

from anymetal.errors import ToolchainError
from anymetal.targets.base import Launch, Target
from anymetal.targets.graph import new_epoch

__all__ = [
    "HAS_METAL",
    "Launch",
    "Target",
    "active",
    "for_stream",
    "has_cuda",
    "put_in_front",
    "select",
]

#: Whether MLX itself runs Metal kernels here; asked before anybody may pretend an answer.
HAS_METAL: bool = mx.metal.is_available()
_mlx_has, _gpu = mx.is_available, mx.gpu

_active: Target | None = None
_in_front: Callable[[Target], Target] | None = None
_front: Target | None = None


@functools.cache
def has_cuda() -> bool:
    """Whether MLX has its CUDA back end here, and a GPU for it."""
    return not HAS_METAL and bool(_mlx_has(_gpu))


def active() -> Target:
    """The target in use: the one given to `select`, else the one that `ANYMETAL_TARGET` names, else
    the best one of this machine.

    Raises ToolchainError if there is no target of that name.
    """
    global _active, _front
    if _active is None:
        _active = _best()
    if _in_front is None:
        return _active
    front = _front
    if front is None:
        front = _front = _in_front(_active)
    return front


def for_stream(stream: Any) -> Target:
    """The target for a stream or device, or for MLX's default device: `active()`, but for streams
    of the CPU never a target that runs kernels on MLX's GPUs."""
    target = active()
    if target.on_gpu and has_cuda() and is_of_cpu(stream):
        return _of_cpu_streams()
    return target


def is_of_cpu(stream: Any) -> bool:
    """Whether MLX runs on a CPU what is given this stream, device, or None."""
    device = mx.default_device() if stream is None else getattr(stream, "device", stream)
    return bool(device == mx.cpu)


def select(target: Target | None) -> None:
    """Use this target from now on; None goes back to the best one of this machine."""
    global _active, _front
    _active, _front = target, None
    new_epoch()


def put_in_front(
    make: Callable[[Target], Target] | None,
) -> Callable[[Target], Target] | None:
    """Put another target before the one in use, which it is made of, until called with None or what
    stood there before, which is returned."""
    global _in_front, _front
    before, _in_front, _front = _in_front, make, None
    new_epoch()
    return before


def _best() -> Target:
    name = os.environ.get("ANYMETAL_TARGET") or (
        "apple" if HAS_METAL else "cuda" if has_cuda() else "cpu"
    )
    if name not in _TARGETS:
        known = ", ".join(_TARGETS)
        raise ToolchainError(f"ANYMETAL_TARGET is {name!r}, but the targets are {known}.")
    return _TARGETS[name]()


# Imported on the first call only: a target brings its whole compiler along.


def _apple() -> Target:
    from anymetal.targets.apple import AppleTarget

    return AppleTarget()


def _cpu() -> Target:
    from anymetal.targets.cpu import CpuTarget

    return CpuTarget()


@functools.cache
def _of_cpu_streams() -> Target:
    return _cpu()


def _cuda() -> Target:
    from anymetal.targets.cuda.launch import CudaTarget

    return CudaTarget()


#: By the names that `ANYMETAL_TARGET` has for them.
_TARGETS: dict[str, Callable[[], Target]] = {"apple": _apple, "cpu": _cpu, "cuda": _cuda}
