"""The largest singular values of a matrix whose rows lie on several ranks, or in files.

The iterations are those of one machine (iterations.py). Their right-hand blocks, with a row for
each column of A, are the same on all ranks; of the left-hand ones, with A's rows, each rank has its
own. All that is communicated are sums: of AᵀU and of products of left-hand blocks.
"""

from __future__ import annotations

import functools
import math
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, cast, get_args

import mlx.core as mx
import rich.progress
from rich.console import Console

from anymetal.custom import custom_function
from anymetal.linalg.distributed.files import MatrixFile
from anymetal.linalg.distributed.journal import Journal
from anymetal.linalg.distributed.ranks import (
    Group,
    agree,
    agree_on_rows,
    all_max,
    all_sum,
    evaluate,
    of_group,
)
from anymetal.linalg.distributed.shards import Shard, largest_magnitude
from anymetal.linalg.distributed.tsqr import by_default, factored
from anymetal.linalg.gemm import matmul_atb
from anymetal.linalg.iterations import Operator, OutOfRangeError, Search
from anymetal.linalg.scaling import power_near
from anymetal.linalg.svd import (
    DTYPES,
    ITERATIONS,
    LARGE,
    block_size,
    check_numbers,
    possible_paths,
    tell,
)
from anymetal.linalg.svd_gradient import Triplets, gradient, scale_of

Path_ = Literal["lanczos", "subspace", "full"]
Factors = tuple[mx.array, mx.array, mx.array]


def svd_topk(
    A: mx.array | MatrixFile,
    k: int,
    *,
    tol: float = 1e-5,
    max_steps: int = 50,
    oversample: int | None = None,
    path: Path_ | None = None,
    key: mx.array | None = None,
    journal: str | Path | None = None,
    progress: bool | None = None,
    explain: bool = False,
    group: Group | None = None,
) -> Factors:
    """The k largest singular values of a matrix whose rows lie on several ranks.

    Paths are those of `anymetal.linalg.svd_topk`, with the same bounds: "lanczos" (block Lanczos
    with thick restarts), "subspace" (the randomised subspace iteration of Halko, Martinsson and
    Tropp, "Finding structure with randomness", SIAM Review 53(2), 2011, algorithm 4.4, with
    `max_steps` - 1 power iterations at most), and "full" (`qr`, and the SVD of R), for matrices in
    memory. Runs at once. The gradient of matrices in memory is that of one machine: of a loss that
    each rank computes in the same way from S and Vt, and in parts that are added from its rows of
    U. Each rank gets that of its own rows.

    Communication for blocks of b columns, besides the agreement: in each step `all_sum` of n·b
    words for AᵀU, and of about 3 to 10 b² words ("lanczos") or 3 b² ("subspace") for products of
    left-hand blocks. n·b words are the least that a sum of AᵀU takes on each rank. The gradient:
    `all_sum` of k², of n·k, and in each step of conjugate gradients of n·k words.

    Memory of a rank, besides its rows: "lanczos" 5 blocks of rows·b and of n·b floats and as many
    again while blocks are joined; with a `MatrixFile` one band more.

    Args:
        A: This rank's rows, shape (rows, n), float32, float16 or bfloat16, or rows in a file
            (`open_matrix`), which stay there. Any number of rows, or none.
        k: How many, from 1 to the smaller side of the whole matrix.
        tol, max_steps, oversample, path: As in `anymetal.linalg.svd_topk`; "full" by default if
            the smaller side is short and A is in memory.
        key: Random key of the first block, the same on all ranks.
        journal: A folder, for files alone: what has been computed is recorded there, by each rank
            under its number, so that the same call goes on after an interruption; `tol` and
            `max_steps` may be others. It takes up to 6 blocks of rows·b floats and is left for the
            caller to remove.
        progress: Show on the standard error stream of rank 0 which bands of a file are read; by
            default if that is a terminal.
        explain: Print path and steps to the standard error stream of rank 0.
        group: The ranks; by default all that were launched.

    Returns:
        This rank's rows of U, shape (rows, k); S of shape (k,), descending, and Vt of shape (k, n),
        the same on all ranks; float32. The largest entry of each column of U, by magnitude, is
        positive. All are NaN if A is not finite.

    Raises:
        ValueError: A number or the path is out of range, ranks differ, a journal of another matrix
            or without a file. On all ranks if it is the fault of one, which is named.
        DtypeError: Another dtype on this rank.
        TypeError: No array on this rank.
        RankLostError: The connection to another rank has ended.

    Warns:
        RuntimeWarning: Not converged after `max_steps`; on rank 0.
    """
    group = of_group(group)
    options: dict[str, object] = {
        "k": k,
        "oversample": oversample,
        "path": path,
        "key": str(key.tolist() if isinstance(key, mx.array) else key),
    }
    kept, error = _opened(A, group, journal, options)
    rows = _agreed(A, group, {"tol": tol, "max_steps": max_steps, **options}, kept, error)
    shape = (sum(rows), A.shape[1])
    check_numbers(shape, k, tol, max_steps, oversample)
    small = min(shape)
    block = block_size(k, oversample, small)
    path = _chosen(path, isinstance(A, MatrixFile), small, block)
    lead = group.rank() == 0
    if explain and lead:
        print(f"svd_topk: {path}, {len(rows)} ranks, blocks of {block} columns", file=sys.stderr)
    key = mx.random.key(0) if key is None else key
    left = mx.random.split(key, group.size() + 1)[group.rank() + 1]
    search = Search(k, block, tol, max_steps, key, left)
    if isinstance(A, MatrixFile):
        with ExitStack() as stack:
            visible = lead and (sys.stderr.isatty() if progress is None else progress)
            shown = stack.enter_context(_progress()) if visible else None
            return _iterated(Shard(A, group, kept, shown), search, path, group, explain)

    def forward(A: mx.array) -> Factors:
        if path == "full":
            return _full(A, rows, k, group)
        return _iterated(Shard(A, group), search, path, group, explain)

    function: Any = custom_function(forward).vjp(functools.partial(_backward, group))
    found: Factors = function(A.astype(mx.float32))
    return found


def _backward(group: Group, A: mx.array, cotangents: Factors, outputs: Factors) -> mx.array:
    (U, S, Vt), (dU, dS, dVt) = outputs, cotangents
    scale = scale_of(S)
    operator = _operator(Shard(A * (1 / scale), group), group)
    # Ranks must come to the same decisions, so that they go by the same numbers, those of rank 0.
    dS, dV = _of_first(dS, group), _of_first(dVt.T, group)
    return gradient(operator, scale, Triplets(U, S, Vt.T), Triplets(dU, dS, dV)).whole()


def _of_first(value: mx.array, group: Group) -> mx.array:
    return _total(value if group.rank() == 0 else mx.zeros_like(value), group)


def _opened(
    A: mx.array | MatrixFile,
    group: Group,
    folder: str | Path | None,
    options: dict[str, object],
) -> tuple[Journal | None, Exception | None]:
    """The journal, if there is one, or what is wrong with it on this rank."""
    if folder is None:
        return None, None
    if not isinstance(A, MatrixFile):
        return None, ValueError("[svd_topk] A journal is for matrices in files: see open_matrix.")
    try:
        own = Path(folder) / f"rank-{group.rank()}-of-{group.size()}"
        return Journal(own, {**A.identity(), **options}), None
    except (OSError, ValueError) as error:
        return None, error


def _progress() -> rich.progress.Progress:
    return rich.progress.Progress(console=Console(stderr=True))


def _agreed(
    A: mx.array | MatrixFile,
    group: Group,
    options: dict[str, object],
    journal: Journal | None,
    error: Exception | None,
) -> list[int]:
    """How many rows each rank has."""
    paths = (None, *get_args(Path_))
    if options["path"] not in paths:
        error = ValueError(f"[svd_topk] path must be one of {paths}, got {options['path']!r}.")
    if not isinstance(A, MatrixFile):
        return agree_on_rows("svd_topk", group, {"A": A}, options, dtypes=DTYPES, error=error)
    same = {"A": f"(rows, {A.shape[1]}) in a file", "journal": journal is not None, **options}
    return [own[0] for own in agree("svd_topk", group, same, A.shape[:1], error)]


def _chosen(path: Path_ | None, in_file: bool, small: int, block: int) -> Path_:
    possible = [name for name in possible_paths(small, block) if not (in_file and name == "full")]
    if path is None:
        lanczos = "lanczos" in possible and (small >= LARGE or in_file)
        return "lanczos" if lanczos else "subspace" if in_file else "full"
    if path not in possible:
        raise ValueError(
            f"[svd_topk] Path {path!r} cannot be taken for {'a file' if in_file else 'an array'} "
            f"with a smaller side of {small} and blocks of {block} columns; possible: "
            f"{', '.join(possible)}."
        )
    return path


def _full(A: mx.array, rows: list[int], k: int, group: Group) -> Factors:
    """By way of R, whose singular values are those of A."""
    Q, R = factored(A, rows, group, by_default())
    finite = mx.isfinite(R).all()
    plus = mx.where(finite, 0.0, math.nan)
    U, S, Vt = mx.linalg.svd(mx.where(finite, R, 0.0), stream=mx.cpu)
    return _signed(Q.times(U[:, :k]) + plus, S[:k] + plus, Vt[:k] + plus, group)


def _iterated(shard: Shard, search: Search, path: str, group: Group, explain: bool) -> Factors:
    iterate = ITERATIONS[path]
    scale = 1.0
    try:
        found = iterate(_operator(shard, group), search, shard)
    except OutOfRangeError:
        peak = cast(float, _largest(shard.peak(), group).item())
        if peak == 0 or not math.isfinite(peak):
            return _of_zero_or_undefined(shard, search.k, peak, group)
        scale = power_near(peak)
        shard = shard.scaled(1 / scale)
        found = iterate(_operator(shard, group), search, shard)
    if group.rank() == 0:
        tell(found, search.tolerance, explain)
    return _signed(found.U, found.S * scale, found.V.T, group)


def _operator(shard: Shard, group: Group) -> Operator:
    return Operator(
        shard.times,
        lambda U: _total(shard.transposed_times(U), group),
        *shard.shape,
        lambda U, B: _total(matmul_atb(U, B), group),
        lambda block: _largest(largest_magnitude(block), group),
    )


def _total(share: mx.array, group: Group) -> mx.array:
    result = all_sum(share, group)
    evaluate("svd_topk", group, result)
    return result


def _largest(peak: mx.array, group: Group) -> mx.array:
    """Over all ranks, undefined if it is so on any: the comparisons of `all_max` may drop a NaN."""
    both = mx.stack([mx.where(mx.isnan(peak), 0.0, peak), mx.isnan(peak).astype(mx.float32)])
    result = all_max(both, group)
    evaluate("svd_topk", group, result)
    return mx.where(result[1] > 0, math.nan, result[0])


def _signed(U: mx.array, S: mx.array, Vt: mx.array, group: Group) -> Factors:
    """The entry of the largest magnitude in each column of U is positive."""
    if U.shape[0]:
        ends = mx.concatenate([U.max(axis=0), -U.min(axis=0)])
    else:
        ends = mx.full((2 * S.size,), -math.inf)
    high, low = mx.split(all_max(ends, group), 2)
    sign = mx.where(low > high, -1.0, 1.0)
    results = U * sign, S, Vt * sign[:, None]
    evaluate("svd_topk", group, *results)
    return results


def _of_zero_or_undefined(shard: Shard, k: int, peak: float, group: Group) -> Factors:
    """All zero with any orthonormal vectors, or all NaN."""
    rows, columns = shard.shape
    plus = 0.0 if peak == 0 else math.nan
    counts = agree("svd_topk", group, {}, [rows])
    before = sum(count[0] for count in counts[: group.rank()])
    U = (mx.arange(before, before + rows)[:, None] == mx.arange(k)[None]).astype(mx.float32)
    return U + plus, mx.full((k,), plus), mx.eye(k, columns) + plus
