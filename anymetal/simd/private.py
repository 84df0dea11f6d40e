"""Private arrays: how they are stored, and where.

Those that can be are stored lane-interleaved, in units of the largest element that is accessed.
Unit i of lane l then lies at (i * width + l) units: an access with a uniform index is one vector
load or store. What is smaller than a unit is a part of the vector's elements (fields of structs).
That needs all accesses to stay within a unit and no pointer to escape; any other private array
keeps one ordinary copy per lane.

Small arrays lie on the stack. Those of all lanes, and of a team's SIMD-groups, together may take
megabytes, but whoever calls a kernel may have a stack of a few hundred kilobytes. So large ones lie
in memory of the worker (`am_worker.frame` in runtime/launch.h). A larger stack for launches would
do as well, but debuggers, profilers and fault handlers know only the one that a thread came with.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from anymetal.analysis.cache import Analyses
from anymetal.ir import types as t
from anymetal.ir.cfg import reverse_postorder
from anymetal.ir.model import Instr, Program, Value
from anymetal.simd.writer import Writer

LOADS = ("load", "guarded_load")
#: Bytes of private arrays, of all lanes together, that lie on the stack.
ON_STACK = 64 << 10
_LINE = 64


class Far(NamedTuple):
    """Private arrays that are not on the stack."""

    offsets: dict[Instr, int]
    bytes: int  #: of all of them, for one call of a gang function


def far_arrays(known: Analyses) -> Far:
    """Those for which the stack has no room: it is given to small ones first."""
    arrays, width = known.program.private_arrays, known.width
    near, offsets, end = 0, {}, 0
    for array in sorted(arrays, key=lambda i: i.arg[0].size):
        size = -(-_bytes_of_lane(array) * width // _LINE) * _LINE
        near += size
        if near > ON_STACK:
            offsets[array] = end
            end += size
    return Far(offsets, end)


def _bytes_of_lane(alloca: Instr) -> int:
    type_, align = alloca.arg
    return int(-(-type_.size // align) * align)


def interleave(known: Analyses) -> bool:
    """Pointers into private arrays that can be interleaved become byte offsets in the lane's own
    space, of type i64."""
    program = known.program
    users: dict[Value, list[Instr]] = {}
    for instr in program.instructions():
        for operand in instr.operands:
            users.setdefault(operand, []).append(instr)
    found = [_derived(array, users) or [] for array in program.private_arrays]
    for pointers in found:
        for pointer in pointers:
            pointer.type = t.I64
    return any(found)


def interleaved(known: Analyses) -> dict[Value, Instr]:
    """Every pointer into an interleaved array, with the array's alloca."""
    result: dict[Value, Instr] = {}
    for block in reverse_postorder(known.program.blocks[0]):
        for instr in block.instrs:
            if instr.op == "alloca" and instr.type == t.I64:
                result[instr] = instr
            elif instr.op == "gep" and instr.type == t.I64:
                result[instr] = result[instr.operands[0]]
    return result


def _derived(alloca: Instr, users: dict[Value, list[Instr]]) -> list[Value] | None:
    """The pointers into an array, if none escapes and no access can cross the end of a unit."""
    pointers: list[Value] = [alloca]
    steps = {pointers[0]: 0}  #: what divides each pointer's offset; 0 stands for any number
    types: set[t.Type] = set()
    for pointer in pointers:
        for user in users.get(pointer, []):
            if user.op == "gep" and user.operands[0] is pointer:
                pointers.append(user)
                steps[user] = gcd(steps[pointer], *user.arg)
                continue
            type_ = _accessed_type(user, pointer)
            if type_ is None or steps[pointer] % type_.size:
                return None
            types.add(type_)
    sizes = {type_.size for type_ in types}
    if not sizes or alloca.arg[0].size % max(sizes):
        return None
    # Parts of a unit are integers in between, which pointers cannot be.
    return None if len(sizes) > 1 and any(type_.is_ptr for type_ in types) else pointers


def _accessed_type(user: Instr, pointer: Value) -> t.Type | None:
    """What an instruction loads or stores through a pointer, if it does nothing else with it."""
    if user.op in LOADS:
        return user.type
    stores = user.op == "store" and user.operands[1] is pointer and user.operands[0] is not pointer
    return user.operands[0].type if stores else None


class Interleaved(NamedTuple):
    """Where an array is, and the size of its units in bytes."""

    address: str
    unit: int
    mixed: bool  #: some elements are smaller


def interleaved_arrays(
    addresses: dict[Instr, str], program: Program, private: dict[Value, Instr]
) -> dict[Instr, Interleaved]:
    """The interleaved arrays; `addresses` are those of all private ones."""
    sizes: dict[Instr, set[int]] = {array: set() for array in addresses if array in private}
    for instr in program.instructions():
        for pointer in instr.operands:
            type_ = _accessed_type(instr, pointer) if pointer in private else None
            if type_ is not None:
                sizes[private[pointer]].add(type_.size)
    return {
        array: Interleaved(addresses[array], max(found, default=1), len(found) > 1)
        for array, found in sizes.items()
    }


def allocate(writer: Writer, program: Program, far: Far, gangs_at_once: int) -> dict[Instr, str]:
    """The addresses of all private arrays.

    `gangs_at_once`: 0 if gangs run one after the other; else they share the memory of the worker,
    and a call of the function runs so many of them.
    """
    if far.offsets:
        base = "%private"
        if gangs_at_once:
            writer.entry_lines += [
                f"  %private.number = udiv i32 %gang, {gangs_at_once}",
                "  %private.wide = zext i32 %private.number to i64",
                f"  %private.offset = mul i64 %private.wide, {far.bytes}",
                "  %private.own = getelementptr i8, ptr %private, i64 %private.offset",
            ]
            base = "%private.own"
    addresses = {}
    for instr in (i for i in program.instructions() if i.op == "alloca"):
        if instr in far.offsets:
            address = f"%{writer.fresh('far')}"
            writer.entry_lines.append(
                f"  {address} = getelementptr i8, ptr {base}, i64 {far.offsets[instr]}"
            )
        else:
            type_ = f"[{_bytes_of_lane(instr) * writer.width} x i8]"
            address = writer.alloca(type_, "private", max(instr.arg[1], _LINE))
        addresses[instr] = address
    return addresses
