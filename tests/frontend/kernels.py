"""KernelSource values for the tests of the front end, made the way `signature.py` makes them."""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from anymetal.signature import KernelDefinition, SignatureGenerator
from anymetal.source import KernelSource


def kernel_source(
    body: str,
    header: str = "",
    *,
    inputs: dict[str, mx.array] | None = None,
    outputs: dict[str, mx.Dtype] | None = None,
    template: list[tuple[str, Any]] | None = None,
    name: str = "k",
    **options: Any,
) -> KernelSource:
    """By default a kernel with the input `a` (1024 floats), scalar input `s` and output `out`."""
    if inputs is None:
        inputs = {"a": mx.zeros(1024), "s": mx.array(1.0)}
    outputs = outputs or {"out": mx.float32}
    definition = KernelDefinition(name, tuple(inputs), tuple(outputs), body, header, **options)
    plan = SignatureGenerator(definition).specialization(
        list(inputs.values()), list(outputs.values()), template or []
    )
    return plan.source
