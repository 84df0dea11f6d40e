"""What the thread pool notes of launches while a profile is taken (profile.h), as Python has it."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from array import array
from collections.abc import Iterator
from typing import NamedTuple

from anymetal.runtime.pool import pool

_LAUNCH, _SAMPLE = 1, 2
_HALF = 0xFFFFFFFF
_GLANCE = 0.001  #: seconds


class Launch(NamedTuple):
    """A launch that has ended."""

    entry: int  #: address of the machine code
    begun: int  #: nanoseconds of the monotonic clock
    ended: int
    thread: int  #: that launched it, by the system's number
    status: int  #: how it ended (launch.h), 0 if well
    grid: tuple[int, int, int]
    group: tuple[int, int, int]
    bytes: tuple[int, ...]  #: of each buffer


class Sample(NamedTuple):
    """Where a thread was that took part in a launch."""

    entry: int
    counter: int  #: the program counter


class Recording(NamedTuple):
    """All that was noted."""

    launches: list[Launch]
    samples: list[Sample]
    lost: int  #: for which there was no room


_lock = threading.Lock()
_taken_by: int | None = None  #: process; the child of a fork has not begun what its parent has


def begin() -> None:
    """Note launches from now on.

    There is one record in a process. Raises RuntimeError if it is in use, MemoryError if there is
    no room for it.
    """
    global _taken_by
    library = pool().library
    with _lock:
        if _taken_by == os.getpid():
            raise RuntimeError("a profile is being taken already; there can be one at a time")
        if not library.am_profile():
            raise MemoryError("no addresses are free for the record of a profile (512 MiB)")
        _taken_by = os.getpid()


def end() -> Recording:
    """Note no more launches; what was noted, also of those that still run: they are waited for."""
    global _taken_by
    try:
        return _ended()
    finally:
        _taken_by = None


def _ended() -> Recording:
    library = pool().library
    while library.am_profile_end():
        time.sleep(_GLANCE)
    words, lost = ctypes.c_uint64(), ctypes.c_uint64()
    library.am_profile_log.restype = ctypes.c_void_p
    address = library.am_profile_log(ctypes.byref(words), ctypes.byref(lost))
    log = array("Q")
    log.frombytes(ctypes.string_at(address, 8 * words.value))
    launches: list[Launch] = []
    samples: list[Sample] = []
    for kind, entry in _entries(log):
        if kind == _LAUNCH:
            launches.append(_launch(entry))
        elif kind == _SAMPLE:
            samples.append(Sample(*entry))
    return Recording(launches, samples, lost.value)


def _entries(log: array[int]) -> Iterator[tuple[int, array[int]]]:
    at = 0
    while at < len(log):
        kind, length = log[at] & 0xFF, log[at] >> 8
        yield kind, log[at + 1 : at + 1 + length]
        at += 1 + length


def _launch(words: array[int]) -> Launch:
    entry, begun, ended, by, *extents = words[:7]
    x, y, z, *group = (half for word in extents for half in (word & _HALF, word >> 32))
    width, height, depth = group
    return Launch(
        entry,
        begun,
        ended,
        by & _HALF,
        by >> 32,
        (x, y, z),
        (width, height, depth),
        tuple(words[7:]),
    )
