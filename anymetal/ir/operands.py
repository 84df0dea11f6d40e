"""Types, constants and other operands in LLVM IR text."""

from __future__ import annotations

import re

from anymetal.errors import UnsupportedFeatureError
from anymetal.ir import types as t
from anymetal.ir.calls import plain_name
from anymetal.ir.locations import Locations
from anymetal.ir.model import Const, ConstVector, Global, Instr, Value
from anymetal.ir.tokens import Tokens
from anymetal.ir.types import Type

_CASTS = ("inttoptr", "ptrtoint", "trunc", "bitcast")
_SUMS = ("add", "sub")
_CONSTANT = re.compile(
    r"-?\d+(?:\.\d+(?:e[+-]?\d+)?)?|0x[HKLMR]?[0-9A-Fa-f]+|true|false|null|undef|poison"
)


class OperandReader:
    """The names of a module and of one function, and the operands made of them."""

    def __init__(self) -> None:
        self.locations = Locations()
        self.type_texts: dict[str, str] = {}
        self.named_types: dict[str, Type] = {}
        self.globals: dict[str, Global] = {}
        self.values: dict[str, Value] = {}
        self.constants: list[Instr] = []  #: constant expressions, as instructions

    def _type(self, tokens: Tokens) -> Type:
        token = tokens.next()
        if token == "ptr":
            if tokens.accept("addrspace"):
                tokens.skip_parentheses()
            return t.PTR
        if token in t.COMMON:
            return t.COMMON[token]
        if re.fullmatch(r"i\d+", token):
            return t.Int(int(token[1:]))
        if token in ("<", "["):
            if tokens.accept("{"):
                return self._struct(tokens, packed=True)
            count = int(tokens.next())
            tokens.expect("x")
            element = self._type(tokens)
            tokens.expect(">" if token == "<" else "]")
            return t.Vector(count, element) if token == "<" else t.Array(count, element)
        if token == "{":
            return self._struct(tokens, packed=False)
        if token.startswith("%"):
            if token not in self.type_texts:
                raise tokens.error(f"unknown type {token}")
            if token not in self.named_types:  # types may refer to later ones
                self.named_types[token] = self._type(Tokens(self.type_texts[token]))
            return self.named_types[token]
        raise tokens.error(f"unknown type {token!r}")

    def _struct(self, tokens: Tokens, packed: bool) -> Type:
        fields = []
        while not tokens.accept("}"):
            fields.append(self._type(tokens))
            tokens.accept(",")
        if packed:
            tokens.expect(">")
        return t.Struct(tuple(fields), packed)

    def _value(self, type_: Type, tokens: Tokens) -> Value:
        token = tokens.next()
        if token.startswith("%"):
            value = self.values.get(token)
            if value is None:
                # Used before it is defined (phis): a placeholder, replaced at the end.
                value = self.values[token] = Instr(type_, "forward", [], name=token)
            return value
        if token.startswith("@"):
            return self._named_global(token, tokens)
        if token == "<":
            return self._vector_constant(type_, tokens)
        if token == "splat":
            tokens.expect("(")
            element = self._value(self._type(tokens), tokens)
            tokens.expect(")")
            return ConstVector(type_, (element,) * type_.lanes)
        if token in ("getelementptr", *_CASTS, *_SUMS):
            return self._constant_expression(token, tokens)
        if isinstance(type_, t.Vector) and token in ("zeroinitializer", "undef", "poison"):
            return ConstVector(
                type_, (Const(type_.element, _zero(type_.element, token)),) * type_.count
            )
        if token == "zeroinitializer":
            token = _zero(type_, token)
        if not _CONSTANT.fullmatch(token):
            raise tokens.error(f"no constant: {token!r}")
        return Const(type_, token)

    def _named_global(self, name: str, tokens: Tokens) -> Value:
        if name not in self.globals:
            where = self.locations.of(tokens.line)
            raise UnsupportedFeatureError(
                f"{where or 'kernel'}: the address of `{plain_name(name[1:])}` is taken. A pointer "
                "to a function must be known when compiling: call the function by its name."
            )
        return self.globals[name]

    def _vector_constant(self, type_: Type, tokens: Tokens) -> Value:
        elements = []
        while not tokens.accept(">"):
            elements.append(self._value(self._type(tokens), tokens))
            tokens.accept(",")
        return ConstVector(type_, tuple(elements))

    def _constant_expression(self, op: str, tokens: Tokens) -> Value:
        """A constant expression becomes an instruction of the entry block."""
        flags = tokens.flags()
        if tokens.accept("inrange"):
            tokens.skip_parentheses()
        tokens.expect("(")
        if op == "getelementptr":
            instr = self._gep(tokens, flags)
            tokens.expect(")")
        elif op in _CASTS:
            value = self._typed(tokens)
            tokens.expect("to")
            instr = Instr(self._type(tokens), op, [value], flags=flags)
            tokens.expect(")")
        else:
            left = self._typed(tokens)
            tokens.expect(",")
            instr = Instr(left.type, op, [left, self._typed(tokens)], flags=flags)
            tokens.expect(")")
        self.constants.append(instr)
        return instr

    def _typed(self, tokens: Tokens) -> Value:
        type_ = self._type(tokens)
        tokens.skip_decoration()
        return self._value(type_, tokens)

    def _gep(self, tokens: Tokens, flags: str) -> Instr:
        source = self._type(tokens)
        tokens.expect(",")
        base = self._typed(tokens)
        indices = []
        while tokens.accept(","):
            if tokens.peek().startswith("!"):
                break
            indices.append(self._typed(tokens))
        operands, scales, offset = [base], [], 0
        at: Type = t.Array(0, source)
        for index in indices:
            constant = index.int_value if isinstance(index, Const) else None
            if isinstance(at, t.Struct):
                assert constant is not None
                offset += at.offsets[constant]
                at = at.fields[constant]
                continue
            assert isinstance(at, (t.Array, t.Vector)), at
            at = at.element
            if constant is not None:
                offset += constant * at.size
            else:
                operands.append(index)
                scales.append(at.size)
        return Instr(t.PTR, "gep", operands, (*scales, offset), flags)


def _zero(type_: Type, token: str) -> str:
    if token != "zeroinitializer":
        return token
    if type_.is_int:
        return "false" if type_ == t.I1 else "0"
    return (
        "null"
        if type_.is_ptr
        else "0xH0000"
        if type_ == t.HALF
        else "0xR0000"
        if type_ == t.BFLOAT
        else "0.0"
    )
