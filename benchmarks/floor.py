"""The floor under a row: its bytes copied and its operations done, as fast as this machine can.

Both run as contenders of the row, so that they see the machine in the state that the others see.
A copy of n bytes reads n / 2 and writes n / 2: a row that moves n bytes cannot take less, unless it
reads much more than it writes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.rivals import aligned, native

_LARGE = 16 << 20  #: bytes; copies of more bypass the caches
_ROUND = 2 * 16 * 12 * 256 * 64  #: operations; fewer are not worth several threads


def contenders(
    bytes_: int, flops: int
) -> tuple[Callable[[], object] | None, Callable[[], object] | None]:
    """Programs that move so many bytes and do so many operations; None for none."""
    return copying(bytes_) if bytes_ else None, computing(flops) if flops else None


def copying(bytes_: int) -> Callable[[], object]:
    """A copy that moves so many bytes in all."""
    count = max(64, bytes_ // 8 // 64 * 64)
    source, target = aligned(count), aligned(count)
    return native("copy" if bytes_ > _LARGE else "copy_cached", source, count, out=target)


def computing(flops: int) -> Callable[[], object]:
    """So many floating-point operations in independent multiply-adds."""
    numbers = aligned(16)
    numbers[:] = np.float32(0.5)
    return native("multiply_add", max(flops, _ROUND), out=numbers)
