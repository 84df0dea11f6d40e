"""Machine code of one kernel, loaded for as long as something holds it.

The system counts the users of a library, too. Those that keep an address without holding this
object, as the bridge does (plan.h), open the library once more by its path.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
from _ctypes import dlclose, dlopen, dlsym  # CDLL never closes
from typing import NamedTuple

from anymetal.errors import CompilerError, ToolchainError
from anymetal.runtime.disk_cache import Cached
from anymetal.runtime.loading import NO_CODE, load


class Subject(NamedTuple):
    """What machine code is of, for people."""

    kernel: str  #: with template arguments
    launches: str = ""  #: which it is for
    kinds: tuple[str, ...] = ()  #: of its parameters (source.py): "input", "output", …


class Code:
    """A compiled kernel. Its name is that of the user's kernel, for errors."""

    def __init__(self, library: Cached, kernel: str, subject: Subject | None = None) -> None:
        _load_vector_math()
        #: Of the file that is loaded, which need not be there any more.
        self.path, handle = _opened(library, kernel)
        self._handle = _Handle(handle)
        #: Address of `am_entry`.
        self.entry: int = dlsym(handle, "am_entry")
        #: Of a checked build: what it asks (passes/check_bounds.py).
        self.notes = self._text("am_notes")
        #: Whether its results may depend on the order of threadgroups
        #: (analysis/order_dependence.py).
        self.order_counts = bool(self._text("am_order"))
        flops = self._text("am_flops")
        #: Floating-point operations of one thread; None if nobody knows (analysis/flops.py).
        self.flops = int(flops) if flops else None
        #: What it certainly stores to its outputs (targets/cpu/covered.py).
        self.stored = self._text("am_stored")
        #: Whether it is for the second of two threadgroups (targets/cpu/variant.py).
        self.declined = bool(self._text("am_declined"))
        self.subject = (subject or Subject(kernel))._replace(launches=self._text("am_launches"))
        #: What Clang said of its text (frontend/warned.py).
        self.complaints = self._text("am_complaints")

    def addresses(self, name: str, count: int) -> list[int]:
        """Addresses that the library exports in one array."""
        at = dlsym(self._handle.number, name)
        return list((ctypes.c_uint64 * count).from_address(at))

    def _text(self, name: str) -> str:
        pointer = ctypes.c_char_p.from_address(dlsym(self._handle.number, name))
        return (pointer.value or b"").decode()


class _Handle:
    """Closes a library when the only object that holds it is gone.

    That object has no `__del__` itself: while one runs, weak references still give the object to
    other threads, which would launch code that is being unloaded.
    """

    def __init__(self, number: int) -> None:
        self.number = number

    # The default is for the end of the process, when modules may have been emptied.
    def __del__(self, close=dlclose) -> None:  # type: ignore[no-untyped-def]
        close(self.number)


def _opened(library: Cached, kernel: str) -> tuple[str, int]:
    try:
        return load(library, lambda path: (str(path), dlopen(str(path), os.RTLD_NOW)))
    except OSError as error:
        if missing := re.search(r"undefined symbol: (\S+)", str(error)):
            raise CompilerError(
                kernel, f"its machine code calls {missing[1]!r}, which this system does not have"
            ) from error
        raise ToolchainError(f"cannot load a compiled kernel: {error}. {NO_CODE}") from error


@functools.cache
def _load_vector_math() -> None:
    """Makes glibc's maths visible to kernels, which name no library of their own."""
    for name in ("libm.so.6", "libmvec.so.1"):
        try:
            ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError:  # no libmvec on this machine: the compiler then calls none of it
            continue
