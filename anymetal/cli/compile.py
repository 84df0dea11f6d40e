"""`anymetal compile FILE.metal`: machine code for the kernels of a Metal file, ahead of time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from anymetal.errors import AnyMetalError
from anymetal.frontend.library_wrapper import Number
from anymetal.library import MetalLibrary, metal_library
from anymetal.runtime import disk_cache
from anymetal.source import LibrarySource
from anymetal.targets.cpu.ahead import build_ahead, versions
from anymetal.targets.cpu.variant import Extent

_INTERRUPTED = 130  #: as shells report a program that Ctrl-C ended
_GROUPS = 16  #: threadgroups in each direction of the grids that stand for all of their class


class Request(NamedTuple):
    """What is to be compiled."""

    names: Sequence[str]  #: of kernels, or patterns such as "gemv_*"; none means all
    constants: Mapping[str | int, Number | tuple[Number, ...]]
    threadgroup_memory: Mapping[int, int]
    threadgroups: Sequence[Extent]
    edges: bool  #: also for grids whose last threadgroups are smaller
    jobs: int


def compile_file(
    file: Path, options: Mapping[str, Any], request: Request, console: Console | None = None
) -> int:
    """Compile kernels into the disk cache; list those that failed, with their errors.

    `options`: of `metal_library`. Status 1 if the file cannot be read, has nothing of what the
    request names, or a kernel failed; 130 after Ctrl-C: what was compiled by then is kept.
    """
    console = console or Console(highlight=False, soft_wrap=True)
    library, names = library_of(file, options, request, console)
    if library is None:
        return 1
    start = time.monotonic()
    failed: dict[str, str] = {}
    made: Counter[bool] = Counter()
    status = 0
    try:
        _build(sources_of(library, names, request, failed), request, failed, made, console)
    except KeyboardInterrupt:
        console.print("[yellow]Interrupted.[/] What is compiled is kept.")
        status = _INTERRUPTED
    for name, error in failed.items():
        console.print(f"kernel {name}: {reason(error, name)}", style="red", markup=False)
    found = f", {made[False]} were in the cache" if made[False] else ""
    console.print(
        f"{file}: {len(names)} kernels, {made[True]} versions compiled{found}, "
        f"{len(failed)} kernels failed; {time.monotonic() - start:.1f} s, "
        f"into {disk_cache.cache_directory()}",
        markup=False,
    )
    return status or int(bool(failed))


def library_of(
    file: Path, options: Mapping[str, Any], request: Request, console: Console
) -> tuple[MetalLibrary | None, list[str]]:
    """The library, and the names of the kernels that are wanted of it; None, and the reason is
    printed, if it cannot be read or has not what the request names."""
    try:
        library = metal_library(file, **options)
    except (AnyMetalError, OSError, ValueError) as error:
        console.print(f"{file}: {reason(str(error))}", style="red", markup=False)
        return None, []
    names = [name for name in library.kernel_names if _is_wanted(name, request.names)]
    if problem := _unknown(library, names, request):
        console.print(f"{file}: {problem}", style="red", markup=False)
        return None, []
    return library, names


def _is_wanted(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(name == one or fnmatchcase(name, one) for one in patterns)


def _unknown(library: MetalLibrary, names: Sequence[str], request: Request) -> str:
    """What the request names and the library has not; empty if there is nothing."""
    if not names:
        return f"no kernel of these names; there are: {', '.join(library.kernel_names)}"
    for constant in request.constants:
        if constant not in library.function_constants:
            known = ", ".join(library.function_constants) or "none"
            return f"no function constant {constant}; there are: {known}"
    numbers = {n for name in library.kernel_names for n in library[name].threadgroup_memory}
    for number in request.threadgroup_memory:
        if number not in numbers:
            known = ", ".join(map(str, sorted(numbers))) or "none"
            return f"no threadgroup argument {number}; there are: {known}"
    return ""


def sources_of(
    library: MetalLibrary, names: Sequence[str], request: Request, failed: dict[str, str]
) -> list[LibrarySource]:
    """The kernels of these names; why some are none goes into `failed`."""
    sources = []
    for name in names:
        own = set(library[name].threadgroup_memory)
        memory = {n: size for n, size in request.threadgroup_memory.items() if n in own}
        try:
            sources.append(library[name].source(request.constants, memory))
        except (AnyMetalError, ValueError) as error:
            failed[name] = str(error)
    return sources


def _build(
    sources: Sequence[LibrarySource],
    request: Request,
    failed: dict[str, str],
    made: Counter[bool],
    console: Console,
) -> None:
    wanted = versions(sources, _launches(request))
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failed]}", style="red"),
    )
    seen = console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=not seen) as progress:
        task = progress.add_task("compiling", total=len(wanted), failed="")
        for built in build_ahead(wanted, request.jobs):
            if built.error:
                failed.setdefault(built.source.name, built.error)
            else:
                made[built.made] += 1
            count = f"{len(failed)} failed" if failed else ""
            progress.update(task, advance=1, description=built.source.name[-40:], failed=count)


def _launches(request: Request) -> list[tuple[Extent, Extent]]:
    """A grid of each class, and its threadgroup."""
    found = []
    for group in request.threadgroups:
        x, y, z = (_GROUPS * size if size > 1 else 1 for size in group)
        found.append(((x, y, z), group))
        if request.edges:
            found.append(((x + 1, y, z), group))
    return found


def reason(error: str, kernel: str = "") -> str:
    """An error without what is the same in all errors of the compiler, and the kernel's name."""
    first, _, rest = error.partition("\n")
    text = rest if first.startswith("[metal::Device]") else error
    return text.removeprefix(f"kernel `{kernel}`").lstrip(": ").rstrip()


def value_of(text: str) -> Number | tuple[Number, ...]:
    """A number, true or false, or several of them with commas between; else ValueError."""
    numbers = tuple(map(_number, text.split(",")))
    return numbers if len(numbers) > 1 else numbers[0]


def _number(text: str) -> Number:
    word = text.strip().lower()
    if word in ("true", "false"):
        return word == "true"
    try:
        return int(word, 0)
    except ValueError:
        return float(word)
