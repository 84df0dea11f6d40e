"""Measured tables: what `anymetal tune` writes and the switch reads.

One JSON text for each device, in the disk cache (runtime/disk_cache.py):
`<cache>/tune/<device>.json`, and one more for each function under `autotune`.
`anymetal cache clear` leaves it alone unless it is asked otherwise. A file that is not what was
written, or was measured with another version of AnyMetal or MLX, counts as none.
"""

from __future__ import annotations

import functools
import json
import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import mlx.core as mx

from anymetal.runtime import disk_cache, files
from anymetal.tune.device import Device, device, kind_of_device

_FORMAT = 1

#: Measured sizes answer for others up to this factor away, in each extent.
REACH = 8.0
#: Who is faster by less than this has not won: timings repeat no better.
CLEAR = 1.05


@dataclass(frozen=True)
class Entry:
    """One case, measured."""

    operation: str
    case: str  #: what was measured, in words; unique within the operation
    sizes: tuple[int, ...]
    dtype: str
    seconds: dict[str, float]  #: by path: those whose result is right
    wrong: dict[str, str] = field(default_factory=dict)  #: by path: what is wrong
    rough: bool = False  #: measured by `anymetal tune --quick`

    def order(self) -> list[str]:
        """Paths, the fastest first."""
        return sorted(self.seconds, key=lambda path: (self.seconds[path], path))

    def close(self) -> list[str]:
        """The paths that nobody beats clearly, the fastest first."""
        order = self.order()
        return [path for path in order if self.seconds[path] < CLEAR * self.seconds[order[0]]]


class Found(NamedTuple):
    """The answer of a table."""

    path: str
    reason: str


@dataclass
class Table:
    """All that was measured on one device."""

    device: Device
    entries: dict[tuple[str, str], Entry] = field(default_factory=dict)  #: by operation and case
    topic: str = ""  #: of a table that is not about our own routines (configurations.py)
    where: str = "here"  #: it was measured, in words

    def add(self, entry: Entry) -> None:
        """Keep a measurement in the place of an older one of the same case."""
        self.entries[entry.operation, entry.case] = entry

    def operations(self) -> list[str]:
        """Those of which something was measured."""
        return list(dict.fromkeys(operation for operation, _ in self.entries))

    def of(self, operation: str) -> list[Entry]:
        """What was measured of an operation."""
        return [entry for entry in self.entries.values() if entry.operation == operation]

    def winner(self, entry: Entry) -> str | None:
        """The path to take for a case; None if all are wrong.

        Among those as fast as the fastest it is one that wins clearly elsewhere, so that a routine
        does not change its path for nothing.
        """
        close = entry.close()
        kept = [path for path in close if path in self.winners(entry.operation)]
        return next(iter(kept or close), None)

    def winners(self, operation: str) -> set[str]:
        """The paths that win a case clearly."""
        alone = (entry.close() for entry in self.of(operation))
        return {paths[0] for paths in alone if len(paths) == 1}

    def losers(self, operation: str) -> list[str]:
        """The paths that win nowhere: taken only where the winner cannot serve a call."""
        entries = self.of(operation)
        taken = {self.winner(entry) for entry in entries}
        return sorted({path for entry in entries for path in entry.seconds} - taken)

    def nearest(
        self, operation: str, sizes: Sequence[int], dtype: str, among: Sequence[str]
    ) -> Found | None:
        """The path that won at the nearest sizes of the same dtype.

        Near is meant in the logarithms of the extents, as a Euclidean distance; an extent beyond
        `REACH` times the measured one, or below its REACH-th part, is too far. A winner that cannot
        serve this call leaves its place to the fastest that can.
        """
        candidates = (
            (distance, entry)
            for entry in self.of(operation)
            if entry.dtype == dtype and (distance := _distance(entry.sizes, sizes)) is not None
        )
        for _, entry in sorted(candidates, key=lambda pair: (pair[0], pair[1].sizes)):
            for path in (self.winner(entry), *entry.order()):
                if path is not None and path in among:
                    return Found(path, _reason(entry, path, among, self.where))
        return None


def of_this_device() -> Table | None:
    """The table of the device in use, if there is one."""
    return _of_kind(kind_of_device())


@functools.cache
def _of_kind(_: str) -> Table | None:
    # Asking for the device starts the thread pool; most machines never saw `anymetal tune`.
    if not disk_cache.tables():
        return None
    return read(device())


@functools.cache
def shipped(kind: str) -> Table | None:
    """The table that AnyMetal brings for all devices of a kind, measured on one of them."""
    file = Path(__file__).with_name("shipped") / f"{kind}.json"
    if not file.exists():
        return None
    stored = json.loads(file.read_text())
    name = stored["device"]
    return _table(stored, Table(Device(kind, name, ""), where=f"on {name}"))


def forget() -> None:
    """Have tables read again."""
    _of_kind.cache_clear()


def read(wanted: Device, topic: str = "") -> Table | None:
    """The stored table of a device. A bad file is a warning."""
    try:
        found = disk_cache.get_table(_name(wanted, topic))
    except files.Damaged as damage:
        _warn(str(damage))
        return None
    if found is None:
        return None
    try:
        stored = json.loads(found.content)
        if stored["format"] != _FORMAT or stored["versions"] != versions():
            return None
        return _table(stored, Table(wanted, topic=topic))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        _warn(f"{found.path}: {type(error).__name__}: {error}")
        return None


def write(table: Table) -> Path:
    """Store a table; readers see the old file or the new one."""
    text = json.dumps(_stored(table), indent=1)
    description = f"measured on {table.device.name}"
    return disk_cache.put_table(_name(table.device, table.topic), text.encode(), description)


def file_of(wanted: Device) -> Path:
    """Where the table of a device is kept."""
    return disk_cache.table_file(_name(wanted))


def _name(wanted: Device, topic: str = "") -> str:
    return f"{wanted.key}-{topic}.json" if topic else f"{wanted.key}.json"


@functools.cache
def versions() -> dict[str, str]:
    """What besides the device decides who is faster."""
    import anymetal

    mlx: str = mx.__version__  # type: ignore[attr-defined]  # the stubs lack it
    return {"anymetal": anymetal.__version__, "mlx": mlx}


def _distance(measured: Iterable[int], wanted: Sequence[int]) -> float | None:
    measured = tuple(measured)
    if len(measured) != len(wanted):
        return None
    steps = [
        math.log2(max(1, m)) - math.log2(max(1, w)) for m, w in zip(measured, wanted, strict=True)
    ]
    if any(abs(step) > math.log2(REACH) for step in steps):
        return None
    return math.hypot(*steps)


def _reason(entry: Entry, path: str, among: Sequence[str], place: str) -> str:
    """How the path compares with the best of the others that can serve the call."""
    where = f"measured {place} at {entry.case}"
    others = [other for other in entry.order() if other != path and other in among]
    if not others:
        return where
    ratio = entry.seconds[others[0]] / entry.seconds[path]
    if 1 / CLEAR < ratio < CLEAR:
        return f"{where}: as fast as {others[0]}"
    return f"{where}: {others[0]} takes {ratio:.2f} times as long"


def _stored(table: Table) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "versions": versions(),
        "device": table.device.name,
        "losers": {name: table.losers(name) for name in table.operations()},  # for people
        "entries": [
            {
                "operation": entry.operation,
                "case": entry.case,
                "sizes": entry.sizes,
                "dtype": entry.dtype,
                "seconds": {path: entry.seconds[path] for path in entry.order()},
                **({"wrong": entry.wrong} if entry.wrong else {}),
                **({"rough": True} if entry.rough else {}),
            }
            for entry in table.entries.values()
        ],
    }


def _table(stored: dict[str, Any], table: Table) -> Table:
    """What is stored, in a table that has nothing yet."""
    for one in stored["entries"]:
        seconds = {str(path): float(taken) for path, taken in one["seconds"].items()}
        if not all(0 < taken < math.inf for taken in seconds.values()):
            raise ValueError(f"impossible times in {one}")
        table.add(
            Entry(
                str(one["operation"]),
                str(one["case"]),
                tuple(map(int, one["sizes"])),
                str(one["dtype"]),
                seconds,
                {str(path): str(what) for path, what in one.get("wrong", {}).items()},
                bool(one.get("rough", False)),
            )
        )
    return table


def _warn(problem: str) -> None:
    warnings.warn(
        f"this is no table of `anymetal tune`: {problem}; the shipped rules decide. Run `anymetal "
        "tune` to measure anew.",
        RuntimeWarning,
        stacklevel=3,
    )
