"""Reads LLVM IR text (of LLVM 22, optimised, one function) into a `Program`.

A line-by-line reader for the subset that Clang and LLVM's passes produce for kernels. What it does
not know is an error with the text of the line: nothing is skipped in silence.
"""

from __future__ import annotations

import re
from typing import Any

from anymetal.ir import types as t
from anymetal.ir.model import (
    Access,
    Argument,
    Block,
    Const,
    ConstVector,
    Global,
    Instr,
    Location,
    Program,
    Value,
)
from anymetal.ir.problem import Problem
from anymetal.ir.types import Type

_TOKEN = re.compile(
    r"""c"[^"]*" | [%@!$\#](?:"[^"]*"|[\w.$-]+) | "[^"]*"
      | -?\d+\.\d+(?:e[+-]?\d+)? | 0x[HKLMR]?[0-9A-Fa-f]+ | -?\d+ | [\w.]+ | \.\.\.
      | [()\[\]{}<>,=*|:!]""",
    re.X,
)
_BINARY = frozenset(
    "add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv frem".split()
)
_CASTS = frozenset(
    "trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint inttoptr bitcast "
    "addrspacecast".split()
)
_FLAGS = frozenset(
    "nuw nsw exact disjoint nneg samesign inbounds nusw fast nnan ninf nsz arcp contract afn "
    "reassoc".split()
)
_DECORATION = frozenset(
    "noundef nonnull nocapture readonly writeonly readnone noalias signext zeroext inreg returned "
    "immarg nofree noinline swiftself dead_on_unwind writable tail musttail notail volatile "
    "dead_on_return".split()
)
#: Attributes with a value: "align 4" or "captures(none)".
_VALUED = frozenset(
    "align dereferenceable dereferenceable_or_null captures range nofpclass initializes memory "
    "byval sret".split()
)
_CALLING = re.compile(r"(fastcc|ccc|coldcc)$")


class Tokens:
    """A cursor over the tokens of one line."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.items: list[str] = _TOKEN.findall(line)
        self.at = 0

    def peek(self) -> str:
        return self.items[self.at] if self.at < len(self.items) else ""

    def next(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def accept(self, *tokens: str) -> str:
        if self.peek() in tokens:
            return self.next()
        return ""

    def expect(self, token: str) -> None:
        if self.next() != token:
            raise self.error(f"expected {token!r}")

    def flags(self) -> str:
        words = []
        while self.peek() in _FLAGS:
            words.append(self.next())
        return " ".join(words)

    def skip_decoration(self) -> None:
        """Parameter and call attributes that the vectorizer has no use for."""
        while self.peek():
            token = self.peek()
            if token in _DECORATION or _CALLING.match(token):
                self.next()
                if self.peek() == "(":
                    self.skip_parentheses()
            elif token in _VALUED:
                self.next()
                if self.peek() == "(":
                    self.skip_parentheses()
                else:
                    self.next()
            else:
                return

    def skip_parentheses(self) -> None:
        depth = 0
        while True:
            token = self.next()
            depth += (token == "(") - (token == ")")
            if depth == 0 or not token:
                return

    def error(self, message: str) -> Problem:
        return Problem(f"thread program: {message} in: {self.line.strip()}")


class Reader:
    """State of reading one module."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.type_texts: dict[str, str] = {}
        self.named_types: dict[str, Type] = {}
        self.globals: dict[str, Global] = {}
        self.metadata: dict[str, str] = {}
        self.values: dict[str, Value] = {}
        self.blocks: dict[str, Block] = {}
        self.locations: dict[str, Location | None] = {}
        self.constants: list[Instr] = []  # constant expressions, as instructions
        self.forwards: dict[Value, Instr] = {}  # placeholder -> its definition

    def read(self, function: str) -> Program:
        start = self._module_level(function)
        return self._function(function, start)

    # -- module level ---------------------------------------------------------------------

    def _module_level(self, function: str) -> int:
        start = -1
        for number, line in enumerate(self.lines):
            if line.startswith("!"):
                key, _, rest = line.partition(" = ")
                self.metadata[key] = rest
            elif line.startswith("%"):
                name, _, rest = line.partition(" = type ")
                self.type_texts[name] = rest
            elif line.startswith("@"):
                self._global(line)
            elif line.startswith("define") and f"@{function}(" in line:
                start = number
        if start < 0:
            raise Problem(f"thread program: no function {function}")
        return start

    def _global(self, line: str) -> None:
        tokens = Tokens(line)
        name = tokens.next()
        tokens.expect("=")
        while tokens.peek() not in ("global", "constant"):
            if tokens.next() in ("", "alias"):
                return
        tokens.next()
        if 'section "llvm.metadata"' in line:
            return
        value_type = self._type(tokens)
        found = re.search(r"(?:, section \"[^\"]*\")?, align (\d+)", line)
        align = int(found.group(1)) if found else value_type.align
        threadgroup = name.strip('@"').startswith("threadgroup.")
        text = re.search(r"\b(?:global|constant) (.*?)(?:, (?:section|align|comdat|!).*)?$", line)
        assert text
        initializer = "" if threadgroup else text.group(1)
        self.globals[name] = Global(t.PTR, name, value_type, align, initializer, threadgroup)

    # -- types and values -----------------------------------------------------------------

    def _type(self, tokens: Tokens) -> Type:
        token = tokens.next()
        if token == "ptr":
            if tokens.accept("addrspace"):
                tokens.skip_parentheses()
            return t.PTR
        if token == "void":
            return t.VOID
        if token in t.FLOAT_NAMES:
            return t.FLOAT_NAMES[token]
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
                # A use in front of its definition (phis): a placeholder, replaced when all is read.
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
        if token in ("getelementptr", "inttoptr", "ptrtoint", "add", "sub", "trunc", "bitcast"):
            return self._constant_expression(token, tokens)
        if isinstance(type_, t.Vector) and token in ("zeroinitializer", "undef", "poison"):
            return ConstVector(
                type_, (Const(type_.element, _zero(type_.element, token)),) * type_.count
            )
        if token == "zeroinitializer":
            token = _zero(type_, token)
        return Const(type_, token)

    def _named_global(self, name: str, tokens: Tokens) -> Value:
        if name not in self.globals:
            raise tokens.error(f"unknown symbol {name}")
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

    # -- the function ---------------------------------------------------------------------

    def _function(self, name: str, start: int) -> Program:
        tokens = Tokens(self.lines[start][self.lines[start].index(f"@{name}(") :])
        tokens.next()
        tokens.expect("(")
        args: list[Argument] = []
        while not tokens.accept(")"):
            type_ = self._type(tokens)
            tokens.skip_decoration()
            arg = Argument(type_, tokens.next(), len(args))
            self.values[arg.name] = arg
            args.append(arg)
            tokens.accept(",")
        body = []
        for line in self.lines[start + 1 :]:
            if line == "}":
                break
            body.append(line)
        blocks = self._blocks(body)
        self._resolve_forwards(blocks)
        for instr in self.constants:
            instr.block = blocks[0]
        blocks[0].instrs[:0] = self.constants
        definitions = [f"{n} = type {text}" for n, text in self.type_texts.items()]
        return Program(name, args, blocks, self._used_globals(blocks), definitions)

    def _used_globals(self, blocks: list[Block]) -> dict[str, Global]:
        """Threadgroup variables, and the tables that the program or another table refers to."""
        names = {g.name for g in self.globals.values() if g.threadgroup}
        work = [
            v.name for b in blocks for i in b.instrs for v in i.operands if isinstance(v, Global)
        ]
        while work:
            name = work.pop()
            if name not in names:
                names.add(name)
                tokens = Tokens(self.globals[name].initializer).items
                work.extend(token for token in tokens if token in self.globals)
        return {n: g for n, g in self.globals.items() if n in names}

    def _blocks(self, body: list[str]) -> list[Block]:
        order: list[Block] = []
        for line in body:
            label = re.match(r'("[^"]+"|[\w.$-]+):', line)
            if label:
                order.append(self._block("%" + label.group(1)))
                self.block = order[-1]
            elif line.strip() and not line.lstrip().startswith(("#dbg", ";")):
                if not order:
                    order.append(self._block("%0.entry"))
                    self.block = order[0]
                self._instruction(line)
        return order

    def _block(self, name: str) -> Block:
        if name not in self.blocks:
            self.blocks[name] = Block(name)
        return self.blocks[name]

    def _instruction(self, line: str) -> None:
        tokens = Tokens(line)
        name = ""
        if len(tokens.items) > 1 and tokens.items[1] == "=":
            name = tokens.next()
            tokens.next()
        op = tokens.next()
        while op in ("tail", "musttail", "notail"):
            op = tokens.next()
        handler = getattr(self, f"_op_{op}", None)
        if op in _BINARY:
            instr = self._binary(op, tokens)
        elif op in _CASTS:
            instr = self._cast(op, tokens)
        elif handler is not None:
            instr = handler(tokens)
        else:
            raise tokens.error(f"unknown instruction {op!r}")
        if instr is None:
            return
        instr.loc = self._location(line)
        self.block.append(instr)
        if name:
            instr.name = name
            self._define(name, instr)

    def _define(self, name: str, instr: Instr) -> None:
        forward = self.values.get(name)
        self.values[name] = instr
        if forward is not None:
            self.forwards[forward] = instr

    def _resolve_forwards(self, blocks: list[Block]) -> None:
        for block in blocks:
            for user in block.instrs:
                user.operands = [self.forwards.get(v, v) for v in user.operands]

    def _location(self, line: str) -> Location | None:
        found = re.search(r"!dbg (!\d+)", line)
        if not found:
            return None
        key = found.group(1)
        if key not in self.locations:
            self.locations[key] = self._resolve(key)
        return self.locations[key]

    def _resolve(self, key: str) -> Location | None:
        """The innermost place in the user's text: inlined header code counts as its caller."""
        text = self.metadata.get(key, "")
        place = _fields(text)
        where = self._file_of(place.get("scope", ""))
        if where.endswith((": source", ": header")):
            return Location(where, int(place.get("line", 0)), int(place.get("column", 0)))
        return self._resolve(place["inlinedAt"]) if "inlinedAt" in place else None

    def _file_of(self, scope: str) -> str:
        seen = 0
        while scope and seen < 100:
            fields = _fields(self.metadata.get(scope, ""))
            if "file" in fields:
                return _fields(self.metadata.get(fields["file"], "")).get("filename", "")
            scope, seen = fields.get("scope", ""), seen + 1
        return ""

    # -- instructions ---------------------------------------------------------------------

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

    def _op_icmp(self, tokens: Tokens) -> Instr:
        return self._compare("icmp", tokens)

    def _op_fcmp(self, tokens: Tokens) -> Instr:
        return self._compare("fcmp", tokens)

    def _op_select(self, tokens: Tokens) -> Instr:
        flags = tokens.flags()
        condition = self._typed(tokens)
        tokens.expect(",")
        yes = self._typed(tokens)
        tokens.expect(",")
        return Instr(yes.type, "select", [condition, yes, self._typed(tokens)], flags=flags)

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

    def _op_alloca(self, tokens: Tokens) -> Instr:
        type_ = self._type(tokens)
        found = re.search(r", align (\d+)", tokens.line)
        return Instr(t.PTR, "alloca", [], (type_, int(found.group(1)) if found else type_.align))

    def _access(self, tokens: Tokens, atomic: bool, volatile: bool) -> Access:
        found = re.search(r", align (\d+)", tokens.line)
        return Access(int(found.group(1)) if found else 1, volatile, atomic)

    def _op_load(self, tokens: Tokens) -> Instr:
        atomic, volatile = bool(tokens.accept("atomic")), bool(tokens.accept("volatile"))
        type_ = self._type(tokens)
        tokens.expect(",")
        pointer = self._typed(tokens)
        return Instr(type_, "load", [pointer], self._access(tokens, atomic, volatile))

    def _op_store(self, tokens: Tokens) -> Instr:
        atomic, volatile = bool(tokens.accept("atomic")), bool(tokens.accept("volatile"))
        value = self._typed(tokens)
        tokens.expect(",")
        pointer = self._typed(tokens)
        return Instr(t.VOID, "store", [value, pointer], self._access(tokens, atomic, volatile))

    def _op_atomicrmw(self, tokens: Tokens) -> Instr:
        volatile = bool(tokens.accept("volatile"))
        operation = tokens.next()
        pointer = self._typed(tokens)
        tokens.expect(",")
        value = self._typed(tokens)
        access = self._access(tokens, True, volatile)
        return Instr(value.type, "atomicrmw", [pointer, value], (operation, access))

    def _op_cmpxchg(self, tokens: Tokens) -> Instr:
        while tokens.accept("weak", "volatile"):
            pass
        pointer = self._typed(tokens)
        tokens.expect(",")
        expected = self._typed(tokens)
        tokens.expect(",")
        desired = self._typed(tokens)
        result = t.Struct((expected.type, t.I1))
        access = self._access(tokens, True, False)
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
        vector = self._typed(tokens)
        tokens.expect(",")
        return Instr(vector.type.scalar, "extractelement", [vector, self._typed(tokens)])

    def _op_insertelement(self, tokens: Tokens) -> Instr:
        vector = self._typed(tokens)
        tokens.expect(",")
        element = self._typed(tokens)
        tokens.expect(",")
        return Instr(vector.type, "insertelement", [vector, element, self._typed(tokens)])

    def _op_shufflevector(self, tokens: Tokens) -> Instr:
        first = self._typed(tokens)
        tokens.expect(",")
        second = self._typed(tokens)
        tokens.expect(",")
        mask = self._typed(tokens)
        assert isinstance(mask, ConstVector)
        indices = tuple(-1 if i is None else i for i in map(_index, mask.elements))
        return Instr(
            t.Vector(len(indices), first.type.scalar), "shufflevector", [first, second], indices
        )

    def _op_call(self, tokens: Tokens) -> Instr | None:
        flags = tokens.flags()
        tokens.skip_decoration()
        result = self._type(tokens)
        if tokens.peek() == "(":
            tokens.skip_parentheses()
        callee = tokens.next()
        if not callee.startswith("@"):
            raise tokens.error("a call through a pointer that inlining did not resolve")
        callee = callee[1:].strip('"')
        if callee.startswith(_IGNORED_CALLS):
            return None
        tokens.expect("(")
        operands: list[Any] = []
        while not tokens.accept(")"):
            operands.append(self._typed(tokens))
            tokens.accept(",")
        return Instr(result, "call", operands, callee, flags)


_IGNORED_CALLS = (
    "llvm.lifetime.",
    "llvm.assume",
    "llvm.experimental.noalias.scope.decl",
    "llvm.dbg.",
    "llvm.donothing",
)


def _index(value: Value) -> int | None:
    return value.int_value if isinstance(value, Const) else None


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


def _fields(text: str) -> dict[str, str]:
    """Fields of a metadata node such as !DILocation(line: 1, column: 3, scope: !20)."""
    return {k: v.strip('"') for k, v in re.findall(r'(\w+): ("[^"]*"|[^,()]+)', text)}


def read_program(text: str, function: str = "__am_kernel") -> Program:
    """The thread program of `function` in LLVM IR `text`. Raises Problem outside the subset."""
    return Reader(text).read(function)
