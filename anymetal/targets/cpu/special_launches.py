"""Special versions where Python launches: those of Metal libraries, and all without the bridge.

What runtime/bridge/specials.h does for nodes of MLX's graph: when launches of the general version
have taken long enough, a version is made that relies on what all of them had in common.
"""

from __future__ import annotations

import threading

from anymetal.runtime.arrays import BufferTable
from anymetal.runtime.code import Code
from anymetal.targets.cpu.specialisation import Specialisation

#: What buffers hold, by position.
Held = dict[int, bytes]

#: Launches of the general version before another one is made, and versions of a plan.
_ENOUGH, _MOST = 4, 4
#: Bytes of a buffer that a version may rely on: parameters of a kernel, and not its data.
_LARGEST = 128


class SpecialLaunches:
    """The special versions of a plan. Launches ask on all threads; with `eager`, one is made before
    the first launch, else no launch waits for it."""

    def __init__(self, given: Specialisation) -> None:
        self._given = given
        self._made: tuple[tuple[Held, Code], ...] = ()
        self._lock = threading.Lock()  # of what follows
        self._making = self._full = False
        self._seen: Held = {}  # the same in all launches since the last version
        self._launches = 0
        self._spent = 0.0

    def held(self, table: BufferTable) -> Held | None:
        """What a launch has in the buffers that count; None if no version may serve it."""
        if any(table.shares_memory(slot) for slot in self._given.written):
            return None
        contents = ((slot, table.content(slot, _LARGEST)) for slot in self._given.slots)
        return {slot: held for slot, held in contents if held is not None}

    def fitting(self, held: Held) -> Code | None:
        """The version for a launch; None: the general one."""
        found = self._find(held)
        if found or self._given.hot or not self._is_time(held, 0):
            return found
        self._make()
        return self._find(held)

    def learn(self, held: Held, nanoseconds: float) -> None:
        """A launch of the general version has taken so much time of processors."""
        if self._given.hot and self._is_time(held, nanoseconds):
            threading.Thread(target=self._make, daemon=True).start()

    def _find(self, held: Held) -> Code | None:
        return next((code for relies, code in self._made if relies.items() <= held.items()), None)

    def _is_time(self, held: Held, nanoseconds: float) -> bool:
        """Whether to call `_make`, which has to be done then."""
        with self._lock:
            if self._making or self._full:
                return False
            self._seen = dict(self._seen.items() & held.items()) if self._launches else held
            self._launches += 1
            self._spent += nanoseconds
            enough = self._launches >= _ENOUGH and self._spent >= self._given.hot
            self._making = enough or not self._given.hot
            return self._making

    def _make(self) -> None:
        relies, code = self._seen, None
        try:
            code = self._given.code_for(sorted(relies.items()))
        finally:
            with self._lock:
                if code:
                    self._made += ((relies, code),)
                self._full = code is None or len(self._made) == _MOST
                self._making, self._launches, self._spent = False, 0, 0.0
