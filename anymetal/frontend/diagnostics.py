"""Clang's messages as a message about the user's kernel: their lines, their columns, their words.

Clang reports a stack of places, most of them inside our headers. The user sees the places in their
own header and body (and in the signature that MLX generates); an error inside our headers is moved
to the user's line that led there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from anymetal.errors import MetalCompileError
from anymetal.frontend.hints import hint_for
from anymetal.frontend.unit import part_name
from anymetal.source import KernelSource

_MAX_NOTES = 6
_MAX_CANDIDATES = 3

_MESSAGE = re.compile(
    r"(?:(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+): )?"
    r"(?P<kind>fatal error|error|note): (?P<text>.*)"
)
_NOISE = re.compile(r"In file included from |\d+ (?:errors?|warnings?)\b.* generated\.")
#: Why a function of ours does not fit; a requirement of ours says nothing to the user.
_CANDIDATE = re.compile(r"candidate .*?(?:not viable|ignored)[^:]*: (?P<reason>(?!requirement).*)")
_OPERATOR = re.compile(r"no viable overloaded|invalid operands")
_ASSERTION = re.compile(r"static assertion failed(?: due to requirement '[^']*')?: ")
_LEADS_HERE = re.compile(r"requested here|in call to|while (?:substituting|calculating|checking)")
_CUT, _MORE = "error: too many errors emitted", "\nThere are more, which are not shown."
_BFLOAT_LITERAL = re.compile(r"(?<=[\d.])_b\b")  # as unit.py writes it

_METAL_TYPE = r"[\w ]*\b(?:u?(?:char|short|int|long)|half|bfloat|float|bool|u?int\d+_t)[234]?[ *&]*"

#: Clang's spelling of what has another name in Metal.
_SPELLING = (
    (re.compile(r"'__am_double' is unavailable: "), ""),
    (re.compile(rf"('{_METAL_TYPE}') \(aka '[^']*'\)"), r"\1"),
    (re.compile(r" ?\(aka '[^']*(?:_Float16|__bf16|__am_)[^']*'\)"), ""),
    (re.compile(r"\b_Float16\b"), "half"),
    (re.compile(r"\b__bf16\b"), "bfloat"),
    (re.compile(r"; did you mean '__am_\w+'\?"), ""),
    (re.compile(r"\b__am_double\b"), "double"),
    (re.compile(r" in C\+\+ are a Clang extension"), " are not supported in Metal"),
    (re.compile(r" \[-W[^\]]*\]$"), ""),
)


@dataclass(frozen=True)
class Message:
    """One error or note of Clang."""

    kind: str
    text: str
    file: str = ""
    line: int = 0
    column: int = 0
    snippet: tuple[str, ...] = ()


@dataclass
class Problem:
    """An error and the notes that follow it."""

    error: Message
    notes: list[Message] = field(default_factory=list)


def compile_error(source: KernelSource, messages: str) -> MetalCompileError | None:
    """The error to raise for what Clang printed; None if nothing in it is about the user's text."""
    problems = [_to_user(problem, source) for problem in _problems(messages)]
    # What else Clang says follows from these, as an error in the wrapper from a parameter's name.
    problems = [problem for problem in problems if _is_users(problem.error, source)]
    if not problems:
        return None
    text = _render(problems, source)
    return MetalCompileError(source.name, text + _MORE if _CUT in messages else text)


def _problems(messages: str) -> list[Problem]:
    problems: list[Problem] = []
    for message in _parse(messages):
        if message.kind == "error":
            problems.append(Problem(message))
        elif problems:
            problems[-1].notes.append(message)
    return problems


def _parse(messages: str) -> Iterator[Message]:
    current: Message | None = None
    for line in messages.splitlines():
        match = _MESSAGE.fullmatch(line)
        if match is None and current is not None and not _NOISE.match(line):
            line = _BFLOAT_LITERAL.sub("bf", line)
            current = replace(current, snippet=(*current.snippet, line))
        if match is not None:
            if current is not None:
                yield current
            current = Message(
                kind=match["kind"].removeprefix("fatal "),
                text=_metal_words(match["text"]),
                file=match["file"] or "",
                line=int(match["line"] or 0),
                column=int(match["column"] or 0),
            )
    if current is not None:
        yield current


def _metal_words(text: str) -> str:
    for pattern, word in _SPELLING:
        text = pattern.sub(word, text)
    return text


def _is_users(message: Message, source: KernelSource) -> bool:
    """Whether the place is in a text that the user wrote or knows."""
    return message.file in {part_name(source, p) for p in ("header", "source", "signature")}


def _to_user(problem: Problem, source: KernelSource) -> Problem:
    """The problem as seen from the user's text."""
    error, notes = problem.error, problem.notes
    if not _is_users(error, source):
        for index, note in enumerate(notes):
            if _is_users(note, source) and _LEADS_HERE.search(note.text):
                text = _ASSERTION.sub("", error.text)  # the condition is ours, the reason is not
                error = replace(note, kind=error.kind, text=text)
                notes = notes[index + 1 :]
                break
    error = _name_long_double(_exact_column(error, source))
    return Problem(
        error, [_exact_column(note, source) for note in _users_notes(error, notes, source)]
    )


def _users_notes(error: Message, notes: list[Message], source: KernelSource) -> list[Message]:
    kept: list[Message] = []
    reasons: list[str] = []
    for note in notes:
        if _is_users(note, source):
            kept.append(note)
        elif note.file == part_name(source, "wrapper"):
            if _LEADS_HERE.search(note.text) and source.template_arguments:
                kept.append(Message("note", f"with {_template(source)}"))
        elif (match := _CANDIDATE.match(note.text)) and match["reason"] not in reasons:
            reasons.append(match["reason"])
    if _OPERATOR.search(error.text):
        reasons.clear()  # operators of matrices, complex numbers and whatever else has them
    candidates = [
        Message("note", f"Metal's function does not fit: {reason}")
        for reason in reasons[:_MAX_CANDIDATES]
    ]
    return candidates + kept[:_MAX_NOTES]


def _template(source: KernelSource) -> str:
    """`T = float, N = 3`"""
    names = (parameter.split()[-1] for parameter in source.template_parameters.split(", "))
    values = source.template_arguments.strip("<>").split(", ")
    return ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))


def _exact_column(message: Message, source: KernelSource) -> Message:
    """Clang counts bytes, people (and editors) count characters."""
    texts = {part_name(source, "header"): source.header, part_name(source, "source"): source.body}
    lines = texts.get(message.file, "").split("\n")
    if not 0 < message.line <= len(lines):
        return message
    before = lines[message.line - 1].encode()[: message.column - 1]
    return replace(message, column=len(before.decode(errors="ignore")) + 1)


def _name_long_double(error: Message) -> Message:
    """`long double` is a syntax error for us, since `double` is a name: say what it is about."""
    if error.text.startswith("expected") and re.search(
        r"\b(?:long|unsigned|signed)\s+double\b", "".join(error.snippet[:1])
    ):
        return replace(error, text="'long double' is not supported in Metal")
    return error


def _render(problems: list[Problem], source: KernelSource) -> str:
    """The text of all problems; a hint is given where it applies first."""
    lines: list[str] = []
    seen: set[object] = set()
    count = 0
    for problem in problems:
        error = problem.error
        place = (error.file, error.line, error.column, error.text)
        if place in seen:
            continue
        seen.add(place)
        count += 1
        for message in (error, *problem.notes):
            lines += _lines_of(message)
        hint = hint_for(error.file.rpartition(" ")[2], error.text, source)
        if hint is not None and hint not in seen:
            seen.add(hint)
            lines.append(f"hint: {hint}")
    lines.append(f"{count} error{'s' if count != 1 else ''} generated.")
    return "\n".join(lines)


def _lines_of(message: Message) -> list[str]:
    place = f"{message.file}:{message.line}:{message.column}: " if message.file else ""
    return [f"{place}{message.kind}: {message.text}", *message.snippet]
