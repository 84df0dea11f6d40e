"""String literals of Python as `Text`: which character of the string stands where in the file.

Python's `ast` gives the value of a literal and where it begins; escapes, prefixes and literals that
follow each other are taken apart here. What is put together must be the value that Python found:
otherwise the string is known, but not where its characters are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from anymetal.lint.text import File, Text

_OPENING = re.compile(r"(?P<prefix>[rRbBuUfF]{0,2})(?P<quote>'''|\"\"\"|'|\")")
_BETWEEN = re.compile(r"(?:\s|\\\r?\n|#[^\n]*|[()])*")
_ESCAPE = re.compile(r"\\(?:\r?\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U\w{8}|N\{[^}]*\}|.)")

#: What a placeholder of an f-string becomes; None if it is not known.
Evaluate = Callable[[ast.expr], "Text | None"]


def constant(node: ast.Constant, file: File) -> Text:
    """The string of a literal."""
    value = str(node.value)
    start = file.offset(node.lineno, node.col_offset)
    end = file.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
    made = Text.joined(
        _decoded(inside, at, raw="r" in prefix.lower())
        for prefix, inside, at in _parts(file.text, start, end)
    )
    return made if made.value == value else Text.at(value, start)


def formatted(node: ast.JoinedStr, file: File, evaluate: Evaluate) -> Text | None:
    """An f-string all of whose placeholders are known."""
    start = file.offset(node.lineno, node.col_offset)
    end = file.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
    holes = iter([value for value in node.values if isinstance(value, ast.FormattedValue)])
    made: list[Text] = []
    for prefix, inside, at in _parts(file.text, start, end):
        raw = "r" in prefix.lower()
        if "f" not in prefix.lower():
            made.append(_decoded(inside, at, raw))
            continue
        for literal, offset in _pieces(inside):
            if literal is not None:
                made.append(_decoded(literal, at + offset, raw))
                continue
            hole = next(holes, None)
            if hole is None or hole.conversion not in (-1, 115) or hole.format_spec is not None:
                return None
            known = evaluate(hole.value)
            if known is None:
                return None
            made.append(Text.at(known.value, at + offset))
    if next(holes, None) is not None:
        return None
    return Text.joined(made)


def _parts(text: str, start: int, end: int) -> Iterator[tuple[str, str, int]]:
    """Prefix, inside and its offset, of each of the literals that follow each other."""
    at = start
    while at < end:
        space = _BETWEEN.match(text, at)
        at = space.end() if space else at
        opening = _OPENING.match(text, at)
        if opening is None or at >= end:
            return
        quote, inside = opening["quote"], opening.end()
        at = inside
        while at < end and not text.startswith(quote, at):
            at += 2 if text[at] == "\\" else 1
        yield opening["prefix"], text[inside:at], inside
        at += len(quote)


def _pieces(inside: str) -> Iterator[tuple[str | None, int]]:
    """Literal parts of an f-string, and None for each placeholder, with their offsets."""
    at = begin = 0
    while at < len(inside):
        if inside[at] == "\\" and not inside.startswith("\\N{", at):
            at += 2
        elif inside[at : at + 2] in ("{{", "}}"):
            yield inside[begin : at + 1], begin
            at += 2
            begin = at
        elif inside[at] == "{":
            yield inside[begin:at], begin
            yield None, at
            at = begin = _end_of_hole(inside, at)
        else:
            at += 1
    yield inside[begin:], begin


def _end_of_hole(inside: str, at: int) -> int:
    depth = 0
    while at < len(inside):
        depth += (inside[at] in "{[(") - (inside[at] in "}])")
        at += 1
        if depth == 0:
            break
    return at


def _decoded(inside: str, at: int, raw: bool) -> Text:
    """The characters that the inside of a literal stands for."""
    characters: list[str] = []
    places: list[int] = []
    position = 0
    while position < len(inside):
        escape = None if raw else _ESCAPE.match(inside, position)
        if escape is not None:
            value = _escaped(escape[0])
            end = escape.end()
        elif inside.startswith("\r\n", position):
            value, end = "\n", position + 2
        else:
            value, end = inside[position], position + 1
        characters.append(value)
        places += [at + position] * len(value)
        position = end
    return Text("".join(characters), places)


def _escaped(escape: str) -> str:
    """What Python makes of an escape; what is none stays as it is."""
    if escape[1] in "\r\n":
        return ""
    if escape[1] == '"':
        return '"'
    if escape[1] not in "01234567xuUNabfnrtv\\'":
        return escape
    try:
        return str(ast.literal_eval(f'"{escape}"'))
    except (SyntaxError, ValueError):
        return escape
