"""`anymetal compile FILE.metal --target cuda`: PTX of the kernels of a file, into a folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from anymetal.cli.compile import Request, library_of, reason, sources_of
from anymetal.errors import AnyMetalError
from anymetal.source import LibrarySource
from anymetal.targets.cuda.arguments import threads_for
from anymetal.targets.cuda.code_lookup import Version, texts_of
from anymetal.targets.cuda.names import Form


def write_ptx(
    file: Path,
    options: Mapping[str, Any],
    request: Request,
    architecture: str,
    folder: Path,
    console: Console | None = None,
) -> int:
    """Write NAME.ptx and, as LLVM IR, NAME.ll for each kernel; list those that failed, with their
    errors. There need be no GPU.

    `options`: of `metal_library`. The function in the text is called like the kernel, with "metal_"
    in front. Its parameters are the kernel's buffers in the order of their numbers, then the
    threads of the grid in x, y and z, as 32-bit integers. It is launched with blocks of the size of
    a threadgroup, no more than the request has threads. Status 1 if the file cannot be read, has
    nothing of what the request names, or a kernel failed.
    """
    console = console or Console(highlight=False, soft_wrap=True)
    library, names = library_of(file, options, request, console)
    if library is None:
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    failed: dict[str, str] = {}
    threads = max(threads_for(x * y * z) for x, y, z in request.threadgroups)
    for source in sources_of(library, names, request, failed):
        try:
            _write(source, architecture, threads, folder)
        except AnyMetalError as error:
            failed[source.name] = str(error)
    for name, why in failed.items():
        console.print(f"kernel {name}: {reason(why, name)}", style="red", markup=False)
    console.print(
        f"{file}: {len(names) - len(failed)} of {len(names)} kernels for {architecture}, "
        f"in {folder}",
        markup=False,
    )
    return int(bool(failed))


def _write(source: LibrarySource, architecture: str, threads: int, folder: Path) -> None:
    ir, ptx = texts_of(Version(source, architecture, Form(threads)))
    name = re.sub(r"[^\w.-]", "_", source.name)
    (folder / f"{name}.ll").write_text(ir)
    (folder / f"{name}.ptx").write_text(ptx)
