"""Strict mode: what AnyMetal compiles, but Metal may refuse, and what looks like a mistake.

ANYMETAL_STRICT   1 warns, once per kernel (the default); error refuses what Metal may refuse,
                  and warns of the rest; 0 is silent
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence

from anymetal.errors import AnyMetalWarning, SuspiciousTextWarning
from anymetal.frontend import address_spaces, complaints
from anymetal.frontend.complaints import Complaint
from anymetal.source import KernelSource, LibrarySource

_MODES = ("0", "1", "error")
_SHOWN = 5

_REFUSED = "runs here, but Metal may refuse it{reason}:\n{places}"
_NO_SPACE = (
    " (before version 4.1, pointers and references need an address space: device, constant, thread "
    "or threadgroup)"
)
_SILENCE = "ANYMETAL_STRICT=0 silences this, ANYMETAL_STRICT=error makes it an error."
_SUSPICIOUS = "looks wrong in places, says Clang:\n{places}"
_IGNORE = (
    'ANYMETAL_STRICT=0 silences this, and so does `#pragma clang diagnostic ignored "-W{}"` in the '
    "text."
)

_checked: set[int] = set()  #: hashes of kernels, which are not kept for this
_warned: set[tuple[str, Complaint]] = set()


def check(source: KernelSource, noted: str) -> None:
    """Warns about, or refuses, a kernel that this process has not seen before. `noted`: what Clang
    complained of when it was compiled (complaints.py)."""
    mode = _mode()
    if mode == "0" or (mode == "1" and hash((source, noted)) in _checked):
        return
    _checked.add(hash((source, noted)))
    found = complaints_about(source, complaints.read(noted))
    refused = [one for one in found if one.refused]
    if mode == "error" and refused:
        from anymetal.frontend.diagnostics import error_about  # its tables take time to load

        raise error_about(source, refused)
    if refused := _news(source, refused):
        missing = any(one.rule == address_spaces.MISSING for one in refused)
        text = _REFUSED.format(reason=_NO_SPACE if missing else "", places=_places(source, refused))
        _warn(source, text + _SILENCE, AnyMetalWarning)
    if others := _news(source, [one for one in found if not one.refused]):
        text = _SUSPICIOUS.format(places=_places(source, others))
        _warn(source, text + _IGNORE.format(others[0].rule), SuspiciousTextWarning)


def complaints_about(source: KernelSource, heard: Sequence[Complaint]) -> list[Complaint]:
    """All that there is to say about a kernel that compiles: what its words show, and what Clang
    complained of; in the order of the text."""
    found = dict.fromkeys([*address_spaces.complaints_about(source), *heard])
    return sorted(found, key=lambda one: one[:3])


def _mode() -> str:
    mode = os.environ.get("ANYMETAL_STRICT", "1") or "1"
    if mode not in _MODES:
        raise ValueError(f"ANYMETAL_STRICT must be 0, 1 or error, not {mode!r}")
    return mode


def _news(source: KernelSource, found: list[Complaint]) -> list[Complaint]:
    """Those that nobody was told yet, for arguments of other types or another kernel of a file."""
    keys = [(_name(source), one._replace(text="")) for one in found]
    new = [one for one, key in zip(found, keys, strict=True) if key not in _warned]
    _warned.update(keys)
    return new


def _name(source: KernelSource) -> str:
    return source.file if isinstance(source, LibrarySource) else source.name


def _places(source: KernelSource, found: list[Complaint]) -> str:
    shown = [one.shown().removeprefix(f"{source.name}: ") for one in found[:_SHOWN]]
    more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return "".join(f"  {line}\n" for line in shown + more)


def _warn(source: KernelSource, text: str, category: type[Warning]) -> None:
    warnings.warn(f"Kernel `{source.name}` {text}", category, stacklevel=_callers_level())


def _callers_level() -> int:
    """How many calls up from `_warn` the first one is that is not AnyMetal's."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "anymetal":
        frame, level = frame.f_back, level + 1
    return level
