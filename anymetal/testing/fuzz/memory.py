"""Memory as the oracle sees it, with a check that no two threads race.

Each slot remembers who touched it last and in which barrier epoch of that threadgroup. Two
threads may touch a slot, one of them writing, only if a barrier of their common threadgroup lies
between. Atomics of one kind may meet freely: the generator uses operations whose order does not
matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anymetal.testing.fuzz.numerics import Undefined, exact, require
from anymetal.testing.fuzz.types import Array, Type

_NOBODY = -1
_MANY = -2
_ATOMIC = -3  #: minus the number of the operation

_ATOMIC_OPS: dict[str, Callable[..., Any]] = {
    "add": np.add.at,
    "sub": np.subtract.at,
    "min": np.minimum.at,
    "max": np.maximum.at,
    "and": np.bitwise_and.at,
    "or": np.bitwise_or.at,
    "xor": np.bitwise_xor.at,
}
_COMMUTING = {"add": 0, "sub": 0, "min": 1, "max": 2, "and": 3, "or": 4, "xor": 5}


class Memory:
    """Slots of one type. `base` shifts each lane into its own (or its threadgroup's) copy."""

    def __init__(self, kind: Type, size: int, data: Array, base: Array | int) -> None:
        self.type = kind
        self.size = size
        self.data = data  #: (slots,), or (width, slots) for vectors
        self.base = base

    def _slots(self, index: Array, mask: Array) -> Array:
        wide = index.astype(np.int64)
        require((wide >= 0) & (wide < self.size), mask, "index out of range")
        return np.asarray(np.where(mask, wide, 0) + self.base)

    def load(self, index: Array, mask: Array) -> Array:
        return np.asarray(self.data[..., self._slots(index, mask)])

    def store(self, index: Array, value: Array, mask: Array) -> None:
        slots = self._slots(index, mask)
        self.data[..., slots[mask]] = np.broadcast_to(value, (*value.shape[:-1], len(mask)))[
            ..., mask
        ]


class SharedMemory(Memory):
    """Memory that several threads see: device buffers and threadgroup arrays."""

    def __init__(
        self,
        kind: Type,
        size: int,
        data: Array,
        base: Array | int,
        group: Array,
        epoch: Array,
        initialised: bool,
    ) -> None:
        super().__init__(kind, size, data, base)
        self.initialised = initialised
        self.group = group  #: threadgroup of each lane
        self.epoch = epoch  #: barrier epoch of each lane's threadgroup; the machine advances it
        self.me = np.arange(len(group))
        slots = data.shape[-1]
        self.writer = np.full(slots, _NOBODY)
        self.write_epoch = np.full(slots, -1)
        self.reader = np.full(slots, _NOBODY)
        self.read_epoch = np.full(slots, -1)

    def load(self, index: Array, mask: Array) -> Array:
        slots = self._slots(index, mask)
        written = self.writer[slots] != _NOBODY
        require(written | self.initialised, mask, "read of uninitialised memory")
        self._check(self.writer[slots], self.write_epoch[slots], mask, "read")
        active = slots[mask]
        same = self.read_epoch[active] == self.epoch[mask]
        same &= self.reader[active] != self.me[mask]
        self.reader[active] = np.where(same, _MANY, self.me[mask])
        self.reader[active[_repeated(active)]] = _MANY
        self.read_epoch[active] = self.epoch[mask]
        return np.asarray(self.data[..., slots])

    def store(self, index: Array, value: Array, mask: Array) -> None:
        slots = self._slots(index, mask)
        active = slots[mask]
        if _repeated(active).any():
            raise Undefined("two threads store to one slot")
        self._check(self.writer[slots], self.write_epoch[slots], mask, "write")
        self._check(self.reader[slots], self.read_epoch[slots], mask, "write")
        self.writer[active], self.write_epoch[active] = self.me[mask], self.epoch[mask]
        super().store(index, value, mask)

    def atomic(self, op: str, index: Array, value: Array, mask: Array) -> None:
        slots = self._slots(index, mask)
        active = slots[mask]
        marker = _ATOMIC - _COMMUTING[op]
        ours = self.writer[slots] == marker
        self._check(self.writer[slots], self.write_epoch[slots], mask & ~ours, "update")
        self._check(self.reader[slots], self.read_epoch[slots], mask, "update")
        self.writer[active], self.write_epoch[active] = marker, self.epoch[mask]
        data = self.data.astype(np.float64) if self.type.is_float else self.data
        _ATOMIC_OPS[op](data, active, value[mask])
        if self.type.is_float:
            self.data[:] = exact(data, self.type, np.ones(len(data), bool))

    def _check(self, who: Array, when: Array, mask: Array, action: str) -> None:
        other = (who != self.me) & (who != _NOBODY)
        stranger = other & (who >= 0) & (self.group[np.maximum(who, 0)] != self.group)
        require(~(other & (when == self.epoch)) & ~stranger, mask, f"data race ({action})")


def _repeated(slots: Array) -> Array:
    """Which entries name a slot that another entry names too."""
    _, inverse, counts = np.unique(slots, return_inverse=True, return_counts=True)
    return np.asarray(counts[inverse] > 1)
