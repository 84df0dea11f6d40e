"""Dot products of all pairs of rows, with sums in float, two floats or limbs: the kernels."""

from __future__ import annotations

import functools

import mlx.core as mx

from anymetal import metal_files
from anymetal.kernel import MetalKernel, metal_kernel
from anymetal.signature import TemplateValue

#: Products that one SIMD-group adds. Limbs allow 2^14 per lane; this keeps many SIMD-groups busy.
BLOCK = 2**14

LIMBS = 8

Shape = tuple[int, int, int]
Template = list[tuple[str, TemplateValue]]


def row_dots(
    x: mx.array, y: mx.array, accumulate: str, *, symmetric: bool = False, root: bool = False
) -> mx.array:
    """The dot product of each row of x with each row of y.

    Args:
        x: float32, shape (batch, rows, count).
        y: float32, shape (batch, columns, count).
        accumulate: "float32", "compensated" or "limb".
        symmetric: x and y are the same: half of the result is mirrored from the other half.
        root: The square root of the sum, with one rounding for both in limbs.

    Returns:
        float32, shape (batch, rows, columns).
    """
    batch, rows, count = x.shape
    columns = y.shape[1]
    shape = (batch, rows, columns)
    if 0 in (batch, rows, columns, count):
        return mx.zeros(shape, mx.float32)
    template: Template = [("SYMMETRIC", symmetric), ("ROOT", root), ("BLOCK", BLOCK)]
    if accumulate == "limb":
        bits = _in_limbs([x.view(mx.uint32), y.view(mx.uint32)], shape, template)
        return bits.view(mx.float32)
    return _in_floats([x, y], shape, [*template, ("COMPENSATED", accumulate == "compensated")])


def _in_limbs(rows: list[mx.array], shape: Shape, template: Template) -> mx.array:
    pairs, blocks = _extent(shape, rows[0])
    if blocks == 1:
        return _run("limb_dots", rows, shape, mx.uint32, (32, pairs, 1), template)
    blockwise, finish = (32, pairs, blocks), (32, pairs, 1)
    surveys = _run("limb_surveys", rows, (pairs, blocks, 2), mx.int32, blockwise, template)
    parts = (pairs, blocks, LIMBS)
    sums = _run("limb_blocks", [*rows, surveys], parts, mx.int32, blockwise, template)
    return _run("limb_results", [*rows, surveys, sums], shape, mx.uint32, finish, template)


def _in_floats(rows: list[mx.array], shape: Shape, template: Template) -> mx.array:
    pairs, blocks = _extent(shape, rows[0])
    parts = shape if blocks == 1 else (pairs, blocks, 2)
    sums = _run("float_dots", rows, parts, mx.float32, (32, pairs, blocks), template)
    if blocks == 1:
        return sums
    finish = (32, pairs, 1)
    return _run("float_results", [*rows, sums], shape, mx.float32, finish, template)


def _extent(shape: Shape, x: mx.array) -> tuple[int, int]:
    """Number of dot products, and of the blocks of each."""
    batch, rows, columns = shape
    return batch * rows * columns, -(-x.shape[2] // BLOCK)


#: Inputs and output of each kernel.
_SIGNATURES = {
    "limb_dots": (("x", "y"), "out"),
    "limb_surveys": (("x", "y"), "surveys"),
    "limb_blocks": (("x", "y", "surveys"), "sums"),
    "limb_results": (("x", "y", "surveys", "sums"), "out"),
    "float_dots": (("x", "y"), "out"),
    "float_results": (("x", "y", "sums"), "out"),
}


def _run(
    name: str,
    inputs: list[mx.array],
    shape: Shape,
    dtype: mx.Dtype,
    grid: Shape,
    template: Template,
) -> mx.array:
    """One launch with a SIMD-group in each threadgroup."""
    return _kernel(name)(
        inputs=inputs,
        output_shapes=[shape],
        output_dtypes=[dtype],
        grid=grid,
        threadgroup=(32, 1, 1),
        template=template,
    )[0]


@functools.cache
def _kernel(name: str) -> MetalKernel:
    inputs, output = _SIGNATURES[name]
    header = "limb_header" if name.startswith("limb") else "float_dots_header"
    return metal_kernel(
        name=f"linalg_{name}",
        input_names=inputs,
        output_names=[output],
        source=metal_files.read("linalg", name),
        header=metal_files.read("linalg", "pairs_header") + metal_files.read("linalg", header),
        # Sums of rounding errors are nothing that a compiler may simplify.
        compile_options={"math_mode": "safe"},
    )
