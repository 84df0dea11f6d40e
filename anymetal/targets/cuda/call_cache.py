"""Calls of a kernel that were made before: what MLX is told of them is known (anymetal.call_cache).
The bridge has such a cache, which is faster; this one is for programs without a bridge.

A call is like another one if its arguments are plain, and equal in value and type. Their text
(`repr`) tells that at once: 1, 1.0 and True are equal and have different texts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import mlx.core as mx

from anymetal import targets
from anymetal.targets.base import Launch
from anymetal.targets.cuda.arguments import Binding, binding

_CALLS = 256
_ARGUMENTS = ("inputs", "output_shapes", "output_dtypes", "grid", "threadgroup")
_MORE = frozenset((*_ARGUMENTS, "template", "init_value", "stream"))

Key = tuple[object, ...]


class Calls:
    """Calls that were kept, of one kernel."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[Key, tuple[Binding, Callable[..., list[mx.array]]]] = {}

    def __call__(self, positional: tuple[Any, ...], call: dict[str, Any]) -> list[mx.array] | None:
        """The outputs of a call like one that was kept."""
        key = None if positional else _key(call)
        if key is None:
            return None
        found = self._kept.get(key)
        if found is None:
            return None
        bound, kernel = found
        return kernel(inputs=bound.arrays(call["inputs"]))

    def keep(self, call: dict[str, Any], launch: Launch, kernel: partial[list[mx.array]]) -> None:
        """Keep a call. `kernel`: MLX's function, with all its arguments but the inputs."""
        key = _key({name: value for name, value in call.items() if value is not None})
        if key is None:
            return
        if len(self._kept) >= _CALLS:
            self._kept.clear()
        self._kept[key] = binding(launch), kernel


def _key(call: dict[str, Any]) -> Key | None:
    """What calls have in common that come to the same; None if only a closer look can tell."""
    if not call.keys() <= _MORE:
        return None
    try:
        inputs, shapes, dtypes, grid, threadgroup = [call[name] for name in _ARGUMENTS]
        described: list[object] = []
        for array in inputs:
            if type(array) is not mx.array:
                return None
            described += (array.shape, array.dtype)
        stream = call.get("stream")
        if stream is None and targets.is_of_cpu(None):
            return None
        text = repr(
            (
                *grid,
                *threadgroup,
                [(*shape,) for shape in shapes],
                call.get("template"),
                call.get("init_value"),
                stream,
            )
        )
        return (text, *described, *dtypes)
    except (KeyError, TypeError):
        return None
