"""Sanitized launches, as tests make them: what a kernel gives, and what is found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import mlx.core as mx
import pytest

import anymetal
from anymetal.runtime.bridge import loader
from anymetal.targets.cpu import launch
from anymetal.targets.cpu.sanitized import SanitizedPlan
from anymetal.targets.cpu.variant import gang_width


class Seen(NamedTuple):
    """A finding in words."""

    kind: int
    where: str
    array: str
    offset: int
    thread: tuple[int, ...]
    group: tuple[int, ...]
    count: int


def sanitized(
    body: str,
    inputs: Sequence[mx.array],
    outputs: Sequence[mx.array],
    threads: int = 64,
    group: int = 64,
    width: int = 32,
    **given: Any,
) -> tuple[list[mx.array], SanitizedPlan]:
    """Runs a kernel with inputs x0, x1 … and outputs y0, y1 …, which are like `outputs`."""
    kernel = anymetal.metal_kernel(
        "watched", [f"x{n}" for n in range(len(inputs))], [f"y{n}" for n in range(len(outputs))],
        body, **{k: given.pop(k) for k in ("header", "ensure_row_contiguous") if k in given},
    )  # fmt: skip
    with watching(given.get("init_value") is not None) as plans, gang_width(width):
        result = kernel(
            inputs=list(inputs), output_shapes=[y.shape for y in outputs],
            output_dtypes=[y.dtype for y in outputs], grid=(threads, 1, 1),
            threadgroup=(group, 1, 1), **given,
        )  # fmt: skip
        mx.eval(result)
    (plan,) = plans
    return result, plan


class watching:
    """All kernels are sanitized, at once; gives their plans."""

    def __init__(self, filled: bool = False) -> None:
        self.filled = filled

    def __enter__(self) -> list[SanitizedPlan]:
        plans: list[SanitizedPlan] = []
        filled = self.filled

        class Plan(SanitizedPlan):
            def __init__(self, *key: Any) -> None:
                super().__init__(*key, filled)
                plans.append(self)

        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(launch, "Plan", Plan)
        self.patch.setattr(loader, "native", lambda: None)
        return plans

    def __exit__(self, *_: object) -> None:
        self.patch.undo()


def seen(plan: SanitizedPlan) -> list[Seen]:
    """What the launch has found."""
    (told,) = plan.take()
    assert told.lost == 0
    return [
        Seen(
            f.kind, plan.sites[f.site].where,
            plan.arrays[f.object].name if f.object < len(plan.arrays) else "",
            f.offset, tuple(f.thread), tuple(f.group), f.count,
        )
        for f in told.findings
    ]  # fmt: skip
