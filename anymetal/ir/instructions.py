"""Reads instructions of LLVM IR text: a handler for each operation.

An operation without handler is an error that shows the line.
"""

from __future__ import annotations

import re
from typing import Any

from anymetal.errors import UnsupportedFeatureError
from anymetal.ir import calls
from anymetal.ir import types as t
from anymetal.ir.model import Access, Block, Const, ConstVector, Instr, Value
from anymetal.ir.operands import OperandReader
from anymetal.ir.tokens import Tokens

_BINARY = frozenset(
    "add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv frem".split()
)
_CASTS = frozenset(
    "trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint inttoptr bitcast".split()
)


class InstructionReader(OperandReader):
    """Reads the instructions of a function; `_op_…` handles an operation."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: dict[str, Block] = {}

    def _block(self, name: str) -> Block:
        if name not in self.blocks:
            self.blocks[name] = Block(name)
        return self.blocks[name]

    def _parse(self, op: str, tokens: Tokens) -> Instr | None:
        """The instruction `op`, whose operands follow; None for one that means nothing here."""
        if op in _BINARY:
            return self._binary(op, tokens)
        if op in _CASTS:
            return self._cast(op, tokens)
        if op in ("icmp", "fcmp"):
            return self._compare(op, tokens)
        handler = getattr(self, f"_op_{op}", None)
        if handler is None:
            raise tokens.error(f"unknown instruction {op!r}")
        instr: Instr | None = handler(tokens)
        return instr

    def _operands(self, count: int, tokens: Tokens) -> list[Value]:
        """So many, each with its type."""
        found = [self._typed(tokens)]
        while len(found) < count:
            tokens.expect(",")
            found.append(self._typed(tokens))
        return found

    def _binary(self, op: str, tokens: Tokens) -> Instr:
        flags = tokens.flags()
        type_ = self._type(tokens)
        left = self._value(type_, tokens)
        tokens.expect(",")
        return Instr(type_, op, [left, self._value(type_, tokens)], flags=flags)

    def _cast(self, op: str, tokens: Tokens) -> Instr:
        flags = tokens.flags()
        value = self._typed(tokens)
        tokens.expect("to")
        return Instr(self._type(tokens), op, [value], flags=flags)

    def _op_fneg(self, tokens: Tokens) -> Instr:
        flags = tokens.flags()
        value = self._typed(tokens)
        return Instr(value.type, "fneg", [value], flags=flags)

    def _op_freeze(self, tokens: Tokens) -> Instr:
        value = self._typed(tokens)
        return Instr(value.type, "freeze", [value])

    def _compare(self, op: str, tokens: Tokens) -> Instr:
        flags = tokens.flags()
        predicate = tokens.next()
        type_ = self._type(tokens)
        left = self._value(type_, tokens)
        tokens.expect(",")
        right = self._value(type_, tokens)
        result = t.Vector(type_.count, t.I1) if isinstance(type_, t.Vector) else t.I1
        return Instr(result, op, [left, right], predicate, flags)

    def _op_select(self, tokens: Tokens) -> Instr:
        flags = tokens.flags()
        operands = self._operands(3, tokens)
        return Instr(operands[1].type, "select", operands, flags=flags)

    def _op_phi(self, tokens: Tokens) -> Instr:
        flags = tokens.flags()
        type_ = self._type(tokens)
        values, blocks = [], []
        while tokens.accept("["):
            values.append(self._value(type_, tokens))
            tokens.expect(",")
            blocks.append(self._block(tokens.next()))
            tokens.expect("]")
            tokens.accept(",")
        return Instr(type_, "phi", values, blocks, flags)

    def _op_br(self, tokens: Tokens) -> Instr:
        if tokens.accept("label"):
            return Instr(t.VOID, "br", [], [self._block(tokens.next())])
        condition = self._typed(tokens)
        targets = []
        while tokens.accept(","):
            if not tokens.accept("label"):
                break
            targets.append(self._block(tokens.next()))
        return Instr(t.VOID, "br", [condition], targets)

    def _op_ret(self, tokens: Tokens) -> Instr:
        return Instr(t.VOID, "ret", [])

    def _op_unreachable(self, tokens: Tokens) -> Instr:
        return Instr(t.VOID, "unreachable", [])

    def _op_getelementptr(self, tokens: Tokens) -> Instr:
        return self._gep(tokens, tokens.flags())

    def _op_alloca(self, tokens: Tokens) -> Instr:
        type_ = self._type(tokens)
        found = re.search(r", align (\d+)", tokens.line)
        return Instr(t.PTR, "alloca", [], (type_, int(found.group(1)) if found else type_.align))

    def _access(self, type_: t.Type, tokens: Tokens, atomic: bool, volatile: bool) -> Access:
        """How memory is accessed. Metal aligns a float4 to 16 bytes; in memory, MLX's arrays are
        aligned to 8 or to an element only."""
        found = re.search(r", align (\d+)", tokens.line)
        align = int(found.group(1)) if found else 1
        return Access(min(align, type_.scalar.size), volatile, atomic)

    def _op_load(self, tokens: Tokens) -> Instr:
        atomic, volatile = bool(tokens.accept("atomic")), bool(tokens.accept("volatile"))
        type_ = self._type(tokens)
        tokens.expect(",")
        pointer = self._typed(tokens)
        return Instr(type_, "load", [pointer], self._access(type_, tokens, atomic, volatile))

    def _op_store(self, tokens: Tokens) -> Instr:
        atomic, volatile = bool(tokens.accept("atomic")), bool(tokens.accept("volatile"))
        operands = self._operands(2, tokens)
        access = self._access(operands[0].type, tokens, atomic, volatile)
        return Instr(t.VOID, "store", operands, access)

    def _op_atomicrmw(self, tokens: Tokens) -> Instr:
        volatile = bool(tokens.accept("volatile"))
        operation = tokens.next()
        pointer, value = self._operands(2, tokens)
        access = self._access(value.type, tokens, True, volatile)
        return Instr(value.type, "atomicrmw", [pointer, value], (operation, access))

    def _op_cmpxchg(self, tokens: Tokens) -> Instr:
        while tokens.accept("weak", "volatile"):
            pass
        pointer, expected, desired = self._operands(3, tokens)
        result = t.Struct((expected.type, t.I1))
        access = self._access(expected.type, tokens, True, False)
        return Instr(result, "cmpxchg", [pointer, expected, desired], access)

    def _op_fence(self, tokens: Tokens) -> Instr:
        return Instr(t.VOID, "fence", [])

    def _op_extractvalue(self, tokens: Tokens) -> Instr:
        value = self._typed(tokens)
        tokens.expect(",")
        index = int(tokens.next())
        assert isinstance(value.type, t.Struct)
        return Instr(value.type.fields[index], "extractvalue", [value], index)

    def _op_extractelement(self, tokens: Tokens) -> Instr:
        operands = self._operands(2, tokens)
        return Instr(operands[0].type.scalar, "extractelement", operands)

    def _op_insertelement(self, tokens: Tokens) -> Instr:
        operands = self._operands(3, tokens)
        return Instr(operands[0].type, "insertelement", operands)

    def _op_shufflevector(self, tokens: Tokens) -> Instr:
        *operands, mask = self._operands(3, tokens)
        assert isinstance(mask, ConstVector)
        indices = tuple(-1 if i is None else i for i in map(_index, mask.elements))
        result = t.Vector(len(indices), operands[0].type.scalar)
        return Instr(result, "shufflevector", operands, indices)

    def _op_call(self, tokens: Tokens) -> Instr | None:
        flags = tokens.flags()
        tokens.skip_decoration()
        result = self._type(tokens)
        if tokens.peek() == "(":
            tokens.skip_parentheses()
        callee = tokens.next()
        if not callee.startswith("@"):
            raise self._unsupported(
                tokens,
                "this call of a virtual function or through a pointer cannot be resolved when "
                "compiling. Call the function by its name.",
            )
        callee = callee[1:].strip('"')
        if callee.startswith(_IGNORED_CALLS):
            return None
        if not calls.is_known(callee):
            raise self._unsupported(
                tokens,
                f"`{calls.plain_name(callee)}` is called but has no body. Define it in the "
                "kernel's header.",
            )
        tokens.expect("(")
        operands: list[Any] = []
        while not tokens.accept(")"):
            operands.append(self._typed(tokens))
            tokens.accept(",")
        return Instr(result, "call", operands, callee, flags)

    def _unsupported(self, tokens: Tokens, text: str) -> UnsupportedFeatureError:
        return UnsupportedFeatureError(f"{self.locations.of(tokens.line) or 'kernel'}: {text}")


_IGNORED_CALLS = (
    "llvm.lifetime.",
    "llvm.assume",
    "llvm.experimental.noalias.scope.decl",
    "llvm.dbg.",
    "llvm.donothing",
)


def _index(value: Value) -> int | None:
    return value.int_value if isinstance(value, Const) else None
