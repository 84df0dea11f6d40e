"""From a kernel to its machine code: this process's memory, disk cache, compiler."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

from anymetal import debug
from anymetal.frontend import strict
from anymetal.pipeline.stages import Stages, Times
from anymetal.runtime import disk_cache, identity, locks
from anymetal.runtime.code import Code, Subject
from anymetal.source import KernelSource
from anymetal.targets.cpu.named_processors import expect_here
from anymetal.targets.cpu.reporting import DebugStages
from anymetal.targets.cpu.variant import Variant

_BUILD = "anymetal.targets.cpu.compile_job:build"

#: Code in use, by its key in the disk cache. Plans of launches hold it, and last as long as the
#: sources of kernels do. So nothing here may hold a source.
_loaded: WeakValueDictionary[str, Code] = WeakValueDictionary()
#: The latest, which stay loaded: for definitions that come again, and other launches of a kernel.
_recent: OrderedDict[str, Code] = OrderedDict()
_MOST_RECENT = 256
#: Told the name of each kernel that is looked for beyond this process, where it was found
#: ("compiled", "from the disk cache"), and after how many seconds.
listeners: list[Callable[[str, str, float], None]] = []
_followed: dict[tuple[KernelSource, Variant], None] | None = None
_held: list[dict[int, Code]] = []


def code_of(source: KernelSource, variant: Variant) -> Code:
    """The machine code of this kernel for this class of launches. Raises ValueError if it is for a
    processor that this one is not."""
    key = key_of(source, variant)
    code = _loaded.get(key)
    wanted = debug.wanted()
    told = DebugStages(source, wanted) if wanted.level else None
    where = "from memory"
    if code is None:
        begun = time.perf_counter()
        where, code = _load(source, variant, key, told or Stages(wanted))
        for tell in listeners:
            tell(source.name, where, time.perf_counter() - begun)
        strict.check(source, code.complaints)
        code = _loaded.setdefault(key, code)
    _recent.pop(key, None)
    _recent[key] = code
    if len(_recent) > _MOST_RECENT:
        _recent.popitem(last=False)
    for codes in _held:
        codes[code.entry] = code
    _asked_for(source, variant)
    if told:
        told.found(where, code.subject.launches)
    return code


def _asked_for(source: KernelSource, variant: Variant) -> None:
    if _followed is not None:
        _followed[source, variant] = None


def key_of(source: KernelSource, variant: Variant) -> str:
    """Under which the disk cache has the machine code."""
    return identity.key_of("kernel", source, repr(variant))


def put(key: str, source: KernelSource, library: bytes) -> None:
    """Machine code for the disk cache, made ahead of launches."""
    disk_cache.put(key, ".so", library, f"kernel {source.name}")


def follow() -> Collection[tuple[KernelSource, Variant]]:
    """The kernels that this process asks for from now on, in order; the collection grows."""
    global _followed
    _followed = {}
    return _followed.keys()


@contextmanager
def holding() -> Iterator[dict[int, Code]]:
    """All machine code that is loaded meanwhile, by the addresses of its entries; it grows, and
    nothing is unloaded."""
    codes = {code.entry: code for code in list(_loaded.values())}
    _held.append(codes)
    try:
        yield codes
    finally:
        _held[:] = [other for other in _held if other is not codes]


def _load(source: KernelSource, variant: Variant, key: str, stages: Stages) -> tuple[str, Code]:
    """The machine code, and where it was found."""
    stages.made("Metal", lambda: debug.metal_of(source))
    where = "from the disk cache"

    def compiled() -> bytes:
        nonlocal where
        where = "compiled"
        return shared_library(source, variant, stages)

    library = locks.cached(key, ".so", f"kernel {source.name}", compiled)
    if variant.cpu:
        _asked_for(source, variant)
        expect_here(variant.cpu)
    title = f"{source.name}{source.template_arguments}"
    kinds = tuple(parameter.kind for parameter in source.parameters)
    return where, Code(library, source.name, Subject(title, kinds=kinds))


def shared_library(source: KernelSource, variant: Variant, stages: Stages) -> bytes:
    """The kernel, compiled in a helper process; raises what `compile_kernel` does."""
    from anymetal.runtime import helpers  # not needed while all is found in the disk cache

    def note(told: Times | tuple[str, str]) -> None:
        if isinstance(told, Times):
            stages.times.update(told.stages)
            stages.passes.update(told.passes)
        else:
            stages.made(told[0], lambda: told[1])

    library = helpers.compile(source.name, _BUILD, source, variant, stages.wanted, note=note)
    assert isinstance(library, bytes)
    return library
