"""The processor: everything that the compiler plans with, in one place.

LLVM knows the instruction sets of this machine (targets/cpu/llvm_target.py), a table those of
others (targets/cpu/named_processors.py). Sizes of caches are what the system says about this
machine, and common sizes for others. Constants that were tuned follow from these figures.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # runtime/identity.py needs none of it
    from anymetal.ir.types import Type

_CACHES = "/sys/devices/system/cpu/cpu0/cache"
#: Any of these features converts the type; AArch64 has half from the start.
_CONVERSIONS = {
    ("x86_64", "half"): frozenset(("f16c", "avx512f")),
    ("x86_64", "bfloat"): frozenset(("avx512bf16",)),
    ("aarch64", "half"): frozenset(("neon", "fp-armv8")),
    ("aarch64", "bfloat"): frozenset(("bf16",)),
}


class Caches(NamedTuple):
    """Bytes of a line, and of what each level holds."""

    line: int = 64
    first: int = 32 << 10
    second: int = 1 << 20
    last: int = 32 << 20


COMMON = Caches()
#: A last cache that is larger serves so many cores that less of it is a launch's.
_MOST_OF_LAST = 32 << 20


@functools.cache
def _enabled(features: str) -> frozenset[str]:
    return frozenset(f[1:] for f in features.split(",") if f.startswith("+"))


class Machine(NamedTuple):
    """A CPU to generate code for."""

    triple: str
    cpu: str
    features: str  #: LLVM's list, "+avx2,-avx512f,…"
    caches: Caches = COMMON
    followed_runs: int = 16  #: runs of memory that its prefetcher follows at a time
    unseen_bytes: int = 512  #: bytes of a run that are read before its prefetcher sees the run
    few_lines: int = 16  #: lines whose loads it starts early enough without prefetching

    @property
    def enabled(self) -> frozenset[str]:
        return _enabled(self.features)

    @property
    def architecture(self) -> str:
        return self.triple.split("-")[0]

    # -- vectors --------------------------------------------------------------------------

    @property
    def vector_bytes(self) -> int:
        """Bytes of a vector register."""
        return 64 if "avx512f" in self.enabled else 32 if "avx2" in self.enabled else 16

    @property
    def words(self) -> int:
        """Elements of 4 bytes in a register."""
        return self.vector_bytes // 4

    @property
    def registers(self) -> int:
        """How many vector registers there are."""
        return 32 if "avx512f" in self.enabled or self.architecture == "aarch64" else 16

    @property
    def any_register(self) -> str:
        """As LLVM calls any vector register in assembly."""
        return "w" if self.architecture == "aarch64" else "v"

    @property
    def operates_on_memory(self) -> bool:
        """Whether an instruction that computes takes an operand from memory."""
        return self.architecture != "aarch64"

    @property
    def permutes_under_masks(self) -> bool:
        """Whether instructions that permute choose lanes of their result by a mask, too."""
        return "avx512f" in self.enabled

    def permutes(self, size: int) -> bool:
        """Whether instructions bring elements of `size` bytes out of one or two registers in any
        order."""
        if "avx512bw" in self.enabled:
            return size in (2, 4) or (size == 1 and "avx512vbmi" in self.enabled)
        return size == 4 and "avx2" in self.enabled

    def loads_windows(self, size: int) -> bool:
        """Whether loads of some registers and permutations of these take less time than a gather
        of elements of `size` bytes. AVX2 would take too many; Intel's gathers of words are as fast,
        AMD's go lane by lane, and there are none of bytes and halves."""
        fast = size >= 4 and not self.cpu.startswith("znver")
        return self.permutes_under_masks and self.permutes(size) and not fast

    def separates(self, size: int) -> bool:
        """Whether an instruction picks every second element, of `size` bytes, of two registers."""
        if self.architecture == "aarch64" or self.vector_bytes == 64:
            return True
        return self.vector_bytes == 16 and size >= 4

    def vectors(self, lanes: int) -> int:
        """How many vectors of so many lanes of 32 bits the registers hold."""
        return self.registers * self.words // lanes

    def rows_in_registers(self, columns: int) -> int:
        """How many rows of so many float sums fit half of the registers."""
        return self.registers // 2 * self.words // columns

    def rows_at_once(self, columns: int) -> int:
        """As many of these rows as are worth code of their own: between one and eight."""
        return max(1, min(8, self.rows_in_registers(columns)))

    def converts(self, type_: Type) -> bool:
        """Whether it converts vectors of float to half or bfloat in one instruction."""
        of_type = _CONVERSIONS.get((self.architecture, str(type_)), frozenset())
        return not of_type.isdisjoint(self.enabled)

    @property
    def computes_in_half(self) -> bool:
        """Whether it computes with vectors of half."""
        return not self.enabled.isdisjoint(("fullfp16", "avx512fp16"))

    def masked(self, operation: str, size: int) -> bool:
        """Whether a vector "load", "store", "gather" or "scatter" of elements of `size` bytes
        takes a mask. No gather takes elements of 1 or 2 bytes.

        AVX2's gathers do not count: for most processors LLVM makes a test and a branch for each
        lane of them, and where it does use them they are no faster than loads lane by lane.
        """
        if operation in ("load", "store") and "avx512bw" in self.enabled:
            return True
        needed = "avx2" if operation in ("load", "store") else "avx512f"
        return size >= 4 and not {needed, "avx512f"}.isdisjoint(self.enabled)

    @property
    def swaps_16_bytes(self) -> bool:
        """Whether 16 bytes can be compared and exchanged atomically."""
        return self.architecture == "aarch64" or "cx16" in self.enabled

    @property
    def scales(self) -> bool:
        """Whether it multiplies floats by powers of two: AVX-512's vscalefps."""
        return "avx512f" in self.enabled

    @property
    def chooses(self) -> bool:
        """Whether an instruction takes the larger of two floats, or the one that is not NaN:
        AVX-512's vrangeps."""
        return "avx512dq" in self.enabled

    @property
    def converts_longs(self) -> bool:
        """Whether it converts vectors of 64-bit integers to double and back."""
        return "avx512dq" in self.enabled

    # -- memory ---------------------------------------------------------------------------

    @property
    def line(self) -> int:
        """Bytes that come from memory at once."""
        return self.caches.line

    @property
    def near_bytes(self) -> int:
        """What gangs may read before the next begins, and find again in a second-level cache."""
        return self.caches.second // 8

    @property
    def private_bytes(self) -> int:
        """Bytes of a team's private arrays that stay in the second-level cache."""
        return self.caches.second // 2

    @property
    def streamed_bytes(self) -> int:
        """Results of so many bytes are not in a cache any more when they are read again: what is
        read for them takes as much space."""
        return min(self.caches.last, _MOST_OF_LAST) // 2

    @property
    def many_lines(self) -> int:
        """So many lines drive out of the first-level cache what is needed now."""
        return self.caches.first // 2 // self.line


#: A machine of which nothing is known.
ANY_MACHINE = Machine("", "generic", "")


@functools.cache
def caches_here(folder: str = _CACHES) -> Caches:
    """Those of this machine."""
    sizes: dict[str, int] = {}
    try:
        for cache in os.listdir(folder):
            if cache.startswith("index") and _told(folder, cache, "type") != "Instruction":
                size = _told(folder, cache, "size").removesuffix("K")
                sizes[_told(folder, cache, "level")] = int(size) << 10
                sizes["line"] = int(_told(folder, cache, "coherency_line_size"))
    except (OSError, ValueError):  # as on other systems, and in some containers
        return COMMON
    found = (sizes.get(key, 0) for key in ("line", "1", "2", "3"))
    return Caches(*(size or usual for size, usual in zip(found, COMMON, strict=True)))


def _told(*path: str) -> str:
    with open(os.path.join(*path)) as file:
        return file.read().strip()
