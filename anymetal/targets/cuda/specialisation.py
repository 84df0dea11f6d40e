"""Versions with the sizes of a launch compiled in, as the CPU's (targets/cpu/specialisation.py).

MLX's graph keeps what it was told of a call, so a version belongs to calls of one form: with
these shapes, grid and threadgroup. The bridge counts their evaluations; when there have been some,
it asks for the version, which is compiled beside the program, and takes it from then on. What
inputs hold is not known before they are evaluated, so scalars are no part of it.
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
from anymetal.targets.cuda.arguments import Binding, block_of
from anymetal.targets.cuda.code_lookup import Version, ptx_of

#: Takes the text of a version.
Taker = Callable[[bytes], None]


def known_of(launch: Launch, bound: Binding) -> Known | None:
    """What is known of all launches like this one; None if that is nothing that code asks for."""
    count, contents = len(launch.inputs), []
    before = (p for p in launch.source.parameters if p.kind != "output")
    for slot, (parameter, place) in enumerate(zip(before, bound.order, strict=True)):
        if place >= count:
            held = np.array(bound.descriptions[place - count]).tobytes()
            contents.append(Content(slot, parameter.name, held))
    if not contents and not versions.knows_sizes(launch.source):
        return None
    return Known(launch.grid, block_of(launch.grid, launch.threadgroup), tuple(contents))


def when_hot(version: Version) -> Callable[[Taker], None]:
    """What the bridge is to call: begins to make a version, and hands it over when it is there."""
    folder = cache_folder.place()

    def begin(take: Taker) -> None:
        if versions.may_have_another(version.source):
            threading.Thread(target=_make, args=(version, folder, take), daemon=True).start()

    return begin


def _make(version: Version, folder: cache_folder.Folder, take: Taker) -> None:
    try:
        with cache_folder.bound(folder):
            text = ptx_of(version)
    except CompilerError:
        return  # the general version runs on; ANYMETAL_DEBUG tells
    take(text)
