"""What instructions do besides their results: the one place that says which touch memory, and how.

Whether a call has an effect is known by its callee (ir/calls.py); here it is a part of the answers
about instructions.
"""

from __future__ import annotations

from anymetal.ir import calls
from anymetal.ir.model import Instr, Value

LOADS = ("load", "guarded_load")
#: Operations with an address; all but these and calls have nothing to do with memory.
ACCESSES = (*LOADS, "store", "atomicrmw", "cmpxchg")
#: Calls whose result is that of one thread alone.
_OF_ONE_THREAD = calls.POSITIONS | {calls.SCALE, calls.SCALES}


def writes(instr: Instr) -> bool:
    """Whether memory may hold something else behind the instruction: because of it, or because it
    lets others go on (a barrier, a fence). So no access may move past it, nor it past accesses."""
    if instr.op == "call":
        return calls.has_effect(instr.arg)
    return instr.op in ("store", "atomicrmw", "cmpxchg", "fence")


def touches(instr: Instr) -> bool:
    """Whether the instruction reads memory, or writes."""
    return instr.op in LOADS or writes(instr)


def must_stay(instr: Instr) -> bool:
    """Whether the instruction does something although nobody uses its result: it writes, ends a
    block, or is a volatile load."""
    volatile = instr.op in LOADS and instr.arg.volatile
    return bool(volatile) or instr.is_terminator or writes(instr)


def is_pure(instr: Instr) -> bool:
    """Whether the instruction only computes a value of one thread out of others. Reading memory is
    no part of that, nor is looking at other lanes."""
    if instr.op == "call":
        ours = instr.arg in calls.INTRINSICS
        return instr.arg in _OF_ONE_THREAD if ours else not calls.has_effect(instr.arg)
    return instr.has_result and instr.op not in (*ACCESSES, "alloca")


def is_plain(instr: Instr) -> bool:
    """Whether the instruction is a load or store that no other thread need notice: neither volatile
    nor atomic."""
    access = instr.op in (*LOADS, "store")
    return access and not (instr.arg.volatile or instr.arg.atomic)


def is_atomic(instr: Instr) -> bool:
    """Whether the instruction is an atomic operation, loads and stores among them."""
    if instr.op in (*LOADS, "store"):
        return bool(instr.arg.atomic)
    return instr.op in ("atomicrmw", "cmpxchg")


def pointer_of(instr: Instr) -> Value:
    """The address of one of ACCESSES."""
    return instr.operands[1] if instr.op == "store" else instr.operands[0]
