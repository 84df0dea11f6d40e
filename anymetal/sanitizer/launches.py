"""Launches inside of a session: at once, in a sanitized build, one after the other.

While sessions are open, `SanitizingTarget` stands in front of the target in use. A launch that
belongs to a session runs here on the CPU, whatever the target is, and is over when the call
returns: so its findings are those of the session, whoever evaluates the outputs, and none comes
when nobody listens any more. All others go on to the target. `mx.compile` is off for that time, as
MLX's own switch has it: a function that was compiled before would run kernels that nobody sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

import mlx.core as mx

from anymetal import targets
from anymetal.errors import UnsupportedFeatureError
from anymetal.kernel import metal_kernel
from anymetal.sanitizer import session
from anymetal.sanitizer.execution import run
from anymetal.sanitizer.replay import Job
from anymetal.sanitizer.texts import launched
from anymetal.source import KernelSource
from anymetal.targets.base import Extent, Launch, Target
from anymetal.targets.cpu import CpuTarget
from anymetal.targets.graph import GraphTarget
from anymetal.transforms import switch_compilation

if TYPE_CHECKING:
    from anymetal.runtime.arrays import Exporter
    from anymetal.runtime.bridge.native import Native, NativeLazyPlan


class SanitizingTarget(GraphTarget):
    """Runs what belongs to a session; all else is for the target behind it."""

    def __init__(self, behind: Target) -> None:
        self.behind = behind
        self.name = behind.name
        self._tracing = _TracingTarget()

    @property
    def lazy(self) -> bool:
        """Only where launches go on to a target that is."""
        if session.current() is not None:
            return False
        return isinstance(self.behind, GraphTarget) and self.behind.lazy

    def become_lazy(self) -> None:
        """For a launch whose inputs have no values."""
        (self.behind if isinstance(self.behind, GraphTarget) else self._tracing).become_lazy()

    def run(self, launch: Launch) -> list[mx.array]:
        """The outputs; those of a session's launch are evaluated."""
        mine = session.current()
        if mine is None:
            return self.behind.run(launch)
        try:
            mx.eval(launch.inputs)
        except ValueError:  # they are traced by mx.vmap or mx.compile, and have no values
            return self._tracing.run(launch)
        if launch.definition is None:  # of a library: it was called before the session began
            return self.behind.run(launch)
        job = Job(
            launch.source, launch.inputs, launch.grid, launch.threadgroup,
            launch.ensure_row_contiguous, launch.output_shapes, launch.output_dtypes,
            launch.init_value,
        )  # fmt: skip
        return cast("list[mx.array]", run(job, mine, launched()))

    def pass_over(self, what: str) -> None:
        """Has a line in the report about kernels that run unobserved."""
        mine = session.current()
        if mine is not None:
            mine.note(f"not observed: {what}")

    def run_in_place(
        self, source: KernelSource, arrays: Sequence[Exporter], grid: Extent, threadgroup: Extent
    ) -> None:
        """The same for a kernel of a Metal library, whose outputs exist."""
        mine = session.current()
        if mine is None:
            return self.behind.run_in_place(source, arrays, grid, threadgroup)
        count = sum(p.kind == "input" for p in source.parameters)
        inputs, outputs = arrays[:count], arrays[count:]
        shapes = [array.shape for array in outputs]
        job = Job(source, inputs, grid, threadgroup, True, shapes, [], None, outputs)
        run(job, mine, launched())
        return None


def take_over() -> None:
    """On a Mac with Metal `anymetal.install` leaves MLX's kernels to MLX, where nobody sees them:
    a program that is observed from its start gets ours, which run here."""
    if targets.HAS_METAL:
        mx.fast.metal_kernel = metal_kernel


class _TracingTarget(CpuTarget):
    """Makes nodes for functions that are traced; they cannot be evaluated.

    Under mx.vmap MLX puts others in their place, which are launched as any. What mx.compile has
    traced inside of a session would run later, and unseen.
    """

    def run(self, launch: Launch) -> list[mx.array]:
        from anymetal.runtime.bridge import loader

        if loader.native() is None:
            loader.require()
        return super().run(launch)

    def lazy_plan(
        self, native: Native, source: KernelSource, grid: Extent, threadgroup: Extent, large: int
    ) -> NativeLazyPlan:
        name = source.name

        def refuse() -> NoReturn:
            raise UnsupportedFeatureError(
                f"kernel `{name}` was traced by mx.compile inside of anymetal.sanitize(), and "
                "would run unobserved. Use anymetal.sanitize() around the call of what is "
                "compiled, not inside of it."
            )

        return native.lazy_plan(name, refuse, refuse)


def _compiles() -> bool:
    """Whether mx.compile compiles: then a function runs once for two calls."""
    runs = 0

    def body(x: mx.array) -> mx.array:
        nonlocal runs
        runs += 1
        return x

    compiled: Any = mx.compile(body)
    compiled(_ONE)
    compiled(_ONE)
    return runs == 1


_ONE = mx.array(1)
_compiled_before = False


def switch(on: bool) -> None:
    """Stands in front of the target in use, or goes away."""
    global _compiled_before
    if on:
        _compiled_before = _compiles()
        if _compiled_before:
            switch_compilation(False)
        targets.put_in_front(SanitizingTarget)
    else:
        targets.put_in_front(None)
        if _compiled_before:
            switch_compilation(True)
