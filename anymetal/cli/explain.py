"""`anymetal explain FILE`: what becomes of the kernels of a program, line by line."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from anymetal import targets
from anymetal.cli.explain_page import write_page
from anymetal.cli.explain_text import show, show_times
from anymetal.cli.run import output_on_stderr, program_words, run_to_end
from anymetal.errors import AnyMetalError
from anymetal.explain import cuda
from anymetal.explain.kernels import Explanation, explain
from anymetal.library import metal_library
from anymetal.source import KernelSource
from anymetal.targets.cpu import CpuTarget, code_lookup, plan
from anymetal.targets.cpu.variant import Extent, Variant, variant_for

#: How a kernel is explained for one class of launches.
Explain = Callable[[], Explanation]


class Options(NamedTuple):
    """What the command was called with, beside the program."""

    kernel: str | None  #: only those of this name
    threadgroup: Extent  #: of kernels of Metal files
    pretend_gpu: bool
    times: bool
    as_json: bool
    html: Path | None  #: a page to write
    architecture: str = ""  #: of an NVIDIA GPU; empty: for the CPU


def explain_program(
    script: str | None, module: str | None, arguments: list[str], options: Options
) -> int:
    """Explain the kernels of a Python program, a one-kernel case or a Metal file."""
    console = Console(highlight=False, stderr=options.as_json)
    with output_on_stderr() if options.as_json else contextlib.nullcontext():
        status, kernels = _kernels(script, module, arguments, options, console)
    wanted = [pair for pair in kernels if options.kernel in (None, pair[0])]
    if not wanted:
        names = ", ".join(dict.fromkeys(name for name, _ in kernels))
        what = script or module
        console.print(f"nothing to explain; kernels of {what}: {names or 'none'}", markup=False)
        return status or 1
    explained = []
    for name, explained_now in wanted:
        try:
            explanation = explained_now()
        except AnyMetalError as error:
            console.print(f"kernel {name}: {error}", style="red", markup=False)
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
) -> tuple[int, list[tuple[str, Explain]]]:
    """The status of the program; its kernels by name, once for each class of launches."""
    path = Path(script or "")
    status = 0
    if not module and path.suffix == ".metal" and not _is_case(path):
        return 0, _explanations(_of_library(path, options.threadgroup, console), options)
    targets.select(CpuTarget())
    launches, variants = plan.follow(), code_lookup.follow()
    if module or path.suffix != ".metal":
        status = run_to_end(program_words(script, module, arguments, options.pretend_gpu))
    else:
        _run_case(path)
    if options.architecture:
        return status, _explanations(launches, options)
    return status, [(source.name, partial(explain, source, one)) for source, one in variants]


def _explanations(
    launches: Iterable[tuple[KernelSource, Extent, Extent, int]], options: Options
) -> list[tuple[str, Explain]]:
    found: dict[tuple[KernelSource, Variant | cuda.Launches], Explain] = {}
    for source, grid, threadgroup, large in launches:
        if options.architecture:
            like = cuda.launches_of(source, grid, threadgroup, large)
            found[source, like] = partial(cuda.explain, source, like, options.architecture)
        else:
            variant = variant_for(grid, threadgroup, large)
            found[source, variant] = partial(explain, source, variant)
    return [(source.name, one) for (source, _), one in found.items()]


def _is_case(path: Path) -> bool:
    return "// output:" in path.read_text()


def _run_case(path: Path) -> None:
    from anymetal.testing import metal_case

    try:
        case = metal_case.parse(path)
    except metal_case.CaseFormatError as error:
        print(error, file=sys.stderr)
        return
    for dtype in case.dtypes:
        try:
            metal_case.run(case, dtype)
        except (AssertionError, metal_case.CaseFormatError) as error:
            print(error, file=sys.stderr)  # what it compiled can be explained all the same


def _of_library(
    path: Path, threadgroup: Extent, console: Console
) -> Iterator[tuple[KernelSource, Extent, Extent, int]]:
    """Kernels of a Metal file, as for a grid of whole threadgroups."""
    library = metal_library(path)
    for name in library.kernel_names:
        try:
            source = library[name].source()
        except (AnyMetalError, ValueError) as error:
            console.print(f"kernel {name} is left out: {error}", markup=False)
            continue
        grid = (16 * threadgroup[0], 16 * threadgroup[1], threadgroup[2])
        yield source, grid, threadgroup, 0
