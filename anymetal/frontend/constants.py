"""Shifts and divisions that Clang itself computes, with the meaning that Metal gives them.

    1u << 33     1u << N     7 / 0     constexpr uint f(uint n) { return 1u << n; }

If all operands are constants, an operation that C++ leaves undefined has lost its value before
defined.py sees it. But Clang says where that happened, in warnings or in notes on constant
expressions: there a marker is put behind the operator (language.h), and the text is compiled again.
Clang says nothing about functions that it may evaluate, so shifts in them are marked at once.
`dialect.as_written` hides the markers in messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from anymetal.frontend.dialect import DEFINED
from anymetal.frontend.edits import PLACE, Edit, Edits
from anymetal.frontend.line_table import Places
from anymetal.frontend.metal_tokens import Token, closings, offset_of, tokenize
from anymetal.source import KernelSource

#: Clang's options for these warnings.
WARNINGS = """
-Wshift-count-overflow -Wshift-count-negative -Wdivision-by-zero -Winteger-overflow
""".split()

_COMPLAINT = re.compile(
    PLACE + r"(?:warning: (?:shift count |division by zero|remainder by zero)|note: "
    r"(?:shift count |negative shift count|left shift of negative value|signed left shift ))",
    re.M,
)
#: What is made of such a number may be a shift by it, about which Clang then says nothing.
_OVERFLOW = re.compile(PLACE + r"warning: overflow in expression", re.M)
_OPERATOR = re.compile(r"<<=|>>=|<<|>>|/=|%=|/|%")
_POISON = re.compile(r"^ .*\bpoison\b.*$", re.M)
#: Vectors whose components are about to be set.
_UNSET_VECTOR = re.compile(r"(?<=insertelement )<\d+ x \w+> poison|, <\d+ x \w+> poison(?=, <)")
_NO_VALUE = re.compile(r"\bpoison\b.*?(?:!dbg (?P<place>!\d+))?$")
_SMALL = re.compile(r"(?:[0-9]|[12][0-9]|3[01])[uU]?")
#: What may stand behind template arguments, and not behind the operator `>>`.
_BEHIND_TYPES = frozenset((";", ",", ")", ">", "::", "{", "}", "&"))
_DEFINE = re.compile(r"[ \t]*#[ \t]*define\b")


def defined(source: KernelSource, messages: str, ir: str) -> KernelSource | None:
    """The kernel with a marker at each operator that Clang complains about; None if there are none.

    Clang says nothing about INT_MIN / -1, counts that overflow, and operations on such results. But
    the IR shows in which line something has no value: there, and in macros, each operator is
    marked.
    """
    edits = Edits(source)
    for match in _COMPLAINT.finditer(messages):
        for part, offset in edits.places(match):
            edits.add(part, _mark(edits.texts[part], offset))
    for match in _OVERFLOW.finditer(messages):
        for part, offset in edits.places(match):
            _mark_line(edits, part, edits.texts[part].count("\n", 0, offset) + 1)
    if entries := without_value(ir):
        places = Places(source, ir)
        for part, line, _ in filter(None, map(places.find, entries)):
            _mark_line(edits, part, line)
        for part, text in edits.texts.items():
            for start, within in _macros(tokenize(text)):
                for offset in (*_operators(within), *_divisions(within)):
                    edits.add(part, _mark(text, start + offset))
    return edits.applied()


def _mark_line(edits: Edits, part: str, line: int) -> None:
    """Marks each operator of a line."""
    text = edits.texts[part]
    start = offset_of(text, line, 1)
    within = tokenize(text.split("\n")[line - 1])
    for offset in (*_operators(within), *_divisions(within)):
        edits.add(part, _mark(text, start + offset))


def without_value(ir: str) -> list[str]:
    """The line table entries of instructions with an operand that has no value."""
    if "poison" not in ir:
        return []
    found = (_NO_VALUE.search(_UNSET_VECTOR.sub("", line[0])) for line in _POISON.finditer(ir))
    return [match["place"] or "" for match in found if match]


def in_functions(source: KernelSource) -> KernelSource:
    """The kernel with a marker at each shift by anything but a small number, in functions that
    Clang may evaluate: `constexpr` ones and lambdas."""
    edits = Edits(source)
    for part, text in edits.texts.items():
        if "constexpr" in text or "](" in text:
            for offset in _shifts(tokenize(text)):
                edits.add(part, _mark(text, offset))
    return edits.applied() or source


def _mark(text: str, offset: int) -> Iterator[Edit]:
    """`a << __am_defined << b`, `a <<= __am_defined = b`: of the operator's own precedence."""
    operator = _OPERATOR.match(text, offset)
    if operator and not text.endswith(DEFINED, 0, offset):  # else it is the marker's own
        marker = DEFINED + ("=" if operator[0].endswith("=") else operator[0])
        if not text.startswith(marker, operator.end()):
            yield Edit(operator.end(), operator.end(), marker)


def _shifts(tokens: Sequence[Token]) -> Iterator[int]:
    """Offsets of the shifts in functions that Clang may evaluate, and in macros."""
    for start, within in _macros(tokens):
        yield from (start + at for at in _operators(within))
    ends = closings(tokens)
    for index, token in enumerate(tokens):
        start, body = index + 1, None
        if token.text == "constexpr" and tokens[index - 1].text != "if":
            body = _body(tokens, ends, start)
        elif token.text == "[" and _begins_lambda(tokens, index):
            start = ends[index] + 1
            body = _body(tokens, ends, start, parameters=True)
        if body is not None:
            yield from _operators(tokens[start : ends[body]])


def _macros(tokens: Sequence[Token]) -> Iterator[tuple[int, list[Token]]]:
    """Where the definitions of macros begin, behind `#`, and their tokens."""
    for token in tokens:
        if token.kind == "directive" and _DEFINE.match(token.text):
            start = token.text.index("#") + 1
            yield token.start + start, tokenize(token.text[start:])


def _divisions(tokens: Sequence[Token]) -> Iterator[int]:
    """Offsets of divisions."""
    return (token.start for token in tokens if token.text in ("/", "%"))


def _begins_lambda(tokens: Sequence[Token], index: int) -> bool:
    before = tokens[index - 1] if index else None
    if before is None or before.text == "return":
        return True
    return before.kind == "mark" and before.text not in (")", "]", "[")


def _body(
    tokens: Sequence[Token], ends: Sequence[int], index: int, parameters: bool = False
) -> int | None:
    """Index of the brace that opens a function's body; None for a variable. `ends`: `closings`."""
    while index < len(tokens):
        text = tokens[index].text
        if text == "{":
            return index if parameters else None
        if text in (";", ")", "}") or (text == "=" and tokens[index - 1].text != "operator"):
            return None
        if text == "(":
            parameters, index = True, ends[index]
        index += 1
    return None


def _operators(tokens: Sequence[Token]) -> Iterator[int]:
    """Offsets of shifts by anything but a number that is less than any type has bits."""
    opened = 0  # `<` that are still open; `>>` behind two of them closes template arguments
    index = 0
    while index + 2 < len(tokens):
        one, two, three = tokens[index : index + 3]
        if one.text in "<>" and two.text in (one.text, one.text + "=") and two.start == one.end:
            if one.text == ">" and (opened >= 2 or three.text in _BEHIND_TYPES):
                opened = max(opened - 2, 0)
            elif tokens[index - 1].text != "operator" and not _SMALL.fullmatch(three.text):
                yield one.start
            index += 1
        elif one.text in ("<", ">"):
            opened = opened + 1 if one.text == "<" else max(opened - 1, 0)
        elif one.text in (";", "{", "}", "(", ")", "&&", "||", "?"):
            opened = 0
        index += 1
