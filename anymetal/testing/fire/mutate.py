"""Edits of a text by tokens and by characters."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence

from anymetal.frontend.metal_tokens import tokenize
from anymetal.testing.fire import corpus, hostile

Pieces = list[str]
_BRACKETS = "(){}[]<>"
_MARKS = "; , . :: -> ? : = == + - * / % & | ^ ~ ! << >> && || ++ -- # ## \\ @ $ ` [[ ]]".split()
_MOST_TOKENS = 4000


def pieces(text: str) -> Pieces:
    """The text cut at the ends of its tokens; joined it is the same text."""
    result, at = [], 0
    for token in tokenize(text):
        result += [text[at : token.start], token.text] if token.start > at else [token.text]
        at = token.end
    return [*result, text[at:]]


@functools.cache
def _tokens() -> tuple[str, ...]:
    """Tokens of the whole corpus, common ones more often."""
    return tuple(token.text for text in corpus.texts() for token in tokenize(text))


def token(rng: random.Random) -> str:
    """A token of some kernel."""
    return rng.choice(_tokens())


def mutated(text: str, rng: random.Random, edits: int) -> str:
    """The text after so many edits of its tokens."""
    parts = pieces(text)[:_MOST_TOKENS]
    for _ in range(edits):
        rng.choice(_EDITS)(parts, rng)
    return "".join(parts)


def soup(rng: random.Random, length: int) -> str:
    """Tokens of the corpus in any order, with lines and balanced brackets here and there."""
    parts: Pieces = []
    for _ in range(length):
        word = token(rng)
        parts += [word, rng.choice((" ", " ", "\n", "; ", ""))]
    return "".join(parts)


def scratched(text: str, rng: random.Random, edits: int) -> str:
    """The text after so many edits of its characters."""
    for _ in range(edits):
        at = rng.randint(0, len(text))
        end = min(len(text), at + rng.choice((0, 0, 1, 1, 2, 5, 40)))
        new = "".join(rng.choice(hostile.CHARACTERS) for _ in range(rng.choice((0, 1, 1, 3))))
        text = text[:at] + new + text[end:]
    return text


def _place(parts: Pieces, rng: random.Random) -> int:
    return rng.randrange(len(parts))


def _span(parts: Pieces, rng: random.Random) -> slice:
    start = _place(parts, rng)
    return slice(start, start + rng.choice((1, 1, 1, 2, 3, 8, 30)))


def _delete(parts: Pieces, rng: random.Random) -> None:
    span = _span(parts, rng)
    parts[span] = [""]


def _duplicate(parts: Pieces, rng: random.Random) -> None:
    span = _span(parts, rng)
    parts[span.start : span.start] = parts[span] * rng.choice((1, 1, 2, 50))


def _move(parts: Pieces, rng: random.Random) -> None:
    span = _span(parts, rng)
    moved = parts[span]
    parts[span] = [""]
    at = _place(parts, rng)
    parts[at:at] = [" ", *moved, " "]


def _swap(parts: Pieces, rng: random.Random) -> None:
    one, two = _place(parts, rng), _place(parts, rng)
    parts[one], parts[two] = parts[two], parts[one]


def _replace(parts: Pieces, rng: random.Random) -> None:
    parts[_place(parts, rng)] = f" {token(rng)} "


def _rename(parts: Pieces, rng: random.Random) -> None:
    """Every occurrence of a token becomes another token."""
    old, new = rng.choice(parts), token(rng)
    if old.strip():
        parts[:] = [new if part == old else part for part in parts]


def _insert(parts: Pieces, rng: random.Random) -> None:
    parts.insert(_place(parts, rng), f" {token(rng)} ")


def _bracket(parts: Pieces, rng: random.Random) -> None:
    at = _place(parts, rng)
    if rng.random() < 0.5:
        parts.insert(at, rng.choice(_BRACKETS))
    elif found := [i for i, part in enumerate(parts) if part in _BRACKETS and part]:
        parts[rng.choice(found)] = rng.choice(_BRACKETS)


def _mark(parts: Pieces, rng: random.Random) -> None:
    parts.insert(_place(parts, rng), rng.choice(_MARKS))


def _number(parts: Pieces, rng: random.Random) -> None:
    found = [i for i, part in enumerate(parts) if part[:1].isdigit()]
    if found:
        parts[rng.choice(found)] = rng.choice(hostile.NUMBERS)


def _splice(parts: Pieces, rng: random.Random) -> None:
    """A line continues, also in the middle of a token."""
    at = _place(parts, rng)
    cut = rng.randint(0, len(parts[at]))
    parts[at] = f"{parts[at][:cut]}\\\n{parts[at][cut:]}"


def _type(parts: Pieces, rng: random.Random) -> None:
    found = [i for i, part in enumerate(parts) if part in hostile.TYPES]
    if found:
        parts[rng.choice(found)] = rng.choice(hostile.TYPES)


def _foreign(parts: Pieces, rng: random.Random) -> None:
    """Lines of another kernel."""
    lines = rng.choice(corpus.texts()).splitlines(keepends=True)
    start = rng.randrange(len(lines)) if lines else 0
    at = _place(parts, rng)
    parts[at:at] = lines[start : start + rng.choice((1, 2, 6))]


_EDITS: Sequence[Callable[[Pieces, random.Random], None]] = (
    *(_delete, _duplicate, _move, _swap, _replace, _replace, _rename, _insert),
    *(_bracket, _mark, _number, _splice, _type, _type, _foreign),
)
