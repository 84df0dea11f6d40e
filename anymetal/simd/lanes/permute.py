"""Shuffles by lane numbers that only the data tell: each lane takes an element out of a vector of
32.

LLVM has no instruction for that. By way of memory it is a gather that waits for a store; AVX-512
takes elements out of two registers at once.
"""

from __future__ import annotations

from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.sizes import SIMD_GROUP

_CALLEE = "llvm.x86.avx512.vpermi2var.d.512"
_HALF = f"<{SIMD_GROUP // 2} x i32>"


def lookup(w: Writer, source: str, lanes: str) -> str:
    """The elements of `source` in these lanes; only the lowest five bits of a lane number count."""
    low, high = (_half(w, source, at) for at in (0, SIMD_GROUP // 2))
    parts = [
        w.call(_HALF, _CALLEE, [(_HALF, low), (_HALF, _half(w, lanes, at)), (_HALF, high)])
        for at in (0, SIMD_GROUP // 2)
    ]
    everything = w.numbers(t.I32, list(range(SIMD_GROUP)))
    return w.value(
        f"shufflevector {_HALF} {parts[0]}, {_HALF} {parts[1]}, <{SIMD_GROUP} x i32> {everything}"
    )


def _half(w: Writer, vector: str, start: int) -> str:
    picks = w.numbers(t.I32, list(range(start, start + SIMD_GROUP // 2)))
    wide = w.vector(t.I32)
    return w.value(
        f"shufflevector {wide} {vector}, {wide} poison, <{SIMD_GROUP // 2} x i32> {picks}"
    )
