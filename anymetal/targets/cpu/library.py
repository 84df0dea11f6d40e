"""From a kernel to the address of its machine code: this process's memory, disk cache, compiler."""

from __future__ import annotations

from pathlib import Path

from anymetal import debug
from anymetal.errors import ToolchainError
from anymetal.frontend import strict
from anymetal.runtime import cache, identity, turns, zig
from anymetal.runtime.pool import kernel_text, load_kernel
from anymetal.source import KernelSource
from anymetal.targets.cpu.stages import DebugStages, Stages
from anymetal.targets.cpu.variant import Variant

_entries: dict[tuple[KernelSource, Variant], int] = {}
_stores: dict[int, str] = {}  #: by the address of the entry


def entry_of(source: KernelSource, variant: Variant) -> int:
    """Address of `am_entry` for this kernel and class of launches. The code stays loaded."""
    key = (source, variant)
    entry = _entries.get(key)
    if entry is None:
        strict.check(source)
    level = debug.level()
    told = DebugStages(source, variant, level) if level else None
    where = "from memory"
    if entry is None:
        where, entry = _load(source, variant, told or Stages())
        _entries[key] = entry
    if told:
        told.found(where)
    return entry


def stores_of(entry: int) -> str:
    """What the kernel with this entry is certain to store (simd/certain.py)."""
    return _stores.get(entry, "[]")


def used_kernels() -> list[tuple[KernelSource, Variant]]:
    """What this process has asked for, in order."""
    return list(_entries)


def _load(source: KernelSource, variant: Variant, stages: Stages) -> tuple[str, int]:
    """Where the machine code was found, and its address."""
    stages.made("Metal", lambda: debug.metal_of(source))
    texts = repr(source)
    key = cache.digest(
        "kernel", identity.fingerprint(), texts, identity.included(texts), repr(variant)
    )
    while True:
        where, path = _library_of(source, variant, key, stages)
        try:
            entry = load_kernel(path, source.name)
            _stores[entry] = kernel_text(path, "am_stores")
            return where, entry
        except ToolchainError:
            if path.exists():
                raise
            # Another process has cleared the cache in this very moment.


def _library_of(
    source: KernelSource, variant: Variant, key: str, stages: Stages
) -> tuple[str, Path]:
    path = cache.get(key)
    if path is None:
        with turns.making(key):
            path = cache.get(key)
            if path is None:
                return "compiled", _compiled(source, variant, key, stages)
    return "from the disk cache", path


def _compiled(source: KernelSource, variant: Variant, key: str, stages: Stages) -> Path:
    with turns.llvm:  # nobody shall fork while it is imported
        # A process that finds its kernels in the cache never imports the compiler.
        from anymetal.targets.cpu.compiler import compile_kernel

    code = compile_kernel(source, variant, stages)
    with stages.stage("link"):
        library = zig.link_shared(code)
    return cache.put(key, ".so", library, f"kernel {source.name}")
