"""Which inexact strided values are needed as vectors, too.

Most of them are addresses, and indices in them, of which a consecutive access needs the scalar base
only.
"""

from __future__ import annotations

from anymetal.analysis.uniformity import Shapes
from anymetal.ir.calls import INSIDE
from anymetal.ir.model import Instr, Program, Value
from anymetal.simd.access.groups import Group


def accessed_size(instr: Instr, pointer: Value) -> int:
    """Bytes per lane if `instr` loads or stores through `pointer`, else 0."""
    if instr.op in ("load", "guarded_load") and instr.operands[0] is pointer:
        return instr.type.size
    if instr.op == "store" and instr.operands[1] is pointer and instr.operands[0] is not pointer:
        return instr.operands[0].type.size
    return 0


def demanded_vectors(program: Program, shapes: Shapes, groups: dict[Instr, Group]) -> set[Value]:
    """The inexact strided values that some instruction uses as a vector."""
    demanded: set[Value] = set()
    work: list[Value] = []

    def demand(value: Value) -> None:
        shape = shapes[value]
        if shape.is_strided and not shape.exact and value not in demanded:
            demanded.add(value)
            work.append(value)

    for user in program.instructions():
        for operand in user.operands:
            if not _base_suffices(user, operand, shapes, groups):
                demand(operand)
    while work:
        value = work.pop()
        assert isinstance(value, Instr)
        for operand in value.operands:
            demand(operand)
    return demanded


def _base_suffices(user: Instr, operand: Value, shapes: Shapes, groups: dict[Instr, Group]) -> bool:
    """Whether this use takes the scalar base, or passes it on to uses that decide."""
    if user.op == "call" and user.arg == INSIDE:
        return True
    size = accessed_size(user, operand)
    if size:
        atomic = getattr(user.arg, "atomic", False) and user.op == "load"
        return user in groups or (shapes[operand].stride == size and not atomic)
    return user.has_result and shapes[user].is_strided
