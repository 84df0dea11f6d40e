"""Which kernels a library has, and what their parameters are.

Clang answers what can be asked in C++. Types, also those that template arguments decide, come from
one compilation of a table (`properties` in include/anymetal/library.h), which also finds the syntax
errors of all files. What is repaired on the way stays: kernels are compiled from the text as it is
then.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from anymetal.errors import MetalCompileError
from anymetal.frontend import clang, scan
from anymetal.frontend.code_base import CodeBase
from anymetal.frontend.dialect import for_clang
from anymetal.frontend.expanded import KEEP_KEYWORDS, SourceFile, Token, tokens_of
from anymetal.frontend.forbidden import Finding, find_unspeakable
from anymetal.frontend.library_words import as_cpp
from anymetal.frontend.library_wrapper import function_constants, in_scope
from anymetal.frontend.parameters import PROPERTIES, typed, untyped
from anymetal.frontend.unit import KERNEL_SYMBOL, part_name
from anymetal.source import LibrarySource, MathMode

_TABLE = "__am_table"
_ROW = re.compile(r"^@(_ZN4__am7library10properties\w+) = [^\n]*? constant (\[.*)$", re.M)


class _Callable(NamedTuple):
    """A kernel, or an instantiation of a template of kernels."""

    name: str
    token: Token
    scope: str
    call: str
    function: scan.Function
    words: tuple[str, ...]  #: the names that it starts from


def read_contents(note: object, code: CodeBase, math_mode: MathMode) -> dict[str, Any]:
    """Kernels and constants of a library, and its texts as they are to be compiled, as plain values
    (what a helper is asked for).

    `signatures` are lists of parameters; the kernels name theirs by its place in there.
    """
    written = _whole(code, math_mode)
    _refuse_unspeakable(written)
    names = {part_name(written, part): text for part, text in written.parts.items()}
    user = SourceFile(code.file, names)
    text = f'{KEEP_KEYWORDS}{code.macros}#line 1 "{code.file}"\n{code.text}\n'
    found = scan.scan(list(tokens_of(clang.preprocess(written, text), code.file)), user)
    callable_ = _callable(found)
    for i in found.instantiations:
        if i.function.name.text not in found.defined:
            name = i.function.name.text
            user.fail(i.name, f"kernel '{name}' is declared, but the text does not define it")
    names_given = Counter(c.name for c in callable_)
    for c in callable_:
        if names_given[c.name] > 1:
            user.fail(c.token, f"several kernels have the name '{c.name}'")
    parameters = {path: untyped(f, user) for path, f in found.functions.items()}
    constants = {constant.name: constant.index for constant in found.constants}

    converted = written.with_parts({part: as_cpp(text) for part, text in written.parts.items()})
    edited, ir = clang.checked(
        converted.replaced(
            before=function_constants(constants, ()) + for_clang(code.macros),
            after=_table(callable_),
        )
    )
    if not callable_:
        raise MetalCompileError(
            code.file,
            f"{code.file}: error: no kernel found. Kernels are marked `kernel` or `[[kernel]]`; a "
            'template needs an instantiation such as\ntemplate [[host_name("f_float")]] [[kernel]] '
            "decltype(f<float>) f<float>;",
        )
    signatures: dict[object, int] = {}
    kernels = []
    lists: list[list[dict[str, Any]]] = []
    reached: dict[str, set[str]] = {}
    for c, own in zip(callable_, _properties(ir), strict=True):
        place = signatures.setdefault((c.function.path, *map(tuple, own)), len(signatures))
        if place == len(lists):
            types = typed(c.function, parameters[c.function.path], own, user)
            lists.append([asdict(parameter) for parameter in types])
        for word in c.words:
            if word not in reached:
                reached[word] = found.reach.of((word,)) & constants.keys()
        used = [name for name in constants if any(name in reached[word] for word in c.words)]
        kernels.append([c.name, c.scope, c.call, place, used])
    return {
        "kernels": kernels,
        "signatures": lists,
        "constants": constants,
        "text": edited.header,
        "included": [edited.parts[path] for path, _ in code.included],
    }


def _callable(found: scan.Found) -> list[_Callable]:
    """Kernels that are no templates and have a body, and all instantiations of templates."""
    return [
        *(
            _Callable(f.host_name, f.name, f.scope, f.name.text, f, (f.name.text,))
            for f in found.functions.values()
            if not f.template and f.name.text in found.defined
        ),
        *(
            _Callable(i.host_name, i.name, i.scope, i.call, i.function, i.words)
            for i in found.instantiations
        ),
    ]


def _refuse_unspeakable(source: LibrarySource) -> None:
    findings: list[Finding] = []
    for part, text in source.parts.items():
        findings += find_unspeakable(part, text)
    if findings:
        from anymetal.frontend.diagnostics import error_at

        raise error_at(source, findings)


def _whole(code: CodeBase, math_mode: MathMode) -> LibrarySource:
    """A library as a source, for questions about all of it and not about one of its kernels."""
    return LibrarySource(
        *(code.file, code.file, code.text, "", (), (), "", "", math_mode),
        file=code.file,
        before="",
        after="",
        included=code.included,
        search=code.search,
        prelude=code.prelude,
    )


def _table(kernels: Sequence[_Callable]) -> str:
    """For each kernel a pointer to the properties of its parameters."""
    types = "".join(
        in_scope(
            c.scope,
            f'\n#line {c.token.line} "{c.token.file}"\nusing __am_type_{i} = decltype({c.call}); '
            f"static_assert(::__am::library::returns_void<decltype({c.call})>, "
            '"a kernel returns void");\n',
        )
        for i, c in enumerate(kernels)
    )
    rows = "".join(
        f"::__am::library::properties<{c.scope}::__am_type_{i}>::rows,\n"
        for i, c in enumerate(kernels)
    )
    return (
        f'{types}#line 1 "{_TABLE}"\n'
        f'extern "C" {{ extern const ::__am::library::row* const {_TABLE}[]; '
        f"const ::__am::library::row* const {_TABLE}[] = {{\n"
        f"{rows}nullptr}}; void {KERNEL_SYMBOL}() {{}} }}\n"
    )


def _properties(ir: str) -> Iterator[list[list[int]]]:
    """For each kernel the properties of its parameters, out of Clang's output."""
    rows = {}
    for match in _ROW.finditer(ir):
        numbers = [int(number) for number in re.findall(r"\bi32 (-?\d+)", match[2])]
        starts = range(PROPERTIES, len(numbers), PROPERTIES)  # the first row says nothing
        rows[match[1]] = [numbers[start : start + PROPERTIES] for start in starts]
    table = re.search(rf"^@{_TABLE} = [^\n]*", ir, re.M)
    assert table, "Clang's output has no table"
    return (rows[name] for name in re.findall(r"ptr @(\w+)", table[0]))
