"""A kernel as the C++ text that Clang compiles: our umbrella header goes in front of it.

    <header of the user>                                    lines of "<name>: header"
    entry declared; extern "C" __am_kernel calls it         "<name>: wrapper"
    [template <...>] void entry(<parameters, attributes>) { "<name>: signature"
    <body of the user>                                      lines of "<name>: source"
    }

`#line` gives each part a file name of its own, so a diagnostic names the user's line and column.
`__am_kernel` stands in front of the body because the body may define macros, and nothing that we
write after it should be at their mercy.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from anymetal.errors import MetalCompileError
from anymetal.frontend import literals
from anymetal.frontend.dialect import built_ins, for_clang, header_for_clang
from anymetal.frontend.forbidden import WORDS
from anymetal.size_extension import SIZE_CLASS, size_buffer
from anymetal.source import ATTRIBUTES, INCLUDED, KernelSource, LibrarySource, Parameter

KERNEL_SYMBOL = "__am_kernel"
#: What the functions that return threadgroup memory are called, in front of its number.
THREADGROUP_MEMORY = "__am_threadgroup_"

#: The operators of bfloat literals as dialect.py writes them. Then: Metal has no double. A use of
#: an unavailable type is one clean error at the user's token, and parsing goes on as for `float`.
_PREAMBLE = f"""\
constexpr bfloat operator""_b(long double value) {{ return static_cast<bfloat>(value); }}
constexpr bfloat operator""_b(unsigned long long value) {{ return static_cast<bfloat>(value); }}
typedef float __am_double __attribute__((unavailable("'double' is not supported in Metal")));
#define double __am_double
#pragma GCC poison {" ".join(WORDS)}
"""
#: Warnings that the user turns on are not for what we write. That of variables without a value is
#: asked for at the function's head, which is ours (clang.py needs it).
_UNOBSERVED = """\
#pragma clang diagnostic ignored "-Weverything"
#pragma clang diagnostic warning "-Wuninitialized"
"""
#: Types of textures. Texts of libraries that use one, or a function of fragments, find all that
#: belongs to textures; others have names such as `bias`, `level` and `access` for themselves.
TEXTURE_TYPES = r"(?:texture(?:1d|2d|3d|cube|_buffer)|depth(?:2d|cube))(?:_ms)?(?:_array)?"
_TEXTURES = re.compile(rf"\b(?:{TEXTURE_TYPES}|sampler|discard_fragment|dfd[xy]|fwidth)\b")
_INLINE = "static inline __attribute__((always_inline)) void"


def part_name(source: KernelSource, part: str) -> str:
    """The file name of one part ("header", "source", "signature", "wrapper") in diagnostics."""
    if isinstance(source, LibrarySource):
        if part == "header":
            return source.file
        if part.startswith(INCLUDED):
            return part.removeprefix(INCLUDED)
    return f"{source.name}: {part}"


@functools.lru_cache(maxsize=4)
def as_compiled(source: KernelSource, part: str) -> str:
    """One of the texts that the user wrote, as Clang reads it."""
    text = source.parts.get(part, "")
    if isinstance(source, LibrarySource):
        return text
    return header_for_clang(text) if part == "header" else for_clang(text)


def translation_unit(source: KernelSource) -> str:
    """The whole text for Clang.

    Raises MetalCompileError for a kernel name that is no identifier: MLX accepts it, the Metal
    compiler does not, and nothing in the user's text could be pointed at.
    """
    if isinstance(source, LibrarySource):
        return _library_unit(source)
    if not source.entry.isidentifier():
        raise MetalCompileError(
            source.name,
            f"kernel name {source.name!r} is not an identifier: MLX makes the function name "
            f"{source.entry!r} of it. Use only letters, digits and underscores.",
        )
    header, body = as_compiled(source, "header"), as_compiled(source, "source")
    prologue = for_clang(source.prologue)
    return "".join(
        (
            _PREAMBLE,
            literals.definitions((header, prologue, body)),
            built_ins((header,)),
            SIZE_CLASS if any(p.kind == "size" for p in source.parameters) else "",
            _line(source, "header"),
            # Two newlines: a backslash at the end would swallow the first.
            header + "\n\n" if header else "",
            "#pragma clang diagnostic push\n",
            _UNOBSERVED,
            _line(source, "wrapper"),
            _wrapper(source),
            _line(source, "signature"),
            _signature(source),
            "#pragma clang diagnostic pop\n",
            prologue,
            _line(source, "source"),
            body,
            "\n\n}\n",
        )
    )


def _library_unit(source: LibrarySource) -> str:
    """A Metal file and what calls one of its kernels; the others leave no code behind."""
    textures = any(_TEXTURES.search(text) for text in source.parts.values())
    return "".join(
        (
            _PREAMBLE,
            '#include "anymetal/library.h"\n',
            '#include "anymetal/texture.h"\n' if textures else "",
            literals.definitions((source.before, *source.parts.values())),
            built_ins(source.parts.values()),
            source.before,
            _line(source, "header"),
            source.header,
            "\n\n",
            _UNOBSERVED,
            _line(source, "wrapper"),
            source.after,
        )
    )


def _line(source: KernelSource, part: str) -> str:
    return f'#line 1 "{part_name(source, part)}"\n'


def _template_head(source: KernelSource) -> str:
    return f"template <{source.template_parameters}>\n" if source.template_parameters else ""


def _wrapper(source: KernelSource) -> str:
    declarations = ", ".join(map(_declaration, source.parameters))
    types = ", ".join(type_ for type_, _, _ in _entry_parameters(source))
    values = ", ".join(value for _, _, value in _entry_parameters(source))
    # `namespace` ends what a header left open: `struct A {}` without semicolon is an error there.
    return (
        "namespace {}\n"
        f"{_template_head(source)}{_INLINE} {source.entry}({types});\n"
        f'extern "C" void {KERNEL_SYMBOL}({declarations}) '
        f"{{ {source.entry}{source.template_arguments}({values}); }}\n"
    )


def _declaration(parameter: Parameter) -> str:
    """The parameter of the wrapper, which tells LLVM that nobody writes to what we read.

    MLX never lets an output share memory with an input. An output must do without `__restrict`:
    LLVM would conclude that no barrier lets other threads write to it.
    """
    type_, name = _type_and_name(parameter)
    return f"{type_} {name}" if parameter.kind == "output" else f"{type_} __restrict {name}"


def _type_and_name(parameter: Parameter) -> tuple[str, str]:
    """`const device float*` and `inp` out of `const device float* inp`."""
    type_, name = parameter.declaration.rsplit(" ", 1)
    return type_, name


def _entry_parameters(source: KernelSource) -> Iterator[tuple[str, str, str]]:
    """Type, name and value of what the function around the body takes.

    Attributes are parameters as in Metal, so the body begins where its braces open, which some
    pragmas insist on.
    """
    for parameter in source.parameters:
        type_, name = _type_and_name(parameter)
        yield type_, name, name
    for parameter in source.parameters:
        if parameter.kind == "size":
            variable = parameter.name
            yield "const __am_size_of", variable, f"__am_size_of{{*{size_buffer(variable)}}}"
    for name in source.attributes:
        yield ATTRIBUTES[name], name, f"__am_attr_{name}()"


def _signature(source: KernelSource) -> str:
    declarations = ",\n".join(f"  {type_} {name}" for type_, name, _ in _entry_parameters(source))
    return f"{_template_head(source)}{_INLINE} {source.entry}(\n{declarations}) {{\n"
