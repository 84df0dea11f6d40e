"""What instructions do besides giving a result: which read and write memory, and how.

All other files ask here. What a call does depends on its callee (ir/calls.py).
"""

from __future__ import annotations

from anymetal.ir import calls
from anymetal.ir.model import Const, Instr, Value

LOADS = ("load", "guarded_load")
#: Operations with an address. Besides these only calls have to do with memory.
ACCESSES = (*LOADS, "store", "atomicrmw", "cmpxchg")
#: Integer operations without SIMD instruction, which trap at a zero.
DIVISIONS = ("udiv", "sdiv", "urem", "srem")
_TELLING = calls.MARKERS | calls.EVENTS
#: Calls whose result is that of one thread alone.
_OF_ONE_THREAD = calls.POSITIONS | {calls.SCALE, calls.SCALES, calls.LARGE_ANGLE}


def writes(instr: Instr) -> bool:
    """Whether memory may have changed behind the instruction: it writes, or lets other threads go
    on (a barrier, a fence). No access may be moved across it."""
    if instr.op == "call":
        return calls.has_effect(instr.arg)
    return instr.op in ("store", "atomicrmw", "cmpxchg", "fence")


def touches(instr: Instr) -> bool:
    """Whether the instruction reads or writes memory."""
    return instr.op in LOADS or writes(instr)


def must_stay(instr: Instr) -> bool:
    """Whether the instruction has to stay even if nobody uses its result: it writes, ends a block,
    is a volatile load, or tells of what the program does."""
    volatile = instr.op in LOADS and instr.arg.volatile
    return bool(volatile) or instr.is_terminator or writes(instr) or tells(instr)


def tells(instr: Instr) -> bool:
    """Whether the instruction is for those only who watch the program (a sanitized build): nothing
    that the program reads changes, but it stays where it is."""
    return instr.op == "call" and instr.arg in _TELLING


def is_pure(instr: Instr) -> bool:
    """Whether the instruction does nothing but compute a value from values of its own thread: it
    neither reads memory nor looks at other lanes."""
    if instr.op == "call":
        ours = instr.arg in calls.INTRINSICS
        of_one = instr.arg in _OF_ONE_THREAD or calls.is_undefined(instr.arg)
        return of_one if ours else not calls.has_effect(instr.arg)
    return instr.has_result and instr.op not in (*ACCESSES, "alloca")


def touches_nothing(instr: Instr) -> bool:
    """Whether it computes with addresses only, or asks for what lies there."""
    asks = instr.op == "call" and bool(instr.arg == calls.PREFETCH)
    return asks or instr.op in ("gep", "phi", "select", "freeze", "icmp")


def may_trap(instr: Instr) -> bool:
    """Whether a processor may refuse to compute it where the program does not: a division."""
    return instr.op in DIVISIONS and not isinstance(instr.operands[1], Const)


def accessed(instr: Instr) -> Value:
    """The value that is loaded, stored or found by an atomic operation."""
    return instr.operands[0] if instr.op == "store" else instr


def is_plain(instr: Instr) -> bool:
    """Whether the instruction is a load or store that is neither volatile nor atomic."""
    access = instr.op in (*LOADS, "store")
    return access and not (instr.arg.volatile or instr.arg.atomic)


def is_atomic(instr: Instr) -> bool:
    """Whether the instruction is an atomic operation, an atomic load or store included."""
    if instr.op in (*LOADS, "store"):
        return bool(instr.arg.atomic)
    return instr.op in ("atomicrmw", "cmpxchg")


def pointer_of(instr: Instr) -> Value:
    """The address of one of the ACCESSES."""
    return instr.operands[1] if instr.op == "store" else instr.operands[0]
