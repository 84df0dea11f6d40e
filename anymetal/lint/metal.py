"""Kernels of a Metal file, with the signatures that they bring."""

from __future__ import annotations

from pathlib import Path

from anymetal.errors import AnyMetalError, MetalCompileError
from anymetal.findings.model import Place
from anymetal.frontend.clang import compile_to_ir
from anymetal.lint.guess import errors_in
from anymetal.lint.kernels import Kernel, Unchecked
from anymetal.lint.text import File, Text
from anymetal.source import KernelSource

Compiled = tuple[KernelSource, str]


def kernels(
    file: File,
) -> tuple[list[tuple[Kernel, Compiled | MetalCompileError]], list[Unchecked]]:
    """Each kernel with its source and raw IR, or the error of the compiler; and what could not be
    looked at."""
    from anymetal.library import metal_library  # and with it all that runs kernels

    whole, none = Text.whole(file), Text("", ())
    found: list[tuple[Kernel, Compiled | MetalCompileError]] = []
    unchecked: list[Unchecked] = []
    name = Path(file.name).name
    try:
        library = metal_library(file.text, name=name)
    except MetalCompileError as error:
        return [(Kernel(name, file, none, whole), error)], []
    except AnyMetalError as error:
        return [], [_unchecked(file, name, error, failed=True)]
    if not library.kernel_names:
        reason = "there is no kernel function in it"
        return [], [Unchecked(Place(file.name, 0), reason)]
    for kernel_name in library.kernel_names:
        kernel = Kernel(kernel_name, file, none, whole)
        try:
            source = library[kernel_name].source()
            found.append((kernel, (source, compile_to_ir(source))))
        except MetalCompileError as error:
            found.append((kernel, error))
        except (AnyMetalError, ValueError) as error:
            unchecked.append(_unchecked(file, kernel_name, error, failed=False))
    return found, unchecked


def errors(error: MetalCompileError) -> list[tuple[str, str]]:
    """Place and text of each error that the compiler found."""
    return errors_in(error)


def _unchecked(file: File, name: str, error: Exception, failed: bool) -> Unchecked:
    reason = str(error).strip().split("\n")[0]
    return Unchecked(Place(file.name, 0), f"kernel {name!r}: {reason}", failed)
