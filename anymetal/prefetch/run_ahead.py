"""The part of a program that asks for memory before it is needed.

    int at = index[row]; ... out[row * n + lane] = table[at * n + lane];

Where addresses are made of loaded numbers no processor can guess what comes next, and each thread
waits for memory. So a second, smaller program runs some gangs ahead of the first: it computes those
addresses and nothing else, and asks for the lines behind them (prefetching by a slice of the
program, as Luk, ISCA 2001, and others do with threads). It reads only what no thread of the launch
writes, at addresses that the program will read, too; so it changes nothing and needs no checks.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import loops
from anymetal.analysis.effects import LOADS, is_plain, is_pure, pointer_of
from anymetal.analysis.objects import in_arrays, origins, read_only
from anymetal.analysis.uniformity import shapes
from anymetal.ir import types as t
from anymetal.ir.calls import AHEAD_READ, AHEAD_WRITE, POSITIONS, has_effect
from anymetal.ir.model import Block, Instr, Program, Value
from anymetal.ir.walk import made_from
from anymetal.passes.straighten import straighten

#: Instructions of the smaller program: it must cost less than the waiting.
MOST_INSTRUCTIONS = 150
#: Bytes between lanes: beyond that each would want a line of its own.
_NEAR = 16


def slice_of(known: Analyses) -> Program | None:
    """The smaller program; None if there is nothing to ask for, or no way to."""
    result = _Slice(known)
    return result.program() if result.possible else None


class _Slice:
    def __init__(self, known: Analyses) -> None:
        self.source = source = known.program
        self.loops, self.shapes = known(loops), known(shapes)
        self.origins, self.constant = known(origins), known(read_only)
        numbers = [i for i in source.instructions() if self._is_loaded(i)]
        others = (i for i in source.instructions() if i.op not in LOADS)
        #: What is made of loaded numbers: addresses, too, but not what is loaded there.
        self.of_loaded = made_from(others, numbers)
        self.targets = {i for i in source.instructions() if self._is_target(i)}
        self.needed: set[Value] = set()
        self.possible = bool(self.targets) and self._find_needed()

    # -- what to ask for ------------------------------------------------------------------

    def _is_target(self, instr: Instr) -> bool:
        """An access at an address made of loaded numbers, the same or a run for all lanes."""
        pointer = _pointer(instr)
        if pointer is None or not self._is_wanted(instr):
            return False
        shape = self.shapes[pointer]
        return not shape.is_varying and abs(shape.stride) <= _NEAR and pointer in self.of_loaded

    def _is_wanted(self, instr: Instr) -> bool:
        return in_arrays(self.origins.get(_pointer(instr) or instr, frozenset()))

    def _is_loaded(self, value: Instr) -> bool:
        """Whether a value comes from an element of an array that changes from thread to thread."""
        if value.op not in LOADS or not value.type.is_int | value.type.is_float:
            return False
        pointer = value.operands[0]
        indexed = isinstance(pointer, Instr) and len(pointer.operands) > 1
        return indexed and self._reads_constant(value)

    def _reads_constant(self, load: Instr) -> bool:
        leads_to = self.origins.get(load.operands[0], frozenset())
        return bool(leads_to) and all(o in self.constant for o in leads_to)

    # -- what that takes ------------------------------------------------------------------

    def _find_needed(self) -> bool:
        work: list[Value] = [p for i in self.targets if (p := _pointer(i)) is not None]
        work += [v for block in self.source.blocks for v in block.terminator.operands]
        while work:
            value = work.pop()
            if isinstance(value, Instr) and value not in self.needed:
                if not self._is_free(value):
                    return False
                self.needed.add(value)
                work.extend(value.operands)
        homes = {i.block for i in self.targets}
        useful = all(loop.blocks & homes for loop in self.loops)
        return useful and len(self.needed) <= MOST_INSTRUCTIONS

    def _is_free(self, instr: Instr) -> bool:
        """Whether computing a value ahead changes nothing, and gives what it will be."""
        if instr.op in LOADS:
            return self._reads_constant(instr)
        if instr.op == "call":
            name = instr.arg
            return name in POSITIONS or (name.startswith("llvm.") and not has_effect(name))
        return is_pure(instr)

    # -- the program ----------------------------------------------------------------------

    def program(self) -> Program:
        """A new program; the source stays as it is."""
        blocks = {block: Block(block.name) for block in self.source.blocks}
        copies: dict[Value, Value] = {}
        for block, copy in blocks.items():
            for instr in block.instrs:
                if instr in self.needed or instr.is_terminator:
                    arg = [blocks[b] for b in instr.arg] if instr.op in ("br", "phi") else instr.arg
                    one = Instr(instr.type, instr.op, list(instr.operands), arg, instr.flags)
                    one.loc, one.name = instr.loc, instr.name
                    copies[instr] = copy.append(one)
                pointer = _pointer(instr)
                if instr in self.targets and pointer is not None:
                    name = AHEAD_READ if instr.op in LOADS else AHEAD_WRITE
                    copy.append(Instr(t.VOID, "call", [pointer], name, "", instr.loc))
        source = self.source
        result = Program(
            f"{source.name}.ahead", source.args, list(blocks.values()), source.globals, []
        )
        result.type_definitions = source.type_definitions
        for instr in result.instructions():
            instr.operands = [copies.get(v, v) for v in instr.operands]
        straighten(result)
        return result


def _pointer(instr: Instr) -> Value | None:
    """The address of a plain access, or of an atomic addition."""
    wanted = is_plain(instr) or instr.op in ("store", "atomicrmw")
    return pointer_of(instr) if wanted else None
