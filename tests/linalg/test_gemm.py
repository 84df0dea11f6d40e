"""A @ V and Aᵀ @ B in tiles: any shape, any tile, gradients, and what is no tile."""

from __future__ import annotations

import functools
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from numpy.typing import NDArray

from anymetal.errors import DtypeError
from anymetal.linalg import gemm, tile_sizes
from anymetal.linalg.gemm import matmul_atb, matmul_av

Array = NDArray[Any]

# Those of Apple's GPUs, and larger and odd ones; in registers where lanes have 32 neighbours.
TILES_AV = [(8, 32), (32, 8), (16, 16), (3, 5), (4, 64)]
TILES_ATB = [(64, 64), (8, 32), (16, 16), (32, 3), (5, 3)]

# m, n, q around the sizes of tiles.
SHAPES = [(1, 1, 1), (7, 5, 3), (33, 65, 31), (64, 64, 64), (130, 70, 40), (31, 129, 100)]


def each_tile(sizes: list[tuple[int, int]], shapes: list[tuple[int, int, int]]) -> list[Any]:
    """All pairs; inputs of a few numbers are kernels of their own, for which one tile does."""
    return [
        pytest.param(tile, *shape, marks=[pytest.mark.slow] if max(shape) == 1 and number else [])
        for number, tile in enumerate(sizes)
        for shape in shapes
    ]


def random_pair(
    left: tuple[int, ...], right: tuple[int, ...], dtype: mx.Dtype = mx.float32
) -> tuple[mx.array, mx.array, Array, Array]:
    random = np.random.default_rng([*left, *right])
    a, b = (mx.array(random.standard_normal(s).astype(np.float32)) for s in (left, right))
    a, b = a.astype(dtype), b.astype(dtype)
    return a, b, *(np.array(x.astype(mx.float32)).astype(np.float64) for x in (a, b))


def close(result: mx.array, exact: Array, length: int) -> None:
    # A sum of n products of numbers of about 1 that are rounded at each step.
    np.testing.assert_allclose(
        np.array(result), exact, rtol=1e-5, atol=2e-6 * max(length, 1) ** 0.5
    )


@pytest.mark.parametrize(("tile", "m", "n", "q"), each_tile(TILES_AV, SHAPES))
def test_av(tile: tuple[int, int], m: int, n: int, q: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_GEMM_TILE_AV", "x".join(map(str, tile)))
    monkeypatch.setattr(gemm, "TILE_AV", tile_sizes.tile_av())
    A, V, a, v = random_pair((m, n), (n, q))
    close(matmul_av(A, V, path="kernel"), a @ v, n)


@pytest.mark.parametrize(("tile", "n", "m", "q"), each_tile(TILES_ATB, [*SHAPES, (40, 5000, 9)]))
def test_atb(
    tile: tuple[int, int], m: int, n: int, q: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANYMETAL_GEMM_TILE_ATB", "x".join(map(str, tile)))
    monkeypatch.setattr(gemm, "TILE_ATB", tile_sizes.tile_atb())
    A, B, a, b = random_pair((m, n), (m, q))
    close(matmul_atb(A, B, path="kernel"), a.T @ b, m)


@pytest.mark.parametrize("sums", [1, 2, 8])
def test_registers_of_other_processors(sums: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, tile in (("TILE_AV", (16, 64)), ("TILE_ATB", (64, 16))):
        monkeypatch.setattr(gemm, name, tile_sizes.Tile(*tile, sums))
    A, V, a, v = random_pair((45, 300), (300, 70))
    close(matmul_av(A, V, path="kernel"), a @ v, 300)
    A, B, a, b = random_pair((300, 70), (300, 37))
    close(matmul_atb(A, B, path="kernel"), a.T @ b, 300)


@pytest.mark.parametrize("path", ["kernel", "mlx"])
def test_batches_broadcast(path: str) -> None:
    A, V, a, v = random_pair((3, 1, 20, 9), (4, 9, 33))
    close(matmul_av(A, V, path=path), a @ v, 9)
    A, B, a, b = random_pair((9, 20), (2, 9, 5))
    close(matmul_atb(A, B, path=path), a.T @ b, 9)


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_short_floats_have_sums_in_float(dtype: mx.Dtype) -> None:
    for product, left, right, axes in (
        (matmul_av, (40, 3000), (3000, 5), "mk,kn->mn"),
        (matmul_atb, (3000, 40), (3000, 5), "km,kn->mn"),
    ):
        A, B, a, b = random_pair(left, right, dtype)
        result = product(A, B, path="kernel")
        assert result.dtype == dtype
        exact = np.einsum(axes, a, b)
        # One rounding of the result, and float32's errors before.
        relative = 2.0**-11 if dtype == mx.float16 else 2.0**-8
        np.testing.assert_allclose(
            np.array(result.astype(mx.float32)), exact, rtol=1.01 * relative, atol=1e-4
        )


def test_mixed_dtypes_promote() -> None:
    A, V, *_ = random_pair((5, 6), (6, 4))
    assert matmul_av(A.astype(mx.float16), V).dtype == mx.float32
    assert matmul_atb(A.T, V.astype(mx.bfloat16)).dtype == mx.float32


def test_strided_inputs() -> None:
    A, V, a, v = random_pair((60, 40), (40, 70))
    close(matmul_av(A[::3, 1::2], V[1::2, ::5], path="kernel"), a[::3, 1::2] @ v[1::2, ::5], 20)
    close(matmul_atb(A.T, V, path="kernel"), a @ v, 40)


@pytest.mark.parametrize("path", ["kernel", "mlx"])
def test_empty(path: str) -> None:
    assert matmul_av(mx.zeros((0, 4)), mx.zeros((4, 2)), path=path).shape == (0, 2)
    assert matmul_av(mx.zeros((3, 0)), mx.zeros((0, 2)), path=path).tolist() == [[0, 0]] * 3
    assert matmul_atb(mx.zeros((0, 3)), mx.zeros((0, 2)), path=path).tolist() == [[0, 0]] * 3
    assert matmul_atb(mx.zeros((0, 5, 3)), mx.zeros((5, 2)), path=path).shape == (0, 3, 2)


@pytest.mark.parametrize("path", ["kernel", "mlx"])
def test_gradients(path: str) -> None:
    A, V, a, v = random_pair((2, 9, 7), (7, 3))
    A, B, a, b = random_pair((2, 9, 7), (2, 9, 3))
    weight = np.random.default_rng(0).standard_normal((2, 7, 3))
    W = mx.array(weight.astype(np.float32))
    grad_a, grad_b = mx.grad(lambda x, y: (matmul_atb(x, y, path=path) * W).sum(), (0, 1))(A, B)
    close(grad_a, b @ weight.swapaxes(-1, -2), 9)
    close(grad_b, a @ weight, 9)

    weight = np.random.default_rng(1).standard_normal((2, 9, 3))
    W = mx.array(weight.astype(np.float32))
    grad_a, grad_v = mx.grad(lambda x, y: (matmul_av(x, y, path=path) * W).sum(), (0, 1))(A, V)
    close(grad_a, weight @ v.T, 9)
    close(grad_v, (a.swapaxes(-1, -2) @ weight).sum(0), 18)


@pytest.mark.parametrize("path", ["kernel", "mlx"])
@pytest.mark.parametrize("axes", [(0, 0), (2, 1), (0, None), (None, 2)])
def test_vmap(axes: tuple[int | None, int | None], path: str) -> None:
    batch, m, n, q = 3, 9, 7, 5
    for product, exact, left, right in (
        (matmul_av, lambda a, b: a @ b, (m, n), (n, q)),
        (matmul_atb, lambda a, b: a.T @ b, (n, m), (n, q)),
    ):
        shapes = [
            s if i is None else (*s[:i], batch, *s[i:])
            for s, i in zip((left, right), axes, strict=True)
        ]
        A, B, a, b = random_pair(*shapes)
        sliced = [
            [x if i is None else x.take(k, axis=i) for x, i in zip((a, b), axes, strict=True)]
            for k in range(batch)
        ]
        run = functools.partial(product, path=path)
        close(mx.vmap(run, axes)(A, B), np.stack([exact(*pair) for pair in sliced]), n)
        slope = mx.grad(lambda x, y, run=run: mx.square(run(x, y)).sum(), (0, 1))
        together = mx.vmap(slope, axes)(A, B)
        alone = [slope(*(mx.array(x.astype(np.float32)) for x in pair)) for pair in sliced]
        for got, want in zip(together, zip(*alone, strict=True), strict=True):
            np.testing.assert_allclose(np.array(got), np.stack(want), rtol=1e-4, atol=1e-4)


def test_rows_are_the_same_in_any_product() -> None:
    """A row's sums do not depend on where the row lies in its tile."""
    A, V, *_ = random_pair((21, 50), (50, 37))
    whole = np.array(matmul_av(A, V, path="kernel"))
    for row in range(21):
        np.testing.assert_array_equal(np.array(matmul_av(A[row : row + 1], V, path="kernel"))[0],
                                      whole[row])  # fmt: skip


def test_errors() -> None:
    with pytest.raises(ValueError, match=r"\[matmul_av\] Shapes \(3, 4\) and \(3, 2\) do not fit"):
        matmul_av(mx.zeros((3, 4)), mx.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"\[matmul_atb\] Shapes"):
        matmul_atb(mx.zeros((3, 4)), mx.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"\[matmul_av\] Matrices are needed"):
        matmul_av(mx.zeros((4,)), mx.zeros((4, 2)))
    with pytest.raises(DtypeError, match="int32"):
        matmul_av(mx.zeros((3, 4), mx.int32), mx.zeros((4, 2)))
    with pytest.raises(ValueError, match="kernel, mlx"):
        matmul_av(mx.zeros((3, 4)), mx.zeros((4, 2)), path="gpu")


@pytest.mark.parametrize(
    "text", ["16", "16x", "x16", "0x8", "00x8", "8x0", "8x000", "-8x8", "8x8x8", "a×b", "1e2x1"]
)
def test_what_is_no_tile(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_GEMM_TILE_AV", text)
    with pytest.raises(ValueError, match=r"ANYMETAL_GEMM_TILE_AV=.*TMxT.*1024.*32 KiB"):
        tile_sizes.tile_av()
    monkeypatch.setenv("ANYMETAL_GEMM_TILE_ATB", text)
    with pytest.raises(ValueError, match=r"ANYMETAL_GEMM_TILE_ATB=.*TNxTK"):
        tile_sizes.tile_atb()


@pytest.mark.parametrize(
    ("text", "reason"),
    [("64x24", "makes 1536"), ("1024x1", "65600 bytes"), ("256x32", "256 sums per thread")],
)
def test_tiles_beyond_the_limits(text: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_GEMM_TILE_AV", text)
    with pytest.raises(ValueError, match=reason + ".*TMxT"):
        tile_sizes.tile_av()


@pytest.mark.parametrize(
    ("device", "av", "atb"),
    [
        ("Apple M3", (32, 8), (8, 32)),
        ("Apple M3 Pro", (32, 8), (8, 32)),
        ("Apple M1 Max", (16, 16), (16, 16)),
        ("Apple M30", (16, 16), (16, 16)),
    ],
)
def test_tiles_of_apple_devices(
    device: str, av: tuple[int, int], atb: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tile_sizes, "HAS_METAL", True)
    monkeypatch.setattr(mx, "device_info", lambda: {"device_name": device})
    assert tile_sizes.tile_av()[:2] == av
    assert tile_sizes.tile_atb()[:2] == atb


def test_spaces_and_signs_of_multiplication(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_GEMM_TILE_AV", " 24X4 ")
    assert tile_sizes.tile_av() == (24, 4, 0)
    monkeypatch.setenv("ANYMETAL_GEMM_TILE_ATB", "32×7")
    assert tile_sizes.tile_atb()[:2] == (32, 7)


def test_the_name_that_published_kernels_have_for_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METALFAISS_GEMM_TILE_AV", "24x4")
    with pytest.warns(UserWarning, match="its name is ANYMETAL_GEMM_TILE_AV"):
        assert tile_sizes.tile_av() == (24, 4, 0)
    monkeypatch.setenv("ANYMETAL_GEMM_TILE_AV", "8x4")
    assert tile_sizes.tile_av() == (8, 4, 0)
