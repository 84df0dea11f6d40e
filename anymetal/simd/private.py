"""Private arrays that can be stored lane-interleaved.

Element i of lane l then lies at (i * width + l) elements: an access with a uniform index is one
vector load or store. That needs all accesses to have one element size and no pointer to escape;
any other private array keeps one ordinary copy per lane.
"""

from __future__ import annotations

from anymetal.ir import types as t
from anymetal.ir.model import Instr, Program, Value
from anymetal.simd.writer import Writer

LOADS = ("load", "guarded_load")


def interleaved_pointers(program: Program) -> dict[Value, Instr]:
    """Every pointer into a private array that can be interleaved, with its alloca.

    From here on such a pointer is a byte offset in the lane's own space: its type becomes i64.
    """
    users: dict[Value, list[Instr]] = {}
    for instr in program.instructions():
        for operand in instr.operands:
            users.setdefault(operand, []).append(instr)
    result: dict[Value, Instr] = {}
    for instr in program.instructions():
        if instr.op == "alloca":
            pointers = _derived(instr, users)
            if pointers is not None:
                result.update(dict.fromkeys(pointers, instr))
    for pointer in result:
        pointer.type = t.I64
    return result


def _derived(alloca: Instr, users: dict[Value, list[Instr]]) -> list[Value] | None:
    pointers: list[Value] = [alloca]
    sizes: set[int] = set()
    steps: list[int] = []
    for pointer in pointers:
        for user in users.get(pointer, []):
            if user.op == "gep" and user.operands[0] is pointer:
                pointers.append(user)
                steps.extend(user.arg)
            elif user.op in LOADS:
                sizes.add(user.type.size)
            elif (
                user.op == "store"
                and user.operands[1] is pointer
                and user.operands[0] is not pointer
            ):
                sizes.add(user.operands[0].type.size)
            else:
                return None
    if len(sizes) != 1:
        return None
    (size,) = sizes
    if any(step % size for step in steps) or alloca.arg[0].size % size:
        return None
    return pointers


def allocate(
    writer: Writer, program: Program, private: dict[Value, Instr]
) -> dict[Instr, tuple[str, int]]:
    """Memory for the interleaved arrays: the address of each, and the bytes of an element."""
    arrays = {}
    for instr in program.instructions():
        if instr.op == "alloca" and instr in private:
            type_ = f"[{instr.arg[0].size * writer.width} x i8]"
            address = writer.alloca(type_, "private", 64)
            arrays[instr] = address, _element_size(instr, private, program)
    return arrays


def _element_size(alloca: Instr, private: dict[Value, Instr], program: Program) -> int:
    """Bytes of the one access size of an interleaved array."""
    for instr in program.instructions():
        if instr.op in LOADS and private.get(instr.operands[0]) is alloca:
            return instr.type.size
        if instr.op == "store" and private.get(instr.operands[1]) is alloca:
            return instr.operands[0].type.size
    return 1
