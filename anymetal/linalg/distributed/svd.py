"""The largest singular values of a matrix whose rows lie on several ranks, or in files.

The iterations are those of one machine (iterations.py). Their right-hand blocks, with a row for
each column of A, are the same on all ranks; of the left-hand ones, with A's rows, each rank has its
own. All that is communicated are sums: of AᵀU and of products of left-hand blocks.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, cast, get_args

import mlx.core as mx
import rich.progress
from rich.console import Console

from anymetal.linalg.distributed.files import MatrixFile
from anymetal.linalg.distributed.journal import Entry, Journal
from anymetal.linalg.distributed.ranks import Group, agree, agree_on_rows, evaluate, of_group
from anymetal.linalg.distributed.tsqr import implicit_qr
from anymetal.linalg.gemm import matmul_atb, matmul_av
from anymetal.linalg.iterations import Operator, OutOfRangeError, Search
from anymetal.linalg.svd import (
    DTYPES,
    ITERATIONS,
    LARGE,
    block_size,
    check_numbers,
    possible_paths,
)

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
    progress: bool = False,
    explain: bool = False,
    group: Group | None = None,
) -> Factors:
    """The k largest singular values of a matrix whose rows lie on several ranks.

    Paths are those of `anymetal.linalg.svd_topk`, with the same bounds: "lanczos" (block Lanczos
    with thick restarts), "subspace" (the randomised subspace iteration of Halko, Martinsson and
    Tropp, "Finding structure with randomness", SIAM Review 53(2), 2011, algorithm 4.4, with
    `max_steps` - 1 power iterations at most), and "full" (`qr`, and the SVD of R), for matrices in
    memory. Runs at once, and has no gradient, as on one machine.

    Communication for blocks of b columns, besides the agreement: in each step `all_sum` of n·b
    words for AᵀU, and of about 3 to 10 b² words ("lanczos") or 3 b² ("subspace") for products of
    left-hand blocks. n·b words are the least that a sum of AᵀU takes on each rank.

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
            under its number, so that the same call goes on after an interruption. It is left for
            the caller to remove.
        progress: Show on the standard error stream of rank 0 which bands are read.
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
        RankLostError: The connection to another rank has ended.
    """
    group = of_group(group)
    options: dict[str, object] = {
        "k": k,
        "tol": tol,
        "max_steps": max_steps,
        "oversample": oversample,
        "path": path,
    }
    options["key"] = None if key is None else key.tolist()
    rows = _agreed(A, group, options, journal)
    shape = (sum(rows), A.shape[1])
    check_numbers(shape, k, tol, max_steps, oversample)
    small = min(shape)
    block = block_size(k, oversample, small)
    path = _chosen(path, isinstance(A, MatrixFile), small, block)
    lead = group.rank() == 0
    if explain and lead:
        print(f"svd_topk: {path}, {len(rows)} ranks, blocks of {block} columns", file=sys.stderr)
    if path == "full":
        return _full(cast(mx.array, A).astype(mx.float32), k, group)
    with ExitStack() as stack:
        shard = _shard(A, group, journal, _progress(stack) if progress and lead else None)
        key = mx.random.key(0) if key is None else key
        left = mx.random.split(key, group.size() + 1)[group.rank() + 1]
        search = Search(k, block, tol, max_steps, key, left)
        return _iterated(shard, search, path, group, explain and lead)


def _agreed(
    A: mx.array | MatrixFile, group: Group, options: dict[str, object], journal: object
) -> list[int]:
    error: Exception | None = None
    paths = (None, *get_args(Path_))
    if options["path"] not in paths:
        error = ValueError(f"[svd_topk] path must be one of {paths}, got {options['path']!r}.")
    if isinstance(A, MatrixFile):
        same = {"A": f"(rows, {A.shape[1]}) in a file", **options}
        return [own[0] for own in agree("svd_topk", group, same, A.shape[:1], error)]
    if journal is not None:
        error = ValueError("[svd_topk] A journal is for matrices in files: see open_matrix.")
    return agree_on_rows("svd_topk", group, {"A": A}, options, dtypes=DTYPES, error=error)


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


def _full(A: mx.array, k: int, group: Group) -> Factors:
    """By way of R, whose singular values are those of A."""
    Q, R = implicit_qr(A, group=group)
    finite = mx.isfinite(R).all()
    plus = mx.where(finite, 0.0, math.nan)
    U, S, Vt = mx.linalg.svd(mx.where(finite, R, 0.0), stream=mx.cpu)
    return _signed(Q.times(U[:, :k]) + plus, S[:k] + plus, Vt[:k] + plus, group)


def _iterated(shard: _Shard, search: Search, path: str, group: Group, explain: bool) -> Factors:
    iterate = ITERATIONS[path]
    scale = 1.0
    try:
        found = iterate(_operator(shard, group), search)
    except OutOfRangeError:
        peak = cast(float, _largest(shard.peak(), group).item())
        if peak == 0 or not math.isfinite(peak):
            return _of_zero_or_undefined(shard, search.k, peak, group)
        # As on one machine: neither the power nor its inverse may be subnormal.
        scale = 2.0 ** min(max(math.frexp(peak)[1], -126), 126)
        found = iterate(_operator(shard.scaled(1 / scale), group), search)
    if explain:
        end = "" if found.residual <= search.tolerance else ", not converged"
        print(f"svd_topk: {found.steps} steps, {found.residual:.1e}{end}", file=sys.stderr)
    return _signed(found.U, found.S * scale, found.V.T, group)


def _operator(shard: _Shard, group: Group) -> Operator:
    def total(share: mx.array) -> mx.array:
        result = mx.distributed.all_sum(share, group=group)
        evaluate("svd_topk", group, result)
        return result

    return Operator(
        shard.times,
        lambda U: total(shard.transposed_times(U)),
        *shard.shape,
        lambda U, B: total(matmul_atb(U, B)),
        lambda block: _largest(_peak(block), group),
    )


def _peak(block: mx.array) -> mx.array:
    return mx.abs(block).max() if block.size else mx.array(0.0)


def _largest(peak: mx.array, group: Group) -> mx.array:
    """Over all ranks, undefined if it is so on any: the comparisons of `all_max` may drop a NaN."""
    both = mx.stack([mx.where(mx.isnan(peak), 0.0, peak), mx.isnan(peak).astype(mx.float32)])
    result = mx.distributed.all_max(both, group=group)
    evaluate("svd_topk", group, result)
    return mx.where(result[1] > 0, math.nan, result[0])


def _signed(U: mx.array, S: mx.array, Vt: mx.array, group: Group) -> Factors:
    """The entry of the largest magnitude in each column of U is positive."""
    if U.shape[0]:
        ends = mx.concatenate([U.max(axis=0), -U.min(axis=0)])
    else:
        ends = mx.full((2 * S.size,), -math.inf)
    high, low = mx.split(mx.distributed.all_max(ends, group=group), 2)
    sign = mx.where(low > high, -1.0, 1.0)
    results = U * sign, S, Vt * sign[:, None]
    evaluate("svd_topk", group, *results)
    return results


def _of_zero_or_undefined(shard: _Shard, k: int, peak: float, group: Group) -> Factors:
    """All zero with any orthonormal vectors, or all NaN."""
    rows, columns = shard.shape
    plus = 0.0 if peak == 0 else math.nan
    counts = agree("svd_topk", group, {}, [rows])
    before = sum(count[0] for count in counts[: group.rank()])
    U = (mx.arange(before, before + rows)[:, None] == mx.arange(k)[None]).astype(mx.float32)
    return U + plus, mx.full((k,), plus), mx.eye(k, columns) + plus


# Shards


class _Shard:
    """This rank's rows: products with blocks, band by band."""

    def __init__(
        self,
        matrix: mx.array | MatrixFile,
        journal: Journal | None,
        progress: rich.progress.Progress | None,
        factor: float = 1.0,
    ) -> None:
        self._matrix, self._journal, self._progress = matrix, journal, progress
        self._factor = factor
        self._products = 0
        self.shape = cast("tuple[int, int]", tuple(matrix.shape))

    def scaled(self, factor: float) -> _Shard:
        return _Shard(self._matrix, self._journal, self._progress, factor)

    def peak(self) -> mx.array:
        peak = mx.array(0.0)
        for number in range(self._bands()):
            part = _peak(self._band(number))
            peak = mx.where(mx.isnan(part), part, mx.maximum(peak, part))
        return peak

    def times(self, V: mx.array) -> mx.array:
        """A V"""
        start = mx.zeros((0, V.shape[1]))
        return self._product(
            "A V",
            V,
            start,
            lambda done, band, _: mx.concatenate([done, matmul_av(band, V)]),
        )

    def transposed_times(self, U: mx.array) -> mx.array:
        """The share of these rows in Aᵀ U"""
        start = mx.zeros((self.shape[1], U.shape[1]))
        return self._product(
            "Aᵀ U", U, start, lambda done, band, rows: done + matmul_atb(band, U[rows])
        )

    def _product(
        self,
        what: str,
        operand: mx.array,
        value: mx.array,
        add: Callable[[mx.array, mx.array, slice], mx.array],
    ) -> mx.array:
        bands, first = self._bands(), 0
        number, self._products = self._products, self._products + 1
        if self._journal and (entry := self._journal.begun(number, operand)):
            value, first = entry
        shown = None
        if self._progress is not None:
            text = f"{what}, product {number + 1}"
            shown = self._progress.add_task(text, total=bands, completed=first)
        for band in range(first, bands):
            value = add(value, self._band(band), self._rows(band))
            if self._journal:
                mx.eval(value)
                whole = band + 1 == bands
                self._journal.record(number, operand, Entry(value, band + 1), whole)
            elif isinstance(self._matrix, MatrixFile):
                mx.eval(value)  # one band at a time
            if self._progress is not None and shown is not None:
                self._progress.advance(shown)
        return value

    def _bands(self) -> int:
        return self._matrix.bands if isinstance(self._matrix, MatrixFile) else 1

    def _rows(self, number: int) -> slice:
        if isinstance(self._matrix, MatrixFile):
            return self._matrix.extent(number)
        return slice(0, self.shape[0])

    def _band(self, number: int) -> mx.array:
        if isinstance(self._matrix, MatrixFile):
            band = self._matrix.band(number)
        else:
            band = self._matrix.astype(mx.float32)
        return band if self._factor == 1.0 else band * self._factor


def _shard(
    A: mx.array | MatrixFile,
    group: Group,
    journal: str | Path | None,
    progress: rich.progress.Progress | None,
) -> _Shard:
    if not isinstance(A, MatrixFile):
        return _Shard(A, None, None)
    kept = None
    if journal is not None:
        kept = Journal(Path(journal) / f"rank-{group.rank()}-of-{group.size()}", A.identity())
    return _Shard(A, kept, progress)


def _progress(stack: ExitStack) -> rich.progress.Progress:
    return stack.enter_context(rich.progress.Progress(console=Console(stderr=True)))
