"""Private arrays of all lanes lie side by side where that can be.

In units of the largest element that is accessed: unit i of lane l then lies at (i * width + l)
units, so an access with a uniform index is one vector load or store. What is smaller than a unit is
a part of the vector's elements (fields of structs). That needs all accesses to stay within a unit
and no pointer to escape; any other private array keeps one ordinary copy per lane.

    %p = gep %array + %i * 4      becomes an offset of type i64 in the lane's own space
"""

from __future__ import annotations

from math import gcd

from anymetal.analysis.cache import Analyses
from anymetal.analysis.private_arrays import accessed_type
from anymetal.ir import types as t
from anymetal.ir.model import Instr, Value


def run(known: Analyses) -> bool:
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
            type_ = accessed_type(user, pointer)
            if type_ is None or steps[pointer] % type_.size:
                return None
            types.add(type_)
    sizes = {type_.size for type_ in types}
    if not sizes or alloca.arg[0].size % max(sizes):
        return None
    # Parts of a unit are integers in between, which pointers cannot be.
    return None if len(sizes) > 1 and any(type_.is_ptr for type_ in types) else pointers
