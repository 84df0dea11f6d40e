"""Kernels that run, and are compared with NumPy, in a process of its own."""

from __future__ import annotations

import time
import traceback
import zlib
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import numpy as np

from anymetal.errors import KernelLoadError
from anymetal.library import MetalLibrary
from anymetal.testing.mlx_kernels import workers
from anymetal.testing.mlx_kernels.families import CHECKS
from anymetal.testing.mlx_kernels.families.data import Unused, Wrong
from anymetal.testing.mlx_kernels.units import find, library


class Verdict(NamedTuple):
    """What a check has found."""

    unit: str
    kernel: str
    outcome: str  #: "right", "wrong", "failed" (no result), "unused" (by MLX itself),
    #: "limit" (more threadgroup memory than Metal has)
    reason: str = ""
    error: float = 0.0  #: the largest, relative to what is wanted
    seconds: float = 0.0  #: on the clock, with its compilation
    peak: int = 0  #: MiB that the process, or a tool of it, has taken at most so far


def serve(pipe: Connection, folder: str) -> None:
    """Checks what the pipe names, `(unit, kernel)`, and sends a verdict on each."""
    source = Path(folder)
    while (work := pipe.recv()) is not None:
        pipe.send(verdict(source, *work))


def verdict(source: Path, unit: str, kernel: str) -> Verdict:
    """One kernel, with arguments that its name decides."""
    start = time.monotonic()
    outcome, reason, error = "right", "", 0.0
    try:
        function = _library(source, unit)[kernel]
        rng = np.random.default_rng(zlib.crc32(kernel.encode()))
        error = CHECKS[find([unit])[0].short](function, kernel, rng)
    except Wrong as wrong:
        outcome, reason = "wrong", str(wrong)
    except KernelLoadError as error_:
        outcome, reason = "limit", workers.last_line(error_)
    except Unused as unused:
        outcome, reason = "unused", str(unused)
    except Exception as problem:
        where = traceback.extract_tb(problem.__traceback__)[-1]
        reason = f"{type(problem).__name__}: {problem} ({Path(where.filename).name}:{where.lineno})"
        outcome = "failed"
    seconds = round(time.monotonic() - start, 3)
    return Verdict(unit, kernel, outcome, reason[:2000], error, seconds, workers.peak())


@cache
def _library(source: Path, unit: str) -> MetalLibrary:
    return MetalLibrary(library(source, find([unit])[0]))
