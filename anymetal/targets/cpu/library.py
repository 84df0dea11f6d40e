"""From a kernel to the address of its machine code: this process's memory, disk cache, compiler."""

from __future__ import annotations

from anymetal import debug
from anymetal.frontend import strict
from anymetal.runtime import cache, identity, turns
from anymetal.runtime.pool import load_kernel
from anymetal.source import KernelSource
from anymetal.targets.cpu.stages import DebugStages, Stages
from anymetal.targets.cpu.variant import Variant

_BUILD = "anymetal.targets.cpu.build:build"

_entries: dict[tuple[KernelSource, Variant], int] = {}
_notes: dict[int, str] = {}  #: by the address of the entry


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


def notes_of(entry: int) -> str:
    """What the launch has to know of the kernel with this entry: what it is certain to store
    (simd/certain.py), or, of a checked build, what it asks (passes/checked.py)."""
    return _notes[entry]


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
    where, library = _library_of(source, variant, key, stages)
    loaded = load_kernel(library, source.name)
    _notes[loaded.entry] = loaded.notes
    return where, loaded.entry


def _library_of(
    source: KernelSource, variant: Variant, key: str, stages: Stages
) -> tuple[str, cache.Cached]:
    found = cache.get(key)
    if found is None:
        with turns.making(key):
            found = cache.get(key)
            if found is None:
                library = shared_library(source, variant, stages)
                return "compiled", cache.put(key, ".so", library, f"kernel {source.name}")
    return "from the disk cache", found


def shared_library(source: KernelSource, variant: Variant, stages: Stages) -> bytes:
    """The kernel, compiled in a helper process; raises what `compile_kernel` does."""
    from anymetal.runtime import helpers  # not needed by who finds all in the cache

    def note(told: dict[str, float] | tuple[str, str]) -> None:
        if isinstance(told, dict):
            stages.times.update(told)
        else:
            stages.made(told[0], lambda: told[1])

    library = helpers.compile(source.name, _BUILD, source, variant, stages.level, note=note)
    assert isinstance(library, bytes)
    return library
