"""`metal_kernel`: the kernel object, which checks a call and gives it to the target in use."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import mlx.core as mx

from anymetal import arguments, targets
from anymetal.batching import Extents, batch_rule
from anymetal.call_cache import CurrentCache, cached
from anymetal.errors import AnyMetalWarning
from anymetal.locations import Location, caller
from anymetal.signature import (
    KernelDefinition,
    TemplateValue,
    generator_of,
    metal_text,
)
from anymetal.targets import graph
from anymetal.targets.base import Launch, check_extents
from anymetal.targets.graph import CallArguments, GraphTarget
from anymetal.transforms import is_transformed, run_transformed

#: What a call of a kernel may leave out.
_DEFAULTS: dict[str, Any] = {
    "template": None,
    "init_value": None,
    "verbose": False,
    "stream": None,
    "ensure_row_contiguous": None,
}


@arguments.reports_wrong_arguments("metal_kernel")
def metal_kernel(
    name: str,
    input_names: Sequence[str],
    output_names: Sequence[str],
    source: str,
    header: str = "",
    ensure_row_contiguous: bool = True,
    atomic_outputs: bool = False,
    compile_options: object | None = None,
    *,
    vmap: str | None = None,
) -> MetalKernel:
    """A kernel from the body of a Metal function, as `mx.fast.metal_kernel` makes it.

    Args:
        name: Name of the kernel, which appears in its errors.
        input_names: Names by which the body knows the inputs.
        output_names: Names by which the body knows the outputs.
        source: The body of the function, without signature and braces.
        header: Text in front of the function: includes, helper functions, structs.
        ensure_row_contiguous: Pass row-contiguous copies of inputs that are not.
        atomic_outputs: Give the outputs the type `device atomic<T>*`.
        compile_options: None, or `{"math_mode": "safe" | "relaxed" | "fast"}`.
        vmap: None, or "batch": under `mx.vmap` the batch becomes part of the grid, in z. MLX has
            no such argument; without it `mx.vmap` is an error, as in MLX.

    Returns:
        The kernel, which is called with arrays and a grid (`MetalKernel.__call__`). Nothing is
        compiled yet: types and attributes of its signature come from the call.

    Raises:
        TypeError: An argument is missing, unknown, or of a wrong type.
        ValueError: There is no output, or `compile_options` or `vmap` has a value that it may not
            have.
        RuntimeError: A key or the mode in `compile_options` is no `str`, as in MLX.

    Example:
        >>> import mlx.core as mx
        >>> import anymetal
        >>> scale = anymetal.metal_kernel(
        ...     name="scale",
        ...     input_names=["x", "factor"],
        ...     output_names=["y"],
        ...     source="uint i = thread_position_in_grid.x; y[i] = factor * x[i];",
        ... )
        >>> x = mx.array([1.0, 2.0, 3.0])
        >>> (y,) = scale(
        ...     inputs=[x, 10.0],
        ...     grid=(x.size, 1, 1),
        ...     threadgroup=(256, 1, 1),
        ...     output_shapes=[x.shape],
        ...     output_dtypes=[x.dtype],
        ... )
        >>> y
        array([10, 20, 30], dtype=float32)
    """
    function = "metal_kernel"
    definition = KernelDefinition(
        name=arguments.string(function, "name", name),
        input_names=arguments.names(function, "input_names", input_names),
        output_names=arguments.names(function, "output_names", output_names),
        source=arguments.string(function, "source", source),
        header=arguments.string(function, "header", header),
        ensure_row_contiguous=arguments.flag(
            function, "ensure_row_contiguous", ensure_row_contiguous
        ),
        atomic_outputs=arguments.flag(function, "atomic_outputs", atomic_outputs),
        math_mode=arguments.math_mode(compile_options),
    )
    if not definition.output_names:
        raise ValueError("[metal_kernel] Must specify at least one output.")
    if vmap is not None and not (isinstance(vmap, str) and vmap == "batch"):
        raise ValueError(f'[metal_kernel] `vmap` must be None or "batch", got {vmap!r}.')
    return _made(definition, vmap is not None, caller())


@functools.lru_cache(maxsize=256)
def _made(definition: KernelDefinition, batched: bool, made: Location | None) -> MetalKernel:
    """The same line makes the same kernel: many programs make theirs within a function, and what
    one call has found out serves the next."""
    return MetalKernel(definition, batched=batched, made=made)


class MetalKernel:
    """A Metal kernel, ready to be called with keyword arguments. Made by `metal_kernel`."""

    __slots__ = ("_batched", "_counts", "_generator", "calls", "definition", "made")

    def __init__(
        self,
        definition: KernelDefinition,
        batched: bool = False,
        made: Location | None = None,
    ) -> None:
        self.definition = definition
        self.made = made  #: by which line of the program
        self.calls = CurrentCache()
        self._batched = batched
        self._generator = generator_of(definition)
        outputs = len(definition.output_names)
        self._counts = (len(definition.input_names), outputs, outputs)

    def __repr__(self) -> str:
        inputs = ", ".join(self.definition.input_names)
        outputs = ", ".join(self.definition.output_names)
        return f"<metal_kernel {self.definition.name}({inputs}) -> ({outputs})>"

    @property
    def name(self) -> str:
        """As given to `metal_kernel`."""
        return self.definition.name

    @cached
    @arguments.reports_wrong_arguments("__call__")
    def __call__(
        self,
        *,
        inputs: Sequence[Any],
        output_shapes: Sequence[Sequence[int]],
        output_dtypes: Sequence[mx.Dtype],
        grid: Sequence[int],
        threadgroup: Sequence[int],
        template: Sequence[tuple[str, TemplateValue]] | None = None,
        init_value: float | None = None,
        verbose: bool = False,
        stream: object = None,
        ensure_row_contiguous: bool | None = None,
    ) -> list[mx.array]:
        """Run the kernel, or record that it shall run, and return its outputs.

        With the bridge to MLX (`anymetal doctor` tells) a call makes a node of MLX's graph, and
        what goes wrong beyond the arguments is raised when an output is evaluated. Without it the
        kernel runs at once.

        Args:
            inputs: Arrays, or Python or NumPy values that become arrays.
            output_shapes: One shape per output.
            output_dtypes: One dtype per output.
            grid: Number of threads in x, y and z (not of threadgroups).
            threadgroup: Threads per threadgroup; clamped to the grid, smaller at its edges.
            template: Template parameters as (name, value) pairs: dtype, int or bool.
            init_value: What the outputs hold before the kernel runs; undefined by default.
            verbose: Print the generated Metal source.
            stream: Any stream or device. Where MLX has an NVIDIA GPU, the kernel runs where MLX's
                operations would. On the CPU target the kernel runs on that stream if it
                is one of the CPU, else on the default one of the CPU. A program that pretends to
                have a GPU (`install`) must not name the CPU, as on a Mac.
            ensure_row_contiguous: For code after an old edition of MLX's documentation, which
                passes it here; belongs into `metal_kernel`.

        Returns:
            One array per output, evaluated or not, as with any operation of MLX.

        Raises:
            TypeError: An argument is missing, unknown, or of a wrong type.
            ValueError: A count, a value or a dtype is not what the kernel takes, or the stream is
                not one of the GPU that the program believes in.
            KernelLaunchError: The shape of an output, the grid or the threadgroup is impossible.
            MetalCompileError: The Metal text does not compile. This, what follows, and that grid
                or threadgroup are impossible is raised when an output is evaluated; by the call,
                where kernels run at once or on an NVIDIA GPU.
            KernelLoadError: The kernel needs more threadgroup or private memory than there is.
            UnsupportedFeatureError: The kernel needs something that the target lacks.
            KernelMemoryError: The kernel writes outside of its arrays, or faults otherwise.
            KernelTimeoutError: It takes longer than the limits that the environment sets.
        """
        epoch, definition, initial = graph.epoch, self.definition, init_value

        # First all types, then values, then sizes: the order in which MLX looks at them. Lists are
        # read once: another thread may change what is in them.
        given = tuple(arguments.sequence("__call__", "inputs", inputs))
        for i, value in enumerate(given):
            if value is None:
                raise arguments.incompatible("__call__", f"`inputs[{i}]` is None.")
        shapes = arguments.shapes(output_shapes)
        dtypes = arguments.dtypes(output_dtypes)
        grid = arguments.extent("grid", grid)
        threadgroup = arguments.extent("threadgroup", threadgroup)
        pairs = arguments.template_pairs(template) if template is not None else []
        if init_value is not None:
            init_value = arguments.float32("init_value", init_value)
        if type(verbose) is not bool:
            arguments.flag("__call__", "verbose", verbose)
        if stream is not None:
            arguments.check_stream(stream)
        contiguous = definition.ensure_row_contiguous
        if ensure_row_contiguous is not None:
            contiguous = arguments.flag("__call__", "ensure_row_contiguous", ensure_row_contiguous)
            _warn_about_old_edition(definition)

        arrays = [
            value if type(value) is mx.array else arguments.as_array(definition, i, value)
            for i, value in enumerate(given)
        ]
        values = arguments.check_template(definition.name, pairs) if pairs else pairs
        if (len(arrays), len(shapes), len(dtypes)) != self._counts:
            raise _wrong_count(self._counts, (len(arrays), len(shapes), len(dtypes)))
        if stream is not None and arguments.is_of_cpu(stream):
            raise ValueError("[metal_kernel] Only supports the GPU.")

        special = self._generator.specialization(arrays, dtypes, values)
        if special.sizes:
            self._warn_about_sizes(special.sizes)
        if verbose:
            text = metal_text(special.source)
            print(f"Generated source code for `{definition.name}`:\n```\n{text}\n```", flush=True)
        if special.uses_float64:
            raise arguments.no_float64(definition, arrays, dtypes)
        for output, shape, dtype in zip(definition.output_names, shapes, dtypes, strict=True):
            arguments.check_output(definition.name, output, shape, dtype.size)

        if arguments.counts_threadgroups(
            definition.source, list(map(prod, shapes)), grid, threadgroup
        ):
            _warn_about_grid(definition, grid, threadgroup)

        launch = Launch(
            special.source,
            arrays,
            shapes,
            dtypes,
            grid,
            threadgroup,
            init_value,
            contiguous,
            definition,
            values,
            stream,
            made=self.made,
        )
        if self._batched:
            run = partial(
                _run,
                self.made,
                output_dtypes=dtypes,
                template=values,
                init_value=init_value,
                stream=stream,
            )
            launch.lift = batch_rule(definition, Extents(shapes, grid, threadgroup), run)
        target = targets.for_stream(stream)
        if isinstance(target, GraphTarget) and target.lazy:
            # What is kept is of one target: a GPU's, where MLX has one.
            kept = not verbose and ensure_row_contiguous is None and target is targets.active()
            if kept:
                call = {
                    "inputs": given,
                    "output_shapes": shapes,
                    "output_dtypes": dtypes,
                    "grid": grid,
                    "threadgroup": threadgroup,
                    "template": None if template is None else values,
                    "init_value": initial,
                    "stream": stream,
                }
                self.calls.keep(epoch, target, launch, CallArguments((), call, _DEFAULTS))
            return target.run(launch)
        check_extents(definition.name, grid, threadgroup)
        if arrays and is_transformed(arrays):
            return run_transformed(target, launch, lambda: target.run(launch))
        return target.run(launch)

    def _warn_about_sizes(self, sizes: tuple[str, ...]) -> None:
        if self._generator.warned_about_sizes:
            return
        self._generator.warned_about_sizes = True
        names = ", ".join(f"`{name}`" for name in sizes)
        warnings.warn(
            f"Kernel `{self.definition.name}` uses {names}: AnyMetal passes the element count "
            "under this name, but plain MLX has no such thing. Pass it as an input or use a shape.",
            AnyMetalWarning,
            stacklevel=5,
        )


def _run(
    made: Location | None,
    definition: KernelDefinition,
    inputs: Sequence[mx.array],
    extents: Extents,
    **arguments: Any,
) -> list[mx.array]:
    """One launch of a lifted kernel, which may be lifted again (batching.py)."""
    return MetalKernel(definition, batched=True, made=made)(
        inputs=inputs,
        output_shapes=extents.output_shapes,
        grid=extents.grid,
        threadgroup=extents.threadgroup,
        **arguments,
    )


def _warn_about_grid(
    definition: KernelDefinition, grid: Sequence[int], threadgroup: Sequence[int]
) -> None:
    threads = tuple(a * b for a, b in zip(grid, threadgroup, strict=True))
    warnings.warn(
        f"Kernel `{definition.name}` is launched with grid={tuple(grid)} and "
        f"threadgroup={tuple(threadgroup)}, so {prod(grid)} threads run in one threadgroup. The "
        f"grid of MLX counts threads, not threadgroups: for {prod(grid)} threadgroups pass "
        f"grid={threads}.",
        AnyMetalWarning,
        stacklevel=5,
    )


def _warn_about_old_edition(definition: KernelDefinition) -> None:
    warnings.warn(
        f"`ensure_row_contiguous` was given in the call of kernel `{definition.name}`. AnyMetal "
        "accepts it there, but current MLX refuses it: give it to metal_kernel() instead.",
        AnyMetalWarning,
        stacklevel=5,
    )


def _wrong_count(expected: tuple[int, int, int], got: tuple[int, int, int]) -> ValueError:
    argument, expected_size, size = next(
        triple
        for triple in zip(("inputs", "output_shapes", "output_dtypes"), expected, got, strict=True)
        if triple[1] != triple[2]
    )
    return ValueError(
        f"[metal_kernel] Expected `{argument}` to have size {expected_size} but got size {size}.\n"
    )
