"""Which names a kernel may use, directly or through functions, types and variables of its file.

This decides which function constants a kernel needs: Metal wants values for those and for no
others. Names are compared by spelling, so the answer may be too large, but never too small.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from anymetal.frontend.expanded import SourceFile, Token, close_of, close_of_angle

_TYPES = frozenset(("struct", "class", "union", "enum", "using"))
_ENDS = frozenset(("(", "=", "{", ";", "["))


@dataclass
class Reach:
    """The declarations of a file: what each introduces and mentions."""

    mentioned: dict[str, set[str]] = field(default_factory=dict)

    def add(self, tokens: Sequence[Token], source: SourceFile) -> None:
        """One declaration at namespace scope."""
        words = self.mentioned.setdefault(_introduced(tokens, source), set())
        words.update(token.text for token in tokens if token.is_word)

    def of(self, names: Iterable[str]) -> set[str]:
        """All names that these lead to."""
        reached: set[str] = set()
        work = ["", *names]
        while work:
            name = work.pop()
            if name not in reached:
                reached.add(name)
                work.extend(self.mentioned.get(name, ()))
        return reached


def _introduced(tokens: Sequence[Token], source: SourceFile) -> str:
    """The name that a declaration introduces; "" for operators and what has none."""
    position, name = 0, ""
    while position < len(tokens):
        text = tokens[position].text
        following = tokens[position + 1].text if position + 1 < len(tokens) else ""
        if text == "template" and following == "<":
            position = close_of_angle(tokens, position + 1, source)
        elif text == "[" and following == "[":
            position = close_of(tokens, position, source)
        elif text in ("__attribute__", "alignas", "decltype") and following == "(":
            position = close_of(tokens, position + 1, source)
        elif text == "operator":
            return ""
        elif text in _TYPES and following not in _TYPES and following.isidentifier():
            return following
        elif text in _ENDS:
            break
        elif tokens[position].is_word:
            name = text
        position += 1
    return name
