"""Clang's warnings about a text that it compiles, as complaints.

Some come from our headers, about calls that Metal refuses (include/anymetal/declared.h); the others
are Clang's own. Only those about the user's text count: what is said about our headers and MLX's
is nothing that the user could change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anymetal.frontend.complaints import AMBIGUOUS, ORDER, TRUNCATED, Complaint
from anymetal.frontend.messages import (
    SHORT,
    Diagnostic,
    Message,
    diagnostics_of,
    exact_column,
    text_of,
)
from anymetal.frontend.metal_tokens import offset_of, position, tokenize
from anymetal.frontend.unit import part_name
from anymetal.source import KernelSource

#: The rules of our headers' warnings, by their texts.
_OURS = {"__am_ambiguous": AMBIGUOUS, "__am_truncated": TRUNCATED, "__am_order": ORDER}
_ONLY_RELAXED = (
    "atomic operations take memory_order_relaxed and no other order in Metal before 4.1: what has "
    "to be seen in order is the business of threadgroup_barrier and atomic_thread_fence"
)
#: Numbers of elements are int, and never negative; an index that is compared with one may be uint.
_SIGNS, _COUNTS = "sign-compare", re.compile(r"\w_(?:shape|ndim)\b")
#: Threadgroup variables.
_UNSET, _SHARED = re.compile(r"variable '(\w+)' is .*uninit"), r"\bthreadgroup\b[^;(){{}}]*\b{}\b"

_CALLED = re.compile(r"from 'diagnose_if' attribute on '(?P<name>\w+)<(?P<types>.*)>':")
#: Behind the types of the arguments stand the result's, and what makes the template fit.
_BESIDES = 2
#: (Clang calls literals double although they are float: clang.py asks for that.)
_WORDS = {
    "'double'": "'float'",
    "ignoring return value of function declared with 'nodiscard' attribute": (
        "the value that this function returns is not used"
    ),
}
#: These have one function for each name, or so it may be.
_NAMESPACE = re.compile(r"\b(?:fast|precise)\s*::\s*$")


def complaints_in(source: KernelSource, messages: str) -> list[Complaint]:
    """The complaints among Clang's messages about a text that it has compiled."""
    found = (_complaint(one, source) for one in diagnostics_of(messages, "warning"))
    return [one for one in found if one]


def _complaint(diagnostic: Diagnostic, source: KernelSource) -> Complaint | None:
    message = diagnostic.error
    if message.file not in {part_name(source, part) for part in source.parts}:
        return None
    message = exact_column(message, source)
    rule, text = message.rule, message.text
    if _is_harmless(diagnostic.error, source):
        return None
    if text in _OURS:
        if _in_namespace(message, source):
            return None
        rule = _OURS[text]
        if rule == ORDER:
            line, column = _called_at(message, source)
            return Complaint(message.file, line, column, rule, _ONLY_RELAXED)
        text = _of_call(rule, diagnostic.notes)
    for words, ours in _WORDS.items():
        text = text.replace(words, ours)
    return Complaint(message.file, message.line, message.column, rule, text)


def _is_harmless(message: Message, source: KernelSource) -> bool:
    """Whether Clang says so only because it knows neither MLX nor Metal."""
    if message.rule == _SIGNS:
        return bool(_COUNTS.search(_marked(message)))
    if variable := _UNSET.match(message.text):  # other threads may have set it
        shared = re.compile(_SHARED.format(variable[1]))
        return any(shared.search(text) for text in source.parts.values())
    return False


def _marked(message: Message) -> str:
    """The operands that a message marks in its line."""
    if len(message.snippet) < 2:
        return ""
    code, marks = message.snippet[:2]
    return "".join(c if mark == "~" else " " for c, mark in zip(code, marks, strict=False))


def _in_namespace(message: Message, source: KernelSource) -> bool:
    """Whether the call is one of `fast::` or `precise::`, which have functions of float for what
    elsewhere has functions of several types."""
    line = text_of(message, source).split("\n")[message.line - 1]
    return bool(_NAMESPACE.search(line[: message.column - 1]))


def _of_call(rule: str, notes: list[Message]) -> str:
    name, types = next(_called(notes))
    call = f"{name}({', '.join(types)})"
    if rule == AMBIGUOUS:
        says = f"call to '{name}' is ambiguous in Metal: no function fits {call} best"
        return f"{says}: give them one type"
    integer = next(type_ for type_ in types if type_ != "bfloat")
    return f"Metal computes {call} in {integer}, without the fraction: it has none for bfloat"


def _called_at(message: Message, source: KernelSource) -> tuple[int, int]:
    """Line and column of the name of a function, for a warning at the end of its call."""
    text = text_of(message, source)
    offset, open_ = offset_of(text, message.line, message.column), 0
    tokens = [token for token in tokenize(text) if token.start <= offset]
    if tokens and tokens[-1].start == offset and tokens[-1].text == ")":
        for at in range(len(tokens) - 1, 0, -1):
            open_ += (tokens[at].text == ")") - (tokens[at].text == "(")
            if open_ == 0:
                return position(text, tokens[at - 1].start)
    return message.line, message.column


def _called(notes: list[Message]) -> Iterator[tuple[str, list[str]]]:
    """Name and types of the arguments of the function that a warning is about."""
    for note in notes:
        if match := _CALLED.match(note.text):
            types = re.split(r", (?![^<]*>)", match["types"])[:-_BESIDES]
            yield match["name"], [SHORT.get(type_, type_) for type_ in types]
