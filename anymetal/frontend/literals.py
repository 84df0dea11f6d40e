"""Literals without a suffix, which are float in Metal, also in templates.

Clang has an option that makes them float (`-cl-single-precision-constant`), by a conversion that it
forgets where a template becomes a function: there they are double. So each becomes the name of a
macro with a suffix behind the number, and of the same length, so that columns stay the user's:

    x * 0.75 + 1e-5        x * G$75 + R$_5
                           #define G$75 0.75f
                           #define R$_5 1e-5f

A name is the number with `$` for the point, or for the exponent's letter if there is no point; a
letter for the first digit, which says which of these it was; `_` and `q` for the signs of the
exponent, and `S` for marks between digits. A name that stands for no number is the user's own
(`x$`); one that would stand for one is refused (forbidden.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

#: What is no code, or no place for a macro: strings, comments, directives that define nothing.
_LEFT_ALONE = (
    r'R"(?P<mark>[^()\\\s]{0,16})\((?:.|\n)*?\)(?P=mark)"'
    r"|'(?:\\.|[^'\\\n])*'"
    r'|"(?:\\.|[^"\\\n])*"|//(?:\\\n|[^\n])*|/\*(?:[^*]|\*(?!/))*\*/'
    r"|^[ \t]*\#(?![ \t]*define\b)(?:\\\n|[^\n])*"
)
#: A number in the sense of the preprocessor, which ends where nothing could go on.
_NUMBER = r"(?<![\w.$])(?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)"
_WORDS = re.compile(rf"{_LEFT_ALONE}|{_NUMBER}", re.M)
#: A floating-point number without a suffix.
_FLOAT = re.compile(
    r"(?:\d[\d']*\.[\d']*|\.\d[\d']*)(?:[eE][+-]?[\d']+)?|\d[\d']*[eE][+-]?[\d']+"
    r"|0[xX](?:[\da-fA-F']+\.?[\da-fA-F']*|\.[\da-fA-F']+)[pP][+-]?[\d']+"
)
_NAME = re.compile(r"(?<![\w$])(?:\$\d|[G-Zghq-z][xX]?[\da-fA-FS]*\$)[\da-fA-FpPqS_]*(?![\w$])")
#: Bytes, more than a name that somebody writes has.
_LONGEST = 100
#: What `$` stands for, and the letters in the place of the first digit, which is 0 before `x`.
_FIRST = {".": "GHIJKLMNOP", "e": "QRSTUVWXYZ", "E": "qrstuvwxyz", "p": "g", "P": "h"}
_DIGIT = {
    letter: (mark, digit)
    for mark, letters in _FIRST.items()
    for digit, letter in enumerate(letters)
}
_INTO = str.maketrans("+-'", "q_S")
_BACK = str.maketrans("q_S", "+-'")


def named(text: str) -> str:
    """The text with names in the place of such literals."""
    return _WORDS.sub(_named, text)


def as_numbers(text: str) -> str:
    """The text with the literals as the user wrote them."""
    return _NAME.sub(lambda match: _number(match[0]) or match[0], text) if "$" in text else text


def names_in(text: str) -> Iterator[tuple[int, str, str]]:
    """The offset of each such name, the name, and its number."""
    for match in _NAME.finditer(text) if "$" in text else ():
        if number := _number(match[0]):
            yield match.start(), match[0], number


def is_name(text: bytes, offset: int) -> bool:
    """Whether such a name begins there."""
    match = _NAME.match(text[offset : offset + _LONGEST].decode("ascii", "replace"))
    return match is not None and bool(_number(match[0]))


def definitions(texts: Iterable[str]) -> str:
    """The macros behind the names in these texts."""
    found = {(name, number) for text in texts for _, name, number in names_in(text)}
    return "".join(f"#define {name} {number}f\n" for name, number in sorted(found))


def _named(match: re.Match[str]) -> str:
    number = match["number"]
    if not number or not _FLOAT.fullmatch(number):
        return match[0]
    mark = next(mark for mark in _FIRST if mark in number)
    name = number.translate(_INTO).replace(mark, "$", 1)
    return name if name.startswith("$") else _FIRST[mark][int(number[0])] + name[1:]


def _number(name: str) -> str:
    """The number that a name stands for, or nothing."""
    if name.startswith("$"):
        number = name.translate(_BACK).replace("$", ".")
    else:
        mark, digit = _DIGIT[name[0]]
        number = f"{digit}{name[1:].translate(_BACK).replace('$', mark)}"
    return number if _FLOAT.fullmatch(number) else ""
