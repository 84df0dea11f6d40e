"""From a kernel to the address of its machine code: this process's memory, disk cache, compiler."""

from __future__ import annotations

import threading
from pathlib import Path

from anymetal.frontend import strict
from anymetal.runtime import cache, identity, zig
from anymetal.runtime.pool import load_kernel
from anymetal.source import KernelSource
from anymetal.targets.cpu.variant import Variant

_entries: dict[tuple[KernelSource, Variant], int] = {}
_lock = threading.Lock()


def entry_of(source: KernelSource, variant: Variant) -> int:
    """Address of `am_entry` for this kernel and class of launches. The code stays loaded."""
    key = (source, variant)
    entry = _entries.get(key)
    if entry is None:
        strict.check(source)
        with _lock:  # LLVM is not to be entered twice, and the work not to be done twice
            entry = _entries.get(key)
            if entry is None:
                entry = _entries[key] = load_kernel(_library_of(source, variant))
    return entry


def _library_of(source: KernelSource, variant: Variant) -> Path:
    key = cache.digest("kernel", identity.fingerprint(), repr(source), repr(variant))
    if (path := cache.get(key)) is None:
        # A process that finds its kernels in the cache never imports the compiler.
        from anymetal.targets.cpu.compiler import compile_kernel

        path = cache.put(key, ".so", zig.link_shared(compile_kernel(source, variant)))
    return path
