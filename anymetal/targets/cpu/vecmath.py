"""Vector versions of libm functions: glibc's libmvec.

Its functions are accurate to 4 ulp (documented in the GNU C Library manual, "Errors in Math
Functions", and in libmvec's own table), which is the bound of Metal's precise functions. Each
symbol is looked up before use; what a C library lacks runs lane by lane through libm.
"""

from __future__ import annotations

import ctypes
import functools

from anymetal.ir import types as t

#: Any of these features converts the type; AArch64 has half from the start.
_CONVERSIONS = {
    ("x86_64", "half"): frozenset(("f16c", "avx512f")),
    ("x86_64", "bfloat"): frozenset(("avx512bf16",)),
    ("aarch64", "half"): frozenset(("neon", "fp-armv8")),
    ("aarch64", "bfloat"): frozenset(("bf16",)),
}
_TWO_ARGUMENTS = frozenset(("powf", "atan2f", "hypotf"))


class VectorLibrary:
    """What libmvec offers for a CPU with these features (LLVM's names, e.g. "avx2")."""

    def __init__(self, triple: str, features: frozenset[str]) -> None:
        self.architecture = triple.split("-")[0]
        self.features = features
        self.isa = ""
        self.words = 0
        if triple.startswith("x86_64"):
            levels = (("avx512f", "e", 16), ("avx2", "d", 8), ("", "b", 4))
            _, self.isa, self.words = next(v for v in levels if not v[0] or v[0] in features)
        elif triple.startswith("aarch64"):
            self.isa, self.words = "n", 4

    def converts(self, type_: t.Type) -> bool:
        """Whether the processor converts vectors of float to half or bfloat."""
        return not _CONVERSIONS.get((self.architecture, str(type_)), frozenset()).isdisjoint(
            self.features
        )

    def masked(self, operation: str, size: int) -> bool:
        """Whether a vector "load", "store", "gather" or "scatter" of elements of `size` bytes
        takes a mask: AVX2 does without scatters, and no gather takes elements of 1 or 2 bytes."""
        if operation in ("load", "store") and "avx512bw" in self.features:
            return True
        needed = "avx512f" if operation == "scatter" else "avx2"
        return size >= 4 and not {needed, "avx512f"}.isdisjoint(self.features)

    def rows_at_once(self, columns: int) -> int:
        """How many rows of so many float sums fit half of the registers."""
        many = "avx512f" in self.features or self.architecture == "aarch64"
        return max(1, min(8, (16 if many else 8) * self.words // columns))

    @property
    def swaps_16_bytes(self) -> bool:
        """Whether 16 bytes can be compared and exchanged atomically."""
        return self.architecture == "aarch64" or "cx16" in self.features

    @property
    def scales(self) -> bool:
        """Whether it multiplies floats by powers of two."""
        return "avx512f" in self.features

    @property
    def chooses(self) -> bool:
        """Whether an instruction takes the larger of two floats, or the one that is not NaN."""
        return "avx512dq" in self.features

    @property
    def permutes(self) -> bool:
        """Whether an instruction takes elements out of two registers, in any order."""
        return "avx512f" in self.features

    def symbol(self, function: str) -> tuple[str, int] | None:
        """Symbol and lanes of the vector version of `function` (such as "expf")."""
        if not self.isa:
            return None
        arguments = "vv" if function in _TWO_ARGUMENTS else "v"
        name = f"_ZGV{self.isa}N{self.words}{arguments}_{function}"
        return (name, self.words) if _exists(name) else None


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
