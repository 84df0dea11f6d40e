"""Rewrites what Metal accepts and Clang refuses, where Clang's errors point to it.

    bfloat(h), (bfloat)h, static_cast<bfloat>(h)   Clang has no conversion between half and bfloat
    v.xy * 2.0f                                    in a template, where a user's operator* is known
    v.x += 2;                                      likewise
    uint4 v = {1, 2, 3};                           the other components are 0
    union { uint2 v; uchar4 b[2]; }                a copy is one of its bytes
    t[column, row]                                 of a tensor: C++17 has no such subscripts
    constant int t[2] = {1, 2};                    in a `switch` that jumps over it

Few kernels need this, and only Clang knows the types of expressions. So the text is compiled as it
is, repaired where Clang complains, and compiled again. `dialect.as_written` hides the repairs in
messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from anymetal.frontend.dialect import ANY, COPIED, STATIC, WIDE, ZERO
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
_PROPERTY = re.compile(
    PLACE + r"error: invalid operands to binary expression \('<pseudo-object type>'", re.M
)
_TOO_FEW = re.compile(
    PLACE + r"error: no matching constructor for initialization of "
    r"'(?:const )?(?:metal::)?(?:\w*?(?P<width>[234])|vec<[^']*, (?P<components>[234])>)'",
    re.M,
)
_UNION = re.compile(
    PLACE + r"note: copy (?:constructor|assignment operator) of '(?P<type>\w+)' is implicitly "
    r"deleted because variant field ",
    re.M,
)
_ELEMENT = re.compile(
    PLACE + r"error: no viable overloaded operator\[\] for type '(?:const )?(?:metal::)?tensor<",
    re.M,
)
_JUMPED = re.compile(PLACE + r"note: jump bypasses variable initialization$", re.M)
_SIXTEEN_BITS = ({"_Float16", "__bf16"}, {"half", "bfloat"})
_QUALIFIERS = re.compile(r"\b(?:const|volatile)\b|\s|metal::")
_ASSIGNMENT = re.compile(r"(?:[-+*/%&|^]|<<|>>)=")
_COMPONENT = re.compile(r"[xyzwrgba]")
_SWIZZLE = re.compile(r"[xyzw]{1,4}|[rgba]{1,4}")
_XYZW = str.maketrans("rgba", "xyzw")


def repaired(source: KernelSource, messages: str) -> KernelSource | None:
    """The kernel with all repairs that these messages ask for; None if there are none."""
    edits = Edits(source)
    for match in _CAST.finditer(messages):
        types = {_QUALIFIERS.sub("", match[place + 1] or match[place]) for place in (5, 7)}
        if types in _SIXTEEN_BITS and (place := _place_of_cast(edits, match)):
            edits.add(place.part, _cast(edits.texts[place.part], place.offset, match["how"]))
    for pattern, repair in (
        (_OPERATOR, _operands),
        (_PROPERTY, _compound),
        (_ELEMENT, _element),
        (_JUMPED, _constant),
    ):
        for match in pattern.finditer(messages):
            if place := edits.place(match):
                edits.add(place.part, repair(tokenize(edits.texts[place.part]), place.offset))
    for match in _TOO_FEW.finditer(messages):
        if place := edits.place(match):
            width = int(match["width"] or match["components"])
            tokens = tokenize(edits.texts[place.part])
            edits.add(place.part, _filled(tokens, place.offset, width))
    for match in _UNION.finditer(messages):
        if place := edits.place(match):
            tokens = tokenize(edits.texts[place.part])
            edits.add(place.part, _copied(tokens, place.offset, match["type"]))
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


def _filled(tokens: Sequence[Token], offset: int, width: int) -> Iterator[Edit]:
    """Adds zeros to the numbers in braces that a vector begins with, if they are too few."""
    index = next((i for i, token in enumerate(tokens) if token.start >= offset), len(tokens))
    while index < len(tokens) and tokens[index].text not in ("{", "(", ";"):
        index += 1
    if index == len(tokens) or tokens[index].text != "{":
        return
    end = closing(tokens, index)
    count, at = 1, index + 1
    while at < end:
        count += tokens[at].text == ","
        at = closing(tokens, at) + 1 if tokens[at].text in ("(", "[", "{") else at + 1
    if 1 < count < width and tokens[end - 1].text != ",":
        yield Edit(tokens[end].start, tokens[end].start, ZERO * (width - count))


def _copied(tokens: Sequence[Token], offset: int, name: str) -> Iterator[Edit]:
    """Says how a union is copied, at its opening brace."""
    index = next((i for i, token in enumerate(tokens) if token.start >= offset), 0)
    for at in range(index - 1, 1, -1):
        head = tokens[at - 2], tokens[at - 1], tokens[at]
        if [token.text for token in head] == ["union", name, "{"]:
            yield Edit(tokens[at].end, tokens[at].end, f"{COPIED}({name})")
            return


def _compound(tokens: Sequence[Token], offset: int) -> Iterator[Edit]:
    """Takes a component that is changed in place by reference: `v.x += 2`."""
    index = next((i for i, token in enumerate(tokens) if token.start == offset), 0)
    operator = "".join(token.text for token in tokens[index : index + 2])
    component = tokens[index - 1]
    if not _ASSIGNMENT.match(operator):
        yield from _operands(tokens, offset)
    elif tokens[index - 2].text in (".", "->") and _COMPONENT.fullmatch(component.text):
        name = f"ref_{component.text.translate(_XYZW)}()"
        yield Edit(component.start, component.end, name)


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
