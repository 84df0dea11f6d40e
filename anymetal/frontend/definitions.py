"""The definition of a function or class that stands at a place of Metal text, as tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from anymetal.frontend.metal_tokens import (
    ADDRESS_SPACES,
    OF_CONSTANT,
    OF_THREADGROUP,
    Token,
    closing,
    offset_of,
    tokenize,
)

#: What may differ: `constant` is `const` for us, so a `const` may stand in one text only. How a
#: function is linked or inlined says nothing here.
_ERASED = ADDRESS_SPACES | {OF_THREADGROUP, OF_CONSTANT, "const", "inline", "static", "METAL_FUNC"}


class Definition(NamedTuple):
    """The tokens of a function or class, in three parts."""

    before: Sequence[Token]  #: template parameters, specifiers, return type
    head: Sequence[Token]  #: from the name to the body
    body: Sequence[Token]

    @property
    def span(self) -> tuple[int, int]:
        tokens = [*self.before, *self.head, *self.body]
        return tokens[0].start, tokens[-1].end


def definition_at(text: str, line: int, column: int) -> Definition | None:
    """The definition whose name stands at this place, or whose parameter does."""
    tokens, offset = tokenize(text), offset_of(text, line, column)
    name = next((i for i, token in enumerate(tokens) if token.start == offset), None)
    name = name and _out_of_parameters(tokens, name)
    if name is None or tokens[name].kind != "word":
        return None
    first = name
    while first and not _ends_before(tokens, first - 1):
        first -= 1
    body = _body(tokens, name)
    if body >= len(tokens):
        return None
    end = closing(tokens, body) if tokens[body].text == "{" else body
    if end + 1 < len(tokens) and {"struct", "class"} & {t.text for t in tokens[first:name]}:
        end += tokens[end + 1].text == ";"
    return Definition(tokens[first:name], tokens[name:body], tokens[body : end + 1])


def _out_of_parameters(tokens: Sequence[Token], index: int) -> int:
    """Index of the name in front of the parentheses around a token; `index` if there are none."""
    depth = 0
    for at in range(index, 0, -1):
        if _ends_before(tokens, at):
            break
        depth += (tokens[at].text == ")") - (tokens[at].text == "(")
        if depth < 0:
            return at - 1
    return index


def _ends_before(tokens: Sequence[Token], index: int) -> bool:
    """Whether something else ends with this token."""
    token = tokens[index]
    if token.text == ":":
        return tokens[index - 1].text in ("public", "private", "protected")
    return token.kind == "directive" or token.text in (";", "{", "}")


def _body(tokens: Sequence[Token], name: int) -> int:
    """Index of the brace that opens the body, or of the `;` that stands in its place."""
    index, initialisers = name, False
    while index < len(tokens):
        text = tokens[index].text
        if text == ";":
            return index
        if text == "{":
            if not initialisers or tokens[index - 1].text in (")", "}"):
                return index
            index = closing(tokens, index)
        elif text in ("(", "["):
            index = closing(tokens, index)
        initialisers |= text == ":"
        index += 1
    return index


def is_same_text(one: Definition, other: Definition) -> bool:
    """Whether the two differ in nothing but address spaces."""
    return all(
        [text for text in texts(a) if text not in _ERASED]
        == [text for text in texts(b) if text not in _ERASED]
        for a, b in zip(one, other, strict=True)
    )


def texts(tokens: Sequence[Token]) -> list[str]:
    """What the tokens say."""
    return [token.text for token in tokens]
