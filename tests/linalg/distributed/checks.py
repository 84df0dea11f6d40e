"""A program for each rank: every routine beside LAPACK. Arguments: checks, a file, seconds."""

from __future__ import annotations

import faulthandler
import itertools
import os
import sys
from collections.abc import Callable

import mlx.core as mx
import numpy as np
import scipy.linalg

from anymetal.linalg import distributed
from anymetal.linalg.distributed.exchange import merges
from benchmarks.cost.counting import (
    Sent,
    counted,
    received_bytes,
    received_words,
    ring_words,
)
from benchmarks.cost.routines import ROUTINES
from tests.linalg.distributed.sharding import RANK, RANKS, Array, shard, whole

KINDS = ("ragged", "empty", "tiny")

#: How triangles of TSQR get about: NCCL has no messages from rank to rank.
EXCHANGES = ("gather",) if "NCCL_HOST_IP" in os.environ else ("tree", "gather")


def normal(*shape: int) -> Array:
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


def wild(count: int) -> Array:
    """Numbers of very different size, whose sums in float32 depend on the order."""
    random = np.random.default_rng(count)
    return (random.standard_normal(count) * 10.0 ** random.integers(-9, 9, count)).astype("f4")


def bits(value: mx.array) -> str:
    return np.array(value).tobytes().hex()


def limbs() -> None:
    """Prints the bits, which the test compares for all numbers of ranks."""
    x, y, A = wild(40_000), wild(40_001)[1:], wild(2100).reshape(300, 7)
    for kind in KINDS:
        xs, ys, As = shard(x, kind), shard(y, kind), shard(A, kind)
        for accumulate in ("limb", "exact"):
            results = [
                distributed.dot(xs, ys, accumulate=accumulate),  # type: ignore[arg-type]
                distributed.norm(xs, accumulate=accumulate),  # type: ignore[arg-type]
                distributed.gram(As, accumulate=accumulate),  # type: ignore[arg-type]
                distributed.products(As, As[:, :2], accumulate=accumulate),  # type: ignore[arg-type]
            ]
            mx.eval(results)
            print("bits", accumulate, *map(bits, results))


def undefined() -> None:
    """Infinities on one rank, and on two with different signs."""
    for x, expected in (([1.0, np.inf], np.inf), ([np.inf, -np.inf], np.nan), ([np.nan], np.nan)):
        numbers = np.zeros(16, np.float32)
        numbers[:: 16 // len(x)][: len(x)] = x
        ones = np.ones(16, np.float32)
        got = distributed.dot(shard(numbers), shard(ones), accumulate="limb").item()
        np.testing.assert_equal(got, expected)


def sums() -> None:
    x, A, B = normal(1000), normal(300, 7), normal(300, 3)
    for kind in KINDS:
        xs, As, Bs = shard(x, kind), shard(A, kind), shard(B, kind)
        exact = A.astype(float)
        np.testing.assert_allclose(distributed.norm(xs), np.linalg.norm(x.astype(float)), 1e-6)
        np.testing.assert_allclose(distributed.dot(xs, xs), (x.astype(float) ** 2).sum(), 1e-6)
        gram = np.array(distributed.gram(As))
        np.testing.assert_allclose(gram, exact.T @ exact, atol=1e-6 * np.square(exact).sum())
        assert (gram == gram.T).all()
        np.testing.assert_allclose(distributed.products(As, Bs), exact.T @ B, atol=5e-4)


def gradients() -> None:
    A = normal(60, 4)
    exact = A.astype(float)
    weights = mx.array(normal(4, 4))
    got = whole(mx.grad(lambda a: (distributed.gram(a) * weights).sum())(shard(A)))
    w = np.array(weights, float)
    np.testing.assert_allclose(got, exact @ (w + w.T), atol=1e-4)
    got = whole(mx.grad(lambda a: distributed.norm(a.reshape(-1)))(shard(A)))
    np.testing.assert_allclose(got, exact / np.linalg.norm(exact), atol=1e-6)


def gradients_of_singular_values() -> None:
    """Beside central differences of LAPACK's factors, in float64."""
    A = normal(60, 9).astype(float) * 0.8 ** np.arange(9)
    weights = [
        np.random.default_rng(i).standard_normal(s) for i, s in enumerate(((60, 3), 3, (3, 9)))
    ]
    step = normal(*A.shape).astype(float)

    def loss(A: Array) -> float:
        U, S, Vt = scipy.linalg.svd(A, full_matrices=False)
        sign = np.sign(U[np.abs(U).argmax(axis=0), range(9)])[:3]
        factors = U[:, :3] * sign, S[:3], Vt[:3] * sign[:, None]
        return float(sum((w * x).sum() for w, x in zip(weights, factors, strict=True)))

    expected = (loss(A + 1e-6 * step) - loss(A - 1e-6 * step)) / 2e-6
    for kind, path in itertools.product(KINDS, ("full", "subspace")):
        own = shard(weights[0].astype("f4"), kind)
        rest = [mx.array(w.astype("f4")) for w in weights[1:]]

        def of_rank(A: mx.array) -> mx.array:
            factors = distributed.svd_topk(A, 3, path=path, tol=1e-6)  # type: ignore[arg-type]  # noqa: B023
            pairs = zip((own, *rest), factors, strict=True)  # noqa: B023
            return sum((w * x).sum() for w, x in pairs)  # type: ignore[return-value]

        got = whole(mx.grad(of_rank)(shard(A.astype("f4"), kind)))
        np.testing.assert_allclose((got * step).sum(), expected, rtol=1e-3)


def compiled() -> None:
    A = normal(60, 4)
    function = mx.compile(lambda a: distributed.gram(a) @ mx.ones((4, 1)))
    expected = A.astype(float).T @ A @ np.ones((4, 1))
    np.testing.assert_allclose(function(shard(A)), expected, atol=1e-3)


MATRICES = {
    "tall": normal(700, 30),
    "deficient": normal(300, 5) @ normal(5, 30),
    "graded": normal(200, 30) * np.logspace(0, -9, 30, dtype=np.float32),
    "small": normal(5, 12),
    "zero": np.zeros((40, 30), np.float32),
}


def factors(exchange: str = EXCHANGES[0]) -> None:
    """Within the bounds of tests/linalg/test_qr.py."""
    for (name, A), kind in itertools.product(MATRICES.items(), KINDS):
        rows = shard(A, kind)
        Q, R = distributed.qr(rows, exchange=exchange)  # type: ignore[arg-type]
        q, r = whole(Q).astype(float), np.array(R, float)
        k = min(A.shape)
        assert q.shape == (A.shape[0], k) and r.shape == (k, A.shape[1]), name
        assert (np.diag(r) >= 0).all() and (np.tril(r, -1) == 0).all(), name
        assert np.linalg.norm(q.T @ q - np.eye(k)) <= 1e-6 * np.sqrt(k), (name, kind)
        lapack = np.linalg.norm(np.matmul(*scipy.linalg.qr(A, mode="economic")) - A)
        assert np.linalg.norm(q @ r - A) <= max(4 * lapack, 1e-6 * np.linalg.norm(A)), (name, kind)
        if name == "tall":
            expected = scipy.linalg.qr(A.astype(float), mode="economic")[1]
            expected *= np.sign(np.diag(expected))[:, None]
            np.testing.assert_allclose(r, expected, atol=1e-4)
            implicit, _ = distributed.implicit_qr(rows)
            np.testing.assert_allclose(implicit.transposed_times(rows), r, atol=1e-4)
            np.testing.assert_allclose(whole(implicit.times(R)), A, atol=1e-4)


def factors_at_once() -> None:
    factors("gather")


def triangles() -> None:
    for n, block in ((100, 16), (33, 20), (20, 32), (300, 128)):
        A = normal(n, n)
        A = A @ A.T + n * np.eye(n, dtype=np.float32)
        B = normal(n, 3)
        rows = distributed.cyclic_rows(n, block=block)
        mine = np.array(rows)
        U = distributed.cholesky(mx.array(A)[rows], block=block)
        expected = scipy.linalg.cholesky(A.astype(float))
        np.testing.assert_allclose(U, expected[mine], atol=1e-6 * np.linalg.norm(expected))
        Y = distributed.solve_triangular(U, mx.array(B)[rows], transposed=True, block=block)
        X = distributed.solve_triangular(U, Y, block=block)
        mx.eval(X)
        np.testing.assert_allclose(X, np.linalg.solve(A.astype(float), B)[mine], atol=1e-5)
        failed = distributed.cholesky(-mx.array(A)[rows], block=block)
        assert np.isnan(np.array(failed)).all()


def singular_values(paths: tuple[str, ...] = ("full", "subspace", "lanczos")) -> None:
    """Within `tol` of LAPACK's values, as on one machine."""
    A = normal(150, 90) * np.logspace(0, -3, 90, dtype=np.float32)
    expected = scipy.linalg.svdvals(A.astype(float))
    for path in paths:
        for kind in KINDS:
            U, S, Vt = distributed.svd_topk(shard(A, kind), 6, path=path, tol=1e-5)  # type: ignore[arg-type]
            u, s, vt = whole(U).astype(float), np.array(S, float), np.array(Vt, float)
            assert np.abs(s - expected[:6]).max() <= 1e-5 * expected[0], (path, kind)
            assert np.abs(u.T @ u - np.eye(6)).max() <= 5e-6, (path, kind)
            assert np.abs(vt @ vt.T - np.eye(6)).max() <= 5e-6, (path, kind)
            assert np.linalg.norm(A @ vt.T - u * s) <= 1e-4 * expected[0], (path, kind)
            assert (u[np.abs(u).argmax(axis=0), range(6)] > 0).all(), (path, kind)


def odd_matrices() -> None:
    for value, expected in ((0.0, 0.0), (np.nan, np.nan), (1e30, 1e30 * np.sqrt(40 * 12))):
        A = shard(np.full((40, 12), value, np.float32))
        _, S, _ = distributed.svd_topk(A, 1, path="subspace")
        np.testing.assert_allclose(S.item(), expected, 1e-5)


def files() -> None:
    path = sys.argv[2]
    A = np.load(path)
    matrix = distributed.open_matrix(path, band_bytes=4 * 90 * 7)
    U, S, _ = distributed.svd_topk(matrix, 6, journal=f"{path}.journal")
    expected = scipy.linalg.svdvals(A.astype(float))[:6]
    np.testing.assert_allclose(S, expected, atol=1e-5 * expected[0])
    again, _, _ = distributed.svd_topk(matrix, 6, journal=f"{path}.journal")
    assert mx.array_equal(U, again)


def triangle(n: int) -> int:
    return n * (n + 1) // 2


def counts() -> None:
    """Collectives and words of each routine, as docs/distributed.md has them."""
    if RANKS == 1:
        return
    n, m, b = 12, 40, 16
    rows = mx.array(normal(m, n))
    agreement = Sent("all_gather", 128)
    sums = Sent("all_sum", triangle(n))
    limbs = [Sent("all_max", 2 * triangle(n)), Sent("all_sum", 8 * triangle(n))]
    square = mx.array(np.eye(m, dtype=np.float32))[distributed.cyclic_rows(m, block=b)]
    panels = [(b, m), (b, m - b), (m - 2 * b, m - 2 * b)]
    right = mx.ones((square.shape[0], 3))
    cases: dict[str, tuple[Callable[[], mx.array], list[Sent]]] = {
        "norm": (lambda: distributed.norm(rows.reshape(-1)), [Sent("all_sum", 1)]),
        "gram": (lambda: distributed.gram(rows), [sums]),
        "gram in limbs": (lambda: distributed.gram(rows, accumulate="limb"), limbs),
        "products": (lambda: distributed.products(rows, rows), [Sent("all_sum", n * n)]),
        "cholesky": (
            lambda: distributed.cholesky(square, block=b),
            [Sent("all_sum", height * width) for height, width in panels],
        ),
        "solve": (
            lambda: distributed.solve_triangular(square, right, block=b),
            [Sent("all_sum", 3 * h) for h, _ in reversed(panels)],
        ),
    }
    for name, (routine, expected) in cases.items():
        with counted() as sent:
            mx.eval(routine())
        assert sent == [agreement, *expected], (name, sent)
    svd, size = ROUTINES["svd_topk"], {"m": 90 * RANKS, "n": 40, "b": 4}
    with counted() as sent:
        svd.prepare(size)()
    assert sent == svd.sent(size, RANKS)
    for exchange in EXCHANGES:
        with counted() as sent:
            mx.eval(distributed.qr(rows, exchange=exchange))  # type: ignore[arg-type]
        messages = (
            _of_tree(triangle(n)) if exchange == "tree" else [Sent("all_gather", triangle(n))]
        )
        assert sorted(sent) == sorted([agreement, *messages])


def _of_tree(words: int) -> list[Sent]:
    messages = [message for merge in merges(RANK, RANKS) for message in merge.messages]
    return [Sent("send" if message.sends else "recv", words) for message in messages]


def complaint(*calls: Callable[[], object]) -> str:
    """What the error says when rank r calls the r-th function, and all others the last."""
    try:
        calls[min(RANK, len(calls) - 1)]()
    except (ValueError, TypeError) as error:
        return str(error)
    raise AssertionError("no error")


def disagreement() -> None:
    if RANKS == 1:
        return
    right = mx.zeros((3, 4))
    said = complaint(lambda: distributed.qr(mx.zeros((3, 5))), lambda: distributed.qr(right))
    assert "rank 0 has (rows, 5) float32" in said or RANKS == 2, said
    said = complaint(lambda: distributed.gram(mx.zeros(3)), lambda: distributed.gram(right))
    assert RANK == 0 or f"Rank 0 of {RANKS} has an error" in said, said
    assert "two axes" in said, said
    said = complaint(lambda: distributed.gram(right), lambda: distributed.qr(right))
    assert "the routine differs" in said, said
    said = complaint(
        lambda: distributed.norm(mx.zeros(3), accumulate="limb"),
        lambda: distributed.norm(mx.zeros(3)),
    )
    assert "accumulate differs" in said, said
    said = complaint(lambda: distributed.cholesky(mx.zeros((9, 9)), block=2))
    assert "cyclic_rows" in said, said
    said = complaint(
        lambda: distributed.qr(right, exchange="broadcast"),  # type: ignore[arg-type]
        lambda: distributed.qr(right),
    )
    assert "exchange must be one of 'tree', 'gather'; got 'broadcast'" in said, said
    no_arrays()
    assert distributed.norm(mx.ones(4)).item() == 2 * np.float32(np.sqrt(RANKS))  # all goes on


def no_arrays() -> None:
    """NumPy's arrays and lists on rank 0 are an error on all ranks."""
    right = mx.zeros((3, 4))
    square = mx.zeros((3, 3))[distributed.cyclic_rows(3)]
    orthonormal, _ = distributed.implicit_qr(right)
    routines: dict[str, Callable[..., object]] = {
        "dot": lambda x: distributed.dot(x, right),
        "norm": distributed.norm,
        "gram": distributed.gram,
        "products": lambda A: distributed.products(A, right),
        "qr": distributed.qr,
        "transposed_times": orthonormal.transposed_times,
        "svd_topk": lambda A: distributed.svd_topk(A, 1),
        "cholesky": distributed.cholesky,
        "solve_triangular": lambda U: distributed.solve_triangular(U, square),
    }
    for name, routine in routines.items():
        for wrong, called in (
            (np.zeros((3, 4), np.float32), "numpy.ndarray of float32"),
            ([[0.0] * 4] * 3, "list"),
        ):
            fit = square if name in ("cholesky", "solve_triangular") else right
            said = complaint(lambda: routine(wrong), lambda: routine(fit))  # noqa: B023
            assert f"[{name}]" in said and f"must be an mx.array, not {called}." in said, said
            assert RANK == 0 or f"Rank 0 of {RANKS} has an error" in said, said


CHECKS: dict[str, Callable[[], None]] = {
    each.__name__: each
    for each in (
        limbs,
        undefined,
        sums,
        gradients,
        gradients_of_singular_values,
        compiled,
        factors,
        factors_at_once,
        triangles,
        singular_values,
        odd_matrices,
        files,
        counts,
        disagreement,
    )
}

if __name__ == "__main__":
    faulthandler.dump_traceback_later(float(sys.argv[3]), exit=True)
    with counted() as everything:
        for name in sys.argv[1].split(","):
            CHECKS[name]()
            print("passed", name, flush=True)
    # Nothing is sent any more, so what has arrived is what all of this has taken.
    print("bytes", received_bytes(), 4 * ring_words(everything, RANKS))
    print("messages", 4 * received_words(everything))
