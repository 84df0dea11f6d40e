"""Products of 8 x 8 matrices that are spread over the 32 lanes of a SIMD-group.

Lane bits 4, 2 and 1 are the row, bits 3 and 0 the column's two upper bits; the lowest one tells the
lane's two elements apart (see simdgroup_matrix.h). So element c of every lane makes one vector, and

    d(row, column) = c(row, column) + sum over k of a(row, k) * b(k, column)

is 8 times: permute `a` so that each lane sees column k of its row, `b` so that each sees row k of
its column, multiply and add. The permutations are constants that stay within 16 lanes, one
instruction for each half with AVX-512. Products that share a matrix share its permutations, because
LLVM computes equal values once.

A kernel that holds many sums has more of them than there are registers. LLVM's scheduler would mix
their products and move sums between registers and memory for each single addition; so every product
ends a block, with a branch that LLVM must not look through and that costs nothing.
"""

from __future__ import annotations

from anymetal.ir import types as t
from anymetal.simd.writer import Writer

_SIZE = 8
_HALF = 16  #: lanes of rows 0 to 3
_LEFT = [lane & 0b0110 for lane in range(_HALF)]
_RIGHT = [lane & 0b1001 for lane in range(_HALF)]


def matrix_fma(w: Writer, a0: str, a1: str, b: str, c: str) -> str:
    """One element of a * b + c for all lanes: the products are added in the order of k."""
    left = [_halves(w, a0), _halves(w, a1)]
    right = _halves(w, b)
    sums = _halves(w, c)
    for k in range(_SIZE):
        for half in range(2):
            # Column k of `a`: in vector k & 1, at lane bits 3 and 0. Row k of `b`: in the half that
            # bit 2 names, at lane bits 2 and 1.
            column = (k >> 2 & 1) << 3 | (k >> 1 & 1)
            row = _permute(w, left[k & 1][half], [lane | column for lane in _LEFT])
            factor = _permute(w, right[k >> 2], [lane | (k & 3) << 1 for lane in _RIGHT])
            sums[half] = w.call(
                _VECTOR,
                f"llvm.fmuladd.v{_HALF}f32",
                [(_VECTOR, row), (_VECTOR, factor), (_VECTOR, sums[half])],
            )
    w.end_block()
    everything = w.numbers(t.I32, list(range(2 * _HALF)))
    return w.value(
        f"shufflevector {_VECTOR} {sums[0]}, {_VECTOR} {sums[1]}, <{2 * _HALF} x i32> {everything}"
    )


_VECTOR = f"<{_HALF} x float>"


def _halves(w: Writer, vector: str) -> list[str]:
    whole = w.vector(t.FLOAT)
    return [
        w.value(
            f"shufflevector {whole} {vector}, {whole} poison, "
            f"<{_HALF} x i32> {w.numbers(t.I32, list(range(at, at + _HALF)))}"
        )
        for at in (0, _HALF)
    ]


def _permute(w: Writer, vector: str, lanes: list[int]) -> str:
    picks = w.numbers(t.I32, lanes)
    return w.value(f"shufflevector {_VECTOR} {vector}, {_VECTOR} poison, <{_HALF} x i32> {picks}")
