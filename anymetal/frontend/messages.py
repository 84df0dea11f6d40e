"""Clang's messages, parsed, in the user's words: half and not _Float16, Metal's reasons."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from anymetal.frontend.dialect import as_written
from anymetal.frontend.forbidden import WORDS, reason_for
from anymetal.frontend.shipped import FOLDER
from anymetal.frontend.unit import as_compiled, part_name
from anymetal.source import KernelSource

_MESSAGE = re.compile(
    r"(?:(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+): )?"
    r"(?P<kind>fatal error|error|warning|note): (?P<text>.*)"
)
#: In front of the path of one of MLX's headers.
_SHIPPED = re.compile(rf"{FOLDER}/(?=mlx/)")
_INCLUDED = re.compile(r"In file included from (?P<file>[^\n]+?):(?P<line>\d+)[:,]")
_NOISE = re.compile(r"In file included from |\d+ (?:errors?|warnings?)\b.* generated\.")
_RULE = re.compile(r" \[-W([\w+-]+)\]$")
_METAL_TYPE = r"[\w ]*\b(?:u?(?:char|short|int|long)|half|bfloat|float|bool|u?int\d+_t)[234]?[ *&]*"

#: Short names of scalars, as in `uint4`.
SHORT = {
    "signed char": "char",
    "unsigned char": "uchar",
    "unsigned short": "ushort",
    "unsigned int": "uint",
    "unsigned long": "ulong",
}


def _short(scalar: str) -> str:
    return SHORT.get(scalar, scalar)


#: Clang's spelling of what has another name in Metal.
_SPELLING: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"'__am_double' is unavailable: "), ""),
    (re.compile(rf"('{_METAL_TYPE}') \(aka '[^']*'\)"), r"\1"),
    (re.compile(r" ?\(aka '[^']*(?:_Float16|__bf16|__am)[^']*'\)"), ""),
    (re.compile(r"\b_Float16\b"), "half"),
    (re.compile(r"\b__bf16\b"), "bfloat"),
    (re.compile(r"; did you mean '__am(?:_\w+|::[\w:]+)'\?"), ""),
    (re.compile(r"\b__am_double\b"), "double"),
    (
        re.compile(
            r"(?:no viable )?conversion from '__am_fc<[^']*>' to '(?:const )?([^']*)'"
            r"(?: is ambiguous)?"
        ),
        r"a function constant cannot be of type '\1'",
    ),
    (
        re.compile(r"cannot open file '(?:[^']*/frontend/include(?:_mlx)?|/library)/([^']*)': .*"),
        r"'\1' file not found",
    ),
    (re.compile(r"\b__am_is_defined_"), ""),
    (re.compile(r"static assertion failed due to requirement '[^']*__am[^']*': "), ""),
    (re.compile(r"\b__am_in<(.*?), \d+>|\b(?:const )?__am::input<(.*?), __am::at<\d+>>"), r"\1\2"),
    (re.compile(r"\b(?:metal::)?__am::(?:flags::)?"), ""),
    (re.compile(r"\b(?:metal::)?vec<([\w ]+), ([2-4])>"), lambda m: f"{_short(m[1])}{m[2]}"),
    (
        re.compile(r"overload resolution selected deleted operator '(\S+)'"),
        r"Metal has no '\1' for this",
    ),
    (re.compile(r" in C\+\+ are a Clang extension"), " are not supported in Metal"),
    (
        re.compile(r"no matching member function for call to 'put_(\w+)'"),
        r"cannot assign to component '\1' of a const vector",
    ),
    (re.compile(r" \[-W[^\]]*\]$"), ""),
)

#: Characters of a line, or of the text of an error, that are shown.
_LONGEST = 300
_POISONED = "attempt to use a poisoned identifier"
#: Errors that are about something else than Clang thinks: its words, what the line must contain,
#: and Metal's words (none: the reason why Metal has no such word).
_REASONS = tuple(
    (re.compile(pattern), re.compile(context), text)
    for pattern, context, text in (
        (
            r"expected",  # `double` is a name for us
            r"\b(?:long|unsigned|signed)\s+double\b",
            "'long double' is not supported in Metal",
        ),
        (r"cannot use 'throw'", r"\bthrow\b", ""),
        (r"cannot use 'try'", r"\btry\b", ""),
        (
            r"default initialization of an object of const type",
            r"\bconstant\b",
            "variable in constant address space must be initialized",
        ),
    )
)


@dataclass(frozen=True)
class Message:
    """One error, warning or note of Clang."""

    kind: str
    text: str
    file: str = ""
    line: int = 0
    column: int = 0
    snippet: tuple[str, ...] = ()
    included: tuple[tuple[str, int], ...] = ()  #: files and lines of the `#include`s that led here
    shipped: bool = False  #: whether it is about a header of MLX's package
    rule: str = ""  #: of a warning: what turns it on, without -W


@dataclass
class Diagnostic:
    """An error, or a warning, and the notes that follow it."""

    error: Message
    notes: list[Message] = field(default_factory=list)


def diagnostics_of(messages: str, kind: str = "error") -> list[Diagnostic]:
    """Every error, or every message of another kind, with its notes."""
    diagnostics: list[Diagnostic] = []
    for message in parse(messages):
        if message.kind != "note":
            diagnostics.append(Diagnostic(message))
        elif diagnostics:
            diagnostics[-1].notes.append(message)
    return [diagnostic for diagnostic in diagnostics if diagnostic.error.kind == kind]


def parse(messages: str) -> Iterator[Message]:
    """Every error, warning and note, in order."""
    current: Message | None = None
    included: list[tuple[str, int]] = []
    for line in messages.removesuffix("\n").split("\n"):  # others are characters of the user's
        match = _MESSAGE.fullmatch(line)
        if including := _INCLUDED.match(line):
            included.append((including["file"], int(including["line"])))
        elif match is None and current is not None and not _NOISE.match(line):
            current = replace(current, snippet=(*current.snippet, line))
        if match is not None:
            if current is not None:
                yield _with_own_words(current)
            current = Message(
                kind=match["kind"].removeprefix("fatal "),
                text=_metal_words(match["text"]),
                file=_SHIPPED.sub("", match["file"] or ""),
                line=int(match["line"] or 0),
                column=int(match["column"] or 0),
                included=tuple(included),
                shipped=_SHIPPED.match(match["file"] or "") is not None,
                rule=rule[1] if (rule := _RULE.search(match["text"])) else "",
            )
            included = []
    if current is not None:
        yield _with_own_words(current)


def _with_own_words(message: Message) -> Message:
    """The lines of the user's text that Clang shows, as they were written, with the marks below."""
    shown: list[str] = []
    before = ""
    for line in message.snippet:
        own = as_written(line)
        if before and not line.strip(" |^~"):
            mark = min((line.find(c) for c in "^~" if c in line), default=0)
            hidden = len(before[:mark]) - len(as_written(before[:mark]))
            own = line[: len(line) - len(line.lstrip(" |"))][: mark - hidden] + line[mark:]
        shown.append(own)
        before = line if own != line else ""
    return replace(message, snippet=tuple(shown))


def _metal_words(text: str) -> str:
    for pattern, word in _SPELLING:
        text = pattern.sub(word, text)
    return as_written(text)


def exact_column(message: Message, source: KernelSource) -> Message:
    """Counts the column in characters of the user's text; Clang counts bytes. What is about the
    brace behind the text is about its end, and words of ours do not show."""
    text = as_compiled(source, part_of(message, source))
    lines = text.split("\n")
    ours = any("__am" in shown for shown in message.snippet)
    if text and message.line > len(lines):
        lines = text.rstrip().split("\n")
        return shown_at(replace(message, line=len(lines), column=len(lines[-1]) + 1), lines[-1])
    if not text or not 0 < message.line <= len(lines):
        return replace(message, column=1, snippet=()) if ours else message
    line = lines[message.line - 1]
    if any("__am_type" in shown for shown in message.snippet):  # what we say about this line
        return shown_at(replace(message, column=len(line) - len(line.lstrip()) + 1), line)
    before = as_written(line.encode()[: message.column - 1].decode(errors="ignore"))
    message = replace(message, column=len(before) + 1)
    return shown_at(message, line) if ours else message


def shown_at(message: Message, line: str) -> Message:
    """The message with this line of the text, and a mark at its column in what the user wrote."""
    line = as_written(line)
    column = min(message.column, len(line) + 1)
    snippet = (f"{message.line:5} | {line.rstrip()}", f"      | {' ' * (column - 1)}^")
    return replace(message, column=column, snippet=snippet)


def shortened(message: Message) -> Message:
    """The message without most of a very long line, or of a very long word in its text."""
    text = message.text if len(message.text) <= _LONGEST else f"{message.text[:_LONGEST]}…"
    shown, mark = [], 0
    for line in reversed(message.snippet):
        edge = line.find("|") + 2
        if not line[edge:].strip(" ^~"):
            mark = max(line.find("^"), 0)
        start = max(edge, mark - _LONGEST // 2)
        shown.append(line[:edge] + line[start : start + _LONGEST])
    return replace(message, text=text, snippet=tuple(reversed(shown)))


def text_of(message: Message, source: KernelSource) -> str:
    """The text of the user that the message is about, or nothing."""
    return source.parts.get(part_of(message, source), "")


def part_of(message: Message, source: KernelSource) -> str:
    """The part of the user's text that the message is about, or nothing."""
    return next((part for part in source.parts if part_name(source, part) == message.file), "")


def _line_of(error: Message, source: KernelSource) -> str:
    """The line that an error is about; of a text with a file name of its own, as Clang shows it."""
    if text := text_of(error, source):
        return "".join(text.split("\n")[error.line - 1 : error.line])
    return error.snippet[0].partition("| ")[2] if error.snippet else ""


def with_metals_reason(error: Message, source: KernelSource) -> Message:
    """An error in the words of Metal instead of those of C++. The column must be exact."""
    line = _line_of(error, source)
    for pattern, context, text in _REASONS:
        if pattern.match(error.text) and (found := context.search(line)):
            return replace(error, text=text or reason_for(found[0]))
    if error.text == _POISONED and (found := re.match(r"\w+", line[error.column - 1 :])):
        words = [found[0], *re.findall(r"\w+", line)]  # `_Pragma` and macros hide the word
        word = next((word for word in words if word in WORDS), None)
        hidden = f"'{found[0]}' stands for a word that is not supported in Metal"
        return replace(error, text=reason_for(word) if word else hidden)
    return error
