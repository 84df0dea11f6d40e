"""What a test of Metal kernels has at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mlx.core as mx

import anymetal
from anymetal import targets
from anymetal.testing.recording import Recording


@contextmanager
def installed() -> Iterator[None]:
    """`anymetal.install`, pretending to have a GPU, unless the program has installed it itself."""
    if targets.HAS_METAL or mx.fast.metal_kernel is anymetal.metal_kernel:
        yield
        return
    anymetal.install(pretend_gpu=True)
    try:
        yield
    finally:
        anymetal.uninstall()


class Metal:
    """The fixture `metal`. While a test has it, MLX's Metal kernels run on any machine."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    @classmethod
    @contextmanager
    def recording(cls) -> Iterator[Metal]:
        """Counts the calls of kernels meanwhile."""
        recording = Recording()
        recording.begin()
        try:
            yield cls(recording)
        finally:
            recording.end()

    @property
    def kernel(self) -> Callable[..., Any]:
        """`mx.fast.metal_kernel` as it is installed."""
        return mx.fast.metal_kernel

    @property
    def calls(self) -> dict[str, int]:
        """How often the test has called each kernel so far, by the kernel's name."""
        return self._recording.calls()
