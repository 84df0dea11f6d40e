"""What Metal accepts and Clang refuses, written such that Clang accepts it: found by its errors.

    bfloat(h), (bfloat)h, static_cast<bfloat>(h)   Clang has no conversion between half and bfloat
    v.xy * 2.0f                                    in a template, where a user's operator* is known
    t[column, row]                                 of a tensor: C++17 has no such subscripts

Few kernels need this, and which types an expression has only Clang knows, so the text is compiled
as it stands, repaired where Clang complains, and compiled again. `dialect.as_written` hides the
repairs in messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from anymetal.frontend.dialect import ANY, WIDE
from anymetal.frontend.tokens import Token, closing, offset_of, tokenize
from anymetal.frontend.unit import part_name
from anymetal.source import KernelSource

_TYPE = r"'([^']*)'(?: \(aka '([^']*)'\))?"
_PLACE = r"^(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+): error: "
_CAST = re.compile(
    _PLACE + rf"(?P<how>functional-style cast|C-style cast|static_cast) from {_TYPE} to {_TYPE}"
    r" is not allowed$",
    re.M,
)
_MACRO = re.compile(
    r"^(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+): note: expanded from macro", re.M
)
_OPERATOR = re.compile(
    _PLACE + r"invalid (?:operands to binary expression|argument type) \(?'(?:metal::)?vec<", re.M
)
_ELEMENT = re.compile(
    _PLACE + r"no viable overloaded operator\[\] for type '(?:const )?(?:metal::)?tensor<", re.M
)
_SIXTEEN_BITS = ({"_Float16", "__bf16"}, {"half", "bfloat"})
_QUALIFIERS = re.compile(r"\b(?:const|volatile)\b|\s|metal::")
_SWIZZLE = re.compile(r"[xyzw]{1,4}|[rgba]{1,4}")
_XYZW = str.maketrans("rgba", "xyzw")


class _Edit(NamedTuple):
    """A text in the place of another."""

    start: int
    end: int
    text: str


def repaired(source: KernelSource, messages: str) -> KernelSource | None:
    """The kernel with all repairs that these messages ask for; None if there are none."""
    texts = {"header": source.header, "source": source.body}
    edits: dict[str, set[_Edit]] = {"header": set(), "source": set()}
    for match in _CAST.finditer(messages):
        types = {_QUALIFIERS.sub("", match[place + 1] or match[place]) for place in (5, 7)}
        if types in _SIXTEEN_BITS and (place := _place_of_cast(source, texts, match)):
            edits[place.part] |= set(_cast(texts[place.part], place.offset, match["how"]))
    for match in _OPERATOR.finditer(messages):
        if place := _place(source, texts, match):
            edits[place.part] |= set(_operands(tokenize(texts[place.part]), place.offset))
    for match in _ELEMENT.finditer(messages):
        if place := _place(source, texts, match):
            edits[place.part] |= set(_element(tokenize(texts[place.part]), place.offset))
    if not any(edits.values()):
        return None
    for part, found in edits.items():
        for edit in sorted(found, reverse=True):
            texts[part] = texts[part][: edit.start] + edit.text + texts[part][edit.end :]
    return replace(source, header=texts["header"], body=texts["source"])


class _Place(NamedTuple):
    part: str
    offset: int


def _place(source: KernelSource, texts: dict[str, str], match: re.Match[str]) -> _Place | None:
    """Where in the user's text an error is; Clang counts bytes."""
    for part, text in texts.items():
        if match["file"] == part_name(source, part):
            line = text.split("\n")[int(match["line"]) - 1].encode()[: int(match["column"]) - 1]
            column = len(line.decode(errors="ignore")) + 1
            return _Place(part, offset_of(text, int(match["line"]), column))
    return None


def _place_of_cast(
    source: KernelSource, texts: dict[str, str], match: re.Match[str]
) -> _Place | None:
    """Where a cast begins: at the error, or in the macro that it comes from."""
    following = re.compile(r": error: ").search(match.string, match.end())
    end = following.start() if following else len(match.string)
    for place in (match, *_MACRO.finditer(match.string, match.end(), end)):
        found = _place(source, texts, place)
        opens = found and texts[found.part].startswith("(", found.offset)
        if found and opens == (match["how"] == "C-style cast"):
            return found
    return None


def _cast(text: str, offset: int, how: str) -> Iterator[_Edit]:
    """Hands the operand of a cast on as what both types convert from."""
    start = text.find("(", offset)
    if start < 0:
        return
    marker, at = WIDE, start + 1
    if how == "C-style cast":
        marker, at = ANY, text.find(")", offset) + 1
    if not text.startswith(marker, at):
        yield _Edit(at, at, marker)


def _element(tokens: Sequence[Token], offset: int) -> Iterator[_Edit]:
    """Takes an element of a tensor by a call, if its place is given by several numbers."""
    index = next((i for i, token in enumerate(tokens) if token.start == offset), None)
    if index is None or tokens[index].text != "[":
        return
    end, at = closing(tokens, index), index + 1
    while at < end and tokens[at].text != ",":
        at = closing(tokens, at) + 1 if tokens[at].text in ("(", "[", "{") else at + 1
    if at < end < len(tokens):
        yield _Edit(offset, offset + 1, "(")
        yield _Edit(tokens[end].start, tokens[end].end, ")")


def _operands(tokens: Sequence[Token], offset: int) -> Iterator[_Edit]:
    """Calls the function behind each swizzle beside an operator."""
    index = next((i for i, token in enumerate(tokens) if token.start == offset), None)
    if index is None:
        return
    yield from _swizzle(tokens, index - 1)
    at = index + 1
    while at < len(tokens) and tokens[at].text in ("-", "+", "~", "!", "("):
        at += 1
    while at + 1 < len(tokens):
        if tokens[at + 1].text in ("(", "["):
            at = closing(tokens, at + 1)
        elif tokens[at + 1].text in (".", "->", "::"):
            at += 2
        else:
            break
    yield from _swizzle(tokens, at)


def _swizzle(tokens: Sequence[Token], index: int) -> Iterator[_Edit]:
    token = tokens[index]
    if index and tokens[index - 1].text in (".", "->") and _SWIZZLE.fullmatch(token.text):
        if index + 1 == len(tokens) or tokens[index + 1].text != "(":
            yield _Edit(token.start, token.end, f"get_{token.text.translate(_XYZW)}()")
