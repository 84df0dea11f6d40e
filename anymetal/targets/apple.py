"""Apple GPUs: the kernel is handed to MLX's own `mx.fast.metal_kernel`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import mlx.core as mx

from anymetal import debug
from anymetal.errors import UnsupportedFeatureError
from anymetal.signature import metal_body, metal_header
from anymetal.size_extension import size_buffer
from anymetal.source import KernelSource
from anymetal.targets.base import Launch
from anymetal.targets.graph import GraphTarget

if TYPE_CHECKING:
    from anymetal.runtime.arrays import Exporter

# MLX's function itself; `install` imports this module before it puts ours in that place.
mlx_metal_kernel: Callable[..., Any] = mx.fast.metal_kernel


class AppleTarget(GraphTarget):
    """Runs kernels on the GPU of a Mac, through MLX.

    Off a Mac it can still record a kernel while `mx.export_function` traces.
    """

    name = "apple"
    lazy = True

    def run(self, launch: Launch) -> list[mx.array]:
        """Record the kernel in MLX's graph."""
        definition = launch.definition
        if definition is None:
            raise _brings_its_signature(launch.source)
        kernel = _mlx_kernel(
            launch.source,
            definition.input_names,
            definition.output_names,
            launch.ensure_row_contiguous,
            definition.atomic_outputs,
        )
        sizes = [
            mx.array([launch.inputs[parameter.argument].size], dtype=mx.uint32)
            for parameter in launch.source.parameters
            if parameter.kind == "size"
        ]
        outputs: list[mx.array] = kernel(
            inputs=[*launch.inputs, *sizes],
            output_shapes=launch.output_shapes,
            output_dtypes=launch.output_dtypes,
            grid=launch.grid,
            threadgroup=launch.threadgroup,
            template=launch.template,
            init_value=launch.init_value,
            stream=launch.stream,
        )
        return outputs

    def become_lazy(self) -> None:
        """It is."""

    def run_in_place(
        self,
        source: KernelSource,
        arrays: Sequence[Exporter],
        grid: tuple[int, int, int],
        threadgroup: tuple[int, int, int],
    ) -> None:
        """MLX launches only kernels whose signature it has written itself."""
        raise _brings_its_signature(source)


def _brings_its_signature(source: KernelSource) -> UnsupportedFeatureError:
    return UnsupportedFeatureError(
        f"kernel `{source.name}` of a Metal library cannot run on an Apple GPU: MLX has no "
        "call for kernels that bring their own signature. Select the CPU target "
        "(anymetal.targets.select(CpuTarget())), or turn it into a metal_kernel."
    )


def recorded_for_export(launch: Launch) -> list[mx.array] | None:
    """The kernel as MLX's own, while `mx.export_function` traces; None at any other time.

    Only then does MLX take Metal kernels on machines without Metal; the file can run on a Mac.
    """
    try:
        # Its stream, if any, is one of this machine's.
        return AppleTarget().run(replace(launch, stream=None))
    except RuntimeError:
        return None


def exported(launch: Launch) -> list[mx.array] | None:
    """The same of a launch that `mx.export_function` is known to trace.

    Raises UnsupportedFeatureError for kernels of libraries.
    """
    if launch.definition is None:
        raise UnsupportedFeatureError(
            f"kernel `{launch.source.name}` of a Metal library cannot be exported: "
            "mx.export_function records kernels of metal_kernel only. Make one of it."
        )
    return recorded_for_export(launch)


@lru_cache(maxsize=1024)
def _mlx_kernel(
    source: KernelSource,
    input_names: tuple[str, ...],
    output_names: tuple[str, ...],
    ensure_row_contiguous: bool,
    atomic_outputs: bool,
) -> Callable[..., Any]:
    """MLX's kernel object, whose generated text is `metal_text(source)`."""
    if level := debug.wanted().level:
        debug.say(f"kernel `{source.name}` on the GPU, through MLX")
        if level >= debug.LEVELS["Metal"]:
            debug.show(source.name, "Metal", debug.metal_of(source))
    buffers = [size_buffer(p.name) for p in source.parameters if p.kind == "size"]
    body = metal_body(source)
    if _closes_too_early(source):
        body += "\n// thread_index_in_threadgroup"
    kernel: Callable[..., Any] = mlx_metal_kernel(
        name=source.name,
        input_names=[*input_names, *buffers],
        output_names=list(output_names),
        source=body,
        header=metal_header(source),
        ensure_row_contiguous=ensure_row_contiguous,
        atomic_outputs=atomic_outputs,
        compile_options={"math_mode": source.math_mode},
    )
    return kernel


def _closes_too_early(source: KernelSource) -> bool:
    """Whether MLX would end the signature after its first output.

    It counts inputs and outputs, but not shape infos, to find the last parameter, unless the body
    names an attribute. A comment with an attribute's name avoids it.
    """
    kinds = [parameter.kind for parameter in source.parameters]
    infos = not {"shape", "strides", "ndim"}.isdisjoint(kinds)
    return infos and kinds.count("output") > 1 and not source.attributes
