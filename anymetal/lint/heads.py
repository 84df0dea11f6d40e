"""Which `if`s and loops a statement stands in, by the text alone.

`if (i < n) { barrier; }` at the end of a kernel and `if (i >= n) return; barrier;` are the same
program. To the reader they are not.
"""

from __future__ import annotations

from typing import NamedTuple

from anymetal.frontend.metal_tokens import Token, closing, tokenize

_KEYWORDS = frozenset(("if", "for", "while", "switch"))


class _Open(NamedTuple):
    """Something that has begun: braces, or the one statement behind a head."""

    braces: bool
    heads: tuple[range, ...]


def heads_around(text: str, offset: int) -> list[range]:
    """The offsets of the heads, `if (…)` and the like, of all statements around a place."""
    tokens = tokenize(text)
    stack: list[_Open] = []
    ended: tuple[range, ...] = ()  #: heads of the statement that has just ended, for `else`
    at = 0
    while at < len(tokens) and tokens[at].start < offset:
        token = tokens[at]
        heads: tuple[range, ...] | None = None
        if token.text in _KEYWORDS:
            end = _head_end(tokens, at)
            if end is None or tokens[end].start >= offset:
                break
            heads, at = (range(token.start, tokens[end].end),), end
        elif token.text in ("else", "do"):
            heads = ended if token.text == "else" else ()
        elif token.text == "{":
            stack.append(_Open(True, ()))
        elif token.text == "}":
            while stack and not stack[-1].braces:
                stack.pop()
            ended = stack.pop().heads if stack else ()
            ended = _close_statements(stack) or ended
        elif token.text == ";":
            ended = _close_statements(stack) or ended
        elif token.text in ("(", "["):
            end = closing(tokens, at)
            if tokens[min(end, len(tokens) - 1)].start >= offset:
                break
            at = end
        at += 1
        if heads is not None:
            braces = at < len(tokens) and tokens[at].text == "{"
            stack.append(_Open(braces, heads))
            at += braces
    return [head for one in stack for head in one.heads]


def _close_statements(stack: list[_Open]) -> tuple[range, ...]:
    """Ends the statements that stand without braces; the heads of the last one."""
    ended: tuple[range, ...] = ()
    while stack and not stack[-1].braces:
        ended = stack.pop().heads
    return ended


def _head_end(tokens: list[Token], at: int) -> int | None:
    """The parenthesis that closes a head."""
    at += 1
    while at < len(tokens) and tokens[at].text == "constexpr":
        at += 1
    if at >= len(tokens) or tokens[at].text != "(":
        return None
    end = closing(tokens, at)
    return end if end < len(tokens) else None
