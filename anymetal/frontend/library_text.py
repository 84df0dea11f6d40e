"""Metal files: which kernels a file has, and the `KernelSource` of each.

Clang answers what can be asked in C++. Types, also those that template arguments decide, come from
one compilation of a table of numbers (`AM_PARAMETER` in include/anymetal/library.h), which also
finds the syntax errors of the whole file. Its answers stay in the disk cache.

What is no C++ is overwritten before compiling, character by character: explicit instantiations with
attributes (we make our own); the attribute of function constants, which becomes their initialiser;
the word `threadgroup` inside of `[[…]]`, as it is a macro of ours; and the word `kernel`, so that
kernels without calls leave no code behind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from anymetal.errors import MetalCompileError
from anymetal.frontend import scan
from anymetal.frontend.dialect import with_constants
from anymetal.frontend.expanded import KEEP_KEYWORDS, SourceFile, Token, tokens_of
from anymetal.frontend.forbidden import find_unspeakable
from anymetal.frontend.parameters import (
    PROPERTIES,
    LibraryKernel,
    LibraryParameter,
    typed,
    untyped,
)
from anymetal.frontend.unit import KERNEL_SYMBOL
from anymetal.runtime import disk_cache, identity
from anymetal.source import LibrarySource, MathMode, Parameter

Number = bool | int | float
#: Values of function constants by index, each with as many numbers as the constant has components.
Constants = tuple[tuple[int, tuple[Number, ...]], ...]

_TABLE = "__am_table"
#: The first number of the table, so that LLVM never prints it as zeros only.
_MARK = 77
_TEXTUAL = r'"(?:\\.|[^"\\\n])*"|//(?:\\\n|[^\n])*|/\*.*?\*/'  # strings and comments
_INSTANTIATION = re.compile(rf"{_TEXTUAL}|(?P<found>\btemplate\b(?=(?:\s|\\\n)*\[\[))", re.S)
_SEMICOLON = re.compile(rf"{_TEXTUAL}|(?P<found>;)", re.S)
_END_OF_MACRO = re.compile(r"(?<!\\)\n|\Z")
_ATTRIBUTES = re.compile(rf'{_TEXTUAL}|(?P<found>\[\[(?:"(?:\\.|[^"\\\n])*"|[^\[\]"])*\]\])', re.S)
_THREADGROUP = re.compile(r"\bthreadgroup(?=\s*\()")
_KERNEL = re.compile(rf"{_TEXTUAL}|\b(?P<found>kernel)\b", re.S)
_ASKED = re.compile(r"\bis_function_constant_defined\s*\(\s*(?:\w+\s*::\s*)*(\w+)")


@dataclass(frozen=True)
class Library:
    """A Metal file whose kernels are known."""

    file: str
    text: str  #: as it is compiled
    math_mode: MathMode
    kernels: dict[str, LibraryKernel]
    constants: dict[str, int]  #: function constants and their indices
    asked: frozenset[str]  #: constants whose absence the file asks about

    def source(
        self, kernel: LibraryKernel, constants: Constants, threadgroup: Mapping[int, int]
    ) -> LibrarySource:
        """One kernel, with values for the function constants and bytes of threadgroup memory."""
        return LibrarySource(
            name=kernel.name,
            entry=kernel.name,
            header=self.text,
            body="",
            parameters=tuple(
                Parameter(p.name, "input" if p.constant else "output", i, p.declaration)
                for i, p in enumerate(kernel.bound("buffer"))
            ),
            attributes=tuple(sorted({p.attribute for p in kernel.bound("attribute")})),
            template_parameters="",
            template_arguments="",
            math_mode=self.math_mode,
            file=self.file,
            before=_constants(self.constants, constants),
            after=_caller(kernel, threadgroup),
        )


class _Callable(NamedTuple):
    """A kernel, or an instantiation of a template of kernels."""

    name: str
    token: Token
    scope: str
    call: str
    function: scan.Function
    words: tuple[str, ...]  #: the names that it starts from


def read_library(text: str, file: str, math_mode: MathMode) -> Library:
    """Find the kernels of a Metal text.

    Raises MetalCompileError for syntax errors and parameters that are none of a kernel,
    UnsupportedFeatureError for textures and the like.
    """
    headers = identity.included(text)
    key = disk_cache.digest("library", identity.fingerprint(), headers, file, math_mode, text)
    stored = disk_cache.get(key, ".json")
    if stored is not None:
        found = json.loads(stored.content)
    else:
        from anymetal.runtime import helpers

        found = helpers.compile(file, f"{__name__}:read_contents", text, file, math_mode)
        disk_cache.put(key, ".json", json.dumps(found).encode(), f"contents of {file}")
    kernels = {
        k["name"]: LibraryKernel(
            k["name"],
            k["scope"],
            k["call"],
            tuple(LibraryParameter(**p) for p in k["parameters"]),
            tuple(k["constants"]),
        )
        for k in found["kernels"]
    }
    constants: dict[str, int] = found["constants"]
    asked = frozenset(_ASKED.findall(text))
    return Library(file, _as_cpp(text), math_mode, kernels, constants, asked)


def read_contents(note: object, text: str, file: str, math_mode: MathMode) -> dict[str, object]:
    """Kernels and constants of a file, as plain values (what a helper is asked for)."""
    from anymetal.frontend import clang  # not needed if the answer is in the cache

    user = SourceFile(file, text)
    _refuse_unspeakable(text, user)
    whole = _whole(text, file, math_mode, before="", after="")
    preprocessed = clang.preprocess(whole, f'{KEEP_KEYWORDS}#line 1 "{file}"\n{text}\n')
    found = scan.scan(list(tokens_of(preprocessed, file)), user)

    callable_ = [
        _Callable(f.host_name, f.name, f.scope, f.name.text, f, (f.name.text,))
        for f in found.functions.values()
        if not f.template
    ]
    callable_ += [
        _Callable(i.host_name, i.name, i.scope, i.call, i.function, i.words)
        for i in found.instantiations
    ]
    for c in callable_:
        if [other.name for other in callable_].count(c.name) > 1:
            user.fail(c.token, f"several kernels have the name '{c.name}'")
    parameters = {path: untyped(f, user) for path, f in found.functions.items()}
    constants = {constant.name: constant.index for constant in found.constants}
    before = _constants(constants, ())
    ir = clang.compile_to_ir(_whole(_as_cpp(text), file, math_mode, before, _table(callable_)))
    if not callable_:
        raise MetalCompileError(
            file,
            f"{file}: error: no kernel found. Kernels are marked `kernel` or `[[kernel]]`; a "
            'template needs an instantiation such as\ntemplate [[host_name("f_float")]] [[kernel]] '
            "decltype(f<float>) f<float>;",
        )
    numbers = _numbers_of(ir)
    kernels = []
    for c in callable_:
        own = [[next(numbers) for _ in range(PROPERTIES)] for _ in c.function.parameters]
        types = typed(c.function, parameters[c.function.path], own, user)
        reached = found.reach.of(c.words)
        used = tuple(name for name in constants if name in reached)
        kernels.append(asdict(LibraryKernel(c.name, c.scope, c.call, types, used)))
    return {"kernels": kernels, "constants": constants}


def _refuse_unspeakable(text: str, user: SourceFile) -> None:
    whole = _whole(text, user.name, "safe", before="", after="")
    if findings := find_unspeakable("header", text):
        from anymetal.frontend.diagnostics import error_at

        raise error_at(whole, findings)


def _table(kernels: Sequence[_Callable]) -> str:
    """The properties of all parameters, one kernel after the other."""
    types = "".join(
        _inside(
            c.scope,
            f'\n#line {c.token.line} "{c.token.file}"\nusing __am_type_{i} = decltype({c.call}); '
            f"static_assert(::__am::library::returns_void<decltype({c.call})>, "
            '"a kernel returns void");\n',
        )
        for i, c in enumerate(kernels)
    )
    rows = "".join(
        f"AM_PARAMETER({place}, {c.scope}::__am_type_{i}),\n"
        for i, c in enumerate(kernels)
        for place in range(len(c.function.parameters))
    )
    return (
        f'{types}#line 1 "{_TABLE}"\n'
        f'extern "C" {{ extern const int {_TABLE}[]; const int {_TABLE}[] = {{ {_MARK},\n'
        f"{rows}}}; void {KERNEL_SYMBOL}() {{}} }}\n"
    )


def _inside(scope: str, text: str) -> str:
    return f"namespace {scope} {{ {text}}}\n" if scope else text


def _whole(text: str, file: str, math_mode: MathMode, before: str, after: str) -> LibrarySource:
    """A file as a source, for questions about it and not about one of its kernels."""
    return LibrarySource(
        file, file, text, "", (), (), "", "", math_mode, file=file, before=before, after=after
    )


def _numbers_of(ir: str) -> Iterator[int]:
    found = re.search(rf"^@{_TABLE} = .*?\[\d+ x i32\] \[(.*?)\]", ir, re.M)
    assert found, "Clang's output has no table"
    numbers = [int(number.split()[1]) for number in found[1].split(", ")]
    assert numbers[0] == _MARK
    return iter(numbers[1:])


def _as_cpp(text: str) -> str:
    """The text without what only Metal has; nothing moves."""
    for start in reversed([m.start() for m in _INSTANTIATION.finditer(text) if m["found"]]):
        end = _end_of_instantiation(text, start)
        blank = re.sub(r"(?!\\\n)[^\n]", " ", text[start:end])
        text = text[:start] + blank + text[end:]
    text = _ATTRIBUTES.sub(
        lambda m: _renamed(_THREADGROUP.sub("threadspace", m[0]), "__am_k") if m["found"] else m[0],
        text,
    )
    return with_constants(_renamed(text, "__am_K"))


def _renamed(text: str, kernel: str) -> str:
    """The text with another word for `kernel` (see include/anymetal/library.h)."""
    return _KERNEL.sub(lambda m: kernel if m["found"] else m[0], text)


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


def _constants(known: Mapping[str, int], values: Constants) -> str:
    """The values of function constants, as the initialisers that `_as_cpp` wrote look for them."""
    given = dict(values)
    lines = [
        f"constexpr bool __am_is_defined_{name} = {str(index in given).lower()};\n"
        for name, index in known.items()
    ]
    for index, numbers in values:
        arguments = ", ".join(map(_literal, numbers))
        lines.append(
            f"template <> struct __am_fc<{index}> {{ template <typename T> "
            f"constexpr operator T() const {{ return T({arguments}); }} }};\n"
        )
    return "".join(lines)


def _literal(number: Number) -> str:
    if isinstance(number, bool):
        return str(number).lower()
    if isinstance(number, int):  # C++ has no literal for the lowest number
        return f"{number}ull" if number >= 0 else f"({number + 1}ll - 1)"
    if number != number:
        return '__builtin_nanf("")'
    if number in (float("inf"), float("-inf")):
        return f"{'-' if number < 0 else ''}__builtin_inff()"
    return float(number).hex()


def _caller(kernel: LibraryKernel, threadgroup: Mapping[int, int]) -> str:
    """The function that a launch calls: buffers in the order of their numbers, nothing else."""
    buffers = kernel.bound("buffer")
    # Constant memory is never written, so LLVM need not read it again after each store. Behind
    # `device const T*` may be an array that the kernel writes to through another parameter.
    declarations = ", ".join(
        f"const void* {'__restrict ' if p.unchanging else ''}__am_buffer_{p.number}"
        for p in buffers
    )
    signature = f"::__am::library::signature<decltype({kernel.call})>"
    memory = "".join(
        _threadgroup_memory(f"{signature}::at<{i}>", p, _length(p, threadgroup))
        for i, p in enumerate(kernel.parameters)
        if p.role == "threadgroup"
    )
    arguments = ",\n    ".join(_argument(i, p) for i, p in enumerate(kernel.parameters))
    return _inside(
        kernel.scope,
        f'{memory}extern "C" void {KERNEL_SYMBOL}({declarations}) {{\n'
        f"  using __am_signature = {signature};\n"
        f"  {kernel.call}(\n    {arguments});\n}}\n",
    )


def _threadgroup_memory(type_: str, parameter: LibraryParameter, length: int) -> str:
    """A function that returns an array of so many bytes. Findings tell its name: the parameter's.

    Threadgroup variables become globals (optimise.py), so their address may leave the function."""
    element, name = f"::__am::library::memory<{type_}>", parameter.name or "memory"
    return (
        f"static void* __am_threadgroup_{parameter.number}() {{\n"
        f"  threadgroup {element} {name}[{length} / sizeof({element})] "
        f"__attribute__((aligned(16)));\n  return {name};\n}}\n"
    )


def _length(parameter: LibraryParameter, threadgroup: Mapping[int, int]) -> int:
    """Bytes of threadgroup memory: what the call says, and room for one T."""
    length = max(threadgroup.get(parameter.number, 0), parameter.size, 1)
    return -(-length // 16) * 16  # Metal counts in steps of 16


def _argument(place: int, parameter: LibraryParameter) -> str:
    type_ = f"__am_signature::at<{place}>"
    if parameter.role == "attribute":
        return f"::__am::position<{type_}>(__am_attr_{parameter.attribute}())"
    memory = f"__am_{parameter.role}_{parameter.number}"
    call = "()" if parameter.role == "threadgroup" else ""
    return f"::__am::library::argument<{type_}>::at({memory}{call})"
