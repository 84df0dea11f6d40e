"""Dot products of all pairs of rows, with sums in float, two floats or limbs: the kernels."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import mlx.core as mx

from anymetal import metal_files
from anymetal.kernel import MetalKernel, metal_kernel
from anymetal.signature import TemplateValue

#: Products that one SIMD-group adds. Limbs allow 2^14 per lane; this keeps many SIMD-groups busy.
BLOCK = 2**14

#: 16-bit limbs of a sum, by name. "exact" has room for all that products of float32 can be: bits
#: from 2⁻²⁹⁸ to 2²⁵⁶, 2³¹ of them, and a sign.
LIMBS = {"limb": 8, "exact": 37}

Shape = tuple[int, int, int]
Template = list[tuple[str, TemplateValue]]


class Check(NamedTuple):
    """What the kernels that check their sums are told.

    Pairs that are `met` are not computed again: results for them are undefined.
    """

    met: mx.array | None  #: bool, of the results' shape; None before the first sums
    limit: mx.array  #: `limits` of bounded sums, `digits` of limbs


def row_dots(
    x: mx.array, y: mx.array, accumulate: str, *, symmetric: bool = False, root: bool = False
) -> mx.array:
    """The dot product of each row of x with each row of y.

    Args:
        x: float32, shape (batch, rows, count).
        y: float32, shape (batch, columns, count).
        accumulate: "float32", "compensated", "limb" or "exact".
        symmetric: x and y are the same: half of the result is mirrored from the other half.
        root: The square root of the sum, with one rounding for both in limbs.

    Returns:
        float32, shape (batch, rows, columns).
    """
    shape = (x.shape[0], x.shape[1], y.shape[1])
    if 0 in (*shape, x.shape[2]):
        return mx.zeros(shape, mx.float32)
    if accumulate in LIMBS:
        return in_limbs(x, y, LIMBS[accumulate], None, symmetric, root)[0]
    template = [*_common(symmetric, root), ("COMPENSATED", accumulate == "compensated")]
    pairs, blocks = _extent(shape, x)
    parts = shape if blocks == 1 else (pairs, blocks, 2)
    (sums,) = _run("float_dots", [x, y], [parts], [mx.float32], (32, pairs, blocks), template)
    if blocks == 1:
        return sums
    finish = (32, pairs, 1)
    return _run("float_results", [x, y, sums], [shape], [mx.float32], finish, template)[0]


def in_limbs(
    x: mx.array, y: mx.array, limbs: int, check: Check | None, symmetric: bool, root: bool
) -> tuple[mx.array, mx.array]:
    """Such dot products by limbs, and, with a check, whether they are within the tolerance."""
    shape = (x.shape[0], x.shape[1], y.shape[1])
    met, checked, verdicts = _asked(check, shape)
    digits = check.limit if check else _no_limit()
    rows = [x.view(mx.uint32), y.view(mx.uint32), met]
    template = [*_common(symmetric, root), ("CHECKED", checked)]
    run = functools.partial(_run, template=template, limbs=limbs)
    pairs, blocks = _extent(shape, x)
    ends = [shape, verdicts], [mx.uint32, mx.bool_], (32, pairs, 1)
    if blocks == 1:
        bits, enough = run("limb_dots", [*rows, digits], *ends)
    else:
        total = mx.array(x.shape[2], mx.int32)
        blockwise = (32, pairs, blocks)
        (surveys,) = run("limb_surveys", rows, [(pairs, blocks, 2)], [mx.int32], blockwise)
        parts = [(pairs, blocks, limbs)]
        (sums,) = run("limb_blocks", [*rows, surveys, total], parts, [mx.int32], blockwise)
        bits, enough = run("limb_results", [*rows, digits, surveys, sums, total], *ends)
    return bits.view(mx.float32), enough


class Window(NamedTuple):
    """Dot products of which these rows are a part, added in one window for all parts."""

    x: mx.array
    y: mx.array
    limbs: int
    total: int  #: products of each sum, with those of all parts

    @property
    def pairs(self) -> int:
        return self.x.shape[0] * self.x.shape[1] * self.y.shape[1]

    def surveys(self) -> mx.array:
        """The largest exponent and the special products of each block, (pairs, blocks, 2)."""
        out = (self.pairs, self._blocks(), 2)
        return self._run("limb_surveys", self._rows(), out, mx.int32, out[1])

    def sums(self, surveys: mx.array) -> mx.array:
        """Limbs of each block, (pairs, blocks, limbs); surveys (pairs, 2) are those of all parts.

        What lies at a sum with special products is undefined.
        """
        blocks = self._blocks()
        spread = mx.broadcast_to(surveys[:, None], (self.pairs, blocks, 2))
        inputs = [*self._rows(), spread, self._total()]
        return self._run("limb_blocks", inputs, (self.pairs, blocks, self.limbs), mx.int32, blocks)

    def results(self, surveys: mx.array, sums: mx.array, root: bool) -> mx.array:
        """The floats, (batch, rows, columns), of surveys (pairs, 2) and sums (pairs, limbs).

        Limbs are at most 2²⁶ in size.
        """
        shape = (self.x.shape[0], self.x.shape[1], self.y.shape[1])
        inputs = [*self._rows(), _no_limit(), surveys[:, None], sums[:, None], self._total()]
        template = [*_common(False, root), ("CHECKED", False)]
        outputs = [shape, (1, 1, 1)], [mx.uint32, mx.bool_]
        grid = (32, self.pairs, 1)
        bits, _ = _run("limb_results", inputs, *outputs, grid, template, self.limbs)
        return bits.view(mx.float32)

    def _blocks(self) -> int:
        return -(-self.x.shape[2] // BLOCK)

    def _rows(self) -> list[mx.array]:
        return [self.x.view(mx.uint32), self.y.view(mx.uint32), _nothing_met()]

    def _total(self) -> mx.array:
        return mx.array(self.total, mx.int32)

    def _run(
        self, name: str, inputs: list[mx.array], out: Shape, dtype: mx.Dtype, blocks: int
    ) -> mx.array:
        template = [*_common(False, False), ("CHECKED", False)]
        grid = (32, self.pairs, blocks)
        return _run(name, inputs, [out], [dtype], grid, template, self.limbs)[0]


def bounded(
    x: mx.array, y: mx.array, compensated: bool, check: Check, symmetric: bool, root: bool
) -> tuple[mx.array, mx.array]:
    """Such dot products by floats, and whether they are within the tolerance by their own bound."""
    shape = (x.shape[0], x.shape[1], y.shape[1])
    met, checked, _ = _asked(check, shape)
    template = [*_common(symmetric, root), ("CHECKED", checked), ("COMPENSATED", compensated)]
    pairs, blocks = _extent(shape, x)
    ends = [shape, shape], [mx.float32, mx.bool_], (32, pairs, 1), template
    if blocks == 1:
        sums, enough = _run("bounded_dots", [x, y, met, check.limit], *ends)
        return sums, enough
    blockwise = [(pairs, blocks, 4)], [mx.float32], (32, pairs, blocks), template
    (parts,) = _run("bounded_blocks", [x, y, met], *blockwise)
    sums, enough = _run("bounded_results", [x, y, met, check.limit, parts], *ends)
    return sums, enough


def _asked(check: Check | None, shape: Shape) -> tuple[mx.array, bool, Shape]:
    """`met` for a kernel, whether it has to look at it, and the shape of verdicts."""
    if check is None or check.met is None:
        return _nothing_met(), False, shape if check else (1, 1, 1)
    return check.met, True, shape


@functools.cache
def _nothing_met() -> mx.array:
    return mx.zeros((1,), mx.bool_)


@functools.cache
def _no_limit() -> mx.array:
    return mx.array(0, mx.int32)


def _common(symmetric: bool, root: bool) -> Template:
    return [("SYMMETRIC", symmetric), ("ROOT", root), ("BLOCK", BLOCK)]


def _extent(shape: Shape, x: mx.array) -> tuple[int, int]:
    """Number of dot products, and of the blocks of each."""
    batch, rows, columns = shape
    return batch * rows * columns, -(-x.shape[2] // BLOCK)


_LIMB_HEADERS = ("pairs_header", "limb_header")
_FLOAT_HEADERS = ("pairs_header", "float_dots_header")
_BOUNDED_HEADERS = (*_FLOAT_HEADERS, "bounded_header")

#: Inputs, outputs and headers of each kernel.
_SIGNATURES = {
    "limb_dots": (("x", "y", "met", "digits"), ("out", "enough"), _LIMB_HEADERS),
    "limb_surveys": (("x", "y", "met"), ("surveys",), _LIMB_HEADERS),
    "limb_blocks": (("x", "y", "met", "surveys", "total"), ("sums",), _LIMB_HEADERS),
    "limb_results": (
        ("x", "y", "met", "digits", "surveys", "sums", "total"),
        ("out", "enough"),
        _LIMB_HEADERS,
    ),
    "float_dots": (("x", "y"), ("out",), _FLOAT_HEADERS),
    "float_results": (("x", "y", "sums"), ("out",), _FLOAT_HEADERS),
    "bounded_dots": (("x", "y", "met", "limits"), ("out", "enough"), _BOUNDED_HEADERS),
    "bounded_blocks": (("x", "y", "met"), ("parts",), _BOUNDED_HEADERS),
    "bounded_results": (
        ("x", "y", "met", "limits", "parts"),
        ("out", "enough"),
        _BOUNDED_HEADERS,
    ),
}


def _run(
    name: str,
    inputs: list[mx.array],
    shapes: Sequence[Shape],
    dtypes: Sequence[mx.Dtype],
    grid: Shape,
    template: Template,
    limbs: int = 0,
) -> list[mx.array]:
    """One launch with a SIMD-group in each threadgroup."""
    return _kernel(name, limbs)(
        inputs=inputs,
        output_shapes=list(shapes),
        output_dtypes=list(dtypes),
        grid=grid,
        threadgroup=(32, 1, 1),
        template=template,
    )


@functools.cache
def _kernel(name: str, limbs: int) -> MetalKernel:
    inputs, outputs, headers = _SIGNATURES[name]
    header = "".join(metal_files.read("linalg", part) for part in headers)
    if limbs:
        header = f"constant constexpr int LIMBS = {limbs};\n{header}"
    return metal_kernel(
        name=f"linalg_{name}",
        input_names=inputs,
        output_names=outputs,
        source=metal_files.read("linalg", name),
        header=header,
        # Sums of rounding errors are nothing that a compiler may simplify.
        compile_options={"math_mode": "safe"},
    )
