"""Which elements of its results a kernel is certain to store, whatever the data.

A store that every thread comes by, at an address that follows from the thread's place and from
counters of loops with a known number of turns, covers a known set of elements. An output all of
which is covered, and that nobody reads, need not be filled before (`init_value`). Here is what is
known when compiling, as text: for each such output the size of an element, and the address as a sum
of products of names and numbers. The launch puts in the numbers (targets/cpu/covered.py).
"""

from __future__ import annotations

import json
from collections import Counter
from typing import NamedTuple

from anymetal.analysis.objects import Origin, pointer_origins
from anymetal.ir import types as t
from anymetal.ir.cfg import Dominators, Loop, dominates, dominators, find_loops
from anymetal.ir.model import Argument, Block, Const, Instr, Program, Value
from anymetal.ir.walk import from_below

#: A sum of products: names in order -> their factor. The empty product is the constant.
Form = Counter[tuple[str, ...]]
_MOST_TURNS = 1 << 16
#: Terms of an address, names that are multiplied in one, and what that is multiplied with.
_MOST_TERMS, _MOST_NAMES, _LARGEST = 32, 8, 1 << 64
_PLACES = tuple(
    f"{what}_{axis}" for what in ("thread", "group", "full_size", "grid") for axis in "xyz"
)
_SAME = ("sext", "zext", "trunc", "freeze")
_LINEAR = ("add", "mul", "shl", "or", "gep", *_SAME)


class Stores(NamedTuple):
    """Of one output: its place among the arguments, and what is stored there."""

    argument: int
    size: int  #: of an element in bytes
    offsets: list[int]  #: constants of the addresses
    address: list[tuple[int, tuple[str, ...]]]  #: the rest: factors and names
    turns: dict[str, int]  #: of the loops whose counters are among the names


def certain_stores(program: Program) -> str:
    """JSON of the stores that every thread does, for outputs that are only stored to."""
    finder = _Finder(program)
    if program.shared_buffers or finder.strays:
        return "[]"
    return json.dumps(finder.found())


class _Finder:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.origins = pointer_origins(program)
        #: Whether a pointer comes from nowhere, and so may lead anywhere.
        self.strays = any(
            isinstance(o, Instr) and o.op != "alloca"
            for all_ in self.origins.values()
            for o in all_
        )
        self.touched = self._touched()
        self.turns: dict[str, int] = {}
        self.counters: dict[Instr, Form] = {}
        self.forms: dict[Value, Form | None] = {}
        loops = find_loops(program.blocks)
        self.idom = dominators(program.blocks[0], lambda b: b.successors)
        self.late = _postdominators(program.blocks)
        self.loops = {block: loop for loop in loops for block in loop.blocks}  # inner ones last
        for number, loop in enumerate(loops):
            self._count(loop, f"loop_{number}")

    def found(self) -> list[Stores]:
        result = []
        for argument in self.program.args:
            stores = self._stores(argument)
            if stores is not None:
                result.append(stores)
        return result

    def _touched(self) -> dict[Origin, dict[Instr, list[int]]]:
        """The instructions that have to do with the memory behind each argument, and which of their
        operands lead there."""
        result: dict[Origin, dict[Instr, list[int]]] = {}
        for instr in self.program.instructions():
            if instr.op not in ("gep", "phi", "select", "freeze"):
                for position, value in enumerate(instr.operands):
                    for origin in self.origins.get(value, ()):
                        result.setdefault(origin, {}).setdefault(instr, []).append(position)
        return result

    def _stores(self, argument: Argument) -> Stores | None:
        forms: dict[tuple[tuple[tuple[str, ...], int], ...], tuple[int, list[int]]] = {}
        for instr, touched in self.touched.get(argument, {}).items():
            if instr.op != "store" or touched != [1] or instr.arg.volatile:
                return None
            form = self._form(instr.operands[1]) if self._is_certain(instr) else None
            form = Form(form) if form is not None else Form()
            if form.pop((argument.name,), 0) == 1:
                offset = form.pop((), 0)
                key = tuple(sorted(form.items()))
                size, offsets = forms.setdefault(key, (instr.operands[0].type.size, []))
                if size == instr.operands[0].type.size:
                    offsets.append(offset)
        if not forms:
            return None
        key, (size, offsets) = max(forms.items(), key=lambda item: len(item[1][1]))
        address = [(factor, names) for names, factor in key]
        return Stores(argument.index, size, sorted(set(offsets)), address, self.turns)

    # -- control flow ---------------------------------------------------------------------

    def _is_certain(self, instr: Instr) -> bool:
        """Whether every thread comes by, and in each turn of the loops around."""
        block: Block | None = instr.block
        assert block is not None
        loop = self.loops.get(block)
        while loop is not None:
            latch = _latch(loop)
            if latch is None or not dominates(self.idom, block, latch):
                return False
            loop = loop.parent
        return dominates(self.late, block, self.program.blocks[0])

    def _count(self, loop: Loop, name: str) -> None:
        """Counters of a loop that is only left at its end, after a known number of turns."""
        latch = _latch(loop)
        if latch is None:
            return
        for phi in loop.header.phis:
            start, step = self._progress(phi, latch)
            turns = _turns(phi, latch, loop, start, step)
            if turns:
                self.turns[name] = turns
        if name not in self.turns:
            return
        for phi in loop.header.phis:
            start, step = self._progress(phi, latch)
            if step > 0 and start >= 0:
                self.counters[phi] = Form({(): start, (name,): step})

    @staticmethod
    def _progress(phi: Instr, latch: Block) -> tuple[int, int]:
        """A constant that a phi begins with and one that is added in each turn; 0 if there is
        none."""
        if len(phi.operands) != 2 or latch not in phi.arg or not phi.type.is_int:
            return 0, 0
        after = phi.operands[phi.arg.index(latch)]
        before = phi.operands[1 - phi.arg.index(latch)]
        if not isinstance(after, Instr) or after.op != "add" or after.operands[0] is not phi:
            return 0, 0
        step = after.operands[1]
        if not isinstance(before, Const) or not isinstance(step, Const):
            return 0, 0
        return before.int_value or 0, step.int_value or 0

    # -- addresses ------------------------------------------------------------------------

    def _form(self, value: Value) -> Form | None:
        """The sum that a value is. Nothing in it is below zero, so no step on the way to an address
        is larger than that, and what fits into 32 bits in the end has always done so."""
        return from_below(value, self.forms, self._parts, self._made)

    def _parts(self, value: Value) -> list[Value]:
        if not isinstance(value, Instr) or value in self.counters or value.op not in _LINEAR:
            return []
        return value.operands

    def _made(self, value: Value) -> Form | None:
        if isinstance(value.type, t.Int) and value.type.bits < 32:
            return None
        if isinstance(value, Const):
            number = value.int_value
            return None if number is None or number < 0 else Form({(): number})
        if isinstance(value, Argument):
            return Form({(value.name,): 1})
        if not isinstance(value, Instr):
            return None
        if value in self.counters:
            return self.counters[value]
        if value.op == "call":
            name = value.arg.removeprefix("__am_").replace("size_", "full_size_")
            name = name.replace("full_full_", "full_")
            return Form({(name,): 1}) if name in _PLACES else None
        forms = [form for v in self._parts(value) if (form := self.forms[v]) is not None]
        if not forms or len(forms) < len(value.operands):
            return None
        combined = _combined(value, forms)
        return combined if combined is not None and _is_small(combined) else None


def _is_small(form: Form) -> bool:
    """Whether it may be that of an address: those of long chains grow without end."""
    names = max(map(len, form), default=0)
    largest = max(form.values(), default=0)
    return len(form) <= _MOST_TERMS and names <= _MOST_NAMES and largest < _LARGEST


def _combined(instr: Instr, forms: list[Form]) -> Form | None:
    if instr.op in _SAME:
        return forms[0]
    if instr.op == "gep":
        *scales, constant = instr.arg
        if min(instr.arg) < 0:
            return None
        result = forms[0] + Form({(): constant})
        for form, scale in zip(forms[1:], scales, strict=True):
            result += _product(form, Form({(): scale}))
        return result
    left, right = forms
    if instr.op == "mul":
        return _product(left, right)
    if instr.op == "shl":
        amount = instr.operands[1]
        known = isinstance(amount, Const) and amount.int_value is not None
        return _product(left, Form({(): 1 << right[()]})) if known else None
    if instr.op == "or" and "disjoint" not in instr.flags:
        return None
    return left + right


def _product(left: Form, right: Form) -> Form:
    result = Form()
    for a, factor in left.items():
        for b, other in right.items():
            result[tuple(sorted(a + b))] += factor * other
    return result


def _latch(loop: Loop) -> Block | None:
    """The one block at the end of a loop, if the loop is left from there only."""
    exits = {block for block, _ in loop.exits}
    latches = {block for block in loop.blocks if loop.header in block.successors}
    return next(iter(exits)) if exits == latches and len(exits) == 1 else None


def _turns(phi: Instr, latch: Block, loop: Loop, start: int, step: int) -> int:
    """How often a loop runs that compares this counter with a constant; 0 if that is unknown."""
    end = latch.terminator
    condition = end.operands[0] if end.operands else None
    if not step or not isinstance(condition, Instr) or condition.op != "icmp":
        return 0
    left, bound = condition.operands
    after = phi.operands[phi.arg.index(latch)]
    limit = bound.int_value if isinstance(bound, Const) else None
    if limit is None or left not in (phi, after) or condition.arg not in _COMPARISONS:
        return 0
    if min(start, limit) < 0 or step < 0:
        return 0
    again = end.arg[0] is loop.header
    for turn in range(_MOST_TURNS):
        number = start + step * (turn + (left is after))
        if number >> 31:
            return 0
        if _COMPARISONS[condition.arg](number, limit) != again:
            return turn + 1
    return 0


_COMPARISONS = {
    "eq": int.__eq__, "ne": int.__ne__, "ult": int.__lt__, "ule": int.__le__,
    "ugt": int.__gt__, "uge": int.__ge__, "slt": int.__lt__, "sle": int.__le__,
    "sgt": int.__gt__, "sge": int.__ge__,
}  # fmt: skip


def _postdominators(blocks: list[Block]) -> Dominators[Block]:
    end = Block("end")
    before: dict[Block, list[Block]] = {}
    for block in blocks:
        for successor in block.successors or [end]:
            before.setdefault(successor, []).append(block)
    return dominators(end, lambda block: before.get(block, []))
