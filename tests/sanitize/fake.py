"""A plan that runs kernels as always and finds what a test wants: for all that is around it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, NamedTuple

import mlx.core as mx
import pytest

import anymetal
from anymetal.runtime.arrays import Exporter
from anymetal.sanitizer import execution
from anymetal.sanitizer.kinds import NUMBERS
from anymetal.sanitizer.report import NO_SITE
from anymetal.source import KernelSource
from anymetal.targets.cpu import plan
from anymetal.targets.cpu.plan import Plan

Extent = tuple[int, int, int]


class Raw(NamedTuple):
    """A raw finding."""

    kind: int
    site: int = 0
    object: int = 0
    bytes: int = 4
    offset: int = 0
    thread: Extent = (0, 0, 0)
    group: Extent = (0, 0, 0)
    other_site: int = NO_SITE
    other_thread: Extent = (0, 0, 0)
    other_group: Extent = (0, 0, 0)
    detail: int = 0
    count: int = 1  # type: ignore[assignment]


def raw(kind: str, **fields: Any) -> Raw:
    return Raw(NUMBERS[kind], **fields)


#: What sites of the fake are: action, bytes, place in the body, alignment.
SITES = (
    ("read", 4, "source:1:44", 4),
    ("wrote", 4, "source:1:37", 4),
    ("read", 4, "header:1:3", 4),
    ("read", 16, "source:1:44", 16),
)


class _PlanAsCalled(Plan):
    """With the threadgroups of the call."""

    def __init__(self, *key: Any) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(plan, "fitting_groups", lambda source, grid, group: (group,))
            super().__init__(*key)


class FakePlan:
    """Has the fields of a SanitizedPlan that are used."""

    def __init__(self, source: KernelSource, grid: Extent, group: Extent, found: Any) -> None:
        self.inner = _PlanAsCalled(source, grid, group, 32, 0)
        arrays = [
            ["buffer", p.name, 0, 4 if p.kind in ("input", "output") else 1]
            for p in source.parameters
        ]
        arrays.append(["threadgroup", "t", 64, 4])
        self.code = SimpleNamespace(notes=json.dumps({"arrays": arrays, "sites": SITES}))
        self.slots = self.inner.slots
        self.total_groups = self.inner.total_groups
        self.order: tuple[Sequence[int], Sequence[int]] | None = None
        self.found = list(found)
        self.runs: list[Any] = []

    def run(self, bound: list[Exporter], contiguous: bool) -> None:
        """Runs the kernel as always."""
        self.runs.append(self.order)
        self.inner.run(bound, contiguous)

    @contextmanager
    def in_order(self, *order: Sequence[int]) -> Iterator[None]:
        self.order = order  # type: ignore[assignment]
        yield
        self.order = None

    def take(self) -> list[Any]:
        return [SimpleNamespace(findings=list(self.found), lost=0)]


@contextmanager
def finding(*raws: Raw) -> Iterator[list[FakePlan]]:
    """While it is open, every sanitized launch finds these."""
    plans: list[FakePlan] = []

    def made(job: Any, nan: bool) -> FakePlan:
        plans.append(FakePlan(job.source, job.grid, job.threadgroup, raws))
        return plans[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execution, "_plan", made)
        yield plans


def twice(name: str = "twice") -> Callable[..., mx.array]:
    """A kernel, ready to be called with an array."""
    kernel = anymetal.metal_kernel(
        name=name,
        input_names=["x"],
        output_names=["y"],
        source="uint i = thread_position_in_grid.x; y[i] = 2 * x[i];",
    )

    def call(x: mx.array) -> mx.array:
        (y,) = kernel(
            inputs=[x],
            grid=(x.size, 1, 1),
            threadgroup=(32, 1, 1),
            output_shapes=[x.shape],
            output_dtypes=[x.dtype],
        )
        return y

    return call
