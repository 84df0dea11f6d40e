"""Machine code of a library's kernels ahead of their launches: it goes into the disk cache.

Helper processes work side by side. Each takes some kernels of the library at a time, which share a
run of Clang (frontend/batch.py), and tells of each as soon as it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from queue import SimpleQueue
from threading import Event
from typing import NamedTuple

from anymetal.debug import NOTHING
from anymetal.errors import AnyMetalError
from anymetal.pipeline.stages import Stages
from anymetal.runtime import disk_cache, helpers
from anymetal.runtime.limits import seconds_in
from anymetal.source import LibrarySource
from anymetal.targets.cpu.code_lookup import key_of, put, shared_library
from anymetal.targets.cpu.compile_job import Made
from anymetal.targets.cpu.variant import Extent, Variant, fitting_groups, launch_variant

_BUILD = "anymetal.targets.cpu.compile_job:build_batch"
#: Kernels that share a run of Clang. More save little, and are more to do again if one of them
#: brings the helper down.
_TOGETHER = 32


class Built(NamedTuple):
    """One kernel for one class of launches."""

    source: LibrarySource
    made: bool  #: now; else it was there
    error: str = ""  #: why it could not be made


#: What the cache lacks: versions of kernels, and under which keys it shall have them.
_Missing = dict[LibrarySource, dict[Variant, str]]


class _Interrupted(Exception):
    """Nobody waits any more."""


#: A kernel, and a class of its launches.
Version = tuple[LibrarySource, Variant]


def versions(
    sources: Sequence[LibrarySource], launches: Sequence[tuple[Extent, Extent]]
) -> list[Version]:
    """What such launches need. Each is a grid, in threads, and its threadgroup."""
    return list(
        dict.fromkeys(
            (source, launch_variant(grid, fitting_groups(source, grid, group)))
            for source in sources
            for grid, group in launches
        )
    )


def build_ahead(wanted: Sequence[Version], jobs: int) -> Iterator[Built]:
    """Compiles what the disk cache lacks, `jobs` at a time; yields each as soon as it is there.

    The kernels must be of one library.
    """
    missing: _Missing = {}
    for source, variant in wanted:
        key = key_of(source, variant)
        if disk_cache.get(key):
            yield Built(source, made=False)
        else:
            missing.setdefault(source, {})[variant] = key
    batches = list(_batches(missing, jobs))
    done: SimpleQueue[Built | None] = SimpleQueue()
    stopped = Event()
    with ThreadPoolExecutor(jobs) as workers:
        tasks = [workers.submit(_batch, batch, done.put, stopped) for batch in batches]
        try:
            for task in tasks:
                task.add_done_callback(lambda _: done.put(None))
            for _ in tasks:
                while built := done.get():
                    yield built
            for task in tasks:
                task.result()
        finally:
            stopped.set()
            for task in tasks:
                task.cancel()


def _batches(missing: _Missing, jobs: int) -> Iterator[_Missing]:
    """Kernels with the same values of function constants, and such that all workers have some."""
    size = max(1, min(_TOGETHER, -(-len(missing) // jobs)))
    ordered = sorted(missing, key=lambda source: source.before)
    for _, group in groupby(ordered, lambda source: source.before):
        alike = list(group)
        for start in range(0, len(alike), size):
            yield {source: missing[source] for source in alike[start : start + size]}


def _batch(missing: _Missing, tell: Callable[[Built], None], stopped: Event) -> None:
    sources = list(missing)
    left = [(source, variant) for source in sources for variant in missing[source]]

    def note(told: Made) -> None:
        if stopped.is_set():
            raise _Interrupted
        place, variant, made = told
        source = sources[place]
        left.remove((source, variant))
        if isinstance(made, bytes):
            put(missing[source][variant], source, made)
        tell(Built(source, True, "" if isinstance(made, bytes) else str(made)))

    limit = seconds_in("ANYMETAL_COMPILE_LIMIT")
    whole = None if limit is None else limit * len(left)
    wanted = [(source, list(missing[source])) for source in sources]
    try:
        helpers.do(_BUILD, wanted, note=note, limit=whole)
    except (helpers.Ended, helpers.TookTooLong):
        # Of one of them, which is found by compiling those that are left by themselves.
        for source, variant in left:
            if stopped.is_set():
                return
            tell(_alone(source, variant, missing[source][variant]))


def _alone(source: LibrarySource, variant: Variant, key: str) -> Built:
    try:
        put(key, source, shared_library(source, variant, Stages(NOTHING)))
    except AnyMetalError as error:
        return Built(source, True, str(error))
    return Built(source, True)
