"""A kernel as the C++ text that Clang compiles: our umbrella header goes in front of it.

    <header of the user>                                    lines of "<name>: header"
    entry declared; extern "C" __am_kernel calls it         "<name>: wrapper"
    [template <...>] void entry(<parameters>) {             "<name>: signature"
      one variable per attribute that the body names
    <body of the user>                                      lines of "<name>: source"
    }

`#line` gives each part a file name of its own, so a diagnostic names the user's line and column.
`__am_kernel` stands in front of the body because the body may define macros, and nothing that we
write after it should be at their mercy.
"""

from __future__ import annotations

import re

from anymetal.errors import MetalCompileError
from anymetal.frontend.forbidden import WORDS
from anymetal.size_extension import SIZE_CLASS, size_definition
from anymetal.source import KernelSource, LibrarySource, Parameter

KERNEL_SYMBOL = "__am_kernel"

#: The operators of bfloat literals as `_for_clang` writes them. Then: Metal has no double. A use of
#: an unavailable type is one clean error at the user's token, and parsing goes on as for `float`.
_PREAMBLE = f"""\
constexpr bfloat operator""_b(long double value) {{ return static_cast<bfloat>(value); }}
constexpr bfloat operator""_b(unsigned long long value) {{ return static_cast<bfloat>(value); }}
typedef float __am_double __attribute__((unavailable("'double' is not supported in Metal")));
#define double __am_double
#pragma GCC poison {" ".join(WORDS)}
"""
_LITERAL = re.compile(r"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(H|bf|BF)\b")
_CONTRACT = re.compile(r"\bMETAL(?=[ \t]+fp[ \t]+contract\b)")
#: Address spaces behind the parameter list of a member function.
_MEMBER = re.compile(
    r"\)(?:\s*\b(?:const|volatile|device|thread|constant|threadgroup)\b)+(?=\s*(?:[{;=]|->))"
)
_INLINE = "static inline __attribute__((always_inline)) void"


def part_name(source: KernelSource, part: str) -> str:
    """The file name of one part ("header", "source", "signature", "wrapper") in diagnostics."""
    if part == "header" and isinstance(source, LibrarySource):
        return source.file
    return f"{source.name}: {part}"


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
    header, body = _for_clang(source.header), _for_clang(source.body)
    return "".join(
        (
            _PREAMBLE,
            SIZE_CLASS if _size_constants(source) else "",
            _line(source, "header"),
            # Two newlines: a backslash at the end would swallow the first.
            header + "\n\n" if header else "",
            _line(source, "wrapper"),
            _wrapper(source),
            _line(source, "signature"),
            _signature(source),
            _line(source, "source"),
            body,
            "\n\n}\n",
        )
    )


def _library_unit(source: LibrarySource) -> str:
    """A Metal file and what calls one of its kernels; the others leave no code behind."""
    return "".join(
        (
            _PREAMBLE,
            '#include "anymetal/library.h"\n',
            source.before,
            _line(source, "header"),
            _for_clang(source.header),
            "\n\n",
            _line(source, "wrapper"),
            source.after,
        )
    )


def _line(source: KernelSource, part: str) -> str:
    return f'#line 1 "{part_name(source, part)}"\n'


def _for_clang(text: str) -> str:
    """The few words that Clang knows by another name; each has the same length there.

    `#pragma METAL fp contract` is Clang's own pragma; 1.0H is 1.0h, and 1.0bf becomes 1.0_b, since
    suffixes without an underscore are reserved. `threadgroup` behind a parameter list says nothing
    here, and the attribute that stands for it may not stand there.
    """
    text = _CONTRACT.sub("clang", text)
    text = _MEMBER.sub(lambda match: match[0].replace("threadgroup", " " * 11), text)
    return _LITERAL.sub(lambda match: match[1] + ("h" if match[2] == "H" else "_b"), text)


def _template_head(source: KernelSource) -> str:
    return f"template <{source.template_parameters}>\n" if source.template_parameters else ""


def _wrapper(source: KernelSource) -> str:
    types = ", ".join(_type_and_name(p)[0] for p in source.parameters)
    names = ", ".join(_type_and_name(p)[1] for p in source.parameters)
    declarations = ", ".join(map(_declaration, source.parameters))
    # `namespace` ends what a header left open: `struct A {}` without semicolon is an error there.
    return (
        f"namespace {{}}\n{_template_head(source)}{_INLINE} {source.entry}({types});\n"
        f'extern "C" void {KERNEL_SYMBOL}({declarations}) '
        f"{{ {source.entry}{source.template_arguments}({names}); }}\n"
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


def _signature(source: KernelSource) -> str:
    declarations = ",\n".join(f"  {parameter.declaration}" for parameter in source.parameters)
    attributes = "".join(f"  auto {name} = __am_attr_{name}();\n" for name in source.attributes)
    return (
        f"{_template_head(source)}{_INLINE} {source.entry}(\n"
        f"{declarations}) {{\n{attributes}{_size_constants(source)}"
    )


def _size_constants(source: KernelSource) -> str:
    sized = (parameter.name for parameter in source.parameters if parameter.kind == "size")
    return "".join(f"  {size_definition(name)}\n" for name in sized)
