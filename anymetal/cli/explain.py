"""`anymetal explain FILE`: what becomes of the kernels of a program, line by line."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from anymetal.cli.explain_page import write_page
from anymetal.cli.explain_text import show, show_times
from anymetal.cli.run import output_on_stderr, program_words, run_to_end
from anymetal.errors import AnyMetalError
from anymetal.explain.kernels import Explanation, explain
from anymetal.library import metal_library
from anymetal.source import KernelSource
from anymetal.targets.cpu.code_lookup import follow
from anymetal.targets.cpu.variant import Extent, Variant, variant_for

Kernels = Collection[tuple[KernelSource, Variant]]


class Options(NamedTuple):
    """What the command was called with, beside the program."""

    kernel: str | None  #: only those of this name
    threadgroup: Extent  #: of kernels of Metal files
    pretend_gpu: bool
    times: bool
    as_json: bool
    html: Path | None  #: a page to write


def explain_program(
    script: str | None, module: str | None, arguments: list[str], options: Options
) -> int:
    """Explain the kernels of a Python program, a one-kernel case or a Metal file."""
    console = Console(highlight=False, stderr=options.as_json)
    with output_on_stderr() if options.as_json else contextlib.nullcontext():
        status, kernels = _kernels(script, module, arguments, options, console)
    wanted = [pair for pair in kernels if options.kernel in (None, pair[0].name)]
    if not wanted:
        names = ", ".join(dict.fromkeys(source.name for source, _ in kernels))
        what = script or module
        console.print(f"nothing to explain; kernels of {what}: {names or 'none'}", markup=False)
        return status or 1
    explained = []
    for source, variant in wanted:
        try:
            explanation = explain(source, variant)
        except AnyMetalError as error:
            console.print(f"kernel {source.name}: {error}", style="red", markup=False)
            status = 1
            continue
        explained.append(explanation)
        if not options.as_json:
            show(console, explanation)
            if options.times:
                show_times(console, explanation.times)
    return _written(explained, options) or status


def _written(explained: list[Explanation], options: Options) -> int:
    """JSON and the page; 1 if that cannot be written."""
    if options.as_json:
        print(json.dumps({"kernels": [one.to_dict() for one in explained]}, indent=2))
    if options.html:
        try:
            write_page(options.html, explained)
        except OSError as error:
            print(f"anymetal explain: cannot write the page: {error}", file=sys.stderr)
            return 1
    return 0


# -- which kernels ------------------------------------------------------------------------


def _kernels(
    script: str | None, module: str | None, arguments: list[str], options: Options, console: Console
) -> tuple[int, Kernels]:
    """The status of the program, and its kernels."""
    path = Path(script or "")
    if module or path.suffix != ".metal":
        kernels = follow()
        words = program_words(script, module, arguments, options.pretend_gpu)
        return run_to_end(words), kernels
    if _is_case(path):
        return 0, _of_case(path)
    return 0, list(_of_library(path, options.threadgroup, console))


def _is_case(path: Path) -> bool:
    return "// output:" in path.read_text()


def _of_case(path: Path) -> Kernels:
    from anymetal.testing import metal_case

    case, kernels = metal_case.parse(path), follow()
    for dtype in case.dtypes:
        try:
            metal_case.run(case, dtype)
        except AssertionError as error:  # what it compiled can be explained all the same
            print(error, file=sys.stderr)
    return kernels


def _of_library(
    path: Path, threadgroup: Extent, console: Console
) -> Iterator[tuple[KernelSource, Variant]]:
    """Kernels of a Metal file, as for a grid of whole threadgroups."""
    library = metal_library(path)
    for name in library.kernel_names:
        try:
            source = library[name].source()
        except (AnyMetalError, ValueError) as error:
            console.print(f"kernel {name} is left out: {error}", markup=False)
            continue
        grid = (16 * threadgroup[0], 16 * threadgroup[1], threadgroup[2])
        yield source, variant_for(grid, threadgroup)
