"""What only Metal files have and C++ has not, overwritten character by character.

Explicit instantiations with attributes go (we make our own); so do `vertex` and `fragment` in front
of functions that nothing here calls; the attribute of function constants becomes their initialiser;
the word `threadgroup` inside of `[[…]]` is another one, as it is a macro of ours; so is the word
`kernel`, so that kernels without calls leave no code behind.
"""

from __future__ import annotations

import re

from anymetal.frontend.dialect import header_for_clang

_TEXTUAL = r'"(?:\\.|[^"\\\n])*"|//(?:\\\n|[^\n])*|/\*.*?\*/'  # strings and comments
_INSTANTIATION = re.compile(rf"{_TEXTUAL}|(?P<found>\btemplate\b(?=(?:\s|\\\n)*\[\[))", re.S)
_SEMICOLON = re.compile(rf"{_TEXTUAL}|(?P<found>;)", re.S)
_END_OF_MACRO = re.compile(r"(?<!\\)\n|\Z")
_ATTRIBUTES = re.compile(rf'{_TEXTUAL}|(?P<found>\[\[(?:"(?:\\.|[^"\\\n])*"|[^\[\]"])*\]\])', re.S)
_THREADGROUP = re.compile(r"\bthreadgroup(?=\s*\()")
#: At the beginning of a declaration.
_GRAPHICS = re.compile(
    rf"{_TEXTUAL}|(?:^|(?<=[;}}\]>]))[ \t]*(?P<found>\b(?:vertex|fragment)\b)(?=\s+[A-Za-z_\[])",
    re.M | re.S,
)
_KERNEL = re.compile(rf"{_TEXTUAL}|\b(?P<found>kernel)\b", re.S)


def as_cpp(text: str) -> str:
    """The text of a library as Clang can read it."""
    text = _without_instantiations(text)
    text = _ATTRIBUTES.sub(
        lambda m: _renamed(_THREADGROUP.sub("threadspace", m[0]), "__am_k") if m["found"] else m[0],
        text,
    )
    text = _GRAPHICS.sub(lambda m: " " * len(m[0]) if m["found"] else m[0], text)
    return header_for_clang(_renamed(text, "__am_K"))


def _renamed(text: str, kernel: str) -> str:
    """The text with another word for `kernel` (see include/anymetal/library.h)."""
    return _KERNEL.sub(lambda m: kernel if m["found"] else m[0], text)


def _without_instantiations(text: str) -> str:
    kept: list[str] = []
    done = 0
    for match in _INSTANTIATION.finditer(text):
        if match["found"] and match.start() >= done:
            end = _end_of_instantiation(text, match.start())
            blank = re.sub(r"(?!\\\n)[^\n]", " ", text[match.start() : end])
            kept += (text[done : match.start()], blank)
            done = end
    return "".join((*kept, text[done:]))


def _end_of_instantiation(text: str, start: int) -> int:
    """Behind its semicolon; in a macro that has none, the end of the macro."""
    line = text.rfind("\n", 0, start) + 1
    while line > 1 and text[line - 2] == "\\":
        line = text.rfind("\n", 0, line - 1) + 1
    end = next((m.end() for m in _SEMICOLON.finditer(text, start) if m["found"]), len(text))
    macro = _END_OF_MACRO.search(text, start)
    if macro and text[line:start].lstrip().startswith("#"):
        end = min(end, macro.start())
    return end
