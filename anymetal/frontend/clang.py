"""From a kernel to raw LLVM IR: one run of Clang's own driver (`zig clang -cc1`), no link, no file.

Our headers are parsed once per version and kept as a precompiled header (PCH) in the cache. Clang
refuses a PCH whose language options differ from those of the run, so each math mode has its own.
"""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from anymetal.errors import MetalCompileError, ToolchainError
from anymetal.frontend import bfloat_conversions, complaints, constants, toolchain
from anymetal.frontend.complaints import Complaint
from anymetal.frontend.contraction import contracted
from anymetal.frontend.forbidden import (
    Finding,
    find_expanded,
    find_forbidden,
    find_misplaced,
    may_hide,
)
from anymetal.frontend.profile import ANY_PROFILE, Profile
from anymetal.frontend.tree import Tree
from anymetal.frontend.unit import translation_unit
from anymetal.frontend.visible import file_system
from anymetal.runtime import locks, zig
from anymetal.runtime.disk_cache import digest
from anymetal.runtime.identity import files_in, tools
from anymetal.source import KernelSource, LibrarySource, MathMode, Prelude

INCLUDE = Path(__file__).parent / "include"
#: What a kernel's text finds without including it.
UMBRELLAS: dict[Prelude, Path] = {
    "metal": INCLUDE / "anymetal" / "metal.h",
    "mlx": INCLUDE / "anymetal" / "umbrella.h",
}

_FLAGS = (
    "-O2 -disable-llvm-passes "  # optimisable IR, but nothing optimised yet: optimise.py does that
    "-x c++ -std=c++17 -fdeclspec -fno-rtti -nostdsysteminc "
    # Metal: literals without a suffix are float, half and bfloat round after each operation.
    "-cl-single-precision-constant "
    "-ffloat16-excess-precision=none -fbfloat16-excess-precision=none "
    # What C++ calls undefined and kernels do all the same: integer overflow, endless loops,
    # buffers read under another type, a function that ends without `return`.
    "-fwrapv -fno-finite-loops -relaxed-aliasing -fno-strict-return "
    # An access to null must not be dropped: it has to be reported.
    "-fno-delete-null-pointer-checks "
    # Numbers that are too large for the integer type that they become.
    "-fno-strict-float-cast-overflow "
    # Math modes of single blocks, also for processors for which Clang would not look at them.
    "-fexperimental-strict-floating-point "
    "-fno-threadsafe-statics "
    # Every line of IR knows its line of source: errors, sanitizer and `explain` need it.
    "-debug-info-kind=line-tables-only -dwarf-version=5 -fdebug-compilation-dir=. "
    # A template error is reported at the user's frame, so no frame may be left out.
    "-ferror-limit 20 -ftemplate-backtrace-limit=0 -fno-diagnostics-fixit-info -fno-elide-type "
    # Of all warnings, those that are errors unless they are turned off, in Metal, too.
    "-Wno-everything -Werror=vla-extension -Werror=return-mismatch -Werror=c++11-narrowing "
    "-Werror=address-of-temporary -Werror=invalid-token-paste -Wuninitialized"
).split()
_FLAGS += constants.WARNINGS + complaints.WARNINGS

#: For texts that read variables without a value. Any number would do, but LLVM would drop whatever
#: depends on one, even a whole kernel.
_SET_VARIABLES = "-ftrivial-auto-var-init=zero"
_UNSET_VARIABLE = "[-Wuninitialized]"

#: How Clang ends if the text is nested more deeply than its stack allows.
_OUT_OF_STACK = (-signal.SIGSEGV, -signal.SIGBUS)
_SIGNATURE = '!{!"clang version '
_HEADER_FLAGS = "-x c++-header -fno-pch-timestamp -fpch-instantiate-templates".split()
_REASSOCIATE = ["-mreassociate", "-freciprocal-math", "-fno-signed-zeros", "-ffp-contract=fast"]

#: "fast" keeps infinities and NaNs although Metal allows to drop them: kernels start a maximum with
#: -INFINITY, and under `ninf` LLVM replaces whatever is computed from that constant by poison.
_MATH_FLAGS: dict[MathMode, list[str]] = {
    "safe": ["-ffp-contract=on"],
    "relaxed": _REASSOCIATE,
    "fast": [*_REASSOCIATE, "-D__FAST_MATH__=1"],
}


def compile_to_ir(
    source: KernelSource, profile: Profile = ANY_PROFILE, heard: list[Complaint] | None = None
) -> str:
    """Unoptimised LLVM IR text of the kernel; its function is `__am_kernel`. What Clang complains
    of is added to `heard`.

    Raises MetalCompileError if Clang refuses the user's text, ToolchainError if Clang itself does
    not work.
    """
    if isinstance(source, LibrarySource):  # its text was looked at when the library was read
        return finished(*compiled(source, profile, heard=heard), profile)
    return _prepared(*checked(source, profile, heard))


def finished(
    source: KernelSource, ir: str, profile: Profile, change: Callable[[str], str] | None = None
) -> str:
    """What `compile_to_ir` returns, or raises, for what Clang made of a text without objections.
    `change` is something else that happens to it in between."""
    ir = _checked(source, ir, profile)
    return _prepared(source, change(ir) if change else ir)


def checked(
    source: KernelSource, profile: Profile = ANY_PROFILE, heard: list[Complaint] | None = None
) -> tuple[KernelSource, str]:
    """A kernel whose text nobody has looked at, as Clang could compile it, and its raw IR.

    Raises as `compile_to_ir` does.
    """
    _refuse(source, find_forbidden(source))
    try:
        edited, ir = compiled(constants.in_functions(source), profile, heard=heard)
        ir = _checked(edited, ir, profile)
        _refuse(source, find_misplaced(source))
    except MetalCompileError:
        _refuse(source, _find_hidden(source))  # which says more than what follows from it
        raise
    _refuse(source, _find_hidden(source))
    return edited, ir


def _checked(source: KernelSource, ir: str, profile: Profile) -> str:
    # Imported while Clang runs, by who asked for it.
    from anymetal.frontend import convergence, restrictions, tail_calls

    toolchain.check_versions(_version_in(ir))
    if in_order := convergence.with_lines_in_order(source, ir):
        _, ir = compiled(in_order, profile)
    ir = tail_calls.with_loops(ir, profile)
    restrictions.check(source, ir)
    return ir


def _prepared(source: KernelSource, ir: str) -> str:
    from anymetal.frontend import restrictions

    return contracted(source, restrictions.untangled(source, ir))


def _refuse(source: KernelSource, findings: list[Finding]) -> None:
    if findings:
        from anymetal.frontend.diagnostics import error_at

        raise error_at(source, findings)


def syntax_tree(source: KernelSource) -> tuple[KernelSource, str]:
    """Clang's syntax tree as JSON, and the kernel as it could be compiled, of which it is.

    Raises as `compile_to_ir` does.
    """
    edited, _ = compiled(constants.in_functions(source), ANY_PROFILE)
    return edited, _tree(edited, ANY_PROFILE)


def _tree(source: KernelSource, profile: Profile) -> str:
    tree, error, _ = _output(source, profile, translation_unit(source), "-ast-dump=json")
    if error:
        raise error
    return tree


def preprocess(source: KernelSource, text: str) -> str:
    """A text with its macros expanded; `source` says to whom errors in it belong.

    Raises as `compile_to_ir` does.
    """
    output, error, _ = _output(source, ANY_PROFILE, text, "-E")
    if error:
        raise error
    return output


def _find_hidden(source: KernelSource) -> list[Finding]:
    """What is forbidden in the text with its macros expanded, if they may hide something."""
    if not may_hide(source):
        return []
    from anymetal.frontend.expanded import in_parts, marked

    try:
        expanded = preprocess(source, marked(source))
    except MetalCompileError:  # compiling reports it, with all other errors
        return []
    found = (find_expanded(*part) for part in in_parts(expanded, source).items())
    return [finding for findings in found for finding in findings]


def compiled(
    source: KernelSource, profile: Profile, *options: str, heard: list[Complaint] | None = None
) -> tuple[KernelSource, str]:
    """The kernel as Clang could compile it, and the IR of that. Raises as `compile_to_ir` does."""
    text = translation_unit(source)
    ir, error, messages = _output(source, profile, text, *options, "-emit-llvm")
    if heard is not None and not error and "warning: " in messages:
        from anymetal.frontend.warned import complaints_in  # with tables that take time to load

        # (Of each run: edits for the sake of constants silence some.)
        heard += [one for one in complaints_in(source, messages) if one not in heard]
    edited = constants.defined(source, messages, ir)
    if error and not edited:
        # These modules have tables that take time to load, and are needed for errors only.
        from anymetal.frontend.overloads import without_redundant_overloads
        from anymetal.frontend.repairs import repaired

        edited = without_redundant_overloads(source, messages) or repaired(source, messages)
    if edited:
        return compiled(edited, profile, *options, heard=heard)
    if error:
        raise error
    if _UNSET_VARIABLE in messages and _SET_VARIABLES not in options:
        return compiled(source, profile, *options, _SET_VARIABLES, heard=heard)
    if heard is not None and bfloat_conversions.are_possible(source):
        heard += bfloat_conversions.complaints_in(Tree(source, _tree(source, profile)))
    return source, ir


def _output(
    source: KernelSource, profile: Profile, text: str, *action: str
) -> tuple[str, MetalCompileError | None, str]:
    """What Clang makes of a text, or the error in the user's part of it; and all that it says."""
    header = precompiled_header(source.math_mode, profile, source.prelude)
    compiled = zig.path_of(header)
    with zig.Files() as files:
        arguments = [
            *file_system(source, text, INCLUDE, compiled, files),
            *flags(source.math_mode, profile),
            *("-include-pch", compiled, *action, "-o", "-", "-"),
        ]
        status, output, messages = _run(arguments, text, (header, *files.descriptors))
    if status == 0:
        return output.decode(), None, messages
    from anymetal.frontend.diagnostics import compile_error, too_deep

    if status in _OUT_OF_STACK and (error := too_deep(source)):
        return "", error, messages
    if error := compile_error(source, messages):
        return "", error, messages
    raise ToolchainError(
        f"Clang failed on kernel {source.name!r} with status {status}:\n{zig.beginning(messages)}"
    )


def flags(math_mode: MathMode, profile: Profile = ANY_PROFILE) -> list[str]:
    """Arguments of `clang -cc1` that decide the meaning of the text."""
    return [
        *profile.flags,
        *_FLAGS,
        *_MATH_FLAGS[math_mode],
        "-I",
        str(INCLUDE),
    ]


@functools.cache
def precompiled_header(
    math_mode: MathMode, profile: Profile = ANY_PROFILE, prelude: Prelude = "mlx"
) -> int:
    """The PCH of an umbrella header for one math mode, made if the cache has none.

    A file in memory, by its descriptor: whatever happens to the cache, Clang can read it.
    """
    options = [*flags(math_mode, profile), *_HEADER_FLAGS]
    key = digest(tools(), *options, prelude, files_in(str(INCLUDE)))
    name = f"Metal's headers{' alone' if prelude == 'metal' else ''}, {math_mode} maths"
    made = locks.cached(key, ".pch", name, lambda: _precompiled(options, UMBRELLAS[prelude]))
    return zig.in_memory(made.content)


def _precompiled(options: list[str], umbrella: Path) -> bytes:
    status, output, messages = _run([*options, "-emit-pch", "-o", "-", str(umbrella)])
    if status != 0:
        raise ToolchainError(
            f"AnyMetal's headers in {INCLUDE} do not compile (status {status}):\n"
            f"{zig.beginning(messages)}"
        )
    return output


def _run(arguments: list[str], text: str = "", files: Sequence[int] = ()) -> tuple[int, bytes, str]:
    """Exit status, output and messages of `clang -cc1`, which reads `text` from its input."""
    # `#include "..."` finds our headers, never what lies about.
    return zig.run("clang", "-cc1", *arguments, text=text, folder=INCLUDE, files=files)


def _version_in(ir: str) -> str:
    """Clang signs its output; reading that is cheaper than asking it for its version."""
    start = ir.rindex(_SIGNATURE) + len(_SIGNATURE)
    return ir[start : start + 16].split(" ")[0]
