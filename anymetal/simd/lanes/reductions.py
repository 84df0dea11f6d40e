"""Horizontal operations on all lanes of a vector: reductions and scans."""

from __future__ import annotations

from anymetal.emission.writer import Writer, suffix
from anymetal.ir import types as t
from anymetal.machine import Machine


def reduce_lanes(w: Writer, kind: str, type_: t.Type, vector: str) -> str:
    """Reduction of all lanes with LLVM's vector.reduce intrinsics."""
    name = f"llvm.vector.reduce.{kind}.{suffix(type_, w.width)}"
    args = [(w.vector(type_), vector)]
    if kind in ("fadd", "fmul"):
        start = "-0.0" if kind == "fadd" else "1.0"
        return w.call(str(type_), name, [(str(type_), start), *args], "reassoc")
    if kind in ("fmin", "fmax"):
        return _extreme(w, kind, name, type_, vector)
    return w.call(str(type_), name, args)


def _extreme(w: Writer, kind: str, name: str, type_: t.Type, vector: str) -> str:
    """The smallest or largest number; NaN if there is none. LLVM's own reduction tests for NaN in
    each step, which takes several times as long."""
    spelling = w.vector(type_)
    lowest = "0x7FF0000000000000" if kind == "fmin" else "0xFFF0000000000000"
    numbers = w.value(f"fcmp ord {spelling} {vector}, {vector}")
    bits = f"<{w.width} x i1>"
    filled = w.splat_constant(type_, lowest)
    clean = w.value(f"select {bits} {numbers}, {spelling} {vector}, {spelling} {filled}")
    extreme = w.call(str(type_), name, [(spelling, clean)], "nnan")
    word = w.value(f"bitcast {bits} {numbers} to i{w.width}")
    none = w.value(f"icmp eq i{w.width} {word}, 0")
    return w.value(f"select i1 {none}, {type_} 0x7FF8000000000000, {type_} {extreme}")


def scan_lanes(
    w: Writer, operation: str, type_: t.Type, vector: str, exclusive: bool, machine: Machine
) -> str:
    """Prefix "add" or "mul" in logarithmic steps of shifted vectors (Hillis and Steele, 1986)."""
    spelling = w.vector(type_)
    identity = {"add": "0", "mul": "1"}[operation]
    if type_.is_float:
        operation, identity = f"f{operation}", f"{identity}.0"
    fill = w.splat_constant(type_, identity)
    if exclusive:
        vector = _shifted(w, spelling, vector, fill, 1)
    # LLVM shifts zeros into floats by vexpandps, which takes longer than an addition under a mask.
    masked = type_.is_float and machine.permutes_under_masks
    step = 1
    while step < w.width:
        shifted = _shifted(w, spelling, vector, "" if masked else fill, step)
        result = w.value(f"{operation} {spelling} {vector}, {shifted}")
        if masked:
            lanes = ", ".join(f"i1 {str(lane >= step).lower()}" for lane in range(w.width))
            choice = f"{spelling} {result}, {spelling} {vector}"
            result = w.value(f"select {w.vector(t.I1)} <{lanes}>, {choice}")
        vector = result
        step *= 2
    return vector


def _shifted(w: Writer, spelling: str, name: str, fill: str, step: int) -> str:
    """Each lane gets what is `step` lanes before; the first ones `fill`, or anything if that is
    empty."""
    before = w.width if fill else -1
    picks = [i - step if i >= step else before for i in range(w.width)]
    return w.shuffle(spelling, picks, name, fill or "poison")
