"""The grammar of the thread program, checked by machine.

`check` applies the rules of each operation (rules.py) and those of whole programs: blocks, control
flow, definitions before uses. It raises a Problem that names the instruction and the broken rule.
Tests run it after every pass.
"""

from __future__ import annotations

import re
from enum import IntEnum

from anymetal.ir import types as t
from anymetal.ir.calls import EVENTS, INSIDE, MARKERS, OF_GANGS, STRAY
from anymetal.ir.cfg import dominates, dominators, find_loops, reverse_postorder
from anymetal.ir.model import (
    Argument,
    Block,
    Const,
    ConstVector,
    Global,
    Instr,
    Program,
    Value,
    predecessors,
)
from anymetal.ir.problem import Problem
from anymetal.ir.rules import (
    ORDERED,
    RULES,
    TO_LANES,
    VECTOR_ONLY,
    Broken,
    flags_of,
    is_offset,
    need,
)

_ACCESSES = ("load", "guarded_load", "store")


class Stage(IntEnum):
    """How far a program has come in the pipeline; later stages allow and forbid other things."""

    READ = 0  #: as LLVM left it, with short vectors
    SCALAR = 1  #: no vectors any more
    GUARDED = 2  #: loads may be under a condition
    CHECKED = 3  #: calls that note stray accesses, and events in place of markers
    GANG = 4  #: calls for gangs: prefetches, votes of all lanes
    INTERLEAVED = 5  #: private arrays of all lanes lie side by side: pointers are offsets
    ORDERED = 6  #: values may be in the order of memory


def check(program: Program, stage: Stage) -> None:
    """Raises Problem unless the program follows every rule of this stage."""
    _Checker(program, stage).run()


class _Checker:
    def __init__(self, program: Program, stage: Stage) -> None:
        self.program = program
        self.stage = stage
        self.at = {
            instr: (block, number)
            for block in program.blocks
            for number, instr in enumerate(block.instrs)
        }

    def run(self) -> None:
        self._blocks()
        self.preds = predecessors(self.program.blocks)
        self.idom = dominators(self.program.blocks[0], lambda b: b.successors)
        self.loop_of = {b: loop for loop in find_loops(self.program.blocks) for b in loop.own}
        for block in self.program.blocks:
            for number, instr in enumerate(block.instrs):
                try:
                    need(self.at[instr] == (block, number), "stands in two places")
                    self._instr(instr, block)
                except Broken as rule:
                    place = f"{instr.loc or 'no line'}, {block.name}"
                    raise self._problem(f"{instr.name} {instr.op} ({place}): {rule}") from None

    def _problem(self, text: str) -> Problem:
        return Problem(f"thread program, stage {self.stage.name.lower()}: {text}")

    def _blocks(self) -> None:
        """Checks what control-flow analysis relies on."""
        blocks = self.program.blocks
        if not blocks:
            raise self._problem("no blocks")
        for block in blocks:
            ends = [n for n, instr in enumerate(block.instrs) if instr.is_terminator]
            if ends != [len(block.instrs) - 1]:
                raise self._problem(f"{block.name}: one terminator, at the end of the block")
            if any(target not in blocks for target in block.successors):
                raise self._problem(f"{block.name}: branches to a block of another program")
            if blocks[0] in block.successors:
                raise self._problem(f"{block.name}: branches to the entry")
        reachable = set(reverse_postorder(blocks[0]))
        for block in blocks:
            if block not in reachable:
                raise self._problem(f"{block.name}: cannot be reached")
        if sum(block.terminator.op == "ret" for block in blocks) > 1:
            raise self._problem("more than one ret")
        for number, argument in enumerate(self.program.args):
            if argument.index != number or not argument.type.is_ptr:
                raise self._problem(f"argument {number} must be a pointer with this index")

    # -- one instruction ------------------------------------------------------------------

    def _instr(self, instr: Instr, block: Block) -> None:
        need(instr.block is block, "instr.block must be the block that holds it")
        need(instr.op in RULES, "unknown operation")
        if self.stage >= Stage.SCALAR:
            vectors = any(v.type.is_vector for v in (instr, *instr.operands))
            need(not vectors and instr.op not in VECTOR_ONLY, "vectors are gone by now")
        if self.stage < Stage.GUARDED:
            need(instr.op != "guarded_load", "no guarded loads yet")
        elif instr.op in ("load", "guarded_load", "store"):
            type_ = (instr.operands[0] if instr.op == "store" else instr).type
            odd = isinstance(type_, t.Int) and type_.bits not in (8, 16, 32, 64)
            need(not odd, "lanes side by side have no padding: 1, 2, 4 or 8 bytes")
        self._later(instr)
        unknown = sorted(set(instr.flags.split()) - flags_of(instr))
        need(not unknown, f"unknown flags {unknown}")
        RULES[instr.op](instr)
        if instr.op == "phi":
            self._incoming(instr, block)
        for number, value in enumerate(instr.operands):
            self._operand(instr, number, value, block)

    def _later(self, instr: Instr) -> None:
        """Checks that an instruction is none that only later stages have."""
        if instr.op == "call":
            known = instr.arg not in OF_GANGS or self.stage >= Stage.GANG
            need(known, "asks for memory, or about all lanes, before there is a gang")
            known = instr.arg != STRAY or self.stage >= Stage.CHECKED
            need(known, "tells of stray accesses before they are checked")
            event = instr.arg in (*EVENTS, INSIDE)
            need(not event or self.stage >= Stage.CHECKED, "an event before accesses are checked")
            marker = instr.arg in MARKERS
            need(not marker or self.stage < Stage.CHECKED, "markers are events by now")
        made = instr.op in ("alloca", "gep") and is_offset(instr)
        used = instr.op in _ACCESSES and is_offset(instr.operands[instr.op == "store"])
        apart = not (made or used)
        need(self.stage >= Stage.INTERLEAVED or apart, "private arrays lie apart so far")
        ordered = instr.op == TO_LANES or ORDERED in instr.flags.split()
        need(self.stage >= Stage.ORDERED or not ordered, "values are in the order of lanes so far")

    def _incoming(self, phi: Instr, block: Block) -> None:
        number = self.at[phi][1]
        need(number == 0 or block.instrs[number - 1].op == "phi", "phis come first")
        need(len(phi.arg) == len(set(phi.arg)), "a phi names each predecessor once")
        need(set(phi.arg) == set(self.preds[block]), "a phi names every predecessor")

    def _operand(self, user: Instr, number: int, value: Value, block: Block) -> None:
        match value:
            case Instr():
                need(value in self.at, f"operand {number} is in no block")
                need(value.has_result, f"operand {number} has no value")
                place = user.arg[number] if user.op == "phi" else block
                need(self._defined(value, user, place), f"operand {number} comes too late")
                need(self._visible(value, place), f"operand {number} leaves its loop without a phi")
            case Argument():
                need(value in self.program.args, f"operand {number} is no argument of this program")
            case Global():
                known = self.program.globals.get(value.name) is value
                need(known, f"operand {number} is no global of this program")
            case ConstVector():
                whole = value.type.lanes == len(value.elements)
                need(whole and value.type.is_vector, f"operand {number}: one element per lane")
                for element in value.elements:
                    need(element.type == value.type.scalar, f"operand {number}: type of an element")
                    self._operand(user, number, element, block)
            case Const():
                need(_spelled(value), f"operand {number}: {value.text!r} is no {value.type}")
            case _:
                need(False, f"operand {number} is a {type(value).__name__}")

    def _defined(self, value: Instr, user: Instr, place: Block) -> bool:
        """Whether a value is computed on every path to its use in `place`, or at its end."""
        home, position = self.at[value]
        if home is place and user.op != "phi":
            return position < self.at[user][1]
        return dominates(self.idom, home, place)

    def _visible(self, value: Instr, place: Block) -> bool:
        """Whether a use is inside the loop around the value (LLVM's loop-closed SSA form).

        Lanes may leave a loop in different iterations, so a value that is uniform in the loop need
        not be uniform behind it; a phi marks the place.
        """
        loop = self.loop_of.get(self.at[value][0])
        return loop is None or place in loop.blocks


def _spelled(value: Const) -> bool:
    """Whether a constant is spelled as its type demands."""
    type_, text = value.type, value.text
    if value.is_undef:
        return True
    if isinstance(type_, t.Int):
        if type_.bits == 1 or text in ("true", "false"):
            return type_.bits == 1 and text in ("true", "false")
        return bool(re.fullmatch(r"-?\d+", text)) and (
            -(1 << (type_.bits - 1)) <= int(text) < 1 << type_.bits
        )
    if isinstance(type_, t.Float):
        prefix = {"half": "0xH", "bfloat": "0xR"}.get(type_.name, "0x")
        hexadecimal = text.startswith(prefix) and re.fullmatch(
            r"[0-9A-F]+", text.removeprefix(prefix)
        )
        return bool(hexadecimal or re.fullmatch(r"-?\d+\.\d+(e[+-]?\d+)?", text))
    return isinstance(type_, t.Ptr) and text == "null"
