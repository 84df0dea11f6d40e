"""Groups of accesses that together cover a run of memory: the components of a float4, the fields
of a struct, `x[4 * i + k]`.

Each member alone is strided (stride 16 bytes for a float4) and would need a gather. Together the
lanes' elements lie side by side, so one wide access and shuffles do the work. Only groups without
gaps qualify: a wide load must not touch bytes that the program does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from anymetal.ir import calls
from anymetal.ir.model import Access, Argument, Block, Instr, Program, Value
from anymetal.simd.interleave import is_power_of_two
from anymetal.simd.shape import Shapes

MOST_MEMBERS = 32
MOST_ODD_MEMBERS = 8  #: if they are no power of two


@dataclass(eq=False)
class Group:
    """Loads, stores or atomic float additions of one block, in the order of their addresses."""

    members: list[Instr]
    anchor: Instr  #: the member in whose place the group is emitted: the first load, else the last
    first_offset: int  #: from the anchor's address to that of members[0]

    @property
    def align(self) -> int:
        return min(int(access_of(m).align) for m in self.members)


def find_groups(
    program: Program, shapes: Shapes, private: dict[Value, Instr], used: set[Value]
) -> dict[Instr, Group]:
    """Every instruction that is in a group, with its group; `used` are instructions with uses."""
    result: dict[Instr, Group] = {}

    def key(instr: Instr) -> tuple[object, int] | None:
        adds = instr.op != "atomicrmw" or (instr.arg[0] == "fadd" and instr not in used)
        return _key(instr, shapes, private) if adds else None

    for block in program.blocks:
        for op in ("load", "store", "atomicrmw"):
            for run in runs(block, op, key):
                stride = shapes[pointer_of(run[0][1])].stride
                result.update(_group(run, op, stride))
    return result


def pointer_of(instr: Instr) -> Value:
    return instr.operands[1] if instr.op == "store" else instr.operands[0]


def accessed(instr: Instr) -> Value:
    """The value that is loaded or stored, or what an atomic operation found."""
    return instr.operands[0] if instr.op == "store" else instr


def access_of(instr: Instr) -> Access:
    access: Access = instr.arg[1] if instr.op == "atomicrmw" else instr.arg
    return access


def runs(
    block: Block, op: str, key_of: Callable[[Instr], tuple[object, int] | None]
) -> list[list[tuple[int, Instr]]]:
    """Plain accesses with one key, with their offsets, that nothing in between may disturb."""
    open_runs: dict[object, list[tuple[int, Instr]]] = {}
    done: list[list[tuple[int, Instr]]] = []
    for instr in block.instrs:
        key = key_of(instr) if instr.op == op and _is_plain(instr) else None
        if key is not None:
            open_runs.setdefault(key[0], []).append((key[1], instr))
        elif _disturbs(instr, op) or (op == "atomicrmw" and _may_see(instr, open_runs.values())):
            done.extend(open_runs.values())
            open_runs = {}
        if key is not None and op == "store":  # stores of different runs may overlap
            others = [k for k in open_runs if open_runs[k][-1][1] is not instr]
            done.extend(open_runs.pop(k) for k in others)
    return [*done, *open_runs.values()]


def _is_plain(instr: Instr) -> bool:
    access = access_of(instr)
    return not access.volatile and (not access.atomic or instr.op == "atomicrmw")


def _key(
    instr: Instr, shapes: Shapes, private: dict[Value, Instr]
) -> tuple[object, int] | None:  # fmt: skip
    """Root, stride and type."""
    pointer, type_ = pointer_of(instr), accessed(instr).type
    shape = shapes[pointer]
    if pointer in private or not shape.is_strided or shape.stride <= type_.size:
        return None
    root, offset = _root(pointer)
    return (root, shape.stride, type_), offset


def _disturbs(instr: Instr, op: str) -> bool:
    if instr.op == "call":
        return calls.has_effect(instr.arg)
    if instr.op in ("load", "guarded_load"):
        return op == "store" or instr.arg.volatile or instr.arg.atomic
    return instr.op in ("store", "atomicrmw", "cmpxchg", "fence")


def _may_see(instr: Instr, additions: Iterable[list[tuple[int, Instr]]]) -> bool:
    """Whether a load may read what was added before it, and so must not come first."""
    if instr.op not in ("load", "guarded_load"):
        return False
    bases = {_base(pointer_of(run[0][1])) for run in additions}
    base = _base(instr.operands[0])
    return not isinstance(base, Argument) or base in bases


def _base(pointer: Value) -> Value:
    while isinstance(pointer, Instr) and pointer.op == "gep":
        pointer = pointer.operands[0]
    return pointer


def _root(pointer: Value) -> tuple[object, int]:
    """The pointer as a root that others may share, plus a constant offset."""
    offset = 0
    while isinstance(pointer, Instr) and pointer.op == "gep":
        offset += pointer.arg[-1]
        if len(pointer.operands) > 1:
            return (*pointer.operands, pointer.arg[:-1]), offset
        pointer = pointer.operands[0]
    return pointer, offset


def _group(run: list[tuple[int, Instr]], op: str, stride: int) -> dict[Instr, Group]:
    """The group of a run if its members cover the stride exactly, each part once."""
    by_offset = dict(sorted(run, key=lambda item: item[0]))
    offsets, members = list(by_offset), list(by_offset.values())
    first = members[0]
    size = accessed(first).type.size
    anchor_offset, anchor = run[0] if op == "load" else run[-1]
    most = MOST_MEMBERS if is_power_of_two(len(members)) else MOST_ODD_MEMBERS
    if len(run) != len(members) or not 2 <= len(members) <= most:
        return {}
    if offsets != [offsets[0] + i * size for i in range(len(members))]:
        return {}
    if len(members) * size != stride:
        return {}
    return dict.fromkeys(members, Group(members, anchor, offsets[0] - anchor_offset))
