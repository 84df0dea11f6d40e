"""One rank's rows of a matrix, in memory or in a file: products with blocks, band by band."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import mlx.core as mx
import rich.progress

from anymetal.linalg.distributed.files import MatrixFile
from anymetal.linalg.distributed.journal import Checkpoint, Entry, Journal, fingerprint
from anymetal.linalg.distributed.ranks import Group, agree, all_sum, evaluate
from anymetal.linalg.gemm import matmul_atb, matmul_av


class Shard:
    """The rows of this rank.

    Args:
        matrix: In memory, of any float type, or in a file.
        group: The ranks.
        journal: Where products are kept.
        progress: Where it is shown which bands are read.
        factor: Of all elements.
        first: Number of the first product in the journal.
    """

    def __init__(
        self,
        matrix: mx.array | MatrixFile,
        group: Group,
        journal: Journal | None = None,
        progress: rich.progress.Progress | None = None,
        factor: float = 1.0,
        first: int = 0,
    ) -> None:
        self._matrix, self._group = matrix, group
        self._journal, self._progress = journal, progress
        self._factor = factor
        self._first = self._products = first
        self.shape = cast("tuple[int, int]", tuple(matrix.shape))

    def scaled(self, factor: float) -> Shard:
        """The same rows times a factor, whose products are others."""
        return Shard(
            self._matrix, self._group, self._journal, self._progress, factor, self._products
        )

    def peak(self) -> mx.array:
        """The largest magnitude, NaN if there is one; 0 without rows."""
        peak = mx.array(0.0)
        for number in range(self._bands()):
            part = largest_magnitude(self._band(number))
            peak = mx.where(mx.isnan(part), part, mx.maximum(peak, part))
        return peak

    def times(self, V: mx.array) -> mx.array:
        """A V"""
        if not isinstance(self._matrix, MatrixFile):
            return matmul_av(self._band(0), V)

        def add(value: mx.array, band: mx.array, rows: slice) -> mx.array:
            value[rows] = matmul_av(band, V)  # in the same memory
            return value

        return self._product("A V", V, mx.zeros((self.shape[0], V.shape[1])), add)

    def transposed_times(self, U: mx.array) -> mx.array:
        """The share of these rows in Aᵀ U"""
        if not isinstance(self._matrix, MatrixFile):
            return matmul_atb(self._band(0), U)
        start = mx.zeros((self.shape[1], U.shape[1]))
        return self._product(
            "Aᵀ U", U, start, lambda value, band, rows: value + matmul_atb(band, U[rows])
        )

    def _product(
        self,
        what: str,
        operand: mx.array,
        value: mx.array,
        add: Callable[[mx.array, mx.array, slice], mx.array],
    ) -> mx.array:
        """Of all bands, one at a time, beginning with those that the journal has."""
        matrix = cast(MatrixFile, self._matrix)
        number, self._products = self._products, self._products + 1
        first, operand_is = 0, ""
        if self._journal:
            operand_is = fingerprint(operand)
            if entry := self._journal.begun(number, operand_is):
                value, first = entry
        with self._shown(f"{what}, product {number + 1}", first) as advance:
            for band in range(first, matrix.bands):
                value = add(value, self._band(band), matrix.extent(band))
                mx.eval(value)
                if self._journal:
                    entry = Entry(value, band + 1)
                    self._journal.record(number, operand_is, entry, band + 1 == matrix.bands)
                advance()
        return value

    @contextmanager
    def _shown(self, text: str, completed: int) -> Iterator[Callable[[], None]]:
        """A line that tells how far a product has come; the function moves it on by a band."""
        if self._progress is None:
            yield lambda: None
            return
        progress = self._progress
        for before in progress.task_ids:
            progress.remove_task(before)
        task = progress.add_task(text, total=self._bands(), completed=completed)
        yield lambda: progress.advance(task)

    def _bands(self) -> int:
        return self._matrix.bands if isinstance(self._matrix, MatrixFile) else 1

    def _band(self, number: int) -> mx.array:
        if isinstance(self._matrix, MatrixFile):
            band = self._matrix.band(number)
        else:
            band = self._matrix.astype(mx.float32)
        return band if self._factor == 1.0 else band * self._factor

    # Checkpoints of iterations with these rows, if there is a journal

    def load(self) -> tuple[int, dict[str, mx.array]] | None:
        """The last checkpoint that all ranks have; the products behind it come next."""
        if self._journal is None:
            return None
        steps = agree("svd_topk", self._group, {}, self._journal.steps())
        common = set(steps[0]).intersection(*steps)
        if not common:
            return None
        found = self._journal.checkpoint(max(common))
        if found.factor != self._factor:
            return None
        self._products = found.products
        return found.step, found.state

    def save(self, step: int, state: dict[str, mx.array]) -> None:
        """Keep a checkpoint; what came before is deleted as soon as all ranks have theirs."""
        if self._journal is None:
            return
        self._journal.keep(Checkpoint(step, self._products, self._factor, state))
        evaluate("svd_topk", self._group, all_sum(mx.zeros(1), self._group))
        self._journal.forget(step, range(self._first, self._products))


def largest_magnitude(block: mx.array) -> mx.array:
    """0 for an empty block."""
    return mx.abs(block).max() if block.size else mx.array(0.0)
