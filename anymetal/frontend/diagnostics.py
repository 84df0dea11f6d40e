"""Clang's messages as messages about the user's kernel: their lines, columns and words.

Clang reports a stack of places, most of them in our headers. The user sees those in their own
header and body, in the signature that MLX generates, and in headers of MLX that they include. An
error inside our headers is moved to the user's line that led there.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from anymetal.errors import MetalCompileError
from anymetal.frontend.complaints import Complaint
from anymetal.frontend.forbidden import Finding
from anymetal.frontend.hints import hint_for
from anymetal.frontend.messages import (
    Diagnostic,
    Message,
    diagnostics_of,
    exact_column,
    shortened,
    shown_at,
    text_of,
    with_metals_reason,
)
from anymetal.frontend.metal_tokens import offset_of, position
from anymetal.frontend.overloads import explained
from anymetal.frontend.unit import part_name
from anymetal.source import KernelSource

_MAX_NOTES = 6
_MAX_CANDIDATES = 3

#: Why a function of ours does not fit; a requirement of ours says nothing to the user.
_CANDIDATE = re.compile(r"candidate .*?(?:not viable|ignored)[^:]*: (?P<reason>(?!requirement).*)")
_UNKNOWN = re.compile("use of undeclared identifier|unknown type name|no template named")
_OPERATOR = re.compile(
    r"no viable (?:overloaded|conversion)|invalid operands|Metal has no '|"
    r"cannot assign to component"
)
_ASSERTION = re.compile(r"static assertion failed(?: due to requirement '[^']*')?: ")
_LEADS_HERE = re.compile(r"requested here|in call to|while (?:substituting|calculating|checking)")
#: A text may say which file it comes from.
_LINE = re.compile(r'^[ \t]*#[ \t]*(?:line[ \t]+)?\d+[ \t]+"([^"\n]+)"', re.M)
_CUT, _MORE = "error: too many errors emitted", "\nThere are more, which are not shown."
#: As many errors as Clang shows.
_MAX_ERRORS = 20
#: Characters with which a text can be nested so deeply that Clang runs out of stack.
_LONG_TEXT = 5000


def compile_error(source: KernelSource, messages: str) -> MetalCompileError | None:
    """The error to raise for what Clang printed; None if nothing in it is about the user's text."""
    diagnostics = [_to_user(diagnostic, source) for diagnostic in diagnostics_of(messages)]
    # Errors elsewhere follow from these, such as one in the wrapper from a parameter's name.
    own = [one for one in diagnostics if _is_users(one.error, source) or one.error.shipped]
    diagnostics = (
        _without_guesses(own)
        or [one for one in map(_of_what_follows(source), diagnostics) if one][:1]
    )
    if not diagnostics:
        return None
    text = _render(diagnostics, source)
    return MetalCompileError(source.name, text + _MORE if _CUT in messages else text)


def error_at(source: KernelSource, findings: list[Finding]) -> MetalCompileError:
    """The error for what AnyMetal itself found wrong in the user's text."""
    diagnostics = [_pointing(source, finding) for finding in findings[:_MAX_ERRORS]]
    text = _render(diagnostics, source)
    more = _MORE if len(findings) > _MAX_ERRORS else ""
    return MetalCompileError(source.name, text + more)


def error_about(source: KernelSource, complaints: list[Complaint]) -> MetalCompileError:
    """The error for complaints about a text that compiles here."""
    texts = source.parts
    names = {part_name(source, part): part for part in texts}
    findings = []
    for one in complaints:
        part = names[one.file]
        findings.append(Finding(part, offset_of(texts[part], one.line, one.column), one.text))
    return error_at(source, findings)


def too_deep(source: KernelSource) -> MetalCompileError | None:
    """The error if Clang has run out of stack; None if the text is too short for that."""
    texts = source.parts
    part, line = max(
        ((part, line) for part, text in texts.items() for line in text.split("\n")),
        key=lambda one: len(one[1]),
    )
    if sum(map(len, texts.values())) < _LONG_TEXT:
        return None
    text = "Clang ran out of stack: the text is nested too deeply, most likely in this line"
    return error_at(source, [Finding(part, texts[part].index(line), text)])


def _is_users(message: Message, source: KernelSource) -> bool:
    """Whether the place is in a text that the user wrote or knows."""
    return message.file in _users_files(source)


@functools.lru_cache(maxsize=4)
def _users_files(source: KernelSource) -> frozenset[str]:
    """The names of the texts that the user wrote or knows."""
    texts = source.parts
    given = (name for text in texts.values() for name in _LINE.findall(text))
    return frozenset((*(part_name(source, part) for part in (*texts, "signature")), *given))


def _without_guesses(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Without what Clang says of a line behind an unknown name, since it has to guess what that is;
    other unknown names stay."""
    guessed: set[tuple[str, int]] = set()
    kept = []
    for one in diagnostics:
        line = one.error.file, one.error.line
        if _UNKNOWN.match(one.error.text):
            guessed.add(line)
        elif line in guessed:
            continue
        kept.append(one)
    return kept


def _to_user(diagnostic: Diagnostic, source: KernelSource) -> Diagnostic:
    """The diagnostic as seen from the user's text."""
    error, notes = diagnostic.error, diagnostic.notes
    if not _is_users(error, source):
        for index, note in enumerate(notes):
            if _is_users(note, source) and _LEADS_HERE.search(note.text):
                text = _ASSERTION.sub("", error.text)  # the condition is ours, the reason is not
                error = replace(note, kind=error.kind, text=text)
                notes = notes[index + 1 :]
                break
        else:
            if error.shipped:
                notes = [*_inclusion(error, source), *_users_notes(error, notes, source)]
                return Diagnostic(error, notes)
            if _is_of_signature(diagnostic, source):
                text = _ASSERTION.sub("", error.text)
                return Diagnostic(Message("error", text, part_name(source, "signature"), 1, 1))
    error = with_metals_reason(exact_column(error, source), source)
    notes = [exact_column(note, source) for note in _users_notes(error, notes, source)]
    return explained(Diagnostic(error, notes), source)


def _is_of_signature(diagnostic: Diagnostic, source: KernelSource) -> bool:
    """Whether an error in our headers comes from types in the signature, which is MLX's."""
    wrapper = part_name(source, "wrapper")
    return bool(_ASSERTION.match(diagnostic.error.text)) or any(
        note.file == wrapper and _LEADS_HERE.search(note.text) for note in diagnostic.notes
    )


def _of_what_follows(source: KernelSource) -> Callable[[Diagnostic], Diagnostic | None]:
    """Errors in our own text, which is right: the user's text in front of it makes it wrong."""

    def explained(diagnostic: Diagnostic) -> Diagnostic | None:
        error = diagnostic.error
        notes = [exact_column(n, source) for n in diagnostic.notes if _is_users(n, source)]
        for place in (*notes, *_inclusion(error, source)):
            text = f"{error.text}, in what AnyMetal adds or includes, because of this"
            return Diagnostic(replace(place, kind="error", text=text))
        ours = error.file == part_name(source, "wrapper") or error.file.startswith("__am_")
        if not ours or not source.header:
            return None
        end = source.header.rstrip()
        text = f"{error.text} behind the end of this text, which leaves something open"
        text += " or changes words"
        return _pointing(source, Finding("header", max(len(end) - 1, 0), text))

    return explained


def _pointing(source: KernelSource, finding: Finding) -> Diagnostic:
    """An error of AnyMetal's own, with the line that it is about."""
    part, offset, text = finding
    written = source.parts[part]
    line, column = position(written, offset)
    error = Message("error", text, part_name(source, part), line, column)
    return Diagnostic(shown_at(error, written.split("\n")[line - 1]))


def _inclusion(error: Message, source: KernelSource) -> Iterator[Message]:
    """The user's line that includes the header of an error."""
    for file, line in error.included:
        place = Message("note", "included here", file, line, 1)
        if _is_users(place, source):
            shown = text_of(place, source).split("\n")[line - 1 : line]
            yield replace(place, snippet=tuple(f"{line:5} | {text}" for text in shown))


def _users_notes(error: Message, notes: list[Message], source: KernelSource) -> list[Message]:
    kept: list[Message] = []
    reasons: list[str] = []
    for note in notes:
        if _is_users(note, source) or note.shipped:
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


def _render(diagnostics: list[Diagnostic], source: KernelSource) -> str:
    """The text of all diagnostics; a hint is given where it applies first."""
    lines: list[str] = []
    seen: set[object] = set()
    count = 0
    for diagnostic in diagnostics:
        error = diagnostic.error
        place = (error.file, error.line, error.column, error.text)
        if place in seen:
            continue
        seen.add(place)
        count += 1
        for message in (error, *diagnostic.notes):
            lines += _lines_of(message)
        texts = "\n".join(message.text for message in (error, *diagnostic.notes))
        hint = hint_for(error.file.rpartition(" ")[2], texts, source)
        if hint is not None and hint not in seen:
            seen.add(hint)
            lines.append(f"hint: {hint}")
    lines.append(f"{count} error{'s' if count != 1 else ''} generated.")
    return "\n".join(lines)


def _lines_of(message: Message) -> list[str]:
    message = shortened(message)
    place = f"{message.file}:{message.line}:{message.column}: " if message.file else ""
    return [f"{place}{message.kind}: {message.text}", *message.snippet]
