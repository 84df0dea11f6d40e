"""What C++ has and Metal forbids, as far as words alone show it.

Clang finds the `WORDS`: they are poisoned in front of the user's text, so only those count that the
preprocessor lets through. What takes more than one word is found in the tokens (`find_forbidden`),
except for text inside of `#if` and `#define`: a wrong error is worse than a late one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from anymetal.frontend.literals import names_in
from anymetal.frontend.metal_tokens import ADDRESS_SPACES, Token, closing, tokenize, unconditional
from anymetal.frontend.scopes import Scope
from anymetal.frontend.storage import misplaced
from anymetal.source import KernelSource, LibrarySource

_NO_HEAP = "there is no heap: use a local array of fixed size"
_NO_EXCEPTIONS = "there are no exceptions: write an error code to an output"
_NO_RTTI = "there is no run-time type information: use templates and if constexpr"
_OF_A_THREAD = "local variables belong to one thread as they are"
_NO_SUCH_TYPE = "the widest types are long and float"

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
    **dict.fromkeys(("thread_local", "_Thread_local", "__thread"), _OF_A_THREAD),
    "register": "the compiler chooses what is in registers",
    **dict.fromkeys(("asm", "__asm", "__asm__"), "there is no inline assembly"),
    **dict.fromkeys(("__float128", "_BitInt"), _NO_SUCH_TYPE),
    **dict.fromkeys(("_Complex", "__complex__"), "use float2, or MLX's complex64_t"),
    "__debug": "the compiler cannot be tested from a kernel",  # #pragma clang __debug crash
}
_REASONS = {**WORDS, "delete": _NO_HEAP}


def reason_for(word: str) -> str:
    """The text of the error about a word that Metal forbids."""
    reason = _REASONS.get(word)
    return f"'{word}' is not supported in Metal" + (f": {reason}" if reason else "")


#: A literal of a type that is wider than float.
_WIDE_FLOAT = re.compile(
    r"(?:(?![0xX]{2})(?:[\d']*\.[\d']*(?:[eE].*)?|[\d']+[eE].*)|0[xX].*[pP].*)([lLqQ])"
)
_WIDE_TYPES = {"l": "long double", "q": "__float128"}
#: Names of ours, but for those that exported functions bring along (size_extension.py).
_UNSPEAKABLE = re.compile(r"\b__debug\b|\b__am_(?!size_of\b|\w+_size_buffer\b)\w*")
_OURS = "'{}': names that begin with __am_ belong to AnyMetal"
_NUMBER = "'{}': AnyMetal writes this name for the number {}; take another one"
_PREFIXES = ("volatile", "metal", "::")


class Finding(NamedTuple):
    """Something wrong and its place: the part (frontend/unit.py) and the offset in it."""

    part: str
    offset: int
    text: str


#: Without any of these words there is nothing to find.
_SUSPICIOUS = re.compile(r"long|threadgroup|delete|noexcept|[\d.][lLqQ]\b")
_MISPLACED = re.compile(r"threadgroup|static|device|\bmain\b|\bkernel\b")
_AT_PROGRAM_SCOPE = re.compile(r"^[ \t]*(?:inline|auto|extern|namespace|template)\b", re.M)
#: Macros behind which these words, declarations, or words that are put together, may hide.
_HIDING = re.compile(
    r"^[ \t]*#[ \t]*define\b.*"
    r"(?:##|__VA_ARGS__|[;{]|\b(?:long|threadgroup|static|device|delete|noexcept|main|kernel)\b|\d[lL]\b)",
    re.M,
)


def find_forbidden(source: KernelSource) -> list[Finding]:
    """Everything in the user's text that takes more than one word to recognise."""
    findings: list[Finding] = []
    for part, text in source.parts.items():
        findings += find_unspeakable(part, text, isinstance(source, LibrarySource))
        if _SUSPICIOUS.search(text):
            findings += _in_tokens(part, unconditional(text))
    return findings


def find_misplaced(source: KernelSource) -> list[Finding]:
    """Variables that Metal has not in text that leaves no code behind."""
    findings: list[Finding] = []
    for part, text in source.parts.items():
        if _MISPLACED.search(text) or (part != "source" and _AT_PROGRAM_SCOPE.search(text)):
            findings += _in_scopes(part, unconditional(text))
    return findings


def may_hide(source: KernelSource) -> bool:
    """Whether it takes the preprocessor to tell if there is something: macros may hide it, or it
    stands between `#if` and `#endif`."""
    texts = [text for text in source.parts.values() if "#" in text]
    return any(_HIDING.search(joined(text)) or _is_conditional(text) for text in texts)


def _is_conditional(text: str) -> bool:
    if not _SUSPICIOUS.search(text):
        return False
    tokens = tokenize(text)
    return any(next(check(tokens), None) for check in _CHECKS)


def find_expanded(part: str, tokens: Sequence[Token]) -> list[Finding]:
    """What is forbidden in the tokens of a part whose macros are expanded."""
    found = _in_tokens(part, tokens) + _in_scopes(part, tokens)
    for token in tokens:
        if token.text in WORDS:  # put together by `##`; others Clang finds
            found.append(Finding(part, token.start, reason_for(token.text)))
    for before, token in itertools.pairwise(tokens):
        if before.text == "long" and token.text == "double":
            found.append(Finding(part, before.start, reason_for("long double")))
    return found


def joined(text: str) -> str:
    """The text with a line for each directive."""
    return re.sub(r"\\\r?\n", "  ", text)


def _in_tokens(part: str, tokens: Sequence[Token]) -> list[Finding]:
    """What no macro can make right."""
    return [Finding(part, token.start, why) for check in _CHECKS for token, why in check(tokens)]


def _in_scopes(part: str, tokens: Sequence[Token]) -> list[Finding]:
    """What is wrong where it stands."""
    scope: Scope = "body" if part == "source" else "program"
    return [Finding(part, token.start, why) for token, why in misplaced(tokens, scope)]


def find_unspeakable(part: str, text: str, ours: bool = False) -> list[Finding]:
    """What must not reach Clang, wherever it stands: orders to crash, and names of ours, unless
    `ours`: we have put some into the text."""
    if "__debug" not in text and (ours or ("__am_" not in text and "$" not in text)):
        return []
    findings = []
    for token in tokenize(text):
        if token.kind in ("word", "directive") and not ours:
            for start, name, number in names_in(token.text):
                findings.append(Finding(part, token.start + start, _NUMBER.format(name, number)))
        for word in _UNSPEAKABLE.finditer(token.text):
            if word[0] == "__debug":
                findings.append(Finding(part, token.start + word.start(), reason_for("__debug")))
            elif token.kind in ("word", "directive") and not ours:
                findings.append(Finding(part, token.start + word.start(), _OURS.format(word[0])))
    return findings


def _long_long(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    first = -1
    for index, token in enumerate(tokens):
        if token.text == "long":
            if first >= 0:
                yield tokens[first], "'long long' is not supported in Metal: 'long' has 64 bits"
                first = -1
            else:
                first = index
        elif token.text not in ("unsigned", "signed", "int", "const", "volatile"):
            first = -1


def _deletes(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """`delete p`, and not `S(const S&) = delete`."""
    for before, token in itertools.pairwise(tokens):
        if token.text == "delete" and before.text != "=":
            yield token, reason_for("delete")


def _asks_noexcept(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """`= noexcept(f())`, and not `void f() noexcept`, `void f() const noexcept(true)`."""
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        declares = before.text == ")" or before.text in ADDRESS_SPACES | {"const", "volatile"}
        if token.text == "noexcept" and after.text == "(" and not declares:
            yield token, "'noexcept' is no operator in Metal: there are no exceptions"


def _wide_floats(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    for token in tokens:
        if token.kind == "number" and (found := _WIDE_FLOAT.fullmatch(token.text)):
            wide = _WIDE_TYPES[found[1].lower()]
            yield token, f"'{token.text}': '{wide}' is not supported in Metal"


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
        if after > name + 1 and _are_zeros(tokens[after : after + 4]):
            continue
        if after < len(tokens) and tokens[after].text in ("=", "{", "("):
            yield (
                tokens[name],
                f"'{tokens[name].text}': variables in the threadgroup address space cannot be "
                "initialized; let one thread write the value, then threadgroup_barrier",
            )


def _are_zeros(tokens: Sequence[Token]) -> bool:
    """`= {}` or `= {0}`, which Metal accepts behind an array (dialect.py)."""
    words = [token.text.rstrip("fFhHuUlL") for token in tokens]
    return words[:3] == ["=", "{", "}"] or (
        words[:2] == ["=", "{"]
        and words[3:] == ["}"]
        and re.fullmatch(r"0(\.0*)?", words[2]) is not None
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
                ends = ("[", "=", ";", ",", "{", "(")
                return name if token.text in ends and name != index + 1 else None
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


_CHECKS = (
    *(_long_long, _wide_floats, _deletes, _asks_noexcept),
    *(_initialised_threadgroup, _float_atomics, _crossed_spaces),
)
