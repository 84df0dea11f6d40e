"""What C++ has and Metal forbids, as far as words alone show it.

Clang finds the `WORDS`: they are poisoned in front of the user's text, so only those count that the
preprocessor lets through. What takes more than one word is found in the tokens (`find_forbidden`),
except for text inside of `#if` and `#define`: a wrong error is worse than a late one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from anymetal.frontend.metal_tokens import ADDRESS_SPACES, Token, closing, unconditional
from anymetal.source import KernelSource

_NO_HEAP = "there is no heap: use a local array of fixed size"
_NO_EXCEPTIONS = "there are no exceptions: write an error code to an output"
_NO_RTTI = "there is no run-time type information: use templates and if constexpr"

#: Words without a meaning in Metal, and why or what to use.
WORDS = {
    "goto": "use loops, `continue`, `break` and functions",
    "virtual": "there are no virtual functions: use templates",
    "new": _NO_HEAP,
    "try": _NO_EXCEPTIONS,
    "throw": _NO_EXCEPTIONS,
    "catch": _NO_EXCEPTIONS,
    "dynamic_cast": _NO_RTTI,
    "typeid": _NO_RTTI,
    "thread_local": "local variables belong to one thread as they are",
    **dict.fromkeys(("asm", "__asm", "__asm__"), "there is no inline assembly"),
}
_REASONS = {**WORDS, "delete": _NO_HEAP}


def reason_for(word: str) -> str:
    """The text of the error about a word that Metal forbids."""
    reason = _REASONS.get(word)
    return f"'{word}' is not supported in Metal" + (f": {reason}" if reason else "")


_PREFIXES = ("volatile", "metal", "::")


class Finding(NamedTuple):
    """Something wrong and its place: the part ("header" or "source") and the offset in it."""

    part: str
    offset: int
    text: str


def find_forbidden(source: KernelSource) -> list[Finding]:
    """Everything in the user's text that takes more than one word to recognise."""
    findings: list[Finding] = []
    for part, text in (("header", source.header), ("source", source.body)):
        if "long" not in text and "threadgroup" not in text:
            continue
        tokens = unconditional(text)
        for check in (_long_long, _initialised_threadgroup, _float_atomics, _crossed_spaces):
            findings += [Finding(part, token.start, why) for token, why in check(tokens)]
    return findings


def _long_long(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    for one, two in itertools.pairwise(tokens):
        if one.text == two.text == "long":
            yield one, "'long long' is not supported in Metal: 'long' has 64 bits"


def _initialised_threadgroup(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    for index, token in enumerate(tokens):
        if token.text != "threadgroup":
            continue
        name = _variable(tokens, index)
        if name is None:
            continue
        after = name + 1
        while after < len(tokens) and tokens[after].text == "[":
            after = closing(tokens, after) + 1
        if after < len(tokens) and tokens[after].text == "=":
            yield (
                tokens[name],
                f"'{tokens[name].text}': variables in the threadgroup address space cannot be "
                "initialized; let one thread write the value, then threadgroup_barrier",
            )


def _float_atomics(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """`threadgroup atomic_float sum;`, for which Metal has no function at all."""
    for index, token in enumerate(tokens):
        if token.text != "threadgroup" or (name := _variable(tokens, index)) is None:
            continue
        type_ = "".join(t.text for t in tokens[index + 1 : name] if t.text not in _PREFIXES)
        if type_ in ("atomic_float", "atomic<float>"):
            yield (
                tokens[name],
                f"'{tokens[name].text}': atomic functions take floats in device memory only; "
                "add up with simd_sum, or keep the bits in an atomic_uint and use "
                "atomic_compare_exchange_weak_explicit",
            )


def _variable(tokens: Sequence[Token], index: int) -> int | None:
    """The name declared by the statement that begins with this address space; no pointer's."""
    if index and (tokens[index - 1].kind == "word" or tokens[index - 1].text in ("(", ",", "<")):
        return None
    name, depth = None, 0
    for at in range(index + 1, len(tokens)):
        token = tokens[at]
        if token.text == "<":
            depth += 1
        elif token.text == ">":
            depth -= 1
        elif depth == 0:
            if token.kind == "word":
                name = at
            elif token.text == "::":
                continue
            else:
                # One word is a type without a name, and `*`, `&` and `(` begin other declarators.
                return name if token.text in ("[", "=", ";", ",") and name != index + 1 else None
    return None


def _crossed_spaces(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """Casts of a threadgroup variable to another address space: `(device float*)slots`."""
    declared = {}
    for index, token in enumerate(tokens):
        if token.text == "threadgroup" and (variable := _variable(tokens, index)) is not None:
            declared[tokens[variable].text] = variable
    for index, token in enumerate(tokens):
        if token.text not in ADDRESS_SPACES - {"threadgroup"}:
            continue
        value = cast_name(tokens, index)
        if value is None:
            continue
        name = tokens[value].text
        if declared.get(name, value) < value and declared_once(tokens, name):
            yield (
                tokens[value],
                f"'{name}' is in threadgroup memory: its address cannot be cast to the "
                f"{token.text} address space",
            )


def cast_name(tokens: Sequence[Token], index: int) -> int | None:
    """The name whose address is cast to the type with the address space at `index`, if any."""
    at = index + 1
    while at < len(tokens) and (tokens[at].kind == "word" or tokens[at].text == "::"):
        at += 1
    texts = [token.text for token in tokens[at : at + 4]]
    if len(texts) < 4 or texts[0] != "*":
        return None
    if texts[1] == ")":
        return address_of(tokens, at + 2)
    return address_of(tokens, at + 3) if texts[1:3] == [">", "("] else None


def address_of(tokens: Sequence[Token], at: int) -> int | None:
    """The name of a pointer expression that begins here: `a`, `a + 1`, `&a[1]`; not `a[1]`."""
    taken = at < len(tokens) and tokens[at].text == "&"
    name = at + taken
    if name + 1 >= len(tokens) or tokens[name].kind != "word":
        return None
    after = tokens[name + 1].text
    return name if (after == "[" if taken else after in (";", ")", ",", "+")) else None


def declared_once(tokens: Sequence[Token], name: str, parameter: bool = False) -> bool:
    """Whether one declaration gives something this name; none, for a parameter of the kernel."""
    before = [
        tokens[i - 1].text
        for i, token in enumerate(tokens)
        if token.text == name and i and (tokens[i - 1].kind == "word" or tokens[i - 1].text == "*")
    ]
    return sum(word != "return" for word in before) == (not parameter)
