"""What the public routines of `linalg` and `nn` have in common: streams, and how they refuse a
call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar, cast

import mlx.core as mx

from anymetal.locations import homeward

#: What `stream=` takes: the default stream of a device, or one that was made.
Stream = mx.Stream | mx.Device

_P = ParamSpec("_P")
_R = TypeVar("_R")


def routine(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorator: the call runs on its `stream`, errors lead to the caller, and an argument that is
    no array is called so.

    Arguments are looked at once a call has failed, so that others take no longer for it. Those that
    must be arrays are annotated `mx.array`.
    """

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        stream = kwargs.get("stream")
        try:
            if stream is None:
                return function(*args, **kwargs)
            with _running_on(cast(Stream, stream)):
                return function(*args, **kwargs)
        except Exception as error:
            wrong = _no_array(function, args, kwargs)
            if wrong is None:
                raise homeward(error)  # noqa: B904  it is the same one
        raise wrong

    return call


@contextmanager
def _running_on(stream: Stream) -> Iterator[None]:
    """`mx.stream`, which for a stream of another device than the default one leaves it behind as
    that device's default stream."""
    device = stream.device if isinstance(stream, mx.Stream) else stream
    before = mx.default_stream(device)
    try:
        with mx.stream(stream):
            yield
    finally:
        mx.set_default_stream(before)


def _no_array(
    function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> TypeError | None:
    try:
        bound = signature(function).bind(*args, **kwargs).arguments
    except TypeError:  # the error says so
        return None
    for name, value in bound.items():
        if function.__annotations__.get(name) == "mx.array" and not isinstance(value, mx.array):
            return no_array(function.__name__, name, value)
    return None


def no_array(routine: str, name: str, value: object) -> TypeError:
    """The error for an argument that is no array of MLX."""
    kind = f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins.")
    dtype = getattr(value, "dtype", None)
    of = "" if dtype is None else f" of {dtype}"
    return TypeError(
        f"[{routine}] {name} must be an mx.array, not {kind}{of}. Convert it with mx.array({name})."
    )
