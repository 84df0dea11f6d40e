"""Variables that Metal has not, in text that leaves no code behind: functions that nobody calls,
templates that nobody instantiates, variables that nobody uses.

What does leave code is found in that (restrictions.py). Here only what is certain counts: a
variable whose type and specifiers are Metal's own words or types of the text, none of them a macro.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from anymetal.frontend.metal_tokens import ADDRESS_SPACES, TYPES, Token
from anymetal.frontend.scopes import KERNEL, Scope, Statement, statements

_CONSTANT = frozenset({"constant", "constexpr", "const"})
_INTRODUCE = frozenset({"typename", "class", "struct", "union", "enum"})
_SPECIFIERS = frozenset("static inline extern volatile unsigned signed auto metal ::".split())

OUTSIDE_OF_KERNEL = (
    "'{}': variables in the threadgroup address space can only be declared in a kernel function; "
    "declare it there and pass a `threadgroup` pointer or reference"
)
STATIC = "static variable '{}' must reside in constant address space"
PROGRAM_SCOPE = "program scope variable '{}' must reside in constant address space"
_AUTOMATIC = (
    "'{}': a local variable cannot be in the {} address space; only what pointers and references "
    "lead to can"
)
_MAIN = "a function cannot be called 'main' in Metal"


def misplaced(tokens: Sequence[Token], scope: Scope) -> Iterator[tuple[Token, str]]:
    """All such variables, each with what is wrong about it. `scope` is what the text stands in."""
    types = TYPES | set(_introduced(tokens))
    for statement in statements(tokens, scope):
        if found := _found(tokens, statement, types):
            yield found
    yield from _kernels_with_results(tokens, types)


def _introduced(tokens: Sequence[Token]) -> Iterator[str]:
    """Names of types, and of parameters of templates that stand for types."""
    for before, token in pairwise(tokens):
        if before.text in _INTRODUCE and token.kind == "word":
            yield token.text


def _kernels_with_results(
    tokens: Sequence[Token], types: Collection[str]
) -> Iterator[tuple[Token, str]]:
    """`kernel float f(…)`, `[[kernel]] float f(…)`"""
    for index, token in enumerate(tokens):
        at = index + 1
        if token.text not in KERNEL:
            continue
        while at < len(tokens) and tokens[at].text == "]":
            at += 1
        texts = [t.text for t in tokens[at : at + 3]]
        if texts[2:] == ["("] and texts[0] in types and texts[0] != "void":
            yield tokens[at], "a kernel returns void"


def _found(
    tokens: Sequence[Token], statement: Statement, types: Collection[str]
) -> tuple[Token, str] | None:
    scope, first, end = statement
    if scope == "other" or end >= len(tokens) or end - first < 2:
        return None
    name, after = tokens[end - 1], tokens[end].text
    words = [token.text for token in tokens[first : end - 1]]
    if name.kind != "word" or _is_attribute(tokens, end):
        return None
    if scope == "program" and name.text == "main" and after == "(" and _are_known(words, types):
        return name, _MAIN
    if after == "(" or not _are_known([w for w in words if w not in ADDRESS_SPACES], types):
        return None
    spaces = ADDRESS_SPACES.intersection(words)
    if spaces == {"threadgroup"} and scope == "helper":
        return name, OUTSIDE_OF_KERNEL.format(name.text)
    if spaces == {"device"} and scope in ("helper", "body"):
        return name, _AUTOMATIC.format(name.text, "device")
    if spaces or _CONSTANT.intersection(words):
        return None
    if scope == "program":
        return name, PROGRAM_SCOPE.format(name.text)
    return (name, STATIC.format(name.text)) if "static" in words else None


def _are_known(words: Sequence[str], types: Collection[str]) -> bool:
    """Whether these are words for a type, and nothing else."""
    return any(w in types or w == "auto" for w in words) and all(
        w in types or w in _SPECIFIERS or w in _CONSTANT for w in words
    )


def _is_attribute(tokens: Sequence[Token], at: int) -> bool:
    return [token.text for token in tokens[at : at + 2]] == ["[", "["]
