"""What takes notes of accesses outside of arrays: strays.cpp, linked into checked builds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anymetal.simd.emit.strays import NOTE
from anymetal.targets.cpu.support import link_support


def link_notes(module: Any) -> None:
    """Add what takes notes to a module that calls it."""
    link_support(module, NOTE, Path(__file__).with_suffix(".cpp"))
