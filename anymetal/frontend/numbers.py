"""The values of expressions of integers, such as Metal has in attributes, and of the names in them:
`[[buffer(First + 4)]]`, where `First` is an enumerator or a constant of the program."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence

from anymetal.frontend.expanded import Token

_NUMBER = re.compile(r"(?P<digits>0[xX][\da-fA-F']+|0[bB][01']+|\d[\d']*)[uUlL]*")
#: Operators of two operands, those that bind least first.
_LEVELS: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {"|": operator.or_},
    {"^": operator.xor},
    {"&": operator.and_},
    {"<<": operator.lshift, ">>": operator.rshift},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": operator.floordiv, "%": operator.mod},
)
_OF_ONE: dict[str, Callable[[int], int]] = {
    "+": operator.pos,
    "-": operator.neg,
    "~": operator.invert,
}


def value_of(words: Sequence[str]) -> int:
    """The value of an expression, given as its words; ValueError if it is no such."""
    rest = list(_joined(words))
    try:
        value = _of_level(rest, 0)
    except ZeroDivisionError:
        raise ValueError("a division by zero") from None
    if rest:
        raise ValueError(rest[0])
    return value


def _joined(words: Sequence[str]) -> Iterator[str]:
    """The same with `<<` and `>>` as one word."""
    before = ""
    for word in words:
        if word in "<>" and word == before:
            yield word + word
            before = ""
            continue
        if before:
            yield before
        before = word if word in ("<", ">") else ""
        if not before:
            yield word
    if before:
        yield before


def _of_level(rest: list[str], level: int) -> int:
    """The value of what `rest` begins with, which is taken from it."""
    if level == len(_LEVELS):
        return _operand(rest)
    value = _of_level(rest, level + 1)
    while rest and rest[0] in _LEVELS[level]:
        word = rest.pop(0)
        right = _of_level(rest, level + 1)
        if word in ("<<", ">>") and not 0 <= right < 64:
            raise ValueError(f"a shift by {right}")
        value = _LEVELS[level][word](value, right)
    return value


def _operand(rest: list[str]) -> int:
    if not rest:
        raise ValueError("an operand is missing")
    word = rest.pop(0)
    if word in _OF_ONE:
        return _OF_ONE[word](_operand(rest))
    if word == "(":
        value = _of_level(rest, 0)
        if not rest or rest.pop(0) != ")":
            raise ValueError("a parenthesis is not closed")
        return value
    number = _NUMBER.fullmatch(word)
    if number is None:
        raise ValueError(word)
    digits = number["digits"].replace("'", "")
    octal = digits.isdigit() and digits[0] == "0"
    return int(digits, 8 if octal else 0)


class Numbers:
    """Names of a file that stand for integers."""

    def __init__(self) -> None:
        self._values: dict[str, int | None] = {}  #: None for names with several meanings

    def add(self, tokens: Sequence[Token]) -> None:
        """Those that a declaration at namespace scope introduces."""
        words = [token.text for token in tokens]
        ends = words.index("{") if "{" in words else words.index("=") if "=" in words else 0
        head = words[:ends]
        if "enum" in head and words[ends] == "{":
            if not {"class", "struct"} & set(head):
                self._add_enumerators(tokens[ends + 1 : words.index("}")])
        elif {"const", "constexpr", "constant"} & set(head) and words[ends] == "=":
            if not {"(", "[", "<", "*", "&"} & set(head):
                end = words.index(";") if ";" in words else len(words)
                self._add(head[-1], tokens[ends + 1 : end])

    def instead_of(self, tokens: Sequence[Token]) -> list[Token]:
        """An expression with numbers for names, however qualified."""
        found: list[Token] = []
        for token in tokens:
            value = self._values.get(token.text)
            if token.text != "::":
                found.append(token if value is None else token._replace(text=str(value)))
            elif found and found[-1].is_word:
                found.pop()
        return found

    def _add(self, name: str, expression: Sequence[Token]) -> int | None:
        """A name and what it is; None if that is no such number."""
        try:
            value = value_of([token.text for token in self.instead_of(expression)])
        except ValueError:
            return None
        self._values[name] = value if self._values.get(name, value) == value else None
        return value

    def _add_enumerators(self, tokens: Sequence[Token]) -> None:
        following: int | None = 0
        rest = list(tokens)
        while rest:
            words = [token.text for token in rest]
            end = words.index(",") if "," in words else len(words)
            name, assigned, rest = rest[0], rest[2:end], rest[end + 1 :]
            value = assigned or [name._replace(text=str(following))]
            found = self._add(name.text, value)
            following = None if found is None else found + 1
