"""Which tokens of a text stand where: at program scope, in types, in functions.

Braces are told apart by the words in front of them. This is no parser: what it does not understand
is `other`, and nothing is concluded from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from anymetal.frontend.metal_tokens import Token, closing

#: `helper`: a function that is no kernel; `body`: of the kernel, or a block in it.
Scope = Literal["program", "type", "helper", "body", "other"]

_TYPES = frozenset({"struct", "class", "union", "enum"})
#: The word that makes a function a kernel, also as libraries write it for Clang.
KERNEL = frozenset({"kernel", "__am_K", "__am_k"})
_BEHIND_PARAMETERS = frozenset(
    "const volatile noexcept mutable device thread constant threadgroup".split()
)
_ENDS = frozenset({"=", ";", "[", "{", "(", ","})


class Statement(NamedTuple):
    """The tokens from the beginning of a statement to the one at which it is looked at."""

    scope: Scope
    first: int  #: index of its first token
    last: int  #: index of the token behind its words: one of `= ; [ { ( ,`, or the end


def statements(tokens: Sequence[Token], scope: Scope) -> Iterator[Statement]:
    """The beginnings of all statements of a text that stands in this scope."""
    scopes: list[Scope] = [scope]
    at = 0
    while at < len(tokens):
        if tokens[at].text == "}":
            if len(scopes) > 1:
                scopes.pop()
            at += 1
            continue
        first = _behind_template(tokens, at)
        end = first
        while end < len(tokens) and tokens[end].text not in _ENDS and tokens[end].text != "}":
            end = _behind_angles(tokens, end)
        yield Statement(scopes[-1], first, min(end, len(tokens)))
        at = _next(tokens, first, end, scopes)


def _next(tokens: Sequence[Token], first: int, end: int, scopes: list[Scope]) -> int:
    """Where the next statement begins: behind a `;`, or inside of or behind braces."""
    if scopes[-1] == "program" and (behind := _behind_macro(tokens, first, end)):
        return behind
    at = end
    while at < len(tokens):
        text = tokens[at].text
        if text == ";":
            return at + 1
        if text == "}":
            return at
        if text == "{":
            opened = _opened(tokens[first:at], scopes[-1])
            if opened != "other":
                scopes.append(opened)
                return at + 1
        at = closing(tokens, at) + 1 if text in ("(", "[", "{") else at + 1
    return at


def _behind_macro(tokens: Sequence[Token], first: int, end: int) -> int | None:
    """The word behind `name(…)` at program scope: with no `;` between, that is a macro."""
    if end != first + 1 or end >= len(tokens) or tokens[end].text != "(":
        return None
    behind = closing(tokens, end) + 1
    if behind >= len(tokens) or tokens[behind].kind != "word":
        return None
    return behind if tokens[behind].text not in _BEHIND_PARAMETERS else None


def _opened(statement: Sequence[Token], around: Scope) -> Scope:
    """What braces behind these tokens contain."""
    texts = [token.text for token in statement]
    words = set(texts)
    inside: Scope = "helper" if around in ("program", "type") else around
    if around in ("program", "type"):
        if "namespace" in words or texts[:1] == ["extern"]:
            return "program"
        if "=" not in words and words & _TYPES and texts[-1:] != [")"]:
            return "type"
        if inside == "helper" and words & KERNEL:
            inside = "body"
    elif words & _TYPES and not words & {"=", "("}:
        return "type"
    while texts and texts[-1] in _BEHIND_PARAMETERS:
        texts.pop()
    if not texts:
        return inside if around in ("helper", "body") else "other"
    return inside if texts[-1] in (")", "else", "do") and "=" not in _head(texts) else "other"


def _head(texts: Sequence[str]) -> Sequence[str]:
    """What stands in front of the first parenthesis."""
    return texts[: texts.index("(")] if "(" in texts else texts


def _behind_template(tokens: Sequence[Token], at: int) -> int:
    """The first token behind `template <…>`."""
    while tokens[at].text == "template" and at + 1 < len(tokens) and tokens[at + 1].text == "<":
        behind = _behind_angles(tokens, at + 1)
        if behind >= len(tokens):
            return at
        at = behind
    return at


def _behind_angles(tokens: Sequence[Token], at: int) -> int:
    """The token behind this one, or behind the angle brackets that it opens."""
    if tokens[at].text != "<":
        return at + 1
    depth, end = 0, at
    while end < len(tokens) and tokens[end].text not in (";", "{", "}"):
        text = tokens[end].text
        depth += (text == "<") - (text == ">")
        if depth == 0:
            return end + 1
        end = closing(tokens, end) + 1 if text in ("(", "[") else end + 1
    return at + 1
