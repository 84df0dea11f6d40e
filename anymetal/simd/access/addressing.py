"""Where the addresses of gathers and scatters are computed: in the block of each access."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from anymetal.analysis.effects import ACCESSES, pointer_of
from anymetal.analysis.regions import RegionTree
from anymetal.analysis.uniformity import Shapes
from anymetal.ir import types as t
from anymetal.ir.model import Instr, Program, Value


def indices_elsewhere(program: Program, shapes: Shapes, tree: RegionTree) -> set[Value]:
    """The parts of varying addresses that another block than that of the access has computed."""
    result: set[Value] = set()
    for block in program.blocks:
        around = tree.node_of[block].region.ancestors() if block in tree.node_of else []
        for instr in block.instrs:
            pointer = pointer_of(instr) if instr.op in ACCESSES else None
            if not isinstance(pointer, Instr) or pointer.op != "gep" or pointer.block is block:
                continue
            if shapes[pointer].is_varying:
                parts = {v for v in _parts(pointer) if isinstance(v, Instr)}
                # A value of a loop is, behind it, that of the iteration in which each lane left.
                if all(v.block and tree.node_of[v.block].region in around for v in parts):
                    result |= parts
    return result


def made_by_accesses(
    program: Program,
    users: dict[Value, list[Instr]],
    shapes: Shapes,
    elsewhere: Callable[[Instr], bool],
) -> set[Value]:
    """Varying pointers, and extensions of 32-bit indices in them, that only accesses of their own
    block use. Each access computes the address anew, so they are not emitted where they stand. If
    they were, LLVM would not see in the block of a gather that the index has 32 bits.

    `elsewhere`: whether a pointer or access is emitted in another way.
    """
    result: set[Value] = set()
    indices: set[Instr] = set()
    for gep in program.instructions():
        if gep.op != "gep" or elsewhere(gep) or not shapes[gep].is_varying:
            continue
        varying = [v for v in gep.operands if not shapes[v].is_uniform]
        if len(varying) != 1 or varying[0] is gep.operands[0]:
            continue
        if all(_puts_together(user, gep) and not elsewhere(user) for user in users.get(gep, [])):
            result.add(gep)
            indices |= set(filter(_is_extension, varying))
    return result | {
        index
        for index in indices
        if all(user in result and user.block is index.block for user in users[index])
    }


def _puts_together(user: Instr, gep: Instr) -> bool:
    """Whether an access computes the address by itself (simd/emit/contiguity.py)."""
    plain = user.op in ("load", "guarded_load", "store") and pointer_of(user) is gep
    kept = user.op == "store" and user.operands[0] is gep
    return plain and not kept and not user.arg.atomic and user.block is gep.block


def _is_extension(value: Value) -> TypeGuard[Instr]:
    """Whether a value is a 32-bit number, extended as a signed one."""
    if not isinstance(value, Instr) or value.op not in ("sext", "zext"):
        return False
    return value.operands[0].type == t.I32 and (value.op == "sext" or "nneg" in value.flags)


def _parts(pointer: Instr) -> set[Value]:
    """The operands of a gep, and what they extend."""
    casts = (v for v in pointer.operands if isinstance(v, Instr) and v.op in ("sext", "zext"))
    return {*pointer.operands, *(cast.operands[0] for cast in casts)}
