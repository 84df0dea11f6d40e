"""Launches of library kernels: nodes of the graph if all that they write is new, else at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import mlx.core as mx

from anymetal import arguments, targets
from anymetal.buffers import New, kept
from anymetal.errors import UnsupportedFeatureError
from anymetal.locations import Location
from anymetal.runtime.arrays import Exporter
from anymetal.runtime.foreign import Foreign
from anymetal.source import LibrarySource
from anymetal.targets.base import Extent, Launch
from anymetal.targets.graph import GraphTarget
from anymetal.transforms import is_transformed, run_transformed


class LibraryLaunch(NamedTuple):
    """One call of a kernel of a library, checked."""

    source: LibrarySource
    inputs: Sequence[Exporter]  #: what the kernel reads
    written: Sequence[New | Foreign]
    grid: Extent
    threadgroup: Extent
    init_value: float | None  #: what new arrays hold that begin with no other one's contents
    stream: object  #: as passed
    made: Location | None = None  #: where the program made the library

    def run(self, keep: Callable[[GraphTarget, Launch], None]) -> list[Any]:
        """All that the kernel writes; new arrays are to be evaluated if the target makes nodes.

        `keep` is told of a launch that makes one: calls like this may do so without us.
        """
        new = [one for one in self.written if isinstance(one, New)]
        if not new or len(new) < len(self.written):
            self._expect_to_run_at_once()
            return self._at_once()
        if self.stream is not None and arguments.is_of_cpu(self.stream):
            raise ValueError("[metal_library] Only supports the GPU.")
        target, launch = targets.for_stream(self.stream), self._launch(new)
        if isinstance(target, GraphTarget) and target.lazy:
            if target is targets.active():  # what is kept is of one target
                keep(target, launch)
            return target.run(launch)
        if launch.inputs and is_transformed(launch.inputs):
            return run_transformed(target, launch, self._at_once)
        return self._at_once()

    def _launch(self, new: Sequence[New]) -> Launch:
        """What new arrays begin with comes behind what the kernel reads."""
        inputs, starts = [kept(one) for one in self.inputs], []
        for one in new:
            starts.append(-1 if one.start is None else len(inputs))
            inputs += [] if one.start is None else [one.start]
        return Launch(
            self.source,
            inputs,
            [one.shape for one in new],
            [one.dtype for one in new],
            self.grid,
            self.threadgroup,
            self.init_value,
            ensure_row_contiguous=True,
            definition=None,
            template=(),
            stream=self.stream,
            starts=starts,
            made=self.made,
        )

    def _at_once(self) -> list[Any]:
        """Runs the kernel, to its end, on arrays that exist."""
        mx.eval([array for array in self.inputs if isinstance(array, mx.array)])
        written = [
            one.made(self.init_value) if isinstance(one, New) else one for one in self.written
        ]
        arrays = [*self.inputs, *written]
        targets.active().run_in_place(self.source, arrays, self.grid, self.threadgroup)
        return [one.value if isinstance(one, Foreign) else one for one in written]

    def _expect_to_run_at_once(self) -> None:
        what = "writes to an array in place" if self.written else "writes to no buffer"
        if self.stream is not None:
            raise ValueError(
                f"kernel `{self.source.name}` {what}, so it runs at once, on no stream. Leave out "
                "`stream`, or pass arrays of MLX or (shape, dtype) for all that it writes."
            )
        starts = [one.start for one in self.written if isinstance(one, New)]
        arrays = [one for one in (*self.inputs, *starts) if isinstance(one, mx.array)]
        if arrays and is_transformed(arrays):
            raise UnsupportedFeatureError(
                f"kernel `{self.source.name}` {what}, so it runs at once and can be no part of "
                "mx.grad, mx.compile or mx.vmap. Pass arrays of MLX or (shape, dtype) for all that "
                "it writes, or call it outside."
            )
