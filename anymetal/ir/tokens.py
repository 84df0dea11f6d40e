"""The words of one line of LLVM IR."""

from __future__ import annotations

import re

from anymetal.ir.problem import Problem

_TOKEN = re.compile(
    r"""c"[^"]*" | [%@!$\#](?:"[^"]*"|[\w.$-]+) | "[^"]*"
      | -?\d+\.\d+(?:e[+-]?\d+)? | 0x[HKLMR]?[0-9A-Fa-f]+ | -?\d+ | [\w.]+ | \.\.\.
      | [()\[\]{}<>,=*|:!]""",
    re.X,
)
#: LLVM's words in front of operands, kept as `Instr.flags`.
FLAGS = frozenset(
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


_ESCAPE = re.compile(r"(?:\\[0-9A-F]{2})+")
_PLAIN = re.compile(r"[A-Za-z$._-][\w$.-]*", re.A)


def plain(name: str) -> str:
    """A name as people write it: `größe` for `%"gr\\C3\\B6\\C3\\9Fe"`."""
    return _ESCAPE.sub(
        lambda match: bytes.fromhex(match[0].replace("\\", "")).decode(errors="replace"),
        name.lstrip("%@").strip('"'),
    )


def quoted(name: str) -> str:
    """A name as LLVM writes it, without its sigil."""
    if _PLAIN.fullmatch(name):
        return name
    return '"' + re.sub(r"[^ -!#-\[\]-~]", lambda match: _escaped(match[0]), name) + '"'


def _escaped(character: str) -> str:
    return "".join(f"\\{byte:02X}" for byte in character.encode())


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
        while self.peek() in FLAGS:
            words.append(self.next())
        return " ".join(words)

    def skip_decoration(self) -> None:
        """Skips attributes of parameters and calls that mean nothing here."""
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
