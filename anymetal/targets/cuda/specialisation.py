"""Versions with the sizes of a launch compiled in, as the CPU's (targets/cpu/specialisation.py).

MLX's graph keeps what it was told of a call, so a version belongs to calls of one form: with
these shapes, grid and threadgroup. Each call that is made anew counts, and the bridge tells when
one has been evaluated some times. Then the version is compiled beside the program, and taken from
then on. What inputs hold is not known before they are evaluated, so scalars are no part of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from anymetal.errors import CompilerError
from anymetal.frontend.known import Content, Known
from anymetal.runtime import cache_folder
from anymetal.targets import versions
from anymetal.targets.base import Launch
from anymetal.targets.cuda.arguments import DESCRIBED, block_of, numbers_of
from anymetal.targets.cuda.code_lookup import Version, ptx_of

#: Takes the text of a version.
Taker = Callable[[bytes], None]
#: Calls that are made anew before a version pays; the bridge has as many evaluations (gpu.h).
_ENOUGH = 16


def known_of(launch: Launch) -> Known | None:
    """What is known of all launches like this one; None if that is nothing that code asks for."""
    contents = []
    before = (p for p in launch.source.parameters if p.kind != "output")
    for slot, parameter in enumerate(before):
        if parameter.kind != "input":
            shape = launch.inputs[parameter.argument].shape
            numbers = np.array(numbers_of(parameter.kind, shape), DESCRIBED[parameter.kind])
            contents.append(Content(slot, parameter.name, numbers.tobytes()))
    if not contents and not versions.knows_sizes(launch.source):
        return None
    return Known(launch.grid, block_of(launch.grid, launch.threadgroup), tuple(contents))


class Special:
    """The version for calls of one form, once there are enough of them."""

    def __init__(self) -> None:
        self.text: bytes | None = None
        self._lock = threading.Lock()  # of what follows, and of `text`
        self._calls = 0
        self._begun = False
        self._waiting: list[Taker] | None = []  #: None: there will be no more to wait for

    def called(self, version: Version) -> None:
        """There is another such call."""
        self._calls += 1
        if self._calls == _ENOUGH:
            self.wanted(version, lambda text: None)

    def wanted(self, version: Version, take: Taker) -> None:
        """Calls `take` with the text as soon as there is one; the first who asks has it made, if
        the kernel may have another version."""
        with self._lock:
            if not self._begun:
                self._begun = True
                self._begin(version)
            if self._waiting is not None:
                self._waiting.append(take)
            text = self.text
        if text:
            take(text)

    def _begin(self, version: Version) -> None:
        if versions.may_have_another(version.source):
            given = version, cache_folder.place()
            threading.Thread(target=self._make, args=given, daemon=True).start()
        else:
            self._waiting = None

    def _make(self, version: Version, folder: cache_folder.Folder) -> None:
        text = None
        try:
            with cache_folder.bound(folder):
                text = ptx_of(version)
        except CompilerError:
            pass  # the general version runs on; ANYMETAL_DEBUG tells
        with self._lock:
            self.text, waiting, self._waiting = text, self._waiting or [], None
        if text:
            for take in waiting:
                take(text)
