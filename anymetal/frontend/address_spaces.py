"""Pointers, references and program-scope constants without the address space that Metal wants.

Address spaces mean nothing to a CPU, so a kernel without them runs here. Metal before 4.1 refuses a
pointer or reference without one, and every Metal refuses a program-scope constant that is not in
`constant`. Both can be seen in the tokens: a word that is certainly a type, followed by `*` or `&`,
without an address space in front of it or right behind it. Also, MLX passes inputs of few elements
in `constant`, where a pointer to `device` cannot lead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from anymetal.frontend.complaints import Complaint
from anymetal.frontend.forbidden import address_of, cast_name, declared_once
from anymetal.frontend.metal_tokens import (
    ADDRESS_SPACES,
    TYPES,
    Token,
    closing,
    position,
    unconditional,
)
from anymetal.frontend.unit import part_name
from anymetal.source import KernelSource

#: Class templates of Metal and of MLX's prelude.
_TEMPLATES = frozenset({"vec", "packed_vec", "matrix", "array", "atomic", "complex_t"})
#: Words that may stand between the beginning of a declaration and its `*`, besides the type.
_SPECIFIERS = frozenset(
    "const volatile static constexpr inline extern unsigned signed typename struct class union "
    "enum friend mutable".split()
)
_STATEMENTS = frozenset(
    "return else do case sizeof alignof operator using typedef typename".split()
)

#: The rules, with the reason of each.
MISSING, NOT_CONSTANT, TOO_SMALL = "address-space", "program-scope", "small-input"
_MISSING = "{} type must have explicit address space qualifier"
_NOT_CONSTANT = (
    "program scope variable must reside in constant address space: write `constant` in front of it"
)

_TOO_SMALL = (
    "'{}' has so few elements in this call that MLX passes it in the constant address space, of "
    "which no `device` pointer can be made: declare it with `auto`"
)


def complaints_about(source: KernelSource) -> list[Complaint]:
    """What Metal may refuse in the text of a kernel."""
    texts = source.parts
    return [
        Complaint(part_name(source, part), *position(texts[part], offset), rule, text)
        for part, offset, rule, text in _findings(source)
    ]


def _findings(source: KernelSource) -> Iterator[tuple[str, int, str, str]]:
    """Part, offset, rule and text of everything to complain about."""
    header, body = unconditional(source.header), unconditional(source.body)
    names = _Names(source, header + body)
    for part, tokens in (("header", header), ("source", body)):
        for token in _unqualified(tokens, names):
            kind = "pointer" if token.text == "*" else "reference"
            yield part, token.start, MISSING, _MISSING.format(kind)
    constant = {p.name for p in source.parameters if " constant " in f" {p.declaration} "}
    for token in _pointers_to_device(body):
        if token.text in constant and declared_once(body, token.text, parameter=True):
            yield "source", token.start, TOO_SMALL, _TOO_SMALL.format(token.text)
    for token in _variables_at_program_scope(header):
        yield "header", token.start, NOT_CONSTANT, _NOT_CONSTANT


class _Names:
    """Which names of the text are types for certain, and which may be anything."""

    def __init__(self, source: KernelSource, tokens: Sequence[Token]) -> None:
        self.types = set(TYPES)
        self.templates = set(_TEMPLATES)
        self.dependent: set[str] = set()
        self.macros = set(re.findall(r"#\s*define\s+(\w+)", source.header + "\n" + source.body))
        aliases: set[str] = set()
        variables: set[str] = set()
        for index, (before, token) in enumerate(pairwise(tokens), 1):
            if token.kind != "word":
                continue
            if before.text in ("struct", "class", "union"):
                template = index > 2 and tokens[index - 2].text == ">"
                inside = index > 2 and tokens[index - 2].text in ("<", ",")  # template <class T>
                (self.dependent if inside else self.templates if template else self.types).add(
                    token.text
                )
            elif before.text == "typename":
                self.dependent.add(token.text)
            elif before.text == "using":
                aliases.add(token.text)
            elif before.text in TYPES:
                variables.add(token.text)
        parameters = re.findall(r"typename (\w+)", source.template_parameters)
        self.types |= set(parameters)  # of the kernel itself: a dtype
        self.types -= aliases | variables | self.macros | (self.dependent - set(parameters))
        self.templates -= aliases | variables | self.macros


def _unqualified(tokens: Sequence[Token], names: _Names) -> Iterator[Token]:
    """Every `*` and `&` that makes a pointer or reference type without an address space."""
    for index, token in enumerate(tokens):
        if token.kind != "word" or token.text not in names.types | names.templates:
            continue
        last = index
        if token.text in names.templates:
            last = _template_end(tokens, index)
            if last == index:
                continue
        spaces = _spaces_in_front(tokens, index, names)
        if spaces is None:
            continue
        at, behind = _qualifiers(tokens, last + 1)
        spaces |= behind
        if not spaces and _is_array_declarator(tokens, at):
            yield tokens[at + 1]
        # One is enough: in `device float*&` the reference is to a variable of the thread.
        if not spaces and at < len(tokens) and tokens[at].text in ("*", "&", "&&"):
            yield tokens[at]


def _qualifiers(tokens: Sequence[Token], at: int) -> tuple[int, bool]:
    """Where the qualifiers that begin here end, and whether an address space is among them."""
    start = at
    while at < len(tokens) and tokens[at].text in ADDRESS_SPACES | {"const", "volatile", "int"}:
        at += 1
    return at, any(token.text in ADDRESS_SPACES for token in tokens[start:at])


def _template_end(tokens: Sequence[Token], index: int) -> int:
    """Index of the `>` that ends the template arguments behind `index`; `index` if none do."""
    depth, at = 0, index + 1
    if at >= len(tokens) or tokens[at].text != "<":
        return index
    while at < len(tokens) and tokens[at].text not in (";", "{", "}", "&&", "||"):
        text = tokens[at].text
        if text in ("(", "["):
            at = closing(tokens, at)
        depth += (text == "<") - (text == ">")
        if depth == 0:
            return at
        at += 1
    return index


def _spaces_in_front(tokens: Sequence[Token], index: int, names: _Names) -> bool | None:
    """Whether an address space stands in front of a type; None if that cannot be known."""
    at = index - 1
    while at >= 0 and (tokens[at].kind == "word" or tokens[at].text == "::"):
        word = tokens[at].text
        if word in ADDRESS_SPACES:
            return True
        if word in names.macros or (
            word not in _SPECIFIERS
            and word not in TYPES
            and word not in _STATEMENTS
            and tokens[at + 1].text != "::"
            and word != "::"
        ):
            return None
        if word in _STATEMENTS:
            return None if word == "operator" else False
        at -= 1
    return False


def _is_array_declarator(tokens: Sequence[Token], at: int) -> bool:
    """`(&name)[`: a reference to an array."""
    texts = [token.text for token in tokens[at : at + 5]]
    return (
        len(texts) == 5 and texts[0] == "(" and texts[1] in ("&", "*") and texts[3:] == [")", "["]
    )


def _pointers_to_device(tokens: Sequence[Token]) -> Iterator[Token]:
    """The names whose addresses become `device` pointers, by a cast or by initialisation."""
    for index, token in enumerate(tokens):
        if token.text == "device":
            cast, copied = cast_name(tokens, index), _copied_name(tokens, index)
            yield from (tokens[name] for name in (cast, copied) if name is not None)


def _copied_name(tokens: Sequence[Token], index: int) -> int | None:
    """The `a` of `device float* p = a;`, of `= a + 1` and of `= &a[1]`."""
    at = index + 1
    while at < len(tokens) and tokens[at].kind == "word":
        at += 1
    texts = [token.text for token in tokens[at : at + 3]]
    if len(texts) < 3 or texts[0] != "*" or texts[2] != "=" or tokens[at + 1].kind != "word":
        return None
    return address_of(tokens, at + 3)


def _variables_at_program_scope(tokens: Sequence[Token]) -> Iterator[Token]:
    """The names of `const float x = 1;` and `constexpr int n = 2;` outside of functions."""
    statement: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text == "{" and not _opens_namespace(statement):
            if _declares_constant(statement):
                yield statement[-1]
            index, statement = closing(tokens, index), []
        elif token.text == "[" and [t.text for t in tokens[index + 1 : index + 2]] == ["["]:
            statement = []  # an attribute: a built-in input
        elif token.text in ("=", "[") and _declares_constant(statement):
            yield statement[-1]
            statement = []
        elif token.text in (";", "{", "}"):
            statement = []
        else:
            statement.append(token)
        index += 1


def _opens_namespace(statement: Sequence[Token]) -> bool:
    return any(token.text == "namespace" for token in statement)


def _declares_constant(statement: Sequence[Token]) -> bool:
    """Whether these words declare a variable of one of Metal's types as const, not `constant`."""
    words = [token.text for token in statement]
    return (
        len(words) >= 3
        and words[-2] in TYPES
        and bool({"const", "constexpr"} & set(words))
        and set(words[:-2]) <= {"static", "const", "constexpr", "inline", "unsigned", "signed"}
        and statement[-1].kind == "word"
    )
