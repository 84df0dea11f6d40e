"""The user's text as tokens, for checks that need words and not their meaning.

This is no parser: comments and white space vanish, a directive is one token. Checks that the
preprocessor could prove wrong look at `unconditional` tokens only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

#: Metal's names of address spaces (`ray_data` and the like cannot occur in compute kernels).
ADDRESS_SPACES = frozenset({"device", "constant", "thread", "threadgroup"})
#: Words that say nothing to Clang, in the place of two of them behind parameter lists (dialect.py).
OF_THREADGROUP, OF_CONSTANT = "__am_tgroup", "__am_con"

_SCALARS = (
    "bool char uchar short ushort int uint long ulong half bfloat float int8_t uint8_t int16_t "
    "uint16_t int32_t uint32_t int64_t uint64_t size_t ptrdiff_t"
).split()
_VECTORS = "bool char uchar short ushort int uint long ulong half bfloat float".split()
_OTHER_TYPES = (
    "void float16_t bfloat16_t complex64_t complex32_t atomic_int atomic_uint atomic_float "
    "atomic_bool atomic_ulong"
).split()
#: Names of Metal's types.
TYPES = frozenset(
    [*_SCALARS, *_OTHER_TYPES]
    + [f"{packed}{name}{n}" for name in _VECTORS for n in "234" for packed in ("", "packed_")]
    + [f"{name}{c}x{r}" for name in ("float", "half") for c in "234" for r in "234"]
)
_TOKEN = re.compile(
    r"""
    (?P<directive> ^[ \t]*\# (?: \\\r?\n | [^\n] )* )
  | (?P<space>     [ \t\f\v\r]+ | \n | \\\r?\n | // (?: \\\r?\n | [^\n] )*
                 | /\* .*? (?: \*/ | \Z ) )
  | (?P<string>    "(?: \\. | [^"\\\n] )*" | '(?: \\. | [^'\\\n] )*' )
  | (?P<number>    \.?\d (?: [eEpP][+-] | '\w | [\w.] )* )
  | (?P<word>      (?:[^\W\d] | \$) [\w$]* )
  | (?P<mark>      :: | -> | && | \|\| | [-+*/%&|^=!<>]= | . )
    """,
    re.X | re.S | re.M,
)


class Token(NamedTuple):
    """One token and where it stands in the text."""

    kind: str  #: "directive", "string", "number", "word" or "mark"
    text: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """All tokens, without comments and white space."""
    return [
        Token(match.lastgroup or "", match[0], match.start(), match.end())
        for match in _TOKEN.finditer(text)
        if match.lastgroup != "space"
    ]


def unconditional(text: str) -> list[Token]:
    """The tokens that stand outside of directives and of anything between `#if` and `#endif`."""
    depth, kept = 0, []
    for token in tokenize(text):
        if token.kind == "directive":
            word = token.text.strip("# \t")
            depth += word.startswith("if")
            depth -= word.startswith("endif")
        elif depth == 0:
            kept.append(token)
    return kept


def closing(tokens: Sequence[Token], opening: int) -> int:
    """Index of the bracket that closes the one at `opening`; the end if there is none."""
    depth = 0
    for index in range(opening, len(tokens)):
        if tokens[index].text in ("(", "[", "{"):
            depth += 1
        elif tokens[index].text in (")", "]", "}"):
            depth -= 1
            if depth == 0:
                return index
    return len(tokens)


def closings(tokens: Sequence[Token]) -> list[int]:
    """For each token that opens a bracket what `closing` says of it, in one walk over the text."""
    found, opened = [len(tokens)] * len(tokens), []
    for index, token in enumerate(tokens):
        if token.text in ("(", "[", "{"):
            opened.append(index)
        elif token.text in (")", "]", "}") and opened:
            found[opened.pop()] = index
    return found


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both counted from 1, of an offset."""
    start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - start + 1


def offset_of(text: str, line: int, column: int) -> int:
    """The offset of a line and column, both counted from 1; -1 if there is no such place."""
    lines = text.split("\n")
    if not 0 < line <= len(lines):
        return -1
    return sum(len(before) + 1 for before in lines[: line - 1]) + column - 1
