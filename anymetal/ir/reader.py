"""Reads LLVM IR text (of LLVM 22, optimised, one function) into a `Program`.

It reads, line by line, the subset that Clang and LLVM's passes produce for kernels. Anything else
is an error that shows the line: nothing is skipped in silence.
"""

from __future__ import annotations

import re

from anymetal.ir import types as t
from anymetal.ir.instructions import InstructionReader
from anymetal.ir.model import Argument, Block, Global, Instr, Program, Value
from anymetal.ir.problem import Problem
from anymetal.ir.tokens import Tokens, plain


class Reader(InstructionReader):
    """The state of reading one module."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.lines = text.split("\n")
        self.forwards: dict[Value, Instr] = {}  #: placeholder -> what was defined later

    def read(self, function: str) -> Program:
        start = self._module_level(function)
        return self._function(function, start)

    # -- module level ---------------------------------------------------------------------

    def _module_level(self, function: str) -> int:
        start = -1
        for number, line in enumerate(self.lines):
            if line.startswith("!"):
                self.locations.add(line)
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

    # -- the function ---------------------------------------------------------------------

    def _function(self, name: str, start: int) -> Program:
        tokens = Tokens(self.lines[start][self.lines[start].index(f"@{name}(") :])
        tokens.next()
        tokens.expect("(")
        args: list[Argument] = []
        while not tokens.accept(")"):
            type_ = self._type(tokens)
            tokens.skip_decoration()
            written = tokens.next()
            arg = Argument(type_, f"%{plain(written)}", len(args))
            self.values[written] = arg
            args.append(arg)
            tokens.accept(",")
        body = []
        for line in self.lines[start + 1 :]:
            if line == "}":
                break
            body.append(line)
        blocks = self._blocks(body)
        self._resolve_forwards(blocks)
        blocks[0].insert(0, self.constants)
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

    def _instruction(self, line: str) -> None:
        tokens = Tokens(line)
        name = ""
        if len(tokens.items) > 1 and tokens.items[1] == "=":
            name = tokens.next()
            tokens.next()
        op = tokens.next()
        while op in ("tail", "musttail", "notail"):
            op = tokens.next()
        instr = self._parse(op, tokens)
        if instr is None:
            return
        instr.loc = self.locations.of(line)
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


def read_program(text: str, function: str = "__am_kernel") -> Program:
    """The thread program of `function`; raises Problem for text outside the subset."""
    return Reader(text).read(function)
