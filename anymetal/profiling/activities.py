"""What CUPTI, NVIDIA's interface for profilers, tells of kernels that run on a GPU.

Through `cupti-python`, NVIDIA's package: https://docs.nvidia.com/cupti-python/.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from anymetal.errors import ToolchainError

_ROOM = 8 << 20  #: bytes of a buffer of CUPTI
_FORCED = 1  #: also buffers that are not full (CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)

Extent = tuple[int, int, int]


class Activity(NamedTuple):
    """A kernel that ran."""

    name: str  #: in PTX or CUDA C++
    begun: int  #: nanoseconds of the monotonic clock
    ended: int
    stream: int
    blocks: Extent
    block: Extent  #: threads
    registers: int  #: of a thread
    memory: int  #: bytes of a block's threadgroup memory
    spilled: int  #: bytes of a thread's local memory


def _cupti() -> Any:
    try:
        from cupti import cupti
    except ImportError as error:
        raise ToolchainError(
            "anymetal.profile asks CUPTI how long kernels take on NVIDIA GPUs, and its Python "
            f"package cannot be imported ({error}). pip install cupti-python"
        ) from error
    return cupti


class Activities:
    """Notes kernels between `begin` and `end`. There is one at a time in a process."""

    def __init__(self) -> None:
        self.found: list[Activity] = []
        self._cupti = _cupti()

    def begin(self) -> None:
        """Note kernels from now on. Raises ToolchainError where CUPTI cannot."""
        cupti = self._cupti
        try:
            cupti.activity_register_timestamp_callback(time.monotonic_ns)
            cupti.activity_register_callbacks(lambda: (_ROOM, 0), self._note)
            cupti.activity_enable(cupti.ActivityKind.CONCURRENT_KERNEL)
        except cupti.cuptiError as error:
            raise ToolchainError(
                f"CUPTI does not look at kernels here: {error}. Another profiler may be in its "
                "place, or this GPU's driver is older than the package."
            ) from error

    def end(self) -> list[Activity]:
        """Those that have run; the device has to be done with them."""
        self._cupti.activity_flush_all(_FORCED)
        self._cupti.activity_disable(self._cupti.ActivityKind.CONCURRENT_KERNEL)
        return sorted(self.found, key=lambda one: one.begun)

    def _note(self, records: list[Any]) -> None:
        self.found += [_activity(record) for record in records]


def _activity(record: Any) -> Activity:
    return Activity(
        record.name,
        record.start,
        record.end,
        record.stream_id,
        (record.grid_x, record.grid_y, record.grid_z),
        (record.block_x, record.block_y, record.block_z),
        record.registers_per_thread,
        record.static_shared_memory + record.dynamic_shared_memory,
        record.local_memory_per_thread,
    )
