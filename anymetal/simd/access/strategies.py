"""How each access of a gang to memory is done. The generator follows it; `explain` shows it."""

from __future__ import annotations

from collections.abc import Container, Mapping
from enum import Enum

from anymetal.analysis.effects import accessed, pointer_of
from anymetal.analysis.objects import Origin, in_threadgroup
from anymetal.analysis.uniformity import Shapes
from anymetal.ir import types as t
from anymetal.ir.model import Instr, Value


class AccessStrategy(Enum):
    """Strategies of a load or store."""

    UNIFORM = "one scalar access for all lanes"
    RUN = "one vector access"
    TURNED = "one vector access, whose elements are turned around"
    STRIDED = "a gather or scatter at a constant distance"
    TESTED = "whichever fits, by a test at run time"
    GROUP = "a wide access together with its neighbours, and shuffles"
    TILE = "a few rows known from the lane number, and shuffles"
    PRIVATE_RUN = "an element of an interleaved private array, the same in all lanes"
    PRIVATE = "elements of an interleaved private array that differ between lanes"
    LANES = "one lane at a time"


class AtomicStrategy(Enum):
    """Strategies of an atomic operation."""

    COMBINED = "the lanes are combined, then one operation"
    COUNTED = "one operation for all lanes, each with an old value of its own"
    SIDE_BY_SIDE = "a plain load, operation and store of a vector"
    ADDED_RUN = "additions to neighbouring floats, 16 bytes at a time"
    ADDED = "combined, 16 bytes at a time or one by one, by a test at run time"
    LANES = "one lane at a time"


#: Read-modify-write operations that combine lanes first: operation -> (reduction, identity).
REDUCIBLE = {
    "add": ("add", "0"), "sub": ("add", "0"), "and": ("and", "-1"), "or": ("or", "0"),
    "xor": ("xor", "0"), "umax": ("umax", "0"), "umin": ("umin", "-1"),
    "max": ("smax", "MIN"), "min": ("smin", "MAX"), "fadd": ("fadd", "-0.0"),
    "fsub": ("fadd", "-0.0"),
}  # fmt: skip


def access_strategy(instr: Instr, shapes: Shapes, private: Container[Value]) -> AccessStrategy:
    """The strategy of a load or store that is in no group or tile."""
    pointer = pointer_of(instr)
    shape = shapes[pointer]
    if pointer in private:
        return AccessStrategy.PRIVATE_RUN if shape.is_uniform else AccessStrategy.PRIVATE
    if shape.is_uniform:
        return AccessStrategy.UNIFORM
    if instr.arg.atomic and instr.op != "store":
        return AccessStrategy.LANES
    if shape.is_varying:
        return AccessStrategy.TESTED
    size = accessed(instr).type.size
    if shape.stride == size:
        return AccessStrategy.RUN
    return AccessStrategy.TURNED if shape.stride == -size else AccessStrategy.STRIDED


def atomic_strategy(
    instr: Instr,
    shapes: Shapes,
    origins: Mapping[Value, frozenset[Origin]],
    used: Container[Value],
    swaps_16_bytes: bool,
) -> AtomicStrategy:
    """The strategy of an atomicrmw or cmpxchg; `used` are values with uses."""
    shape = shapes[instr.operands[0]]
    if instr.op == "cmpxchg" or instr.arg[0] not in REDUCIBLE:
        return AtomicStrategy.LANES
    if shape.is_uniform and instr not in used:
        return AtomicStrategy.COMBINED
    if shape.is_uniform and instr.arg[0] == "add":
        return AtomicStrategy.COUNTED
    side_by_side = is_run(instr, shapes)
    if is_plain(instr, origins):
        return AtomicStrategy.SIDE_BY_SIDE if side_by_side else AtomicStrategy.LANES
    if instr.arg[0] != "fadd" or instr.type != t.FLOAT or instr in used or not swaps_16_bytes:
        return AtomicStrategy.LANES
    return AtomicStrategy.ADDED_RUN if side_by_side else AtomicStrategy.ADDED


def is_run(instr: Instr, shapes: Shapes) -> bool:
    """Whether the elements that lanes update with an atomicrmw or cmpxchg are neighbours."""
    shape = shapes[instr.operands[0]]
    return shape.is_strided and shape.stride == instr.type.size


def is_plain(instr: Instr, origins: Mapping[Value, frozenset[Origin]]) -> bool:
    """Whether an atomic operation is on threadgroup memory, which one thread uses."""
    return in_threadgroup(origins.get(instr.operands[0], frozenset()))
