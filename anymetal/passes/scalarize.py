"""Splits short vectors (float4, half8 …) into scalars, so that the vectorizer sees scalars only.

    %v = load <2 x float> %p      becomes      %x = load float %p,  %y = load float %p + 4

The memory lowering of simd/ finds neighbouring accesses again as one group, members of a struct and
neighbours in an array included (simd/access/groups.py).
"""

from __future__ import annotations

import re
from math import lcm

from anymetal.analysis.cache import Analyses
from anymetal.ir import types as t
from anymetal.ir.cfg import reverse_postorder
from anymetal.ir.model import Block, Const, ConstVector, Instr, Program, Value
from anymetal.ir.problem import Problem

_SUFFIX = re.compile(r"\.v\d+([a-z]+\d+)")
#: Reductions whose intrinsic for two values has another name.
_PAIRWISE = {"fmin": "minnum", "fmax": "maxnum", "fminimum": "minimum", "fmaximum": "maximum"}


def run(known: Analyses) -> bool:
    """Changes programs in which there is a vector."""
    program = known.program
    vectors = any(v.type.is_vector for i in program.instructions() for v in (i, *i.operands))
    if vectors:
        _Scalarizer().run(program)
    return vectors


class _Scalarizer:
    def __init__(self) -> None:
        self.parts: dict[Value, list[Value]] = {}
        self.phis: list[tuple[Instr, list[Instr]]] = []
        self.out: list[Instr] = []
        self.current: Instr | None = None

    def run(self, program: Program) -> None:
        for block in reverse_postorder(program.blocks[0]):
            self._block(block)
        for old, new in self.phis:
            for value in old.operands:
                for part, phi in zip(self._split(value), new, strict=True):
                    phi.operands.append(part)
        self._resolve(program)

    def _resolve(self, program: Program) -> None:
        """Exchanges scalar results of vector instructions for those of their replacements."""
        for instr in program.instructions():
            instr.operands = [self._single(v) for v in instr.operands]

    def _single(self, value: Value) -> Value:
        while value in self.parts and not value.type.is_vector:
            value = self.parts[value][0]
        return value

    def _block(self, block: Block) -> None:
        self.out = []
        for instr in block.instrs:
            self.current = instr
            if not instr.type.is_vector and not any(v.type.is_vector for v in instr.operands):
                self.out.append(instr)
            else:
                self.parts[instr] = self._rewrite(instr)
        phis = [i for i in self.out if i.op == "phi"]
        block.refill(phis + [i for i in self.out if i.op != "phi"])

    # -- building blocks ------------------------------------------------------------------

    def _emit(
        self, op: str, type_: t.Type, operands: list[Value], arg: object = None, flags: str = ""
    ) -> Instr:  # fmt: skip
        assert self.current is not None
        name = f"{self.current.name}.s{len(self.out)}" if self.current.name else ""
        instr = Instr(type_, op, operands, arg, flags, self.current.loc, name)
        self.out.append(instr)
        return instr

    def _split(self, value: Value) -> list[Value]:
        if not value.type.is_vector:
            return [self._single(value)]
        if isinstance(value, ConstVector):
            return list(value.elements)
        if isinstance(value, Const):
            return [Const(value.type.scalar, value.text)] * value.type.lanes
        return self.parts[value]

    # -- one instruction ------------------------------------------------------------------

    def _rewrite(self, instr: Instr) -> list[Value]:
        handler = getattr(self, f"_op_{instr.op}", None)
        if handler is not None:
            return list(handler(instr))
        return self._elementwise(instr, instr.arg)

    def _elementwise(self, instr: Instr, arg: object) -> list[Value]:
        lanes = max(v.type.lanes for v in (instr, *instr.operands))
        columns = [self._split(v) if v.type.is_vector else [v] * lanes for v in instr.operands]
        return [
            self._emit(instr.op, instr.type.scalar, [c[i] for c in columns], arg, instr.flags)
            for i in range(lanes)
        ]

    def _op_phi(self, instr: Instr) -> list[Value]:
        new = [
            self._emit("phi", instr.type.scalar, [], list(instr.arg), instr.flags)
            for _ in range(instr.type.lanes)
        ]
        self.phis.append((instr, new))
        return list(new)

    def _op_call(self, instr: Instr) -> list[Value]:
        if instr.arg.startswith("llvm.vector.reduce."):
            return [self._reduction(instr)]
        if instr.arg.startswith("llvm."):
            return self._elementwise(instr, _SUFFIX.sub(r".\1", instr.arg))
        raise Problem(f"thread program: vector operands in a call of {instr.arg}")

    def _reduction(self, instr: Instr) -> Value:
        kind = instr.arg.split(".")[3]
        values = [v for operand in instr.operands for v in self._split(operand)]
        result = values[0]
        for value in values[1:]:
            if kind in ("add", "mul", "and", "or", "xor", "fadd", "fmul"):
                result = self._emit(kind, result.type, [result, value], flags=instr.flags)
            else:
                name = _PAIRWISE.get(kind, kind)
                suffix = instr.arg.rsplit(".", 1)[1].lstrip("v0123456789")
                result = self._emit("call", result.type, [result, value], f"llvm.{name}.{suffix}")
        return result

    def _addresses(self, pointer: Value, element: t.Type, lanes: int) -> list[Value]:
        return [pointer] + [
            self._emit("gep", pointer.type, [pointer], (i * element.size,), "inbounds")
            for i in range(1, lanes)
        ]

    def _op_load(self, instr: Instr) -> list[Value]:
        element, lanes = instr.type.scalar, instr.type.lanes
        if element == t.I1:
            word = self._emit("load", _packed(lanes), list(instr.operands), instr.arg)
            return self._cut(word, t.I1)[:lanes]
        addresses = self._addresses(instr.operands[0], element, lanes)
        return [self._emit("load", element, [address], instr.arg) for address in addresses]

    def _op_store(self, instr: Instr) -> list[Value]:
        values, pointer = self._split(instr.operands[0]), instr.operands[1]
        element = values[0].type
        if element == t.I1:
            rest: list[Value] = [Const(t.I1, "false")] * (_packed(len(values)).bits - len(values))
            word = self._join(values + rest, _packed(len(values)))
            self._emit("store", t.VOID, [word, pointer], instr.arg)
            return []
        addresses = self._addresses(pointer, element, len(values))
        for value, address in zip(values, addresses, strict=True):
            self._emit("store", t.VOID, [value, address], instr.arg)
        return []

    def _op_extractelement(self, instr: Instr) -> list[Value]:
        vector, index = self._split(instr.operands[0]), instr.operands[1]
        if isinstance(index, Const):
            return [vector[index.int_value or 0]]
        result = vector[0]
        for i in range(1, len(vector)):
            hit = self._emit("icmp", t.I1, [index, Const(index.type, str(i))], "eq")
            result = self._emit("select", instr.type, [hit, vector[i], result])
        return [result]

    def _op_insertelement(self, instr: Instr) -> list[Value]:
        vector, value, index = self._split(instr.operands[0]), instr.operands[1], instr.operands[2]
        value = self._single(value)
        if isinstance(index, Const):
            position = index.int_value or 0
            return [*vector[:position], value, *vector[position + 1 :]]
        result: list[Value] = []
        for i, old in enumerate(vector):
            hit = self._emit("icmp", t.I1, [index, Const(index.type, str(i))], "eq")
            result.append(self._emit("select", old.type, [hit, value, old]))
        return result

    def _op_shufflevector(self, instr: Instr) -> list[Value]:
        pool = self._split(instr.operands[0]) + self._split(instr.operands[1])
        poison = Const(instr.type.scalar, "poison")
        return [poison if i < 0 else pool[i] for i in instr.arg]

    def _op_bitcast(self, instr: Instr) -> list[Value]:
        """Joins the elements to integers whose size is a common multiple, and cuts those anew."""
        values = self._split(instr.operands[0])
        source, target = _bits(values[0].type), _bits(instr.type.scalar)
        if source == target:
            return [self._emit("bitcast", instr.type.scalar, [v]) for v in values]
        word = t.Int(lcm(source, target))
        group = word.bits // source
        integers = [self._as_int(v) for v in values]
        words = [self._join(integers[i : i + group], word) for i in range(0, len(values), group)]
        pieces = [piece for w in words for piece in self._cut(w, t.Int(target))]
        return [self._from_int(piece, instr.type.scalar) for piece in pieces]

    def _as_int(self, value: Value) -> Value:
        if value.type.is_int:
            return value
        return self._emit("bitcast", t.Int(_bits(value.type)), [value])

    def _from_int(self, value: Value, target: t.Type) -> Value:
        return value if target.is_int else self._emit("bitcast", target, [value])

    def _join(self, group: list[Value], word: t.Int) -> Value:
        """Integers joined to one of type `word`, the first in the lowest bits."""
        if len(group) == 1:
            return group[0]
        step = word.bits // len(group)
        result: Value = self._emit("zext", word, [group[0]])
        for i, piece in enumerate(group[1:], 1):
            wide = self._emit("zext", word, [piece])
            part = self._emit("shl", word, [wide, Const(word, str(i * step))])
            result = self._emit("or", word, [result, part])
        return result

    def _cut(self, word: Value, piece: t.Int) -> list[Value]:
        """The reverse of `_join`."""
        if word.type == piece:
            return [word]
        pieces: list[Value] = []
        for at in range(0, _bits(word.type), piece.bits):
            part = self._emit("lshr", word.type, [word, Const(word.type, str(at))]) if at else word
            pieces.append(self._emit("trunc", piece, [part]))
        return pieces


def _packed(lanes: int) -> t.Int:
    """The type in memory of a vector of so many i1."""
    return t.Int(t.Vector(lanes, t.I1).size * 8)


def _bits(type_: t.Type) -> int:
    return type_.bits if isinstance(type_, t.Int) else type_.size * 8
