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
    in_lane_order   number of the result; only from simd/access/memory_order.py on

Everything else (binary operations, casts, select, freeze, ret …) has no arg. `flags` holds LLVM's
own words (nuw, nsw, fast, exact, disjoint …) in front of the operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from anymetal.ir.calls import IN_THREADGROUP
from anymetal.ir.types import DEVICE, VOID, Type


class Location(NamedTuple):
    """A place in the user's text: `where` is "<kernel>: source" or "<kernel>: header"."""

    where: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.where}:{self.line}:{self.column}"


class Value:
    __slots__ = ("type",)

    def __init__(self, type_: Type) -> None:
        self.type = type_


class Const(Value):
    """A scalar constant in LLVM's spelling; vectors of constants are `ConstVector`."""

    __slots__ = ("text",)

    def __init__(self, type_: Type, text: str) -> None:
        self.type = type_
        self.text = text

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


class ConstVector(Value):
    __slots__ = ("elements",)

    def __init__(self, type_: Type, elements: tuple[Value, ...]) -> None:
        self.type = type_
        self.elements = elements


class Argument(Value):
    __slots__ = ("alone", "apart", "describes", "index", "name", "output", "space")

    def __init__(self, type_: Type, name: str, index: int) -> None:
        self.type = type_
        self.name = name
        self.index = index
        self.output = False  #: an array that the kernel is to write
        self.apart = False  #: shares no memory with another argument
        self.describes = False  #: shape, strides, ndim or size of an input
        self.space = DEVICE  #: of what it points to
        self.alone = False  #: no other pointer leads there: a twin (passes/track_undefined.py)


class Global(Value):
    """A program-scope constant table, or (`threadgroup`) one variable of threadgroup memory."""

    __slots__ = ("align", "initializer", "name", "threadgroup", "value_type")

    def __init__(
        self,
        type_: Type,
        name: str,
        value_type: Type,
        align: int,
        initializer: str,
        threadgroup: bool = False,
    ) -> None:
        self.type = type_
        self.name = name
        self.value_type = value_type
        self.align = align
        self.initializer = initializer  #: LLVM text; empty for threadgroup memory
        self.threadgroup = threadgroup


class Access(NamedTuple):
    """How an instruction touches memory."""

    align: int
    volatile: bool = False
    atomic: bool = False

    def __str__(self) -> str:
        words = [w for w, holds in (("volatile", self.volatile), ("atomic", self.atomic)) if holds]
        return " ".join([f"align {self.align}", *words])


class Instr(Value):
    __slots__ = ("arg", "block", "flags", "loc", "name", "op", "operands")

    def __init__(
        self,
        type_: Type,
        op: str,
        operands: list[Value],
        arg: Any = None,
        flags: str = "",
        loc: Location | None = None,
        name: str = "",
        block: Block | None = None,
    ) -> None:
        self.type = type_
        self.op = op
        self.operands = operands
        self.arg = arg
        self.flags = flags
        self.loc = loc
        self.name = name
        self.block = block

    @property
    def has_result(self) -> bool:
        return self.type is not VOID

    @property
    def is_terminator(self) -> bool:
        return self.op in ("br", "ret", "unreachable")

    def copy(self, suffix: object) -> Instr:
        """The same in no block, with lists of its own; the suffix tells its name."""
        name = f"{self.name}.{suffix}" if self.name else ""
        arg = list(self.arg) if isinstance(self.arg, list) else self.arg
        return Instr(self.type, self.op, list(self.operands), arg, self.flags, self.loc, name)


class Block:
    __slots__ = ("instrs", "name")

    def __init__(self, name: str, instrs: list[Instr] | None = None) -> None:
        self.name = name
        self.instrs = [] if instrs is None else instrs

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

    def insert(self, at: int, instrs: list[Instr]) -> None:
        for instr in instrs:
            instr.block = self
        self.instrs[at:at] = instrs

    def refill(self, instrs: list[Instr]) -> None:
        """Puts these in place of what the block has."""
        self.instrs = []
        self.insert(0, instrs)


class Program:
    """The program of one thread: arguments are buffers in binding order, blocks[0] the entry."""

    def __init__(
        self,
        name: str,
        args: list[Argument],
        blocks: list[Block],
        globals: dict[str, Global],
        type_definitions: list[str],
    ) -> None:
        self.name = name
        self.args = args
        self.blocks = blocks
        self.globals = globals
        self.type_definitions = type_definitions  #: LLVM text, for the globals
        self.shared_buffers = False  #: several arguments may be one array
        #: How many values a position has at most, by the function that gives it.
        self.limits: Mapping[str, int] = IN_THREADGROUP

    def instructions(self) -> Iterator[Instr]:
        for block in self.blocks:
            yield from block.instrs

    @property
    def size(self) -> int:
        """How many instructions it has."""
        return sum(len(block.instrs) for block in self.blocks)

    def calls(self, *names: str) -> bool:
        return any(i.op == "call" and i.arg in names for i in self.instructions())

    @property
    def private_arrays(self) -> list[Instr]:
        """The arrays that each thread has for itself."""
        return [i for i in self.instructions() if i.op == "alloca"]

    @property
    def private_bytes(self) -> int:
        """Bytes of these arrays."""
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
    """Predecessor lists; a block that branches to one target twice is listed once."""
    result: dict[Block, list[Block]] = {block: [] for block in blocks}
    for block in blocks:
        for successor in dict.fromkeys(block.successors):
            result[successor].append(block)
    return result
