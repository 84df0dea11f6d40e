"""Addresses that differ between lanes, as a scalar base and a vector of numbers.

Vectors of 64-bit pointers are twice as wide as the 32-bit indices that they are made of: tests, and
loops over lanes, do better with the indices. So do gathers and scatters, of which a processor takes
twice as many at once; LLVM finds base and indices only if they are put together in the same block.
So each block puts together the addresses that it needs, and indices travel between blocks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple, TypeGuard

from anymetal.ir import types as t
from anymetal.ir.model import Instr, Program, Value
from anymetal.simd.groups import pointer_of
from anymetal.simd.regions import RegionTree
from anymetal.simd.shape import Shapes
from anymetal.simd.values import Values
from anymetal.simd.writer import Writer

_ACCESSES = ("load", "guarded_load", "store", "atomicrmw", "cmpxchg")


class Addresses(NamedTuple):
    """`base` plus `scale` bytes times `vector`, signed numbers of `type_`; without a base the
    pointers themselves (and `vector` is what they are as numbers)."""

    vector: str
    type_: t.Type
    scale: int
    base: str = ""
    whole: str = ""  #: the vector of pointers, where there is no base
    below: int = 0  #: what the numbers lie below, if that is known and they are not negative

    def pointers(self, w: Writer) -> str:
        """As a vector of pointers, for an instruction of the same block."""
        if self.whole:
            return self.whole
        wide = self.vector
        if self.type_ != t.I64:
            wide = w.value(f"sext {w.vector(self.type_)} {self.vector} to {w.vector(t.I64)}")
        return w.value(
            f"getelementptr [{self.scale} x i8], ptr {self.base}, {w.vector(t.I64)} {wide}"
        )

    def lane(self, w: Writer, lane: str) -> str:
        """The address of lane number `lane`, an i32."""
        if self.whole:
            return w.value(f"extractelement {w.vector(t.PTR)} {self.whole}, i32 {lane}")
        number = w.value(f"extractelement {w.vector(self.type_)} {self.vector}, i32 {lane}")
        return self.of(w, number)

    def of(self, w: Writer, number: str) -> str:
        """The address that belongs to a number (not to a pointer)."""
        return w.value(f"getelementptr [{self.scale} x i8], ptr {self.base}, {self.type_} {number}")


def addresses_of(w: Writer, v: Values, pointer: Value) -> Addresses:
    """From a gep with one varying index, 32 bits wide if possible; else the pointers as such."""
    if isinstance(pointer, Instr) and pointer.op == "gep":
        terms = list(zip(pointer.operands[1:], pointer.arg[:-1], strict=True))
        varying = [term for term in terms if not v.shape(term[0]).is_uniform]
        simple = len(varying) == 1 and v.shape(pointer.operands[0]).is_uniform
        if simple and all(v.at_hand(value) for value in pointer.operands):
            value, scale = varying[0]
            base = v.scalar(pointer.operands[0])
            for other, factor in terms:
                if other is not value:
                    index = f"{other.type} {v.scalar(other)}"
                    base = w.value(f"getelementptr [{factor} x i8], ptr {base}, {index}")
            base = w.value(f"getelementptr i8, ptr {base}, i64 {pointer.arg[-1]}")
            numbers, type_ = _narrow(w, v, value)
            return Addresses(numbers, type_, scale, base, below=v.bound(value))
    whole = v.vector(pointer)
    numbers = w.value(f"ptrtoint {w.vector(t.PTR)} {whole} to {w.vector(t.I64)}")
    return Addresses(numbers, t.I64, 1, whole=whole)


def indices_elsewhere(program: Program, shapes: Shapes, tree: RegionTree) -> set[Value]:
    """What addresses that differ between lanes are made of, if another block than that of the
    access made them."""
    result: set[Value] = set()
    for block in program.blocks:
        around = tree.node_of[block].region.ancestors() if block in tree.node_of else []
        for instr in block.instrs:
            pointer = pointer_of(instr) if instr.op in _ACCESSES else None
            if not isinstance(pointer, Instr) or pointer.op != "gep" or pointer.block is block:
                continue
            if shapes[pointer].is_varying:
                parts = {v for v in _parts(pointer) if isinstance(v, Instr)}
                # What leaves a loop is that of the iteration in which its lane left.
                if all(v.block and tree.node_of[v.block].region in around for v in parts):
                    result |= parts
    return result


def made_by_accesses(
    program: Program, shapes: Shapes, elsewhere: Callable[[Instr], bool]
) -> set[Value]:
    """Varying pointers, and the extensions of 32-bit indices in them, that are only asked for by
    accesses of their own block, which put them together again. They need not be made where they
    stand; and if they were, LLVM would take them from there, and not see in the block of a gather
    that an index has 32 bits. `elsewhere`: whether something else emits a pointer, or an access."""
    users: defaultdict[Value, list[Instr]] = defaultdict(list)
    for user in program.instructions():
        for operand in user.operands:
            users[operand].append(user)
    result: set[Value] = set()
    indices: set[Instr] = set()
    for gep in program.instructions():
        if gep.op != "gep" or elsewhere(gep) or not shapes[gep].is_varying:
            continue
        varying = [v for v in gep.operands if not shapes[v].is_uniform]
        if len(varying) != 1 or varying[0] is gep.operands[0]:
            continue
        if all(_puts_together(user, gep) and not elsewhere(user) for user in users[gep]):
            result.add(gep)
            indices |= set(filter(_is_extension, varying))
    return result | {
        index
        for index in indices
        if all(user in result and user.block is index.block for user in users[index])
    }


def _puts_together(user: Instr, gep: Instr) -> bool:
    """Whether an access of varying addresses has no use for the pointers (see contiguity.py)."""
    plain = user.op in ("load", "guarded_load", "store") and pointer_of(user) is gep
    kept = user.op == "store" and user.operands[0] is gep
    return plain and not kept and not user.arg.atomic and user.block is gep.block


def _is_extension(value: Value) -> TypeGuard[Instr]:
    """Of 32 bits that are the same number with a sign."""
    if not isinstance(value, Instr) or value.op not in ("sext", "zext"):
        return False
    return value.operands[0].type == t.I32 and (value.op == "sext" or "nneg" in value.flags)


def _parts(pointer: Instr) -> set[Value]:
    """The operands of a gep, and what they extend."""
    casts = (v for v in pointer.operands if isinstance(v, Instr) and v.op in ("sext", "zext"))
    return {*pointer.operands, *(cast.operands[0] for cast in casts)}


def _narrow(w: Writer, v: Values, value: Value) -> tuple[str, t.Type]:
    """The number as 32 bits, if it is an extension of no more."""
    if isinstance(value, Instr) and value.op in ("sext", "zext") and v.at_hand(value.operands[0]):
        narrow = value.operands[0]
        if narrow.type == t.I32 and (value.op == "sext" or "nneg" in value.flags):
            return v.vector(narrow), t.I32
        if narrow.type in (t.I8, t.I16):
            small = f"{w.vector(narrow.type)} {v.vector(narrow)}"
            return w.value(f"{value.op} {small} to {w.vector(t.I32)}"), t.I32
    return v.vector(value), value.type
