"""NVIDIA GPUs: kernels as PTX, launched by MLX's own `mx.fast.precompiled_cuda_kernel`.

So launches are nodes of MLX's graph, on its streams and under `mx.compile`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import prod
from typing import Any

import mlx.core as mx

from anymetal.errors import ToolchainError, UnsupportedFeatureError
from anymetal.source import KernelSource
from anymetal.targets.base import Launch, check_extents
from anymetal.targets.cuda.arguments import block_of, buffers
from anymetal.targets.cuda.code_lookup import Version, ptx_of, threads_for
from anymetal.targets.cuda.names import ENTRY, PTX_OF
from anymetal.targets.graph import GraphTarget

_LARGE = 2**31  #: bytes; from here on 32-bit indices may count as unsigned


class CudaTarget(GraphTarget):
    """Runs kernels on the NVIDIA GPU of MLX's CUDA build.

    `architecture`: what the code is for, such as "sm_90"; by default, the GPU's own.
    """

    name = "cuda"
    lazy = True

    def __init__(self, architecture: str | None = None) -> None:
        self._launch: Callable[..., list[mx.array]] | None = None
        self._architecture = architecture
        self._texts: dict[tuple[int, int, int], tuple[KernelSource, bytes]] = {}

    def run(self, launch: Launch) -> list[mx.array]:
        """Record the kernel in MLX's graph; compiles it, if need be.

        Raises what compiling raises, KernelLaunchError for threadgroups that are too large,
        ToolchainError where MLX has no CUDA, and UnsupportedFeatureError for kernels of libraries.
        """
        source = launch.source
        if launch.definition is None:
            raise _brings_its_signature(source)
        check_extents(source.name, launch.grid, launch.threadgroup)
        if 0 in (*launch.grid, *launch.threadgroup):
            return _without_threads(launch)
        kernel = self._kernel()
        return kernel(
            name=ENTRY,
            compiled_source=self._ptx(launch),
            inputs=buffers(launch),
            output_shapes=launch.output_shapes,
            output_dtypes=launch.output_dtypes,
            scalars=list(launch.grid),
            grid=launch.grid,
            threadgroup=launch.threadgroup,
            init_value=launch.init_value,
            ensure_row_contiguous=True,
            stream=launch.stream or mx.gpu,
        )

    def become_lazy(self) -> None:
        """It is."""

    def _kernel(self) -> Callable[..., list[mx.array]]:
        if self._launch is None:
            if not mx.is_available(mx.gpu) or mx.metal.is_available():
                raise ToolchainError(
                    "the target 'cuda' launches kernels through MLX, and this MLX has no CUDA "
                    "back end, or finds no NVIDIA GPU. On such a machine: pip install "
                    "'anymetal[cuda13]' or [cuda12]. Without one, ANYMETAL_TARGET=cpu runs the "
                    "same kernels, and `anymetal compile FILE --target cuda` writes their PTX."
                )
            self._launch = mx.fast.precompiled_cuda_kernel
        return self._launch

    def _ptx(self, launch: Launch) -> bytes:
        source = launch.source
        sizes = [array.nbytes for array in launch.inputs]
        outputs = zip(launch.output_shapes, launch.output_dtypes, strict=True)
        sizes += [prod(shape) * dtype.size for shape, dtype in outputs]
        threads = threads_for(prod(block_of(launch.grid, launch.threadgroup)))
        key = id(source), threads, max(sizes) // _LARGE
        if key not in self._texts:
            architecture = self._architecture or architecture_here()
            version = Version(source, architecture, threads, key[2])
            # (The source is kept so that no other one gets its number.)
            self._texts[key] = source, ptx_of(version)
        return self._texts[key][1]


@functools.cache
def architecture_here() -> str:
    """The newest architecture that AnyMetal compiles for and MLX's GPU runs, such as "sm_90"."""
    info: dict[str, Any] = mx.device_info(mx.gpu)
    major, minor = (int(info[f"compute_capability_{part}"]) for part in ("major", "minor"))
    return newest_for(10 * major + minor)


def newest_for(capability: int) -> str:
    """The newest architecture not above a compute capability (90 for 9.0).

    Raises UnsupportedFeatureError below all of them.
    """
    fitting = [name for name in PTX_OF if int(name.removeprefix("sm_")) <= capability]
    if not fitting:
        raise UnsupportedFeatureError(
            f"an NVIDIA GPU of compute capability {capability / 10} is older than any that "
            f"AnyMetal compiles for ({', '.join(PTX_OF)})"
        )
    return fitting[-1]


def _without_threads(launch: Launch) -> list[mx.array]:
    """The outputs of a launch in which nothing runs."""
    begin = launch.init_value or 0
    pairs = zip(launch.output_shapes, launch.output_dtypes, strict=True)
    return [mx.full(shape, begin).astype(dtype) for shape, dtype in pairs]


def _brings_its_signature(source: KernelSource) -> UnsupportedFeatureError:
    return UnsupportedFeatureError(
        f"kernel `{source.name}` of a Metal library cannot run on the target 'cuda' yet. Select "
        "the CPU target (ANYMETAL_TARGET=cpu), or turn it into a metal_kernel."
    )
