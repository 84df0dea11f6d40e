"""A profile: taken while a block of a program runs, read afterwards."""

from __future__ import annotations

import time
from contextlib import ExitStack
from types import TracebackType

import mlx.core as mx

from anymetal import targets
from anymetal.errors import UnsupportedFeatureError
from anymetal.profiling import bandwidth, chrome
from anymetal.profiling.chrome import Compilation
from anymetal.profiling.kernels import kernels_of
from anymetal.profiling.report import Report
from anymetal.runtime import recorder
from anymetal.runtime.pool import pool
from anymetal.runtime.recorder import Launch
from anymetal.targets.cpu import code_lookup


class Profile(Report):
    """What was found out while the block of `with anymetal.profile() as found:` ran.

    `str(found)` is the table that `anymetal profile` prints.

    Attributes:
        kernels: one `KernelProfile` for each kernel and generated version, the one that took the
            most time first.
        seconds: of the block, by the clock.
        threads: how many run kernels, the launching one included.
        lost: launches and samples for which the record had no room.
        bytes_per_second: how fast a copy of a large array is on this machine, read and written
            bytes together, measured right after the block.
    """

    def __init__(self) -> None:
        super().__init__()
        self._begun = 0
        self._launches: list[tuple[str, Launch]] = []
        self._compilations: list[Compilation] = []
        self._ended = ExitStack()

    def __enter__(self) -> Profile:
        if targets.active().name == "apple":
            raise UnsupportedFeatureError(
                "anymetal.profile does not see kernels that run on Apple's GPUs. Take a Metal "
                "capture (mx.metal.start_capture) and open it in Xcode."
            )
        with ExitStack() as stack:
            self._start(stack)
            self._ended = stack.pop_all()
        self._begun = time.monotonic_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None
    ) -> None:
        with self._ended:
            try:
                if kind is None:
                    mx.synchronize()  # what mx.async_eval has begun
            finally:
                self.seconds = (time.monotonic_ns() - self._begun) * 1e-9
                self._stop()
        self._read()

    def _start(self, stack: ExitStack) -> None:
        """Begins to record; `stack` undoes it at the end of the block."""
        self._codes = stack.enter_context(code_lookup.holding())
        code_lookup.listeners.append(self._note)
        stack.callback(code_lookup.listeners.remove, self._note)
        recorder.begin()

    def _stop(self) -> None:
        self._recording = recorder.end()

    def _read(self) -> None:
        """Finds out what the recording says."""
        recording = self._recording
        self.threads, self.lost = pool().threads, recording.lost
        self.bytes_per_second = bandwidth.bandwidth() if recording.launches else 0.0
        self.kernels = kernels_of(recording, self._codes, self.bytes_per_second)
        names = {entry: kernel.title for kernel in self.kernels for entry in kernel.entries}
        self._launches = [(names[launch.entry], launch) for launch in recording.launches]
        del self._codes, self._recording

    def write_trace(self, path: str) -> None:
        """Write all launches in Chrome's trace format, for chrome://tracing and ui.perfetto.dev.

        Raises OSError if the file cannot be written.
        """
        chrome.write(path, self._begun, self._launches, self._compilations)

    def _note(self, kernel: str, where: str, seconds: float) -> None:
        self._compilations.append(Compilation(kernel, where, time.monotonic_ns(), seconds))
