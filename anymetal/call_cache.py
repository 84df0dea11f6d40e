"""The cache of calls: those like earlier ones are not checked again.

Programs call a kernel with the same shapes, types and grid again and again. A target may keep what
a call came to (`GraphTarget.keep`); then the next one like it needs no look at its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

import mlx.core as mx

from anymetal.locations import Location, homeward
from anymetal.targets import graph
from anymetal.targets.base import Launch
from anymetal.targets.graph import CallArguments, CallCache, GraphTarget


def _nothing(positional: tuple[Any, ...], call: dict[str, Any]) -> list[mx.array] | None:
    return None


def _with_plain_extents(call: dict[str, Any]) -> dict[str, Any] | None:
    """The call with integers of NumPy as plain ones, which `np.prod(x.shape)` is not; None if all
    are plain."""
    changed = {}
    for name in ("grid", "threadgroup"):
        extent = call.get(name)
        if isinstance(extent, tuple) and any(type(n).__module__ == "numpy" for n in extent):
            changed[name] = tuple(_plain(n) for n in extent)
    return {**call, **changed} if changed else None


def _plain(number: Any) -> Any:
    """A NumPy integer as one of Python; whatever else it is, as it is."""
    return number.item() if type(number).__module__ == "numpy" else number


class CurrentCache:
    """The cache of calls of one kernel, and the epoch in which it holds.

    Any number of threads, and signal handlers, look here and keep calls at the same time. So the
    cache and its epoch are one value, and the epoch is that in which a call began: what it came
    to may hold no longer when it is kept.
    """

    __slots__ = ("kept",)

    def __init__(self) -> None:
        self.kept: tuple[object, CallCache] = (None, _nothing)  #: an epoch, and the cache

    def keep(self, epoch: object, target: GraphTarget, launch: Launch, call: CallArguments) -> None:
        """Keep the call that this launch is made of, if the target can.

        `epoch` is what `graph.epoch` was before anything about the call was decided. What is in the
        arguments must be what the launch was made of, and nobody else's.
        """
        before, cache = self.kept
        kept = target.keep(cache if before is epoch else None, launch, call)
        if kept is not None:
            self.kept = (epoch, kept)


class Caching(Protocol):
    """A kernel that keeps its calls."""

    @property
    def calls(self) -> CurrentCache: ...

    @property
    def name(self) -> str: ...

    @property
    def made(self) -> Location | None: ...


_Kernel = TypeVar("_Kernel", bound=Caching)
_P = ParamSpec("_P")
_R = TypeVar("_R", bound=list[Any])
_Call = Callable[Concatenate[_Kernel, _P], _R]


def cached(implementation: _Call[_Kernel, _P, _R]) -> _Call[_Kernel, _P, _R]:
    """Decorator: a call is only made if it is not like one that was kept."""

    @wraps(implementation)
    def call(self: _Kernel, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        epoch, cache = self.calls.kept
        if epoch is graph.epoch:
            outputs = cache(args, kwargs)
            if outputs is None and (plain := _with_plain_extents(kwargs)):
                outputs = cache(args, plain)
            if outputs is not None:
                return cast(_R, outputs)
        try:
            return implementation(self, *args, **kwargs)
        except Exception as error:
            raise homeward(error, self.name, self.made)  # noqa: B904  it is the same one

    return call
