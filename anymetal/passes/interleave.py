"""Private arrays of all lanes are interleaved: unit 0 of every lane, then unit 1 of every lane, …

    %p = gep %array + %i * 4      becomes an offset of type i64: lane l has unit i
                                  at (i * width + l) * size of a unit

So an access with a uniform index is one vector load or store. A unit is as large as the largest
element that is accessed; a smaller one (a field of a struct) is a part of a unit. This is done for
arrays whose accesses all stay within a unit and whose address does not escape; any other array has
one ordinary copy for each lane. Pointers may be chosen among, and compared, if all lead into one
array.
"""

from __future__ import annotations

from math import gcd

from anymetal.analysis.alignment import alignments
from anymetal.analysis.cache import Analyses
from anymetal.analysis.flow import users
from anymetal.analysis.private_arrays import POINTERS, accessed_type, bases
from anymetal.ir import types as t
from anymetal.ir.model import Instr, Value


def run(known: Analyses) -> bool:
    """Makes pointers into such arrays byte offsets in the lane's own space, of type i64."""
    program = known.program
    found = [_derived(array, known) or [] for array in program.private_arrays]
    for pointers in found:
        for pointer in pointers:
            pointer.type = t.I64
    return any(found)


def _derived(alloca: Instr, known: Analyses) -> list[Instr] | None:
    """The pointers into an array; None if one escapes or an access may cross the end of a unit."""
    pointers: list[Instr] = [alloca]
    found = {alloca}
    compared: list[Instr] = []
    accesses: list[tuple[Instr, t.Type]] = []
    for pointer in pointers:
        for user in known(users).get(pointer, []):
            type_ = accessed_type(user, pointer)
            if type_ is not None:
                accesses.append((pointer, type_))
            elif user.op == "icmp":
                compared.append(user)
            elif user.op not in POINTERS:
                return None
            elif user not in found:
                found.add(user)
                pointers.append(user)
    meeting = [v for pointer in pointers[1:] for v in bases(pointer)]
    meeting += [v for comparison in compared for v in comparison.operands]
    if not found.issuperset(meeting):
        return None

    def fit(steps: dict[Value, int]) -> bool:
        return not any(steps[pointer] % type_.size for pointer, type_ in accesses)

    # Most indices count elements, so nobody has to look at what they are multiples of.
    if not fit(_steps(pointers, {})) and not fit(_steps(pointers, known(alignments))):
        return None
    sizes = {type_.size for _, type_ in accesses}
    if not sizes or alloca.arg[0].size % max(sizes):
        return None
    # Parts are shifted out of units as integers, which pointers cannot be.
    mixed = len(sizes) > 1 and any(type_.is_ptr for _, type_ in accesses)
    return None if mixed else pointers


def _steps(pointers: list[Instr], factors: dict[Value, int]) -> dict[Value, int]:
    """A divisor of each pointer's offset; 0 has all. `factors` are those of indices."""
    steps: dict[Value, int] = dict.fromkeys(pointers, 0)
    before: dict[Value, int] = {}
    while steps != before:
        before = dict(steps)
        for pointer in pointers[1:]:
            more = _parts(pointer, factors) if pointer.op == "gep" else []
            steps[pointer] = gcd(*(steps[base] for base in bases(pointer)), *more)
    return steps


def _parts(gep: Instr, factors: dict[Value, int]) -> list[int]:
    """Divisors of what is added to the base."""
    *scales, offset = gep.arg
    indices = zip(gep.operands[1:], scales, strict=True)
    return [offset, *(scale * factors.get(index, 1) for index, scale in indices)]
