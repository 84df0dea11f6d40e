"""Vector versions of libm functions: glibc's libmvec.

Its functions are accurate to 4 ulp (documented in the GNU C Library manual, "Errors in Math
Functions", and in libmvec's own table), which is the bound of Metal's precise functions. Each
symbol is looked up before use; what a C library lacks runs lane by lane through libm.
"""

from __future__ import annotations

import ctypes
import functools

from anymetal.machine import Machine

#: The letter of an instruction set in symbols, by architecture and bytes of a register.
_ISA = {("x86_64", 64): "e", ("x86_64", 32): "d", ("x86_64", 16): "b", ("aarch64", 16): "n"}
_TWO_ARGUMENTS = frozenset(("powf", "atan2f", "hypotf"))


def vector_symbol(machine: Machine, function: str) -> tuple[str, int] | None:
    """Symbol and lanes of the vector version of `function` (such as "expf")."""
    isa = _ISA.get((machine.architecture, machine.vector_bytes))
    arguments = "vv" if function in _TWO_ARGUMENTS else "v"
    name = f"_ZGV{isa}N{machine.words}{arguments}_{function}"
    return (name, machine.words) if isa and _exists(name) else None


@functools.cache
def _library() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL("libmvec.so.1", mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return None


@functools.cache
def _exists(symbol: str) -> bool:
    library = _library()
    return library is not None and hasattr(library, symbol)
