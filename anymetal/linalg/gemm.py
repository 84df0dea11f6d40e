"""Products with tall, narrow matrices: A @ V and Aᵀ @ B in tiles, sums in float32."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, cast

import mlx.core as mx

from anymetal import metal_files
from anymetal.custom import custom_function
from anymetal.kernel import MetalKernel, metal_kernel
from anymetal.linalg.tiles import DEPTH, Tile, tile_atb, tile_av
from anymetal.signature import TemplateValue
from anymetal.targets import HAS_METAL
from anymetal.tune.switch import choose

_DTYPES = (mx.float32, mx.float16, mx.bfloat16)

#: Tiles as of the import: kernels are compiled for them.
TILE_AV, TILE_ATB = tile_av(), tile_atb()


def matmul_av(
    A: mx.array, V: mx.array, *, path: str | None = None, explain: bool = False
) -> mx.array:
    """A @ V, fastest where V has few columns.

    Args:
        A: float32, float16 or bfloat16, shape (..., m, n).
        V: The same, shape (..., n, q); leading axes broadcast.
        path: "kernel" or "mlx"; chosen by default.
        explain: Print which path runs, and why.

    Returns:
        Shape (..., m, q), of the dtype to which those of A and V promote. Sums are float32.

    Raises:
        ValueError: Shapes that do not fit, or an unknown path.
        TypeError: Another dtype.
    """
    return _product("matmul_av", PATHS_AV, A, V, (-1, -2), path, explain)


def matmul_atb(
    A: mx.array, B: mx.array, *, path: str | None = None, explain: bool = False
) -> mx.array:
    """Aᵀ @ B without a transposed copy, fastest where B has few columns.

    Args:
        A: float32, float16 or bfloat16, shape (..., m, n).
        B: The same, shape (..., m, q); leading axes broadcast.
        path: "kernel" or "mlx"; chosen by default.
        explain: Print which path runs, and why.

    Returns:
        Shape (..., n, q), of the dtype to which those of A and B promote. Sums are float32.

    Raises:
        ValueError: Shapes that do not fit, or an unknown path.
        TypeError: Another dtype.
    """
    return _product("matmul_atb", PATHS_ATB, A, B, (-2, -2), path, explain)


Product = Callable[[mx.array, mx.array], mx.array]


def _product(
    function: str,
    paths: dict[str, Product],
    left: mx.array,
    right: mx.array,
    inner: tuple[int, int],
    path: str | None,
    explain: bool,
) -> mx.array:
    for value in (left, right):
        if value.dtype not in _DTYPES:
            raise TypeError(f"[{function}] float32, float16 or bfloat16 needed, got {value.dtype}.")
        if value.ndim < 2:
            raise ValueError(f"[{function}] Matrices are needed, got shape {value.shape}.")
    if left.shape[inner[0]] != right.shape[inner[1]]:
        raise ValueError(f"[{function}] Shapes {left.shape} and {right.shape} do not fit.")
    dtype = mx.result_type(left, right)
    left, right = left.astype(dtype), right.astype(dtype)
    batch = mx.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    outer = left.shape[-1 if inner[0] == -2 else -2]
    sizes = (math.prod(batch), outer, left.shape[inner[0]], right.shape[-1])
    if 0 in sizes:
        return mx.zeros((*batch, outer, right.shape[-1]), dtype)
    choice = choose(
        function,
        sizes=sizes,
        dtype=dtype,
        among=tuple(paths),
        default="mlx" if HAS_METAL else "kernel",
        forced=path,
        explain=explain,
    )
    product = paths[choice.path](_flat(left, batch), _flat(right, batch))
    return product.reshape(*batch, *product.shape[-2:])


def _flat(matrix: mx.array, batch: tuple[int, ...]) -> mx.array:
    """The same matrices along one axis."""
    extent = matrix.shape[-2:]
    return mx.broadcast_to(matrix, (*batch, *extent)).reshape(math.prod(batch), *extent)


def _av(A: mx.array, V: mx.array) -> mx.array:
    """A @ V for shapes (batch, m, n) and (batch, n, q)."""
    batch, rows, _ = A.shape
    columns, tile = V.shape[2], TILE_AV
    across, down = -(-columns // tile.columns), -(-rows // tile.rows)
    kind, grid, threadgroup = "tile", (across * tile.columns, down * tile.rows), tile[1::-1]
    if tile.in_registers:
        kind, grid, threadgroup = "lanes", (32 * across, down), (32, 1)
    return _kernel("gemm_av", kind, "v")(
        inputs=[A, V],
        output_shapes=[(batch, rows, columns)],
        output_dtypes=[A.dtype],
        grid=(*grid, batch),
        threadgroup=(*threadgroup, 1),
        template=[("TM", tile.rows), ("W", tile.columns), *_common(kind, A.dtype)],
    )[0]


def _atb(A: mx.array, B: mx.array) -> mx.array:
    """Aᵀ @ B for shapes (batch, m, n) and (batch, m, q)."""
    batch, inner, rows = A.shape
    columns, tile = B.shape[2], _narrowed(TILE_ATB, rows, B.shape[2])
    across, down = -(-columns // tile.columns), -(-rows // tile.rows)
    side = min(down, _SIDE) if tile.in_registers else 1
    down = -(-down // side)
    parts = _parts(inner, batch * across * down)
    dtype = A.dtype if parts == 1 else mx.float32
    kind, grid, threadgroup = "tile", (across * tile.columns, down * tile.rows), tile[1::-1]
    if tile.in_registers:
        kind, grid, threadgroup = "lanes", (32 * side * down, across), (32 * side, 1)
    (sums,) = _kernel("gemm_atb", kind, "b")(
        inputs=[A, B],
        output_shapes=[(batch, parts, rows, columns)],
        output_dtypes=[dtype],
        grid=(*grid, batch * parts),
        threadgroup=(*threadgroup, 1),
        template=[("TN", tile.rows), ("TK", tile.columns), *_common(kind, dtype)],
    )
    return sums.sum(axis=1).astype(A.dtype) if parts > 1 else sums.squeeze(1)


#: SIMD-groups of a threadgroup that read neighbouring columns of the same rows.
_SIDE = 16


def _narrowed(tile: Tile, rows: int, columns: int) -> Tile:
    """Sums in registers for no more columns than there are, in eights lest kernels become many.

    Strips of 32 rows, if an eighth of the lanes or more would be idle otherwise.
    """
    if not tile.in_registers:
        return tile
    if 8 * (-rows % tile.rows - -rows % 32) > rows:
        tile = tile._replace(rows=32)
    return tile._replace(columns=min(tile.columns, -(-columns // 8) * 8))


def _parts(inner: int, threadgroups: int) -> int:
    """Into how many sums a long sum is cut where there are few threadgroups to share the work."""
    wanted = min(16 // threadgroups, inner // 512)
    return 1 << max(wanted, 1).bit_length() - 1


def _common(kind: str, dtype: mx.Dtype) -> list[tuple[str, TemplateValue]]:
    return [("Result", dtype), *([("DEPTH", DEPTH)] if kind == "tile" else [])]


@functools.cache
def _kernel(product: str, kind: str, right: str) -> MetalKernel:
    return metal_kernel(
        name=f"linalg_{product}_{kind}",
        input_names=["a", right],
        output_names=["out"],
        source=metal_files.read("linalg", f"{product}_{kind}"),
        header=metal_files.read("linalg", "gemm_header"),
    )


def _transformable(forward: Product, backward: Callable[..., object]) -> Product:
    """With rules for `mx.grad` and `mx.vmap`."""
    custom: Any = custom_function(forward)
    product = cast(Product, custom)

    def mapped(
        inputs: tuple[mx.array, mx.array], axes: tuple[int | None, int | None]
    ) -> tuple[mx.array, int]:
        size = next(x.shape[i] for x, i in zip(inputs, axes, strict=True) if i is not None)
        left, right = (
            mx.broadcast_to(x, (size, *x.shape)) if i is None else mx.moveaxis(x, i, 0)
            for x, i in zip(inputs, axes, strict=True)
        )
        together = product(left.flatten(0, 1), right.flatten(0, 1))
        return mx.unflatten(together, 0, left.shape[:2]), 0

    custom.vjp(backward)
    custom.vmap(mapped)
    return product


def _av_backward(
    primals: tuple[mx.array, mx.array], cotangent: mx.array, _: mx.array
) -> tuple[mx.array, mx.array]:
    A, V = primals
    return PATHS_AV["kernel"](cotangent, V.swapaxes(-1, -2)), PATHS_ATB["kernel"](A, cotangent)


def _atb_backward(
    primals: tuple[mx.array, mx.array], cotangent: mx.array, _: mx.array
) -> tuple[mx.array, mx.array]:
    A, B = primals
    product = PATHS_AV["kernel"]
    return product(B, cotangent.swapaxes(-1, -2)), product(A, cotangent)


PATHS_AV: dict[str, Product] = {
    "kernel": _transformable(_av, _av_backward),
    "mlx": mx.matmul,
}
PATHS_ATB: dict[str, Product] = {
    "kernel": _transformable(_atb, _atb_backward),
    "mlx": lambda A, B: A.swapaxes(-1, -2) @ B,
}
