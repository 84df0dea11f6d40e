"""Machine code for one kernel after the other, in a process of its own."""

from __future__ import annotations

import resource
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from anymetal.errors import KernelLoadError, UnsupportedFeatureError
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.library_text import Library
from anymetal.targets.cpu.compiler import compile_kernel
from anymetal.targets.cpu.front_end_profile import profile_for
from anymetal.targets.cpu.variant import variant_for
from anymetal.testing.mlx_kernels import workers
from anymetal.testing.mlx_kernels.units import Unit, constants, find, library


class Record(NamedTuple):
    """What became of a kernel."""

    unit: str
    kernel: str
    outcome: str  #: "compiled", "limit" (more threadgroup memory than Metal has), "failed"
    reason: str = ""
    seconds: float = 0.0  #: of processors, with those of Clang
    size: int = 0  #: bytes of machine code, as a shared library
    peak: int = 0  #: MiB that the process, or a tool of it, has taken at most so far


def serve(pipe: Connection, folder: str) -> None:
    """Compiles what the pipe names, `(unit, kernel)`, and sends a record of each."""
    source = Path(folder)
    while (work := pipe.recv()) is not None:
        pipe.send(record(source, *work))


def record(source: Path, unit: str, kernel: str) -> Record:
    """One kernel from the file to the shared library."""
    before = _processor_seconds()
    outcome, reason, size = "compiled", "", 0
    try:
        size = len(_compiled(source, unit, kernel))
    except KernelLoadError as error:
        outcome, reason = "limit", workers.last_line(error)
    except UnsupportedFeatureError as error:
        outcome, reason = "failed", str(error)
    except Exception as error:  # whatever it is, it is what the report is for
        outcome, reason = "failed", f"{type(error).__name__}: {error}"
    seconds = round(_processor_seconds() - before, 3)
    return Record(unit, kernel, outcome, reason[:2000], seconds, size, workers.peak())


def _compiled(source: Path, unit: str, kernel: str) -> bytes:
    one, lib, values = _library(source, unit)
    memory = {p.number: one.memory for p in lib.kernels[kernel].bound("threadgroup")}
    text = lib.source(lib.kernels[kernel], tuple(sorted(values.items())), memory)
    # A grid of whole threadgroups: the code is that of full SIMD-groups alone.
    x, y, z = one.group
    variant = variant_for((x * 64, y * 8, z * 8), one.group)
    raw = compile_to_ir(text, profile_for(variant.cpu))
    return compile_kernel(text, variant, raw=raw)


@cache
def _library(source: Path, name: str) -> tuple[Unit, Library, dict[int, tuple[bool | int, ...]]]:
    unit = find([name])[0]
    lib = library(source, unit)
    return unit, lib, constants(unit, lib)


def _processor_seconds() -> float:
    use = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in use)
