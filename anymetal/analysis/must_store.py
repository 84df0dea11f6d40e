"""Which elements of its outputs a kernel is certain to store, whatever the data.

    out[row * 64 + column] = …          reached by every thread: all of out is stored

A store that every thread executes, at an address made of the thread's position and of loop counters
with a known number of iterations, covers a known set of elements. An output that is covered whole,
and never read, need not be filled with `init_value` first. The compiler writes down what it knows,
as JSON: for each such output the size of an element, and the address as a sum of products of names
and numbers. The launch puts in the numbers (targets/cpu/covered.py).
"""

from __future__ import annotations

import json
from collections import Counter
from typing import NamedTuple

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import dominators, innermost, loops, postdominators
from anymetal.analysis.induction import Induction, inductions, only_exit, trips
from anymetal.analysis.objects import Origin, origins
from anymetal.ir import types as t
from anymetal.ir.cfg import dominates
from anymetal.ir.model import Argument, Block, Const, Instr, Value
from anymetal.ir.walk import from_below

#: A sum of products: names in order -> their factor; the empty product is the constant. Unlike the
#: forms of analysis/affine.py it is of one thread, of names that a launch knows, and never wraps.
Form = Counter[tuple[str, ...]]
_MOST_TURNS = 1 << 16
#: Terms of an address, names in a product, and the first factor that is too large.
_MOST_TERMS, _MOST_NAMES, _LARGEST = 32, 8, 1 << 64
_PLACES = tuple(
    f"{what}_{axis}" for what in ("thread", "group", "full_size", "grid") for axis in "xyz"
)
_SAME = ("sext", "zext", "trunc", "freeze")
_LINEAR = ("add", "mul", "shl", "or", "gep", *_SAME)


class Stores(NamedTuple):
    """Of one output: which argument it is, and what is stored there."""

    argument: int
    size: int  #: of an element in bytes
    offsets: list[int]  #: constants of the addresses
    address: list[tuple[int, tuple[str, ...]]]  #: the rest: factors and names
    iterations: dict[str, int]  #: of the loops whose counters are among the names


def certain_stores(known: Analyses) -> str:
    """JSON of the stores that every thread executes, for outputs that are only stored to."""
    finder = _Finder(known)
    if known.program.shared_buffers or finder.strays:
        return "[]"
    return json.dumps(finder.found())


class _Finder:
    def __init__(self, known: Analyses) -> None:
        self.program = known.program
        self.origins = known(origins)
        #: Whether some pointer was loaded or made of a number, and so may lead anywhere.
        self.strays = any(
            isinstance(o, Instr) and o.op != "alloca"
            for all_ in self.origins.values()
            for o in all_
        )
        self.touched = self._touched()
        self.iterations: dict[str, int] = {}
        self.counters: dict[Instr, Form] = {}
        self.forms: dict[Value, Form | None] = {}
        self.idom, self.late = known(dominators), known(postdominators)
        self.loops = known(innermost)
        for number, loop in enumerate(known(loops)):  # inner ones last
            count = known(trips).get(loop, 0)
            if 0 < count <= _MOST_TURNS:
                self.iterations[f"loop_{number}"] = count
                self._count(known(inductions)[loop], f"loop_{number}")

    def found(self) -> list[Stores]:
        result = []
        for argument in self.program.args:
            stores = self._stores(argument)
            if stores is not None:
                result.append(stores)
        return result

    def _touched(self) -> dict[Origin, dict[Instr, list[int]]]:
        """For each array and variable, the instructions that use it, and with which operands."""
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
        return Stores(argument.index, size, sorted(set(offsets)), address, self.iterations)

    # -- control flow ---------------------------------------------------------------------

    def _is_certain(self, instr: Instr) -> bool:
        """Whether every thread executes the instruction, in each iteration of loops around."""
        block: Block | None = instr.block
        assert block is not None
        loop = self.loops.get(block)
        while loop is not None:
            latch = only_exit(loop)
            if latch is None or not dominates(self.idom, block, latch):
                return False
            loop = loop.parent
        return dominates(self.late, block, self.program.blocks[0])

    def _count(self, variables: list[Induction], name: str) -> None:
        """Gives the counters of a loop with a known number of iterations their forms."""
        for one in variables:
            start = one.start.int_value if isinstance(one.start, Const) else None
            if one.growth > 0 and start is not None and start >= 0:
                self.counters[one.phi] = Form({(): start, (name,): one.growth})

    # -- addresses ------------------------------------------------------------------------

    def _form(self, value: Value) -> Form | None:
        """The value as a sum. No term is negative, so no intermediate result is larger than the
        whole: if that fits into 32 bits, nothing has wrapped on the way."""
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
    """Whether the form is small enough to be that of an address: long chains grow without limit."""
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
