"""Overloads that differ only in address spaces: one definition is enough, so the others go.

    float load(const device float* p) { return *p; }
    float load(const threadgroup float* p) { return *p; }

For Clang, which does not see address spaces, this function is defined twice. If the definitions are
otherwise the same text, the second is dropped. If they are not, it is unknown which of them a call
means, and that is an error.
"""

from __future__ import annotations

import re
from dataclasses import replace

from anymetal.frontend.definitions import Definition, definition_at, is_same_text, texts
from anymetal.frontend.messages import (
    Diagnostic,
    diagnostics_of,
    exact_column,
    part_of,
    text_of,
)
from anymetal.source import KernelSource

#: What Clang says about the second definition.
_REDEFINITION = re.compile(
    r"redefinition of |(?:class member|constructor|conversion function) cannot be redeclared|"
    r"functions that differ only in their return type|"
    r"multiple overloads of '.*' instantiate to the same signature"
)
_PREVIOUS = re.compile(r"previous (?:definition|declaration) is here")


def _without(source: KernelSource, spans: dict[str, list[tuple[int, int]]]) -> KernelSource:
    """The kernel with these spans of its parts blanked; lines and columns stay."""
    texts = source.parts
    for part, places in spans.items():
        for start, end in places:
            text = texts[part]
            blank = re.sub(r"[^\n]", " ", text[start:end])
            texts[part] = text[:start] + blank + text[end:]
    return source.with_parts(texts)


def without_redundant_overloads(source: KernelSource, messages: str) -> KernelSource | None:
    """The kernel without the second definitions that Clang complained about; None if all stay."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for diagnostic in diagnostics_of(messages):
        pair = _overloads(diagnostic, source)
        if pair and is_same_text(*pair):
            part = part_of(diagnostic.error, source)
            span = pair[1].span
            if span not in spans.setdefault(part, []):
                spans[part].append(span)
    return _without(source, spans) if spans else None


def explained(diagnostic: Diagnostic, source: KernelSource) -> Diagnostic:
    """The diagnostic, with a reason if it is about overloads that only Metal can tell apart."""
    if not _overloads(diagnostic, source):
        return diagnostic
    text = (
        f"{diagnostic.error.text}: these overloads differ in address spaces and in their bodies. "
        "AnyMetal has one address space, so it cannot choose: give them the same text (names of "
        "parameters, too) or different names"
    )
    return Diagnostic(replace(diagnostic.error, text=text), diagnostic.notes)


def _overloads(
    diagnostic: Diagnostic, source: KernelSource
) -> tuple[Definition, Definition] | None:
    """First and second definition, if the error is about two that only Metal tells apart."""
    if not _REDEFINITION.match(diagnostic.error.text):
        return None
    first = next((note for note in diagnostic.notes if _PREVIOUS.match(note.text)), None)
    if first is None:
        return None
    found = []
    for message in (first, diagnostic.error):
        place = exact_column(message, source)
        found.append(definition_at(text_of(place, source), place.line, place.column))
    one, two = found
    if one is None or two is None or not _has_parameters(one) or not _has_parameters(two):
        return None
    return (one, two) if texts(one.head) != texts(two.head) else None


def _has_parameters(found: Definition) -> bool:
    """Whether this may be a function, or a template: `float v = f(1)` is not."""
    return len(found.head) > 1 and found.head[1].text not in ("=", "[", ",", "{")
