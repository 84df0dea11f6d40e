"""What prints the lines of os_log: log.cpp, linked into the kernels that call it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anymetal.simd.emit.log import PRINTER
from anymetal.targets.cpu.support import link_support


def link_printer(module: Any) -> None:
    """Add the printer to a module that calls it."""
    link_support(module, PRINTER, Path(__file__).with_suffix(".cpp"))
