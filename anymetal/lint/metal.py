"""Kernels of a Metal file, with the signatures that they bring."""

from __future__ import annotations

from pathlib import Path

from anymetal.errors import AnyMetalError, MetalCompileError
from anymetal.findings.model import Place
from anymetal.lint.guess import Made, errors_in, made_of
from anymetal.lint.kernels import Kernel, Unchecked
from anymetal.lint.text import File, Text


def kernels(
    file: File,
) -> tuple[list[tuple[Kernel, Made | MetalCompileError]], list[Unchecked]]:
    """Each kernel as Clang compiled it, or the error of the compiler; and what could not be
    looked at."""
    from anymetal.library import metal_library  # and with it all that runs kernels

    whole, none = Text.whole(file), Text("", ())
    found: list[tuple[Kernel, Made | MetalCompileError]] = []
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
            found.append((kernel, made_of(library[kernel_name].source())))
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
