"""The routines with their sizes: how each is called, what it computes, and what it sends."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import mlx.core as mx

from anymetal.linalg import distributed
from benchmarks.cost.counting import Sent

Size = dict[str, int]

#: Words of the agreement that every routine begins with.
AGREEMENT = Sent("all_gather", 128)

#: Steps of subspace iteration.
STEPS = 3


class Routine(NamedTuple):
    """One routine."""

    title: str
    sizes: tuple[Size, ...]  #: that are measured
    prepare: Callable[[Size], Callable[[], object]]  #: of one rank: what is timed
    work: Callable[[Size, int], float]  #: floating-point operations of a rank of p
    sent: Callable[[Size, int], list[Sent]]  #: collectives of a rank of p
    merges: bool = False  #: by messages from neighbour to neighbour: TSQR


def agreed(*sent: Sent) -> list[Sent]:
    """Collectives behind an agreement."""
    return [AGREEMENT, *sent]


def rows_of(m: int) -> int:
    """This rank's part of so many rows."""
    group = mx.distributed.init()
    first, last = (m * r // group.size() for r in (group.rank(), group.rank() + 1))
    return last - first


def normal(*shape: int) -> mx.array:
    return mx.random.normal(shape, key=mx.random.key(mx.distributed.init().rank()))


def triangle(n: int) -> int:
    return n * (n + 1) // 2


def _norm(size: Size) -> Callable[[], object]:
    x = normal(rows_of(size["m"]))
    return lambda: distributed.norm(x)


def _gram(accumulate: str) -> Callable[[Size], Callable[[], object]]:
    def prepare(size: Size) -> Callable[[], object]:
        A = normal(rows_of(size["m"]), size["n"])
        return lambda: distributed.gram(A, accumulate=accumulate)  # type: ignore[arg-type]

    return prepare


def _qr(size: Size) -> Callable[[], object]:
    A = normal(rows_of(size["m"]), size["n"])
    return lambda: distributed.qr(A)


def _qr_work(size: Size, p: int) -> float:
    """Reflections and their product for the own rows, and for two triangles in each merge."""
    m, n = size["m"], size["n"]
    return 6 * m / p * n**2 + math.ceil(math.log2(p)) * 10 * n**3


def _cholesky(size: Size) -> Callable[[], object]:
    n = size["n"]
    A = (mx.eye(n) * n + 1)[distributed.cyclic_rows(n)]
    return lambda: distributed.cholesky(A)


def _panels(size: Size) -> list[tuple[int, int]]:
    """Rows of each block, and columns from there on."""
    n, b = size["n"], distributed.cyclic.BLOCK
    return [(min(b, n - start), n - start) for start in range(0, n, b)]


def _solve(size: Size) -> Callable[[], object]:
    n = size["n"]
    mine = distributed.cyclic_rows(n)
    U = mx.triu(mx.ones((n, n)) + mx.eye(n) * n)[mine]
    B = normal(U.shape[0], size["c"])
    return lambda: distributed.solve_triangular(U, B)


def _svd(size: Size) -> Callable[[], object]:
    A = normal(rows_of(size["m"]), size["n"])
    return lambda: distributed.svd_topk(
        A, size["b"], oversample=0, path="subspace", max_steps=STEPS, tol=1e-30
    )


def _svd_sent(size: Size, p: int) -> list[Sent]:
    """In each step twice a Gram matrix and once UᵀB, then AᵀU; the last step does without that."""
    n, b = size["n"], size["b"]
    small, large = Sent("all_sum", b * b), Sent("all_sum", n * b)
    range_is_right, signs = Sent("all_max", 2), Sent("all_max", 2 * b)
    steps = [sent for _ in range(STEPS) for sent in (small, small, small, large)]
    return agreed(range_is_right, *steps[:-1], signs)


def _all_sum(size: Size) -> Callable[[], object]:
    x = mx.zeros(size["w"])
    return lambda: mx.distributed.all_sum(x)


ROUTINES: dict[str, Routine] = {
    "all_sum": Routine(
        "MLX's all_sum",
        ({"w": 1}, {"w": 100_000}, {"w": 10_000_000}),
        _all_sum,
        lambda s, p: 0,
        lambda s, p: [Sent("all_sum", s["w"])],
    ),
    "norm": Routine(
        "norm",
        ({"m": 10_000}, {"m": 8_000_000}),
        _norm,
        lambda s, p: 2 * s["m"] / p,
        lambda s, p: agreed(Sent("all_sum", 1)),
    ),
    "gram": Routine(
        "gram",
        ({"m": 80_000, "n": 64}, {"m": 40_000, "n": 512}),
        _gram("float32"),
        lambda s, p: 2 * s["m"] / p * s["n"] ** 2,
        lambda s, p: agreed(Sent("all_sum", triangle(s["n"]))),
    ),
    "gram in limbs": Routine(
        "gram in limbs",
        ({"m": 20_000, "n": 32}, {"m": 20_000, "n": 96}),
        _gram("limb"),
        lambda s, p: 2 * s["m"] / p * s["n"] ** 2,
        lambda s, p: agreed(
            Sent("all_max", 2 * triangle(s["n"])), Sent("all_sum", 8 * triangle(s["n"]))
        ),
    ),
    "qr": Routine(
        "qr (TSQR)",
        ({"m": 80_000, "n": 32}, {"m": 20_000, "n": 256}),
        _qr,
        _qr_work,
        lambda s, p: agreed(),
        merges=True,
    ),
    "svd_topk": Routine(
        f"svd_topk ({STEPS} steps of subspace iteration)",
        ({"m": 80_000, "n": 128, "b": 16}, {"m": 40_000, "n": 1024, "b": 32}),
        _svd,
        lambda s, p: STEPS * s["m"] / p * (4 * s["n"] * s["b"] + 12 * s["b"] ** 2),
        _svd_sent,
    ),
    "cholesky": Routine(
        "cholesky",
        ({"n": 512}, {"n": 2048}),
        _cholesky,
        lambda s, p: s["n"] ** 3 / 3 / p,
        lambda s, p: agreed(*(Sent("all_sum", height * width) for height, width in _panels(s))),
    ),
    "solve_triangular": Routine(
        "solve_triangular",
        ({"n": 512, "c": 64}, {"n": 2048, "c": 256}),
        _solve,
        lambda s, p: s["n"] ** 2 * s["c"] / p,
        lambda s, p: agreed(
            *(Sent("all_sum", height * s["c"]) for height, _ in reversed(_panels(s)))
        ),
    ),
}
