"""Tokens of preprocessed Metal text, each with its place in the user's file or part."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, NoReturn

from anymetal.errors import MetalCompileError
from anymetal.frontend import metal_tokens
from anymetal.frontend.unit import part_name
from anymetal.source import KernelSource

_TOKEN = re.compile(
    r"""\s+|(?P<token>
    "(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'     # strings, characters
    |[A-Za-z_]\w*                           # words
    |\.?\d(?:[eEpP][+-]|[\w.'])*            # numbers
    |::|->|.)""",
    re.X,
)
_LINE_MARKER = re.compile(r'# (\d+) "((?:\\.|[^"\\])*)"')
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class Token(NamedTuple):
    """One token, and where the user wrote it (or the macro that it comes from)."""

    text: str
    file: str
    line: int

    @property
    def is_word(self) -> bool:
        return self.text[0].isalpha() or self.text[0] == "_"

    def offset_in(self, line: str) -> int:
        """Where it stands in its line: Clang's preprocessed text has lines, not columns, so it is
        the first word of this spelling."""
        edge = r"\b" if self.is_word else ""
        found = re.search(edge + re.escape(self.text) + edge, line)
        return found.start() if found else 0


class SourceFile(NamedTuple):
    """The user's text and the files that it includes, to point at in errors."""

    name: str
    texts: Mapping[str, str]  #: by the names of the files

    def place(self, token: Token) -> str:
        """`file:line:column` of a token."""
        if token.file not in self.texts:
            return f"{token.file}:{token.line}"
        return f"{token.file}:{token.line}:{self._column(token)}"

    def fail(self, token: Token, problem: str) -> NoReturn:
        """An error like Clang's own."""
        snippet = ""
        if token.file in self.texts:
            marks = f"{' ' * (self._column(token) - 1)}^"
            snippet = f"{token.line:5} | {self._line(token)}\n      | {marks}\n"
        text = f"{self.place(token)}: error: {problem}\n{snippet}1 error generated."
        raise MetalCompileError(self.name, text)

    def _line(self, token: Token) -> str:
        return self.texts[token.file].split("\n")[token.line - 1]

    def _column(self, token: Token) -> int:
        return token.offset_in(self._line(token)) + 1


def tokens_of(preprocessed: str, file: str) -> Iterator[Token]:
    """The tokens from the first line of `file` on, with those of what it includes."""
    current, number, started = "", 0, False
    for text in preprocessed.split("\n"):
        if marker := _LINE_MARKER.match(text):
            number, current = int(marker[1]), marker[2]
            started |= current == file
            continue
        if started and not text.lstrip().startswith("#"):  # pragmas are left
            for match in _TOKEN.finditer(text):
                if match["token"]:
                    yield Token(match["token"], current, number)
        number += 1


#: Metal's keywords, which our headers define as macros.
KEYWORDS = ("kernel", "device", "constant", "thread", "threadgroup")
#: In front of a text whose macros are to be expanded, but not these.
KEEP_KEYWORDS = "".join(f"#undef {word}\n" for word in KEYWORDS)


def marked(source: KernelSource) -> str:
    """The parts of a kernel's text, to be preprocessed."""
    return KEEP_KEYWORDS + "".join(
        f'#line 1 "{part_name(source, part)}"\n{text}\n'
        for part, text in (("header", source.header), ("source", source.body))
    )


def in_parts(preprocessed: str, source: KernelSource) -> dict[str, list[metal_tokens.Token]]:
    """The tokens of the parts of a kernel's text, each at the place of its line in the part: that
    of the same word, if the line has it."""
    written = source.parts
    names = {part_name(source, part): part for part in written}
    lines = {part: text.split("\n") for part, text in written.items()}
    starts = {part: _starts(those) for part, those in lines.items()}
    found: dict[str, list[metal_tokens.Token]] = {part: [] for part in written}
    for token in tokens_of(preprocessed, next(iter(names))):
        part = names.get(token.file)
        if part is None or token.line > len(lines[part]):
            continue
        at = token.line - 1
        start = starts[part][at] + token.offset_in(lines[part][at])
        kind = "word" if token.is_word else "number" if token.text[0].isdigit() else "mark"
        found[part].append(metal_tokens.Token(kind, token.text, start, start + len(token.text)))
    return found


def _starts(lines: Sequence[str]) -> list[int]:
    """The offset of each line of a text."""
    return [0, *accumulate(len(line) + 1 for line in lines)]


def close_of(tokens: Sequence[Token], start: int, source: SourceFile) -> int:
    """The position of the bracket that closes the one at `start`."""
    expected: list[str] = []
    for position in range(start, len(tokens)):
        text = tokens[position].text
        if text in _CLOSING:
            expected.append(_CLOSING[text])
        elif text in (")", "]", "}"):
            if text != expected.pop():
                source.fail(tokens[position], f"unexpected '{text}'")
            if not expected:
                return position
    source.fail(tokens[start], f"this '{tokens[start].text}' is never closed")


def close_of_angle(tokens: Sequence[Token], start: int, source: SourceFile) -> int:
    """The position of the `>` that closes the `<` at `start`."""
    depth, position = 0, start
    while position < len(tokens):
        text = tokens[position].text
        if text in _CLOSING:
            position = close_of(tokens, position, source)
        elif text == "<":
            depth += 1
        elif text == ">":
            depth -= 1
            if depth == 0:
                return position
        elif text in (";", "}"):
            break
        position += 1
    source.fail(tokens[start], "this '<' is never closed")


def split_at_commas(tokens: Sequence[Token], source: SourceFile) -> list[list[Token]]:
    """The parts between the commas that are in no brackets."""
    parts: list[list[Token]] = [[]]
    position = 0
    while position < len(tokens):
        text, end = tokens[position].text, position
        if text in _CLOSING:
            end = close_of(tokens, position, source)
        elif text == "<":
            end = close_of_angle(tokens, position, source)
        if text == ",":
            parts.append([])
        else:
            parts[-1] += tokens[position : end + 1]
        position = end + 1
    return parts if parts != [[]] else []


def spelled(tokens: Sequence[Token]) -> str:
    """Tokens as text."""
    return " ".join(token.text for token in tokens)
