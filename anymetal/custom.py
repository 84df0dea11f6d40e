"""`custom_function`: a Python function with rules for transformations, as `mx.custom_function`.

MLX's keeps its rules in a node of the graph, which every call makes and every evaluation visits,
though most calls are transformed by nobody. For a small kernel that is half of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

import mlx.core as mx

from anymetal.transforms import is_transformed

Rule = Callable[..., Any]


def in_front(arrays: Sequence[mx.array], axes: Sequence[int | None]) -> tuple[list[mx.array], int]:
    """Inputs of a rule for `mx.vmap`, each with its batch as the first axis, and the batch's size.

    What is the same for all elements (None as its axis) is repeated without a copy.
    """
    size = next(x.shape[axis] for x, axis in zip(arrays, axes, strict=True) if axis is not None)
    return [
        mx.broadcast_to(x, (size, *x.shape)) if axis is None else mx.moveaxis(x, axis, 0)
        for x, axis in zip(arrays, axes, strict=True)
    ], size


def custom_function(function: Callable[..., Any]) -> CustomFunction:
    """A function with rules of its own for `mx.grad`, `mx.jvp` and `mx.vmap`.

    It is called and given rules like MLX's `mx.custom_function`. The difference: where no argument
    takes part in a transformation, a call of it is a call of `function`, and costs nothing more.

    Args:
        function: Takes arrays, and returns one or several.

    Returns:
        The function, whose methods `vjp`, `jvp` and `vmap` are decorators for its rules.

    Example:
        >>> import mlx.core as mx
        >>> import anymetal
        >>> kernel = anymetal.metal_kernel(
        ...     name="square",
        ...     input_names=["x"],
        ...     output_names=["y"],
        ...     source="uint i = thread_position_in_grid.x; y[i] = x[i] * x[i];",
        ... )
        >>> @anymetal.custom_function
        ... def square(x):
        ...     return kernel(
        ...         inputs=[x],
        ...         grid=(x.size, 1, 1),
        ...         threadgroup=(256, 1, 1),
        ...         output_shapes=[x.shape],
        ...         output_dtypes=[x.dtype],
        ...     )[0]
        >>> @square.vjp
        ... def gradient(x, cotangent, output):
        ...     return 2 * x * cotangent
        >>> mx.grad(lambda x: square(x).sum())(mx.array([1.0, 2.0, 3.0]))
        array([2, 4, 6], dtype=float32)
    """
    return CustomFunction(function)


class CustomFunction:
    """A function with rules for transformations. Made by `custom_function`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._rules: dict[str, Rule] = {}
        self._transformable: Callable[..., Any] | None = None
        update_wrapper(self, function)

    def vjp(self, rule: Rule) -> CustomFunction:
        """Use this rule for gradients: from primals, cotangents and outputs."""
        return self._add("vjp", rule)

    def jvp(self, rule: Rule) -> CustomFunction:
        """Use this rule for forward derivatives: from primals and tangents."""
        return self._add("jvp", rule)

    def vmap(self, rule: Rule) -> CustomFunction:
        """Use this rule for batches: from inputs and axes to outputs and axes."""
        return self._add("vmap", rule)

    def _add(self, transformation: str, rule: Rule) -> CustomFunction:
        self._rules[transformation] = rule
        self._transformable = None
        return self  # as MLX's

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        if args and not kwargs:
            for value in args:
                if type(value) is not mx.array:
                    break
            else:
                if not is_transformed(args):
                    return self._function(*args)
        return self._with_rules()(*args, **kwargs)

    def _with_rules(self) -> Callable[..., Any]:
        """The function as MLX transforms it; made when it is first needed."""
        if self._transformable is None:
            made: Any = mx.custom_function(self._function)
            for transformation, rule in self._rules.items():
                getattr(made, transformation)(rule)
            self._transformable = made
        return self._transformable
