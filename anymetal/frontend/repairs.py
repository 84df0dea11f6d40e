"""Rewrites what Metal accepts and Clang refuses, where Clang's errors point to it.

    bfloat(h), (bfloat)h, static_cast<bfloat>(h)   Clang has no conversion between half and bfloat
    v.xy * 2.0f                                    in a template, where a user's operator* is known
    t[column, row]                                 of a tensor: C++17 has no such subscripts
    constant int t[2] = {1, 2};                    in a `switch` that jumps over it

Few kernels need this, and only Clang knows the types of expressions. So the text is compiled as it
is, repaired where Clang complains, and compiled again. `dialect.as_written` hides the repairs in
messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from anymetal.frontend.dialect import ANY, STATIC, WIDE
from anymetal.frontend.edits import PLACE, Edit, Edits, Position
from anymetal.frontend.metal_tokens import Token, closing, tokenize
from anymetal.source import KernelSource

_TYPE = r"'([^']*)'(?: \(aka '([^']*)'\))?"
_CAST = re.compile(
    PLACE
    + rf"error: (?P<how>functional-style cast|C-style cast|static_cast) from {_TYPE} to {_TYPE}"
    r" is not allowed$",
    re.M,
)
_OPERATOR = re.compile(
    PLACE + r"error: invalid (?:operands to binary expression|argument type) \(?'(?:metal::)?vec<",
    re.M,
)
_ELEMENT = re.compile(
    PLACE + r"error: no viable overloaded operator\[\] for type '(?:const )?(?:metal::)?tensor<",
    re.M,
)
_JUMPED = re.compile(PLACE + r"note: jump bypasses variable initialization$", re.M)
_SIXTEEN_BITS = ({"_Float16", "__bf16"}, {"half", "bfloat"})
_QUALIFIERS = re.compile(r"\b(?:const|volatile)\b|\s|metal::")
_SWIZZLE = re.compile(r"[xyzw]{1,4}|[rgba]{1,4}")
_XYZW = str.maketrans("rgba", "xyzw")


def repaired(source: KernelSource, messages: str) -> KernelSource | None:
    """The kernel with all repairs that these messages ask for; None if there are none."""
    edits = Edits(source)
    for match in _CAST.finditer(messages):
        types = {_QUALIFIERS.sub("", match[place + 1] or match[place]) for place in (5, 7)}
        if types in _SIXTEEN_BITS and (place := _place_of_cast(edits, match)):
            edits.add(place.part, _cast(edits.texts[place.part], place.offset, match["how"]))
    for pattern, repair in ((_OPERATOR, _operands), (_ELEMENT, _element), (_JUMPED, _constant)):
        for match in pattern.finditer(messages):
            if place := edits.place(match):
                edits.add(place.part, repair(tokenize(edits.texts[place.part]), place.offset))
    return edits.applied()


def _place_of_cast(edits: Edits, match: re.Match[str]) -> Position | None:
    """Where a cast begins: at the error, or in the macro that it comes from."""
    for place in edits.places(match):
        opens = edits.texts[place.part].startswith("(", place.offset)
        if opens == (match["how"] == "C-style cast"):
            return place
    return None


def _cast(text: str, offset: int, how: str) -> Iterator[Edit]:
    """Makes the operand of a cast something that both types convert from."""
    start = text.find("(", offset)
    if start < 0:
        return
    marker, at = WIDE, start + 1
    if how == "C-style cast":
        marker, at = ANY, text.find(")", offset) + 1
    if not text.startswith(marker, at):
        yield Edit(at, at, marker)


def _element(tokens: Sequence[Token], offset: int) -> Iterator[Edit]:
    """Takes an element of a tensor by a call, if its place is given by several numbers."""
    index = next((i for i, token in enumerate(tokens) if token.start == offset), None)
    if index is None or tokens[index].text != "[":
        return
    end, at = closing(tokens, index), index + 1
    while at < end and tokens[at].text != ",":
        at = closing(tokens, at) + 1 if tokens[at].text in ("(", "[", "{") else at + 1
    if at < end < len(tokens):
        yield Edit(offset, offset + 1, "(")
        yield Edit(tokens[end].start, tokens[end].end, ")")


def _constant(tokens: Sequence[Token], offset: int) -> Iterator[Edit]:
    """Gives a variable in constant memory one place for the whole program, as it has in Metal."""
    index = next((i for i, token in enumerate(tokens) if token.start == offset), 0)
    while index > 0 and tokens[index - 1].text not in (";", "{", "}", ":", "static"):
        index -= 1
        if tokens[index].text == "constant":
            yield Edit(tokens[index].start, tokens[index].start, STATIC)
            return


def _operands(tokens: Sequence[Token], offset: int) -> Iterator[Edit]:
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


def _swizzle(tokens: Sequence[Token], index: int) -> Iterator[Edit]:
    token = tokens[index]
    if index and tokens[index - 1].text in (".", "->") and _SWIZZLE.fullmatch(token.text):
        if index + 1 == len(tokens) or tokens[index + 1].text != "(":
            yield Edit(token.start, token.end, f"get_{token.text.translate(_XYZW)}()")
