"""The native thread pool: built once with our own Clang, kept in the disk cache, loaded here.

`pool.cpp` runs the threadgroups of a launch on all processors and survives what a kernel may do
wrong; this file describes launches to it and turns its answers into exceptions.

    ANYMETAL_NUM_THREADS   threads that run kernels, the calling one included (default: as many as
                           processors that this process may use)
    ANYMETAL_DETERMINISTIC 1: kernels with atomic operations on device memory run on one thread, so
                           that their results are the same each time (default: 0)
    ANYMETAL_TIME_LIMIT    seconds after which a launch is stopped (default: none)
"""

from __future__ import annotations

import ctypes
import os

# Every call of a kernel asks: `signal.getsignal` takes 2 µs for the same.
from _signal import SIGINT as _SIGINT  # type: ignore[import-not-found]
from _signal import default_int_handler as _default_handler
from _signal import getsignal as _getsignal
from collections.abc import Callable
from pathlib import Path

from anymetal.errors import (
    KernelLoadError,
    KernelMemoryError,
    KernelTimeoutError,
    ToolchainError,
)
from anymetal.runtime import disk_cache, locks, processors, zig
from anymetal.runtime.limits import seconds_in
from anymetal.runtime.loading import NO_CODE, load

_FOLDER = Path(__file__).parent
_UNITS = ("pool.cpp", "arrays.cpp")
_HEADERS = tuple(
    f"{name}.h" for name in "libc launch context guard interrupts late companion profile".split()
)

#: Status in launch.h; what is left is out of memory.
_INTERRUPTED, _TIMED_OUT, _FAULT, _NO_STACK = 1, 2, 3, 5

_SIGNALS = {
    4: "an illegal instruction (SIGILL)",
    5: "a trap (SIGTRAP)",
    7: "a bus error (SIGBUS)",
    8: "an arithmetic trap (SIGFPE)",
    11: "a segmentation fault (SIGSEGV)",
}


class Call(ctypes.Structure):
    """One launch, as `Call` in launch.h; reusable, by one thread at a time."""

    _fields_ = [
        ("entry", ctypes.c_uint64),
        ("buffers", ctypes.c_uint64),
        ("grid", ctypes.c_uint32 * 3),
        ("group", ctypes.c_uint32 * 3),
        ("groups", ctypes.c_uint32 * 3),
        ("reserved", ctypes.c_uint32),
        ("cancel", ctypes.c_uint64),
        ("total_groups", ctypes.c_uint64),
        ("group_time", ctypes.c_double),
        ("ignored_interrupts", ctypes.c_int32),
        ("signal", ctypes.c_int32),
        ("address", ctypes.c_uint64),
        ("interruptible", ctypes.c_int32),
        ("ordered", ctypes.c_int32),
        ("arrays", ctypes.c_uint32),
        ("padding", ctypes.c_uint32),
    ]


class Pool:
    """The loaded library. Use `pool()`."""

    def __init__(self, file: disk_cache.Cached) -> None:
        try:
            library, with_gil = load(
                file, lambda path: (ctypes.CDLL(str(path)), ctypes.PyDLL(str(path)))
            )
        except OSError as error:
            raise ToolchainError(f"cannot load the thread pool: {error}. {NO_CODE}") from error
        self.library = library
        self.threads = _wanted_threads()
        self.deterministic = _wants_determinism()
        #: Binds arrays (see arrays.cpp); needs the GIL.
        self.bind = with_gil.am_bind
        self.bind.restype = ctypes.c_int64
        self.bind.argtypes = [ctypes.py_object] + [ctypes.c_void_p] * 4
        self.strides = with_gil.am_strides
        self.strides.restype = ctypes.c_int64
        self.strides.argtypes = [ctypes.py_object, ctypes.c_void_p]
        #: Runs a launch, whose `Call` is at an address.
        self.run_at: Callable[[int], int] = library.am_run
        library.am_run.argtypes = [ctypes.c_void_p]
        library.am_companions.restype = ctypes.c_uint64
        #: Addresses of `am_run`, `am_watch` and `Companions` (launch.h), for the bridge; a thread
        #: that runs kernels alone has no companions (0).
        self.native = (
            _address(library.am_run),
            _address(library.am_watch),
            int(library.am_companions()) if self.threads > 1 else 0,
        )
        self._limit = library.am_limit
        self._limit.argtypes = [ctypes.c_uint64]
        library.am_start.argtypes = [ctypes.c_uint32]
        if library.am_start(self.threads) != 0:
            raise ToolchainError("the thread pool cannot start: the process has no free TLS key")
        self.set_time_limit(seconds_in("ANYMETAL_TIME_LIMIT"))
        os.register_at_fork(after_in_child=library.am_forked)

    def run(self, call: Call, address: int, kernel: str) -> None:
        """Runs a launch, whose `Call` is at this address, to its end. Releases the GIL.

        Raises KeyboardInterrupt after Ctrl-C (on the main thread), KernelTimeoutError after the
        time limit, KernelMemoryError if the kernel faults; the outputs are then incomplete.
        """
        if call.ignored_interrupts != (wanted := ignored_interrupts()):
            call.ignored_interrupts = wanted
        if status := self.run_at(address):
            raise self.failure(kernel, status, call.signal, call.address)

    def set_time_limit(self, seconds: float | None) -> None:
        """Stop launches that take longer; None = never. Holds for launches that start later."""
        self.time_limit = seconds
        self._limit(0 if seconds is None else max(1, int(seconds * 1e9)))

    def failure(self, kernel: str, status: int, signal: int, address: int) -> BaseException:
        """What to raise for a launch that ended so; the numbers are those of `Call`."""
        if status == _INTERRUPTED:
            # Python's own handler for the signal raises here, unless it is somebody else's.
            ctypes.pythonapi.PyErr_CheckSignals()
            return KeyboardInterrupt()
        if status == _TIMED_OUT:
            return KernelTimeoutError(
                f"kernel `{kernel}` ran longer than {self.time_limit} s (ANYMETAL_TIME_LIMIT) and "
                "was stopped; its outputs are incomplete"
            )
        if status == _FAULT:
            what = _SIGNALS[signal]
            where = f" at address {address:#x}" if address else ""
            return KernelMemoryError(
                f"kernel `{kernel}` was stopped by {what}{where}: most often it reads or writes "
                "outside its buffers, threadgroup arrays or private arrays. Compare its indices "
                "with the sizes; its outputs are incomplete, and other arrays may be damaged."
            )
        if status == _NO_STACK:
            return KernelLoadError(
                kernel,
                "It needs more stack than the thread that ran it has: for values that find no "
                "register, and for private arrays up to 64 KiB for all of a SIMD-group. Call it "
                "from a thread with a larger one (threading.stack_size, ulimit -s).",
            )
        return MemoryError(f"no memory for the threads of kernel `{kernel}`")


def ignored_interrupts() -> bool:
    """How many Ctrl-C a launch should survive.

    Whoever handles Ctrl-C in a way of their own perhaps wants to go on: theirs is called and the
    launch continues; only a second Ctrl-C stops it.
    """
    return _getsignal(_SIGINT) is not _default_handler


_pool: Pool | None = None


def pool() -> Pool:
    """The one thread pool of this process; built and loaded on first use."""
    global _pool
    if _pool is None:
        file = _library_file()
        with locks.starting:
            if _pool is None:
                _pool = Pool(file)
    return _pool


def _address(function: object) -> int:
    address = ctypes.cast(function, ctypes.c_void_p).value  # type: ignore[arg-type]
    assert address is not None
    return address


def _library_file() -> disk_cache.Cached:
    sources = [(_FOLDER / name).read_bytes() for name in _UNITS + _HEADERS]
    key = disk_cache.digest("pool", zig.host_triple(), *sources)
    return locks.cached(key, ".so", "the thread pool", _built)


def _built() -> bytes:
    from anymetal.runtime import helpers  # not needed by who finds it in the disk_cache

    try:
        return bytes(helpers.do("anymetal.runtime.zig:native_library", _FOLDER, _UNITS))
    except helpers.Ended as end:
        raise ToolchainError(f"the thread pool cannot be built: {end}") from None


def _wants_determinism() -> bool:
    text = os.environ.get("ANYMETAL_DETERMINISTIC") or "0"
    if text not in ("0", "1"):
        raise ValueError(f"ANYMETAL_DETERMINISTIC must be 0 or 1, not {text!r}")
    return text == "1"


def _wanted_threads() -> int:
    text = os.environ.get("ANYMETAL_NUM_THREADS", "")
    if not text:
        return processors.count()
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"ANYMETAL_NUM_THREADS must be a whole number from 1 up, not {text!r}")
    return int(text)
