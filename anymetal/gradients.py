"""`differentiable`: a kernel and the kernel of its gradient, paired by names of arguments.

forward:   x, grid                → y
backward:  x, grid, y_grad        → x_grad, grid_grad
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import mlx.core as mx

from anymetal import arguments
from anymetal.custom import custom_function
from anymetal.kernel import MetalKernel

Arrays = Sequence[mx.array]
Forward = Callable[..., list[mx.array]]

#: From primals, cotangents and outputs to the gradients of the primals.
Gradient = Callable[[Arrays, Arrays, Arrays], tuple[mx.array, ...]]

_SUFFIX = "_grad"
_COTANGENT = "cotangent"

#: Arguments of `MetalKernel.__call__` that a backward launch may change.
_CHANGES = frozenset({"grid", "threadgroup", "template", "init_value", "output_dtypes"})


def differentiable(
    kernel: MetalKernel,
    backward: MetalKernel,
    *,
    launch: Mapping[str, Any] | Callable[..., Mapping[str, Any]] | None = None,
) -> Differentiable:
    """A kernel with a gradient (vector-Jacobian product), called like the kernel itself.

    The kernels are paired by names. `backward` takes, in any order, inputs and outputs of `kernel`
    under their names there, and the cotangent of an output `y` as `y_grad` (of a single output
    also as `cotangent`). It gives the gradient of an input `x` as `x_grad`, of x's shape; inputs
    without one have a gradient of zero.

    It is launched with the grid, threadgroup and template of the forward call. If its outputs are
    atomic they start at 0, and are float32 where x is float16 or bfloat16; a gradient is converted
    to x's dtype in the end.

    Args:
        kernel: The forward kernel.
        backward: The kernel of its gradient.
        launch: What is different in the backward launch: `grid`, `threadgroup`, `template`,
            `init_value`, `output_dtypes`; or a function that gives it from the keyword arguments
            of the forward call.

    Returns:
        A callable that takes what `kernel` takes.

    Raises:
        ValueError: A name of `backward` belongs to nothing of `kernel`, or nothing has a gradient.

    Example:
        >>> import mlx.core as mx
        >>> import anymetal
        >>> forward = anymetal.metal_kernel(
        ...     name="square",
        ...     input_names=["x"],
        ...     output_names=["y"],
        ...     source="uint i = thread_position_in_grid.x; y[i] = x[i] * x[i];",
        ... )
        >>> backward = anymetal.metal_kernel(
        ...     name="square_vjp",
        ...     input_names=["x", "y_grad"],
        ...     output_names=["x_grad"],
        ...     source="uint i = thread_position_in_grid.x; x_grad[i] = 2 * x[i] * y_grad[i];",
        ... )
        >>> square = anymetal.differentiable(forward, backward)
        >>> def sum_of_squares(x):
        ...     (y,) = square(
        ...         inputs=[x],
        ...         grid=(x.size, 1, 1),
        ...         threadgroup=(256, 1, 1),
        ...         output_shapes=[x.shape],
        ...         output_dtypes=[x.dtype],
        ...     )
        ...     return y.sum()
        >>> mx.grad(sum_of_squares)(mx.array([1.0, 2.0, 3.0]))
        array([2, 4, 6], dtype=float32)
    """
    return Differentiable(kernel, backward, launch)


class Differentiable:
    """A kernel with a gradient. Made by `differentiable`."""

    def __init__(
        self,
        kernel: MetalKernel,
        backward: MetalKernel,
        launch: Mapping[str, Any] | Callable[..., Mapping[str, Any]] | None,
    ) -> None:
        self._kernel, self._backward, self._launch = kernel, backward, launch
        inputs, outputs = kernel.definition.input_names, kernel.definition.output_names
        self._places = _places(inputs, outputs)
        _check_names(kernel, backward, self._places)
        gradients = backward.definition.output_names
        self._targets = [inputs.index(name.removesuffix(_SUFFIX)) for name in gradients]

    def __repr__(self) -> str:
        return f"<differentiable {self._kernel!r}>"

    def __call__(self, *, inputs: Sequence[Any], **call: Any) -> list[mx.array]:
        """Run the kernel; the arguments are those of `MetalKernel.__call__`."""
        definition = self._kernel.definition
        arrays = [
            value if type(value) is mx.array else arguments.as_array(definition, i, value)
            for i, value in enumerate(inputs)
        ]

        def forward(*given: mx.array) -> list[mx.array]:
            return self._kernel(inputs=given, **call)

        def gradient(primals: Arrays, cotangents: Arrays, outputs: Arrays) -> tuple[mx.array, ...]:
            return self._gradients(primals, cotangents, outputs, {**call, "inputs": primals})

        return _with_gradient(forward, gradient)(*arrays)

    def _gradients(
        self,
        primals: Sequence[mx.array],
        cotangents: Sequence[mx.array],
        outputs: Sequence[mx.array],
        call: dict[str, Any],
    ) -> tuple[mx.array, ...]:
        definition = self._backward.definition
        values = {"input": primals, "output": outputs, "cotangent": cotangents}
        bound = [self._places[name] for name in definition.input_names]
        wanted = [primals[target] for target in self._targets]
        results = self._backward(
            inputs=[values[kind][index] for kind, index in bound],
            output_shapes=[x.shape for x in wanted],
            **self._arguments(wanted, call),
        )
        gradients = [mx.zeros_like(x) for x in primals]
        for target, result in zip(self._targets, results, strict=True):
            gradients[target] = result.astype(primals[target].dtype)
        return tuple(gradients)

    def _arguments(self, wanted: Sequence[mx.array], call: dict[str, Any]) -> dict[str, Any]:
        atomic = self._backward.definition.atomic_outputs
        changes = self._launch(**call) if callable(self._launch) else dict(self._launch or {})
        if unknown := changes.keys() - _CHANGES:
            raise ValueError(
                f"[differentiable] `launch` of kernel `{self._backward.definition.name}` sets "
                f"{', '.join(sorted(unknown))}; it may set {', '.join(sorted(_CHANGES))}."
            )
        return {
            "grid": call.get("grid"),
            "threadgroup": call.get("threadgroup"),
            "template": call.get("template"),
            "stream": call.get("stream"),
            "init_value": 0 if atomic else None,
            "output_dtypes": [_accumulator(x.dtype) if atomic else x.dtype for x in wanted],
            **changes,
        }


def _with_gradient(forward: Forward, gradient: Gradient) -> Forward:
    """The function with this gradient, also where a batch of it is differentiated.

    Without a rule for `mx.vmap` MLX would take the function apart and find kernels in it.
    """

    def vjp(primals: Any, cotangents: Arrays, outputs: Arrays) -> tuple[mx.array, ...]:
        # MLX hands out a single argument as it is.
        return gradient(
            (primals,) if isinstance(primals, mx.array) else primals, cotangents, outputs
        )

    def vmap(inputs: Any, axes: Any) -> tuple[list[mx.array], list[int]]:
        if isinstance(inputs, mx.array):
            inputs, axes = (inputs,), (axes,)
        outputs = _batched(forward, gradient, tuple(axes))(*inputs)
        return outputs, [0] * len(outputs)

    function = custom_function(forward)
    function.vjp(vjp)
    function.vmap(vmap)
    return cast("Forward", function)


def _batched(forward: Forward, gradient: Gradient, axes: tuple[int | None, ...]) -> Forward:
    """The function for a batch that the inputs have along these axes, the outputs along the first.

    An input without such an axis is the same for the whole batch: its gradients add up.
    """

    def gradients(primals: Arrays, cotangents: Arrays, outputs: Arrays) -> tuple[mx.array, ...]:
        each = mx.vmap(gradient, (axes, 0, 0))(tuple(primals), list(cotangents), list(outputs))
        return tuple(
            x.sum(0) if axis is None else mx.moveaxis(x, 0, axis)
            for x, axis in zip(each, axes, strict=True)
        )

    return _with_gradient(mx.vmap(forward, axes), gradients)


def _accumulator(dtype: mx.Dtype) -> mx.Dtype:
    """Metal has no atomic addition of 16-bit numbers."""
    return mx.float32 if dtype in (mx.float16, mx.bfloat16) else dtype


def _places(inputs: Sequence[str], outputs: Sequence[str]) -> dict[str, tuple[str, int]]:
    """What the backward kernel may take: a name, and which value it means."""
    places = {name + _SUFFIX: ("cotangent", i) for i, name in enumerate(outputs)}
    if len(outputs) == 1:
        places[_COTANGENT] = ("cotangent", 0)
    places |= {name: ("output", i) for i, name in enumerate(outputs)}
    return places | {name: ("input", i) for i, name in enumerate(inputs)}


def _check_names(
    kernel: MetalKernel, backward: MetalKernel, places: Mapping[str, tuple[str, int]]
) -> None:
    name = backward.definition.name
    for given in backward.definition.input_names:
        if given not in places:
            raise ValueError(
                f"[differentiable] Input `{given}` of backward kernel `{name}` is nothing of "
                f"kernel `{kernel.definition.name}`; there are: {', '.join(places)}."
            )
    known = [name + _SUFFIX for name in kernel.definition.input_names]
    for given in backward.definition.output_names:
        if given not in known:
            raise ValueError(
                f"[differentiable] Output `{given}` of backward kernel `{name}` is the gradient of "
                f"no input of kernel `{kernel.definition.name}`; there may be: {', '.join(known)}."
            )
