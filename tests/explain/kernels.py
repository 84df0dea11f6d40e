"""Kernels to explain, by their bodies."""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from anymetal.explain.kernels import Explanation, explain
from anymetal.targets.cpu.variant import Extent, variant_for
from tests.frontend.kernels import kernel_source

INPUTS = {"a": mx.zeros(1024), "b": mx.zeros(1024, mx.int32), "n": mx.array(5)}
OUTPUTS = {"out": mx.float32, "to": mx.int32}
HERE = "uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;\n"


def explained(
    body: str, grid: Extent = (1024, 1, 1), group: Extent = (256, 1, 1), **options: Any
) -> Explanation:
    """Of a kernel with the inputs a (floats), b (ints), n (an int) and the outputs out and to.

    Line 1 declares `i`, the position in the grid, and `l`, that in the threadgroup.
    """
    source = kernel_source(HERE + body, inputs=INPUTS, outputs=OUTPUTS, **options)
    return explain(source, variant_for(grid, group))


def facts_of(line: str, **options: Any) -> list[str]:
    """What is known of a line that follows after the first one."""
    facts = explained(line, **options).facts
    return [f"{f.kind} {f.text}" for f in facts if f.location and f.location.line == 2]
