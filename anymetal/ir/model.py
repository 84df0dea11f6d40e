"""Values, instructions, blocks and programs of the thread program.

An instruction is `op`, result `type`, `operands` and one op-specific `arg`:

    icmp, fcmp      predicate
    gep             tuple of byte scales, one per index operand, then the constant byte offset
    load, store     Access;  guarded_load (pointer, condition): loads only where the condition holds
                    (flag "inverted": where it does not), anything else is undefined
    atomicrmw       (operation, Access);  cmpxchg: Access
    call            name of the callee
    alloca          (allocated type, align)
    phi             list of predecessor blocks, parallel to the operands
    br              list of one or two target blocks (operand: the condition of two)
    extractvalue    index;  shufflevector: tuple of ints, -1 is poison
    in_memory_order, in_lane_order: number of the result; only from simd/order.py on

Everything else (binary operations, casts, select, freeze, ret …) has no arg. `flags` holds LLVM's
own words (nuw, nsw, fast, exact, disjoint …) in front of the operands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from anymetal.ir.types import VOID, Type


@dataclass(frozen=True)
class Location:
    """A place in the user's text: `where` is "<kernel>: source" or "<kernel>: header"."""

    where: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.where}:{self.line}:{self.column}"


@dataclass(eq=False, slots=True)
class Value:
    type: Type


@dataclass(eq=False, slots=True)
class Const(Value):
    """A scalar constant in LLVM's spelling; vectors of constants are `ConstVector`."""

    text: str

    @property
    def is_undef(self) -> bool:
        return self.text in ("undef", "poison")

    @property
    def int_value(self) -> int | None:
        """The value of an integer constant, signed as LLVM prints it."""
        if not self.type.is_int or self.is_undef:
            return None
        if self.text in ("true", "false"):
            return int(self.text == "true")
        return 0 if self.text == "zeroinitializer" else int(self.text)


@dataclass(eq=False, slots=True)
class ConstVector(Value):
    elements: tuple[Value, ...]


@dataclass(eq=False, slots=True)
class Argument(Value):
    name: str
    index: int
    describes: bool = False  #: shape, strides, ndim or size of an input


@dataclass(eq=False, slots=True)
class Global(Value):
    """A program-scope constant table, or (`threadgroup`) one variable of threadgroup memory."""

    name: str
    value_type: Type
    align: int
    initializer: str  # LLVM text; empty for threadgroup memory
    threadgroup: bool = False


@dataclass(frozen=True)
class Access:
    """How an instruction touches memory."""

    align: int
    volatile: bool = False
    atomic: bool = False

    def __str__(self) -> str:
        words = [w for w, holds in (("volatile", self.volatile), ("atomic", self.atomic)) if holds]
        return " ".join([f"align {self.align}", *words])


@dataclass(eq=False, slots=True)
class Instr(Value):
    op: str
    operands: list[Value]
    arg: Any = None
    flags: str = ""
    loc: Location | None = None
    name: str = ""
    block: Block | None = field(default=None, repr=False)

    @property
    def has_result(self) -> bool:
        return self.type is not VOID

    @property
    def is_terminator(self) -> bool:
        return self.op in ("br", "ret", "unreachable")

    @property
    def touches_memory(self) -> bool:
        return self.op in ("load", "guarded_load", "store", "atomicrmw", "cmpxchg", "call")


@dataclass(eq=False, slots=True)
class Block:
    name: str
    instrs: list[Instr] = field(default_factory=list, repr=False)

    @property
    def phis(self) -> list[Instr]:
        return [i for i in self.instrs if i.op == "phi"]

    @property
    def body(self) -> list[Instr]:
        """The instructions between the phis and the terminator."""
        return [i for i in self.instrs if i.op != "phi" and not i.is_terminator]

    @property
    def terminator(self) -> Instr:
        return self.instrs[-1]

    @property
    def successors(self) -> list[Block]:
        end = self.instrs[-1]
        return list(end.arg) if end.op == "br" else []

    def append(self, instr: Instr) -> Instr:
        instr.block = self
        self.instrs.append(instr)
        return instr


@dataclass(eq=False)
class Program:
    """One kernel thread. Its arguments are the buffers in binding order; blocks[0] is the entry."""

    name: str
    args: list[Argument]
    blocks: list[Block]
    globals: dict[str, Global]
    type_definitions: list[str] = field(default_factory=list)  #: LLVM text, for the globals
    shared_buffers: bool = False  #: several arguments may be one array

    def instructions(self) -> Iterator[Instr]:
        for block in self.blocks:
            yield from block.instrs

    def calls(self, *names: str) -> bool:
        return any(i.op == "call" and i.arg in names for i in self.instructions())

    @property
    def private_arrays(self) -> list[Instr]:
        """The memory that a thread has for itself."""
        return [i for i in self.instructions() if i.op == "alloca"]

    @property
    def private_bytes(self) -> int:
        """Bytes of it."""
        return sum(i.arg[0].size for i in self.private_arrays)

    @property
    def threadgroup_bytes(self) -> int:
        """Bytes of threadgroup memory, laid out in the order of declaration."""
        return threadgroup_layout(self)[1]


def threadgroup_layout(program: Program) -> tuple[dict[str, int], int]:
    """Byte offset of each threadgroup variable, and the total."""
    at, offsets = 0, {}
    for variable in program.globals.values():
        if variable.threadgroup:
            at = -(-at // variable.align) * variable.align
            offsets[variable.name] = at
            at += variable.value_type.size
    return offsets, at


def predecessors(blocks: list[Block]) -> dict[Block, list[Block]]:
    """Predecessor lists; a block that branches twice to one target stands there once."""
    result: dict[Block, list[Block]] = {block: [] for block in blocks}
    for block in blocks:
        for successor in dict.fromkeys(block.successors):
            result[successor].append(block)
    return result
