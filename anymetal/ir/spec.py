"""The grammar of the thread program, checked by machine.

`RULES` has one entry for each operation: which operands, `arg`, flags and result it takes. `check`
applies them, and the rules for whole programs: blocks, control flow, definitions before uses. It
raises a Problem with the instruction and the rule that it breaks. Tests run it after every pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from anymetal.ir import types as t
from anymetal.ir.calls import INTRINSICS, is_known
from anymetal.ir.cfg import Loop, dominates, dominators, find_loops, reverse_postorder
from anymetal.ir.model import (
    Access,
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
from anymetal.ir.types import Type


class Stage(IntEnum):
    """How far a program has come; each stage has rules of its own."""

    READ = 0  #: as LLVM left it, with short vectors
    SCALAR = 1  #: no vectors any more
    GUARDED = 2  #: loads may be under a condition


class _Broken(Exception):
    """The text says which rule."""


def _need(holds: bool, rule: str) -> None:
    if not holds:
        raise _Broken(rule)


# ------------------------------------------------------------------- types, args and flags

Kind = Callable[[Type], bool]
Rule = Callable[[Instr], None]


def _int(type_: Type) -> bool:
    return isinstance(type_.scalar, t.Int)


def _float(type_: Type) -> bool:
    return isinstance(type_.scalar, t.Float)


def _ptr(type_: Type) -> bool:
    return isinstance(type_.scalar, t.Ptr)


def _value(type_: Type) -> bool:
    """What a lane can hold in a register."""
    return _int(type_) or _float(type_) or _ptr(type_)


def _in_memory(type_: Type) -> bool:
    """What a vector of lanes stores just as its lanes one by one: whole bytes, no padding."""
    element = type_.scalar
    return _value(type_) and (not isinstance(element, t.Int) or element.bits in (8, 16, 32, 64))


def _bits(type_: Type) -> int:
    element = type_.scalar
    return type_.lanes * (element.bits if isinstance(element, t.Int) else element.size * 8)


def _operands(instr: Instr, *kinds: Kind) -> list[Type]:
    """The types of the operands, which must be of these kinds."""
    types = [v.type for v in instr.operands]
    _need(len(types) == len(kinds), f"takes {len(kinds)} operands")
    for number, (type_, kind) in enumerate(zip(types, kinds, strict=True)):
        _need(kind(type_), f"operand {number} must not be {type_}")
    return types


def _result(instr: Instr, type_: Type) -> None:
    _need(instr.type == type_, f"the result must be {type_}")


def _no_arg(instr: Instr) -> None:
    _need(instr.arg is None, "takes no arg")


def _access(access: Any, atomic: bool | None = None) -> None:
    _need(isinstance(access, Access), "arg must be an Access")
    _need(access.align > 0 and not access.align & (access.align - 1), "align is a power of two")
    _need(atomic is None or access.atomic == atomic, f"Access.atomic must be {atomic}")


_FAST = frozenset("fast nnan ninf nsz arcp contract afn reassoc".split())
_FLAGS = {
    **dict.fromkeys("add sub mul shl trunc".split(), frozenset(("nuw", "nsw"))),
    **dict.fromkeys("udiv sdiv lshr ashr".split(), frozenset(("exact",))),
    **dict.fromkeys(("zext", "uitofp"), frozenset(("nneg",))),
    **dict.fromkeys("fneg fadd fsub fmul fdiv frem fcmp fptrunc fpext".split(), _FAST),
    **dict.fromkeys("select phi call".split(), _FAST),
    "or": frozenset(("disjoint",)),
    "icmp": frozenset(("samesign",)),
    "gep": frozenset(("inbounds", "nusw", "nuw")),
    "guarded_load": frozenset(("inverted",)),
}  # fmt: skip

# --------------------------------------------------------------------- rules of operations

_PREDICATES = {
    "icmp": frozenset("eq ne ugt uge ult ule sgt sge slt sle".split()),
    "fcmp": frozenset("oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true false".split()),
}
_INTEGER_UPDATES = frozenset(
    "xchg add sub and nand or xor max min umax umin uinc_wrap udec_wrap usub_cond usub_sat".split()
)
_FLOAT_UPDATES = frozenset("xchg fadd fsub fmax fmin fmaximum fminimum".split())
_TYPE_IN_NAME = re.compile(r"v?\d*(?:f16|bf16|f32|f64|i\d+|p0)")
_TYPE_NAMES = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "ptr": "p0"}


def _binary(kind: Kind) -> Rule:
    def rule(instr: Instr) -> None:
        left, right = _operands(instr, kind, kind)
        _need(left == right, "both operands must have one type")
        _result(instr, left)
        _no_arg(instr)

    return rule


def _unary(kind: Kind) -> Rule:
    def rule(instr: Instr) -> None:
        (type_,) = _operands(instr, kind)
        _result(instr, type_)
        _no_arg(instr)

    return rule


def _cast(source: Kind, target: Kind, bits: str = "") -> Rule:
    """A cast of element type; `bits` says how the width must change: <, > or =."""
    compare = {"<": int.__lt__, ">": int.__gt__, "=": int.__eq__}.get(bits)

    def rule(instr: Instr) -> None:
        (type_,) = _operands(instr, source)
        _need(target(instr.type), f"the result must not be {instr.type}")
        _need(bits == "=" or type_.lanes == instr.type.lanes, "casts keep the number of elements")
        changes = compare is None or compare(_bits(instr.type), _bits(type_))
        _need(changes, f"the result must have {bits} bits than the operand")
        _no_arg(instr)

    return rule


def _compare(instr: Instr) -> None:
    kind = _float if instr.op == "fcmp" else lambda type_: _int(type_) or _ptr(type_)
    left, right = _operands(instr, kind, kind)
    _need(left == right, "both operands must have one type")
    _result(instr, t.Vector(left.lanes, t.I1) if left.is_vector else t.I1)
    _need(instr.arg in _PREDICATES[instr.op], f"{instr.arg!r} is no predicate")


def _select(instr: Instr) -> None:
    condition, yes, no = _operands(instr, _int, _value, _value)
    _need(condition in (t.I1, t.Vector(yes.lanes, t.I1)), "the condition must be i1")
    _need(yes == no, "both choices must have one type")
    _result(instr, yes)
    _no_arg(instr)


def _phi(instr: Instr) -> None:
    for type_ in _operands(instr, *[_value] * len(instr.operands)):
        _result(instr, type_)
    blocks = isinstance(instr.arg, list) and all(isinstance(b, Block) for b in instr.arg)
    _need(blocks and len(instr.arg) == len(instr.operands), "arg must list a block per operand")


def _br(instr: Instr) -> None:
    _need(isinstance(instr.arg, list) and len(instr.arg) in (1, 2), "arg must list 1 or 2 blocks")
    types = _operands(instr, *[_int] * (len(instr.arg) - 1))
    _need(types in ([], [t.I1]), "the condition must be i1")
    _result(instr, t.VOID)


def _end(instr: Instr) -> None:
    _operands(instr)
    _result(instr, t.VOID)
    _no_arg(instr)


def _gep(instr: Instr) -> None:
    _operands(instr, _ptr, *[_int] * (len(instr.operands) - 1))
    _need(_ptr(instr.type), "the result must be ptr")
    numbers = isinstance(instr.arg, tuple) and all(isinstance(n, int) for n in instr.arg)
    _need(numbers and len(instr.arg) == len(instr.operands), "arg: a scale per index, the offset")


def _alloca(instr: Instr) -> None:
    _operands(instr)
    _result(instr, t.PTR)
    type_, align = instr.arg
    _need(isinstance(type_, Type) and type_.size >= 0, "arg must be a type and its alignment")
    _access(Access(align))


def _load(instr: Instr) -> None:
    _operands(instr, lambda type_: type_ == t.PTR)
    packed = instr.type.is_vector and instr.type.scalar == t.I1
    _need(_in_memory(instr.type) or packed, f"cannot load {instr.type}")
    _access(instr.arg)


def _guarded_load(instr: Instr) -> None:
    _operands(instr, lambda type_: type_ == t.PTR, lambda type_: type_ == t.I1)
    _need(_in_memory(instr.type), f"cannot load {instr.type}")
    _access(instr.arg, atomic=False)


def _store(instr: Instr) -> None:
    value, _ = _operands(instr, _value, lambda type_: type_ == t.PTR)
    packed = value.is_vector and value.scalar == t.I1
    _need(_in_memory(value) or packed, f"cannot store {value}")
    _result(instr, t.VOID)
    _access(instr.arg)


def _atomicrmw(instr: Instr) -> None:
    _, value = _operands(instr, _ptr, _in_memory)
    _result(instr, value)
    operation, access = instr.arg
    known = _FLOAT_UPDATES if _float(value) else _INTEGER_UPDATES
    _need(not value.is_vector and operation in known, f"no atomic {operation!r} of {value}")
    _access(access, atomic=True)


def _cmpxchg(instr: Instr) -> None:
    _, expected, desired = _operands(instr, _ptr, _in_memory, _in_memory)
    _need(expected == desired and not expected.is_vector, "both values must have one type")
    _result(instr, t.Struct((expected, t.I1)))
    _access(instr.arg, atomic=True)


def _extractvalue(instr: Instr) -> None:
    (struct,) = _operands(instr, lambda type_: isinstance(type_, t.Struct))
    assert isinstance(struct, t.Struct)
    _need(instr.arg in range(len(struct.fields)), f"no field {instr.arg}")
    _result(instr, struct.fields[instr.arg])


def _extractelement(instr: Instr) -> None:
    vector, _ = _operands(instr, lambda type_: type_.is_vector, _int)
    _result(instr, vector.scalar)
    _no_arg(instr)


def _insertelement(instr: Instr) -> None:
    vector, element, _ = _operands(instr, lambda type_: type_.is_vector, _value, _int)
    _need(element == vector.scalar, "the element must have the vector's element type")
    _result(instr, vector)
    _no_arg(instr)


def _shufflevector(instr: Instr) -> None:
    first, second = _operands(instr, *[lambda type_: type_.is_vector] * 2)
    _need(first == second, "both operands must have one type")
    _need(all(-1 <= n < 2 * first.lanes for n in instr.arg), "no such element")
    _result(instr, t.Vector(len(instr.arg), first.scalar))


def _call(instr: Instr) -> None:
    types, callee = [v.type for v in instr.operands], instr.arg
    _need(is_known(callee), f"{callee} is no function that programs may call")
    if callee in INTRINSICS:
        result, parameters = INTRINSICS[callee]
        _need(tuple(types) == parameters, f"takes ({', '.join(map(str, parameters))})")
        _result(instr, result)
    elif callee.startswith("llvm."):
        names = {_name_of(type_) for type_ in (instr.type, *types)}
        if isinstance(instr.type, t.Struct):
            names |= {_name_of(type_) for type_ in instr.type.fields}
        for word in callee.split(".")[2:]:
            if _TYPE_IN_NAME.fullmatch(word):
                _need(word in names, f"neither result nor operands are {word}")
    else:
        scalar = t.FLOAT if callee.endswith("f") and callee != "erf" else t.DOUBLE
        _result(instr, scalar)


def _name_of(type_: Type) -> str:
    """The type in the names of LLVM's intrinsics."""
    element = _TYPE_NAMES.get(str(type_.scalar), str(type_.scalar))
    return f"v{type_.lanes}{element}" if type_.is_vector else element


RULES: dict[str, Rule] = {
    **dict.fromkeys(
        "add sub mul udiv sdiv urem srem shl lshr ashr and or xor".split(), _binary(_int)
    ),
    **dict.fromkeys("fadd fsub fmul fdiv frem".split(), _binary(_float)),
    "fneg": _unary(_float),
    "freeze": _unary(_value),
    "trunc": _cast(_int, _int, "<"),
    "zext": _cast(_int, _int, ">"),
    "sext": _cast(_int, _int, ">"),
    "fptrunc": _cast(_float, _float, "<"),
    "fpext": _cast(_float, _float, ">"),
    "fptoui": _cast(_float, _int),
    "fptosi": _cast(_float, _int),
    "uitofp": _cast(_int, _float),
    "sitofp": _cast(_int, _float),
    "ptrtoint": _cast(_ptr, _int),
    "inttoptr": _cast(_int, _ptr),
    "bitcast": _cast(_value, _value, "="),
    "icmp": _compare,
    "fcmp": _compare,
    "select": _select,
    "phi": _phi,
    "br": _br,
    "ret": _end,
    "unreachable": _end,
    "fence": _end,
    "gep": _gep,
    "alloca": _alloca,
    "load": _load,
    "guarded_load": _guarded_load,
    "store": _store,
    "atomicrmw": _atomicrmw,
    "cmpxchg": _cmpxchg,
    "extractvalue": _extractvalue,
    "extractelement": _extractelement,
    "insertelement": _insertelement,
    "shufflevector": _shufflevector,
    "call": _call,
}
_VECTOR_ONLY = frozenset(("extractelement", "insertelement", "shufflevector"))

# ----------------------------------------------------------------------- rules of programs


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
        self.loop_of: dict[Block, Loop] = {}
        for loop in find_loops(self.program.blocks):  # outer ones first
            self.loop_of.update(dict.fromkeys(loop.blocks, loop))
        for block in self.program.blocks:
            for number, instr in enumerate(block.instrs):
                try:
                    _need(self.at[instr] == (block, number), "stands in two places")
                    self._instr(instr, block)
                except _Broken as rule:
                    place = f"{instr.loc or 'no line'}, {block.name}"
                    raise self._problem(f"{instr.name} {instr.op} ({place}): {rule}") from None

    def _problem(self, text: str) -> Problem:
        return Problem(f"thread program, stage {self.stage.name.lower()}: {text}")

    def _blocks(self) -> None:
        """What must hold before control flow can be looked at."""
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
            if argument.index != number or argument.type != t.PTR:
                raise self._problem(f"argument {number} must be a pointer with this index")

    # -- one instruction ------------------------------------------------------------------

    def _instr(self, instr: Instr, block: Block) -> None:
        _need(instr.block is block, "instr.block must be the block that holds it")
        _need(instr.op in RULES, "unknown operation")
        if self.stage >= Stage.SCALAR:
            vectors = any(v.type.is_vector for v in (instr, *instr.operands))
            _need(not vectors and instr.op not in _VECTOR_ONLY, "vectors are gone by now")
        if self.stage < Stage.GUARDED:
            _need(instr.op != "guarded_load", "no guarded loads yet")
        flags = set(instr.flags.split()) - _FLAGS.get(instr.op, frozenset())
        _need(not flags, f"unknown flags {sorted(flags)}")
        RULES[instr.op](instr)
        if instr.op == "phi":
            self._incoming(instr, block)
        for number, value in enumerate(instr.operands):
            self._operand(instr, number, value, block)

    def _incoming(self, phi: Instr, block: Block) -> None:
        number = self.at[phi][1]
        _need(number == 0 or block.instrs[number - 1].op == "phi", "phis come first")
        _need(len(phi.arg) == len(set(phi.arg)), "a phi names each predecessor once")
        _need(set(phi.arg) == set(self.preds[block]), "a phi names every predecessor")

    def _operand(self, user: Instr, number: int, value: Value, block: Block) -> None:
        match value:
            case Instr():
                _need(value in self.at, f"operand {number} is in no block")
                _need(value.has_result, f"operand {number} has no value")
                place = user.arg[number] if user.op == "phi" else block
                _need(self._defined(value, user, place), f"operand {number} comes too late")
                _need(
                    self._visible(value, place), f"operand {number} leaves its loop without a phi"
                )
            case Argument():
                _need(
                    value in self.program.args, f"operand {number} is no argument of this program"
                )
            case Global():
                known = self.program.globals.get(value.name) is value
                _need(known, f"operand {number} is no global of this program")
            case ConstVector():
                whole = value.type.lanes == len(value.elements)
                _need(whole and value.type.is_vector, f"operand {number}: one element per lane")
                for element in value.elements:
                    _need(
                        element.type == value.type.scalar, f"operand {number}: type of an element"
                    )
                    self._operand(user, number, element, block)
            case Const():
                _need(_spelled(value), f"operand {number}: {value.text!r} is no {value.type}")
            case _:
                _need(False, f"operand {number} is a {type(value).__name__}")

    def _defined(self, value: Instr, user: Instr, place: Block) -> bool:
        """Whether the value is computed on every way to its use at the end of, or in, `place`."""
        home, position = self.at[value]
        if home is place and user.op != "phi":
            return position < self.at[user][1]
        return dominates(self.idom, home, place)

    def _visible(self, value: Instr, place: Block) -> bool:
        """Whether the use is inside the loop around the value (LLVM's loop-closed SSA form).

        Lanes may leave a loop in different iterations, so what is uniform in the loop need not be
        uniform behind it: a phi marks the place.
        """
        loop = self.loop_of.get(self.at[value][0])
        return loop is None or place in loop.blocks


def _spelled(value: Const) -> bool:
    """Whether a constant is one of its type."""
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
