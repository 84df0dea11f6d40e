"""Shifts and divisions that Clang itself computes, with the meaning that Metal gives them.

    1u << 33     1u << N     7 / 0     constexpr uint f(uint n) { return 1u << n; }

If all operands are constants, an operation that C++ leaves undefined has lost its value before
defined.py sees it. But Clang says where that happened, in warnings or in notes on constant
expressions: there a marker is put behind the operator (language.h), and the text is compiled again.
Clang says nothing about functions that it may evaluate, nor about numbers that overflow where a
condition chooses a constant, so shifts in them are marked at once.
`dialect.as_written` hides the markers in messages.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Container, Iterable, Iterator, Sequence, Set

from anymetal.frontend.dialect import DEFINED
from anymetal.frontend.edits import PLACE, Edit, Edits
from anymetal.frontend.line_table import Places
from anymetal.frontend.metal_tokens import Token, closings, tokenize
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
#: A line, or all lines of a `switch`, as its place stands behind the last.
_POISON = re.compile(r"^ .*\bpoison\b.*?(?:\[\n(?:    .*\n)*  \].*)?$", re.M)
#: Vectors whose components are about to be set.
_UNSET_VECTOR = re.compile(r"(?<=insertelement )<\d+ x \w+> poison|, <\d+ x \w+> poison(?=, <)")
_NO_VALUE = re.compile(r"\bpoison\b.*?(?:!dbg (?P<place>!\d+))?$", re.S)
_SMALL = re.compile(r"(?:[0-9]|[12][0-9]|3[01])[uU]?")
#: What may stand behind template arguments, and not behind the operator `>>`.
_BEHIND_TYPES = frozenset((";", ",", ")", ">", "::", "{", "}", "&"))
_DEFINE = re.compile(r"[ \t]*#[ \t]*define\b")
_IF = re.compile(r"[ \t]*#[ \t]*(?:el)?if\b")
_WORD = re.compile(r"[A-Za-z_]\w*")


def defined(source: KernelSource, messages: str, ir: str) -> KernelSource | None:
    """The kernel with a marker at each operator that Clang complains about; None if there are none.

    Clang says nothing about INT_MIN / -1, counts that overflow, and operations on such results. But
    the IR shows in which statement something has no value, and a warning where a number overflows:
    there, and in macros, each operator is marked, and each shift of the text, as it may count by
    such a number.
    """
    edits = Edits(source)
    for match in _COMPLAINT.finditer(messages):
        for part, offset in edits.places(match):
            edits.add(part, _mark(edits.texts[part], offset))
    overflows = list(_OVERFLOW.finditer(messages))
    entries = without_value(ir)
    if overflows or entries:
        places = [place for match in overflows for place in edits.places(match)]
        places += filter(None, map(Places(source, ir).position, entries))
        tokens = {part: tokenize(text) for part, text in edits.texts.items()}
        asked = _in_conditions(token for those in tokens.values() for token in those)
        for part, text in edits.texts.items():
            within = [offset for other, offset in places if other == part]
            for offset in _doubtful(tokens[part], within, asked):
                edits.add(part, _mark(text, offset))
    return edits.applied()


def _in_conditions(tokens: Iterable[Token]) -> set[str]:
    """The words that `#if` and `#elif` lead to."""
    from anymetal.frontend.reach import Reach  # hardly ever needed

    words: set[str] = set()
    mentioned: dict[str, set[str]] = {}
    for token in tokens:
        if token.kind == "directive":
            if _IF.match(token.text):
                words.update(_WORD.findall(token.text))
            elif define := _DEFINE.match(token.text):
                name, *others = _WORD.findall(token.text, define.end()) or [""]
                mentioned.setdefault(name, set()).update(others)
    return Reach(mentioned).of(words)


def _doubtful(
    tokens: Sequence[Token], places: Sequence[int], asked: Container[str]
) -> Iterator[int]:
    """Offsets of all shifts, and of the divisions in the statements at `places` and in macros, but
    for those `asked` for by `#if`, where the marker would be a 0 to divide by."""
    yield from _operators(tokens)
    yield from _shifts_in_macros(tokens)
    for start, macro in _macros(tokens):
        if len(macro) > 1 and macro[1].text not in asked:
            yield from (start + offset for offset in _divisions(macro))
    ends = [token.start for token in tokens if token.text == ";"]
    statements = {bisect.bisect_left(ends, place) for place in places}
    for offset in _divisions(tokens):
        if bisect.bisect_left(ends, offset) in statements:
            yield offset


def without_value(ir: str) -> list[str]:
    """The line table entries of instructions with an operand that has no value."""
    if "poison" not in ir:
        return []
    found = (_NO_VALUE.search(_UNSET_VECTOR.sub("", line[0])) for line in _POISON.finditer(ir))
    return [match["place"] or "" for match in found if match]


def in_functions(source: KernelSource) -> KernelSource:
    """The kernel with a marker at each shift by anything but a small number, in functions that
    Clang may evaluate, `constexpr` ones and lambdas, and in constants that a condition chooses."""
    edits = Edits(source)
    if not _may_be_evaluated("\n".join(edits.texts.values())):
        return source
    tokens = {part: tokenize(text) for part, text in edits.texts.items()}
    bodies = [(part, body) for part, those in tokens.items() for body in _evaluated(those)]
    for part, body in bodies:
        for offset in _operators(body):
            edits.add(part, _mark(edits.texts[part], offset))
    for part, those in tokens.items() if bodies else ():
        for offset in _shifts_in_macros(those):
            edits.add(part, _mark(edits.texts[part], offset))
    return edits.applied() or source


def _mark(text: str, offset: int) -> Iterator[Edit]:
    """`a << __am_defined << b`, `a <<= __am_defined = b`: of the operator's own precedence."""
    operator = _OPERATOR.match(text, offset)
    if operator and not text.endswith(DEFINED, 0, offset):  # else it is the marker's own
        marker = DEFINED + ("=" if operator[0].endswith("=") else operator[0])
        if not text.startswith(marker, operator.end()):
            yield Edit(operator.end(), operator.end(), marker)


def _may_be_evaluated(text: str) -> bool:
    """Whether a text may have anything `_evaluated`."""
    shifts = "<<" in text or ">>" in text
    return shifts and ("constexpr" in text or "](" in text or ("?" in text and "const" in text))


def _evaluated(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The bodies of functions that Clang may evaluate, and statements with a constant that a
    condition chooses."""
    ends = closings(tokens)
    statement = 0
    for index, token in enumerate(tokens):
        start, body = index + 1, None
        if token.text == "constexpr" and tokens[index - 1].text != "if":
            body = _body(tokens, ends, start)
        elif token.text == "[" and _begins_lambda(tokens, index):
            start = ends[index] + 1
            body = _body(tokens, ends, start, parameters=True)
        elif token.text == ";":
            if _chooses({one.text for one in tokens[statement:index]}):
                yield tokens[statement:index]
            statement = index
        if body is not None:
            yield tokens[start : ends[body]]


def _chooses(words: Set[str]) -> bool:
    """Whether a statement of these words may be `const int a = b ? c << d : e;`. If a number
    overflows there, Clang does not say so."""
    return "?" in words and not words.isdisjoint(("const", "constant"))


def _macros(tokens: Sequence[Token]) -> Iterator[tuple[int, list[Token]]]:
    """Where the definitions of macros begin, behind `#`, and their tokens."""
    for token in tokens:
        if token.kind == "directive" and _DEFINE.match(token.text):
            start = token.text.index("#") + 1
            yield token.start + start, tokenize(token.text[start:])


def _shifts_in_macros(tokens: Sequence[Token]) -> Iterator[int]:
    """Offsets of the shifts in definitions of macros."""
    for start, macro in _macros(tokens):
        yield from (start + offset for offset in _operators(macro))


def _divisions(tokens: Sequence[Token]) -> Iterator[int]:
    """Offsets of divisions."""
    for before, token in zip((None, *tokens), tokens, strict=False):
        if token.text in ("/", "%") and (before is None or before.text != "operator"):
            yield token.start


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
    around: list[int] = []  # the same for each bracket around
    index = 0
    while index + 1 < len(tokens):
        before, one, two = tokens[index - 1].text, *tokens[index : index + 2]
        if one.text in "<>" and two.text in (one.text, one.text + "=") and two.start == one.end:
            three = tokens[index + 2].text if index + 2 < len(tokens) else ""
            if one.text == ">" and (opened >= 2 or three in _BEHIND_TYPES):
                opened = max(opened - 2, 0)
            elif before != "operator" and not _SMALL.fullmatch(three):
                yield one.start
            index += 1
        elif one.text in ("<", ">"):
            opened = opened + 1 if one.text == "<" else max(opened - 1, 0)
        elif one.text in ("(", "["):
            around.append(opened)
            opened = 0
        elif one.text in (")", "]"):
            opened = around.pop() if around else 0
        elif one.text in (";", "{", "}") or (one.text in ("&&", "||", "?") and before != ">"):
            opened = 0  # (`&&` behind `>` is between types)
        elif one.text == "template" and two.text == "<":
            index = _end_of_head(tokens, index + 1)
        index += 1


def _end_of_head(tokens: Sequence[Token], index: int) -> int:
    """Index of the `>` that closes the `<` there, with no operators but in brackets; `index` if
    there is none."""
    depth = brackets = 0
    for at in range(index, len(tokens)):
        text = tokens[at].text
        brackets += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if not brackets:
            depth += (text == "<") - (text == ">")
            if not depth:
                return at
    return index
