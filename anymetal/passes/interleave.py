"""Private arrays of all lanes are interleaved: unit 0 of every lane, then unit 1 of every lane, …

    %p = gep %array + %i * 4      becomes an offset of type i64: lane l has unit i
                                  at (i * width + l) * size of a unit

So an access with a uniform index is one vector load or store. A unit is as large as the largest
element that is accessed; a smaller one (a field of a struct) is a part of a unit. This is done for
arrays whose accesses all stay within a unit and whose address does not escape; any other array has
one ordinary copy for each lane.
"""

from __future__ import annotations

from math import gcd

from anymetal.analysis.cache import Analyses
from anymetal.analysis.flow import users
from anymetal.analysis.private_arrays import accessed_type
from anymetal.ir import types as t
from anymetal.ir.model import Instr, Value


def run(known: Analyses) -> bool:
    """Makes pointers into such arrays byte offsets in the lane's own space, of type i64."""
    program = known.program
    found = [_derived(array, known(users)) or [] for array in program.private_arrays]
    for pointers in found:
        for pointer in pointers:
            pointer.type = t.I64
    return any(found)


def _derived(alloca: Instr, users: dict[Value, list[Instr]]) -> list[Value] | None:
    """The pointers into an array; None if one escapes or an access may cross the end of a unit."""
    pointers: list[Value] = [alloca]
    steps = {pointers[0]: 0}  #: a divisor of each pointer's offset; an offset of 0 has all
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
    # Parts are shifted out of units as integers, which pointers cannot be.
    return None if len(sizes) > 1 and any(type_.is_ptr for type_ in types) else pointers
