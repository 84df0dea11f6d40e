"""Overloads that differ only in address spaces: one definition is enough, so the others go.

    float load(const device float* p) { return *p; }
    float load(const threadgroup float* p) { return *p; }

Address spaces vanish in front of Clang, which then sees a function defined twice. Where the two
definitions are the same text but for address spaces, dropping the second changes nothing. Where
they are not, which of them a call means is lost, and that is an error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from anymetal.frontend.messages import Problem, exact_column, problems_of, text_of
from anymetal.frontend.tokens import ADDRESS_SPACES, Token, closing, offset_of, tokenize
from anymetal.frontend.unit import part_name
from anymetal.source import KernelSource

#: What Clang says about the second definition.
_REDEFINITION = re.compile(
    r"redefinition of |(?:class member|constructor) cannot be redeclared|"
    r"functions that differ only in their return type"
)
_PREVIOUS = re.compile(r"previous (?:definition|declaration) is here")
#: What may differ: `constant` is `const` for us, so a `const` may stand in one text only. How a
#: function is linked or inlined says nothing here.
_ERASED = ADDRESS_SPACES | {"const", "inline", "static", "METAL_FUNC"}


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
    if body == len(tokens):
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
        [text for text in _texts(a) if text not in _ERASED]
        == [text for text in _texts(b) if text not in _ERASED]
        for a, b in zip(one, other, strict=True)
    )


def _texts(tokens: Sequence[Token]) -> list[str]:
    return [token.text for token in tokens]


def _without(source: KernelSource, spans: dict[str, list[tuple[int, int]]]) -> KernelSource:
    """The kernel with these spans of its header and body blanked; lines and columns stay."""
    parts = {"header": source.header, "source": source.body}
    for part, places in spans.items():
        for start, end in places:
            text = parts[part]
            blank = re.sub(r"[^\n]", " ", text[start:end])
            parts[part] = text[:start] + blank + text[end:]
    return source.replaced(header=parts["header"], body=parts["source"])


def without_redundant_overloads(source: KernelSource, messages: str) -> KernelSource | None:
    """The kernel without the second definitions that Clang complained about; None if all stay."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for problem in problems_of(messages):
        pair = _overloads(problem, source)
        if pair and is_same_text(*pair):
            header = problem.error.file == part_name(source, "header")
            part = "header" if header else "source"
            span = pair[1].span
            if span not in spans.setdefault(part, []):
                spans[part].append(span)
    return _without(source, spans) if spans else None


def explained(problem: Problem, source: KernelSource) -> Problem:
    """The problem, with a reason if it is about overloads that we cannot tell apart."""
    if not _overloads(problem, source):
        return problem
    text = (
        f"{problem.error.text}: these overloads differ in address spaces and in their bodies. "
        "AnyMetal has one address space, so it cannot choose: give them the same text (names of "
        "parameters, too) or different names"
    )
    return Problem(replace(problem.error, text=text), problem.notes)


def _overloads(problem: Problem, source: KernelSource) -> tuple[Definition, Definition] | None:
    """First and second definition, if the error is about two that only Metal tells apart."""
    if not _REDEFINITION.match(problem.error.text):
        return None
    first = next((note for note in problem.notes if _PREVIOUS.match(note.text)), None)
    if first is None:
        return None
    found = []
    for message in (first, problem.error):
        place = exact_column(message, source)
        found.append(definition_at(text_of(place, source), place.line, place.column))
    one, two = found
    if one is None or two is None:
        return None
    return (one, two) if _texts(one.head) != _texts(two.head) else None
