"""`anymetal init`: what editors need to complete and check Metal texts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from anymetal.cli.run import run_to_end
from anymetal.frontend.clang import INCLUDE
from anymetal.source import KernelSource, LibrarySource

#: Flags of clang's driver for Metal texts; as for kernels that run (frontend/clang.py), as far as
#: they decide what is an error.
FLAGS = (
    "-xc++",
    "-std=c++17",
    "--target=x86_64-unknown-linux-gnu",  # of any processor: nothing is run
    "-nostdinc",
    "-nostdinc++",
    "-fdeclspec",
    "-fms-extensions",  # for the keyword that stands for `threadgroup` (editor.h)
    "-fno-rtti",
    "-fwrapv",
    "-Xclang",
    "-cl-single-precision-constant",
    "-isystem",
    str(INCLUDE),
    "-include",
    "anymetal/editor.h",
    "-Wall",
    "-Wno-unknown-attributes",  # [[buffer(0)]] and the like
    "-Wno-ignored-attributes",
    "-Wno-duplicate-decl-specifier",  # const constant int*
    "-Wno-unused-variable",
    "-Wno-unused-function",
    "-Wno-c++20-extensions",
)
_CLANGD = """\
# Metal texts in editors that use clangd. Written by `anymetal init`, for this machine.
If:
  PathMatch: .*\\.metal
CompileFlags:
  Add: [{flags}]
Diagnostics:
  UnusedIncludes: None
  # constant int n [[function_constant(0)]]; template [[host_name("f")]] kernel …
  Suppress: [default_init_const, attributes_not_allowed]
"""
_BODY = """\
#ifdef METAL_BODY  // for editors only
{includes}{template}METAL_BODY({parameters}) {{
#endif
{body}
#ifdef METAL_BODY
}}
#endif
"""


def init(folder: Path, force: bool, program: list[str] | None) -> int:
    """Write `.clangd` and `compile_flags.txt` into a folder, and the bodies of a program's kernels.

    Files that are there stay as they are, and make the status 1, unless `force` is given.
    """
    status = 0
    texts: dict[str, str] = {}
    if program is not None:
        status, sources = _kernels(program)
        texts = {name: text for source in sources for name, text in files_of(source).items()}
    flags = ", ".join(f"'{flag}'" for flag in FLAGS)
    texts = {
        ".clangd": _CLANGD.format(flags=flags),
        "compile_flags.txt": "\n".join(FLAGS) + "\n",
        **texts,
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            status = _write(folder / name, text, force) or status
    except OSError as error:
        print(f"anymetal init: {error}", file=sys.stderr)
        return 1
    return status


def files_of(source: KernelSource) -> dict[str, str]:
    """The text of a kernel as files that editors understand; the body remains one that
    `metal_kernel` takes. Texts of Metal files are files already."""
    if isinstance(source, LibrarySource):
        return {}
    found = {}
    includes = ""
    if source.header.strip():
        found[f"{source.name}.header.metal"] = source.header.strip("\n") + "\n"
        includes = f'#include "{source.name}.header.metal"\n'
    declared = [
        f"uint {one.name}" if one.kind == "size" else one.declaration for one in source.parameters
    ]
    found[f"{source.name}.metal"] = _BODY.format(
        includes=includes,
        template="".join(_template_values(source)),
        parameters=",\n           ".join(declared),
        body=source.body.strip("\n"),
    )
    return found


def _template_values(source: KernelSource) -> Iterator[str]:
    """Template parameters as what they were when the program ran: editors know more of `float` than
    of any type."""
    names = filter(None, source.template_parameters.split(", "))
    for name, value in zip(names, source.template_arguments.strip("<>").split(", "), strict=False):
        kind, _, parameter = name.rpartition(" ")
        is_type = kind == "typename"
        yield f"using {parameter} = {value};\n" if is_type else f"constexpr {name} = {value};\n"


def _kernels(program: list[str]) -> tuple[int, list[KernelSource]]:
    """The status of a program, and the kernels that it has used, one of each name."""
    from anymetal.targets.cpu.code_lookup import follow

    followed = follow()
    status = run_to_end(program)
    return status, list({source.name: source for source, _ in followed}.values())


def _write(path: Path, text: str, force: bool) -> int:
    if path.exists() and not force and path.read_text() != text:
        print(f"anymetal init: {path} is there already; --force replaces it", file=sys.stderr)
        return 1
    path.write_text(text)
    print(f"wrote {path}")
    return 0
