"""Launches in Chrome's trace format, which chrome://tracing and ui.perfetto.dev show.

The format: "Trace Event Format", Google (complete events, `"ph": "X"`, in microseconds).
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from anymetal.runtime.recorder import Launch


class Compilation(NamedTuple):
    """A kernel that was looked for beyond this process."""

    kernel: str
    where: str  #: "compiled" or "from the disk cache"
    ended: int  #: nanoseconds of the monotonic clock
    seconds: float


def write(
    path: str,
    begun: int,
    launches: Iterable[tuple[str, Launch]],
    compilations: Iterable[Compilation],
) -> None:
    """Write a trace; `begun` is when its time begins."""
    launches = list(launches)
    events: list[Mapping[str, object]] = [
        _event(
            name,
            "kernel",
            launch.begun - begun,
            launch.ended - launch.begun,
            launch.thread,
            {"grid": launch.grid, "threadgroup": launch.group, "bytes": sum(launch.bytes)},
        )
        for name, launch in launches
    ]
    for one in compilations:
        length = int(one.seconds * 1e9)
        where = {"where": one.where}
        events.append(
            _event(f"compile {one.kernel}", "compile", one.ended - length - begun, length, 0, where)
        )
    events += _names({launch.thread for _, launch in launches})
    with open(path, "w") as file:
        json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file)


def _event(
    name: str, category: str, begun: int, length: int, thread: int, more: Mapping[str, object]
) -> Mapping[str, object]:
    return {
        "name": name,
        "cat": category,
        "ph": "X",
        "ts": begun / 1000,
        "dur": length / 1000,
        "pid": os.getpid(),
        "tid": thread,
        "args": more,
    }


def _names(threads: set[int]) -> list[Mapping[str, object]]:
    """What the rows of the picture are called."""
    known = {one.native_id: one.name for one in threading.enumerate()}
    names = {thread: known.get(thread, f"a stream of MLX ({thread})") for thread in threads}
    return [
        {
            "name": "thread_name",
            "ph": "M",
            "pid": os.getpid(),
            "tid": thread,
            "args": {"name": name},
        }
        for thread, name in {0: "compilation", **names}.items()
    ]
