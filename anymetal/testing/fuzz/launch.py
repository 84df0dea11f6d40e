"""Where each thread of a launch sits: threadgroups, SIMD-groups, lanes.

Threads are laid out as the hardware runs them: one row of 32 lanes for each SIMD-group of each
threadgroup. Rows that a threadgroup does not fill have lanes without a thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from anymetal.testing.fuzz.types import Array

LANES = 32
Extent = tuple[int, int, int]


@dataclass(frozen=True)
class LaunchSize:
    """Grid in threads and threadgroup size, both x y z; the threadgroup is clamped to the grid."""

    grid: Extent
    threadgroup: Extent

    @property
    def group_size(self) -> Extent:
        """The threadgroup as dispatched."""
        x, y, z = (min(g, t) for g, t in zip(self.grid, self.threadgroup, strict=True))
        return (x, y, z)

    @property
    def groups(self) -> Extent:
        """Threadgroups per grid."""
        x, y, z = (-(-g // t) for g, t in zip(self.grid, self.group_size, strict=True))
        return (x, y, z)

    @property
    def threads(self) -> int:
        return prod(self.grid)

    @cached_property
    def layout(self) -> Threads:
        """Every lane of the launch."""
        return Threads(self)


class Threads:
    """All lanes of a launch, flattened; `exists` tells which carry a thread."""

    def __init__(self, launch: LaunchSize) -> None:
        rows = [_group_rows(launch, corner) for corner in _corners(launch)]
        merged = {key: np.concatenate([row[key] for row in rows], axis=-1) for key in rows[0]}
        self.exists: Array = merged["exists"].astype(bool)
        self.group: Array = merged["group"]
        self.local: Array = merged["thread_index_in_threadgroup"]
        self.count = len(self.exists)
        self.group_count = len(rows)
        self.attributes: dict[str, Array] = {
            key: values.astype(np.uint32)
            for key, values in merged.items()
            if key not in ("exists", "group")
        }
        x, y, z = self.attributes["thread_position_in_grid"].astype(np.int64)
        self.thread: Array = x + launch.grid[0] * (y + launch.grid[1] * z)  #: linear, in the grid


def _corners(launch: LaunchSize) -> list[Extent]:
    gx, gy, gz = launch.groups
    return [(x, y, z) for z, y, x in product(range(gz), range(gy), range(gx))]


def _group_rows(launch: LaunchSize, group: Extent) -> dict[str, Array]:
    """The attributes of one threadgroup's lanes, as MSL defines them for `dispatchThreads`."""
    full = launch.group_size
    start = [g * f for g, f in zip(group, full, strict=True)]
    size = [min(f, n - s) for f, n, s in zip(full, launch.grid, start, strict=True)]
    threads = prod(size)
    slots = -(-threads // LANES) * LANES
    index = np.arange(slots)
    exists = index < threads
    local = np.where(exists, index, 0)
    position = np.stack([local % size[0], local // size[0] % size[1], local // size[0] // size[1]])

    def constant(value: int) -> Array:
        return np.full(slots, value)

    def triple(values: list[int] | Extent) -> Array:
        return np.repeat(np.array(values)[:, None], slots, axis=1)

    dispatched = prod(full)
    linear = group[0] + launch.groups[0] * (group[1] + launch.groups[1] * group[2])
    return {
        "exists": exists,
        "group": constant(linear),
        "dispatch_quadgroups_per_threadgroup": constant(-(-dispatched // 4)),
        "dispatch_simdgroups_per_threadgroup": constant(-(-dispatched // LANES)),
        "dispatch_threads_per_threadgroup": triple(full),
        "quadgroup_index_in_threadgroup": index // 4,
        "quadgroups_per_threadgroup": constant(-(-threads // 4)),
        "simdgroup_index_in_threadgroup": index // LANES,
        "simdgroups_per_threadgroup": constant(-(-threads // LANES)),
        "thread_index_in_quadgroup": index % 4,
        "thread_index_in_simdgroup": index % LANES,
        "thread_index_in_threadgroup": local,
        "thread_position_in_grid": position + np.array(start)[:, None],
        "thread_position_in_threadgroup": position,
        "threadgroup_position_in_grid": triple(group),
        "threadgroups_per_grid": triple(launch.groups),
        "threads_per_grid": triple(launch.grid),
        "threads_per_simdgroup": constant(LANES),
        "threads_per_threadgroup": triple(size),
    }
