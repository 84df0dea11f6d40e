"""NVIDIA GPUs: kernels as PTX, launched by MLX's own `mx.fast.precompiled_cuda_kernel`.

So launches are nodes of MLX's graph, on its streams and under `mx.compile`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, cast
from weakref import ref

import mlx.core as mx

from anymetal import targets
from anymetal.errors import ToolchainError, UnsupportedFeatureError
from anymetal.runtime.arrays import Exporter
from anymetal.runtime.bridge import loader as bridge
from anymetal.source import KernelSource, LibrarySource
from anymetal.targets import versions
from anymetal.targets.apple import exported
from anymetal.targets.base import LARGE, Extent, Launch, check_extents
from anymetal.targets.by_source import BySource
from anymetal.targets.cuda.arguments import Geometry, binding, buffers, form_of, geometry
from anymetal.targets.cuda.call_cache import Calls
from anymetal.targets.cuda.code_lookup import Version, ptx_of
from anymetal.targets.cuda.in_place import as_input, beginning_with, write_back
from anymetal.targets.cuda.names import PTX_OF, Form, entry_of
from anymetal.targets.cuda.specialisation import Special, Taker, known_of
from anymetal.targets.graph import CallArguments, CallCache, GraphTarget

if TYPE_CHECKING:
    from anymetal.runtime.bridge.native import Native, NativeCallCache, NativeDescriptor


class CudaTarget(GraphTarget):
    """Runs kernels on the NVIDIA GPU of MLX's CUDA build.

    `architecture`: what the code is for, such as "sm_90"; by default, the GPU's own.
    """

    name = "cuda"
    lazy = True
    on_gpu = True

    def __init__(self, architecture: str | None = None) -> None:
        self._launch: Callable[..., list[mx.array]] | None = None
        self._architecture = architecture
        self._texts: BySource[tuple[Form, int], bytes] = BySource()
        self._specials: BySource[tuple[object, ...], Special] = BySource()

    def run(self, launch: Launch) -> list[mx.array]:
        """Record the kernel in MLX's graph; compiles it, if need be.

        Raises what compiling raises, KernelLaunchError for threadgroups that are too large or too
        many, and ToolchainError where MLX has no CUDA.
        """
        check_extents(launch.source.name, launch.grid, launch.threadgroup)
        if 0 in (*launch.grid, *launch.threadgroup):
            return _without_threads(launch)
        native = bridge.native()
        if native and native.exporting(launch.inputs):  # as Metal, which other machines run, too
            recorded = exported(launch)
            if recorded is not None:
                return recorded
        if any(start >= 0 for start in launch.starts):
            return beginning_with(launch, self._recorded)
        if native and launch.definition is not None:
            return native.call(self._descriptor(native, launch), launch.inputs, 0, launch.stream)
        return self._recorded(launch)[: len(launch.output_shapes)]

    def _recorded(self, launch: Launch) -> list[mx.array]:
        """The outputs; behind those of a library's kernel there is a byte that it does not know."""
        return self._told(launch)(inputs=buffers(launch))

    def keep(
        self, cache: CallCache | None, launch: Launch, call: CallArguments
    ) -> CallCache | None:
        """Keep what MLX is to be told of calls like this one."""
        if launch.definition is None or 0 in (*launch.grid, *launch.threadgroup):
            return None
        check_extents(launch.source.name, launch.grid, launch.threadgroup)
        native = bridge.native()
        if native is None:
            calls = cache if isinstance(cache, Calls) else Calls()
            calls.keep(call.given, launch, self._told(launch))
            return calls
        known = (
            native.CallCache(call.defaults, lambda: 0)
            if cache is None or isinstance(cache, Calls)
            else cast("NativeCallCache", cache)
        )
        descriptor = self._descriptor(native, launch)
        known.keep(call.positional, call.given, descriptor, launch.inputs)
        return known

    def become_lazy(self) -> None:
        """It is."""

    def run_in_place(
        self, source: KernelSource, arrays: Sequence[Exporter], grid: Extent, threadgroup: Extent
    ) -> None:
        """Run the kernel on copies of these arrays, and copy what it writes back to where they are.

        They lie in memory of the CPU.
        """
        if 0 in (*grid, *threadgroup):
            return
        count = sum(parameter.kind == "input" for parameter in source.parameters)
        inputs, written = [as_input(array) for array in arrays], arrays[count:]
        starts = range(count, len(arrays))
        launch = Launch(
            source,
            inputs,
            [inputs[place].shape for place in starts],
            [inputs[place].dtype for place in starts],
            grid,
            threadgroup,
            init_value=None,
            ensure_row_contiguous=True,
            definition=None,
            template=(),
            stream=mx.gpu,
            starts=list(starts),
        )
        if written:
            write_back(self.run(launch), written)
        else:
            self._told(launch)  # for its errors: nobody could see what it does

    # -- what MLX is told -----------------------------------------------------------------

    def _told(self, launch: Launch) -> functools.partial[list[mx.array]]:
        """MLX's function, with all its arguments but the inputs."""
        shapes, dtypes = list(launch.output_shapes), list(launch.output_dtypes)
        if isinstance(launch.source, LibrarySource):
            shapes, dtypes = [*shapes, (1,)], [*dtypes, mx.uint8]
        blocks = geometry(launch.source.name, launch.grid, launch.threadgroup)
        return functools.partial(
            self._kernel(),
            name=entry_of(launch.source.entry),
            compiled_source=self._ptx(launch.source, blocks, _large(launch)),
            output_shapes=shapes,
            output_dtypes=dtypes,
            scalars=blocks.numbers,
            grid=blocks.grid,
            threadgroup=blocks.block,
            init_value=launch.init_value,
            ensure_row_contiguous=True,
            stream=launch.stream,
        )

    def _descriptor(self, native: Native, launch: Launch) -> NativeDescriptor:
        """The same for the bridge, whose nodes of the graph know mx.vmap, too."""
        self._kernel()  # for its error
        blocks = geometry(launch.source.name, launch.grid, launch.threadgroup)
        bound = binding(launch)
        text = functools.partial(self._ptx, launch.source, blocks, _large(launch))
        special, when_hot = self._special(launch, blocks)
        return native.gpu_descriptor(
            entry_of(launch.source.entry),
            special or text(aligned=True),
            text,
            blocks.numbers,
            blocks.grid,
            blocks.block,
            bound.order,
            bound.descriptions,
            launch.output_shapes,
            launch.output_dtypes,
            launch.init_value,
            launch.lift,
            launch.made,
            when_hot,
        )

    def _special(
        self, launch: Launch, blocks: Geometry
    ) -> tuple[bytes | None, Callable[[Taker], None] | None]:
        """The text for such launches alone, if it is there, and what the bridge has to call when it
        is worth while; neither if no text could be better, or none is wanted."""
        mode = versions.mode()
        if mode == "0" or not (known := known_of(launch)):
            return None, None
        form = form_of(blocks, isinstance(launch.source, LibrarySource), aligned=True)
        version = Version(launch.source, self._for(), form, _large(launch), known)
        if mode == "eager":
            return ptx_of(version), None
        kept, key = self._specials.of(launch.source), version[2:]
        special = kept.get(key)
        if special is None:
            special = Special()
            BySource.keep(kept, key, special)
        special.called(version)
        if special.text:
            return special.text, None
        source, rest = ref(launch.source), version[1:]

        def when_hot(take: Taker) -> None:
            if (alive := source()) is not None:
                special.wanted(Version(alive, *rest), take)

        return None, when_hot

    def _for(self) -> str:
        return self._architecture or architecture_here()

    def _kernel(self) -> Callable[..., list[mx.array]]:
        if self._launch is None:
            if not targets.has_cuda():
                raise ToolchainError(
                    "the target 'cuda' launches kernels through MLX, and this MLX has no CUDA "
                    "back end, or finds no NVIDIA GPU. On such a machine: pip install "
                    "'anymetal[cuda13]' or [cuda12]. Without one, ANYMETAL_TARGET=cpu runs the "
                    "same kernels, and `anymetal compile FILE --target cuda` writes their PTX."
                )
            self._launch = mx.fast.precompiled_cuda_kernel
        return self._launch

    def _ptx(
        self, source: KernelSource, blocks: Geometry, large: int, aligned: bool = False
    ) -> bytes:
        """`large`: how many times 2^31 bytes the largest array has. `aligned`: all buffers begin at
        multiples of 16 bytes, which only the bridge knows."""
        form = form_of(blocks, isinstance(source, LibrarySource), aligned)
        texts, key = self._texts.of(source), (form, large)
        text = texts.get(key)
        if text is None:
            text = ptx_of(Version(source, self._for(), form, large))
            BySource.keep(texts, key, text)
        return text


def _large(launch: Launch) -> int:
    sizes = [array.nbytes for array in launch.inputs]
    outputs = zip(launch.output_shapes, launch.output_dtypes, strict=True)
    sizes += [prod(shape) * dtype.size for shape, dtype in outputs]
    return max(sizes, default=0) // LARGE


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
    filled = [mx.full(shape, begin).astype(dtype) for shape, dtype in pairs]
    for number, start in enumerate(launch.starts):
        if start >= 0:
            filled[number] = launch.inputs[start]
    return filled
