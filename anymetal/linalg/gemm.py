"""Products with tall, narrow matrices: A @ V and Aᵀ @ B in tiles, sums in float32."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import mlx.core as mx

from anymetal import metal_files, targets
from anymetal.custom import custom_function, in_front
from anymetal.errors import DtypeError
from anymetal.kernel import MetalKernel, metal_kernel
from anymetal.linalg.tile_sizes import DEPTH, Tile, tile_atb, tile_av
from anymetal.routines import Stream, routine
from anymetal.signature import TemplateValue
from anymetal.tune.switch import choose

_DTYPES = (mx.float32, mx.float16, mx.bfloat16)

#: Tiles as of the import: kernels are compiled for them.
TILE_AV, TILE_ATB = tile_av(), tile_atb()


@routine
def matmul_av(
    A: mx.array,
    V: mx.array,
    *,
    path: str | None = None,
    explain: bool = False,
    stream: Stream | None = None,
) -> mx.array:
    """A @ V, fastest where V has few columns.

    Args:
        A: float32, float16 or bfloat16, shape (..., m, n).
        V: The same, shape (..., n, q); leading axes broadcast.
        path: "kernel" or "mlx"; chosen by default.
        explain: Print which path runs, and why.
        stream: The stream or device to run on, as in `mx.linalg`; by default the current one.

    Returns:
        Shape (..., m, q), of the dtype to which those of A and V promote. Sums are float32.

    Raises:
        ValueError: Shapes that do not fit, or an unknown path.
        DtypeError: Another dtype.
    """
    return _product("matmul_av", PATHS_AV, A, V, (-1, -2), path, explain)


@routine
def matmul_atb(
    A: mx.array,
    B: mx.array,
    *,
    path: str | None = None,
    explain: bool = False,
    stream: Stream | None = None,
) -> mx.array:
    """Aᵀ @ B without a transposed copy, fastest where B has few columns.

    Args:
        A: float32, float16 or bfloat16, shape (..., m, n).
        B: The same, shape (..., m, q); leading axes broadcast.
        path: "kernel" or "mlx"; chosen by default.
        explain: Print which path runs, and why.
        stream: The stream or device to run on, as in `mx.linalg`; by default the current one.

    Returns:
        Shape (..., n, q), of the dtype to which those of A and B promote. Sums are float32.

    Raises:
        ValueError: Shapes that do not fit, or an unknown path.
        DtypeError: Another dtype.
    """
    return _product("matmul_atb", PATHS_ATB, A, B, (-2, -2), path, explain)


Product = Callable[[mx.array, mx.array], mx.array]
Shape = tuple[int, ...]


def _product(
    function: str,
    paths: dict[str, Product],
    left: mx.array,
    right: mx.array,
    inner: tuple[int, int],
    path: str | None,
    explain: bool,
) -> mx.array:
    asked = _question(function, inner, (left.shape, left.dtype), (right.shape, right.dtype))
    if 0 in asked.sizes:
        return mx.zeros(asked.result, asked.dtype)
    choice = choose(
        function,
        sizes=asked.sizes,
        dtype=asked.dtype,
        among=tuple(paths),
        default="kernel" if targets.for_stream(None).name == "cpu" else "mlx",
        forced=path,
        explain=explain,
    )
    product = paths[choice.path](_flat(left, asked), _flat(right, asked))
    return product.reshape(asked.result)


class _Question(NamedTuple):
    """What follows from the shapes and dtypes of a call."""

    sizes: tuple[int, int, int, int]  #: matrices, and rows, sums and columns of each
    dtype: mx.Dtype
    batch: Shape
    result: Shape


# A small product takes microseconds, so what follows from the arguments alone is kept.
@functools.lru_cache(maxsize=1024)
def _question(
    function: str,
    inner: tuple[int, int],
    left: tuple[Shape, mx.Dtype],
    right: tuple[Shape, mx.Dtype],
) -> _Question:
    for shape, dtype in (left, right):
        if dtype not in _DTYPES:
            raise DtypeError(f"[{function}] float32, float16 or bfloat16 needed, got {dtype}.")
        if len(shape) < 2:
            raise ValueError(f"[{function}] Matrices are needed, got shape {shape}.")
    one, other = left[0], right[0]
    if one[inner[0]] != other[inner[1]]:
        raise ValueError(f"[{function}] Shapes {one} and {other} do not fit.")
    batch = tuple(mx.broadcast_shapes(one[:-2], other[:-2]))
    rows, columns = one[-1 if inner[0] == -2 else -2], other[-1]
    sizes = (math.prod(batch), rows, one[inner[0]], columns)
    return _Question(sizes, mx.result_type(left[1], right[1]), batch, (*batch, rows, columns))


def _flat(matrix: mx.array, asked: _Question) -> mx.array:
    """The same matrices along one axis."""
    extent = matrix.shape[-2:]
    if matrix.shape[:-2] != asked.batch:
        matrix = mx.broadcast_to(matrix, (*asked.batch, *extent))
    return matrix.astype(asked.dtype).reshape(asked.sizes[0], *extent)


def _av(A: mx.array, V: mx.array) -> mx.array:
    """A @ V for shapes (batch, m, n) and (batch, n, q)."""
    kernel, arguments = _launch_av(TILE_AV, *A.shape[:2], V.shape[2], A.dtype)
    return kernel(inputs=[A, V], **arguments)[0]


@functools.lru_cache(maxsize=1024)
def _launch_av(
    tile: Tile, batch: int, rows: int, columns: int, dtype: mx.Dtype
) -> tuple[MetalKernel, dict[str, Any]]:
    """The kernel and all of its arguments but the inputs."""
    across, down = -(-columns // tile.columns), -(-rows // tile.rows)
    kind, grid, threadgroup = "tile", (across * tile.columns, down * tile.rows), tile[1::-1]
    if tile.in_registers:
        kind, grid, threadgroup = "lanes", (32 * across, down), (32, 1)
    return _kernel("gemm_av", kind, "v"), {
        "output_shapes": [(batch, rows, columns)],
        "output_dtypes": [dtype],
        "grid": (*grid, batch),
        "threadgroup": (*threadgroup, 1),
        "template": [("TM", tile.rows), ("W", tile.columns), *_common(tile, dtype)],
    }


def _atb(A: mx.array, B: mx.array) -> mx.array:
    """Aᵀ @ B for shapes (batch, m, n) and (batch, m, q)."""
    kernel, arguments = _launch_atb(TILE_ATB, *A.shape, B.shape[2], A.dtype)
    (sums,) = kernel(inputs=[A, B], **arguments)
    return sums.sum(axis=1).astype(A.dtype) if sums.shape[1] > 1 else sums.squeeze(1)


@functools.lru_cache(maxsize=1024)
def _launch_atb(
    tile: Tile, batch: int, inner: int, rows: int, columns: int, dtype: mx.Dtype
) -> tuple[MetalKernel, dict[str, Any]]:
    """The kernel and all of its arguments but the inputs."""
    tile = _narrowed(tile, rows, columns)
    across, down = -(-columns // tile.columns), -(-rows // tile.rows)
    side = min(down, _SIDE) if tile.in_registers else 1
    down = -(-down // side)
    parts = _parts(inner, batch * across * down)
    dtype = dtype if parts == 1 else mx.float32
    kind, grid, threadgroup = "tile", (across * tile.columns, down * tile.rows), tile[1::-1]
    if tile.in_registers:
        kind, grid, threadgroup = "lanes", (32 * side * down, across), (32 * side, 1)
    return _kernel("gemm_atb", kind, "b"), {
        "output_shapes": [(batch, parts, rows, columns)],
        "output_dtypes": [dtype],
        "grid": (*grid, batch * parts),
        "threadgroup": (*threadgroup, 1),
        "template": [("TN", tile.rows), ("TK", tile.columns), *_common(tile, dtype)],
    }


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


def _common(tile: Tile, dtype: mx.Dtype) -> list[tuple[str, TemplateValue]]:
    return [("Result", dtype), ("SUMS", tile.sums) if tile.in_registers else ("DEPTH", DEPTH)]


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
        (left, right), _ = in_front(inputs, axes)
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
