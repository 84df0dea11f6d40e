"""What a recording says about each kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from statistics import median

from anymetal.profiling.lines import Line, lines_of
from anymetal.runtime.code import Code, Subject
from anymetal.runtime.recorder import Launch, Recording

#: What the bridge has the pool do before kernels run: `init_value`, rows that must be contiguous.
FILLS = Subject("(fills and copies of arrays)")


@dataclass
class KernelProfile:
    """A kernel in one generated version.

    Bytes are those of the arrays that a launch has, each counted once, however often a kernel reads
    an element. Operations are those that the program of a thread does for sure, times threads.

    Attributes:
        title: its name, with template arguments.
        variant: for which launches the version is.
        seconds: of each launch, in their order.
        failed: how many launches ended badly.
        bytes_read: bytes of input arrays in all launches.
        bytes_written: the same of output arrays.
        flops: floating-point operations in all launches, a fused multiplication and addition
            counting as two; None where loops or branches depend on data, so that nobody knows.
        floor_seconds: how long a copy of so many bytes takes on this machine.
        samples: how many there are of its threads.
        lines: where they were.
    """

    title: str
    variant: str
    seconds: list[float] = field(default_factory=list)
    failed: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    flops: int | None = 0
    floor_seconds: float = 0.0
    samples: int = 0
    lines: list[Line] = field(default_factory=list)
    entries: set[int] = field(default_factory=set, repr=False)

    @property
    def launches(self) -> int:
        """How many there were."""
        return len(self.seconds)

    @property
    def total_seconds(self) -> float:
        """Of all launches together."""
        return sum(self.seconds)

    @property
    def median_seconds(self) -> float:
        """Of a launch."""
        return median(self.seconds)

    @property
    def floor_share(self) -> float | None:
        """How much of its time a copy of the same bytes would take, 1 being as fast as memory is.

        More than 1 means that arrays came out of caches. None where bytes are not known.
        """
        return self.floor_seconds / self.total_seconds if self.floor_seconds else None

    def to_dict(self) -> dict[str, object]:
        """In values of JSON."""
        return {
            "kernel": self.title,
            "variant": self.variant,
            "launches": self.launches,
            "failed": self.failed,
            "total_seconds": self.total_seconds,
            "median_seconds": self.median_seconds,
            "bytes_read": self.bytes_read,
            "bytes_written": self.bytes_written,
            "flops": self.flops,
            "floor_share": self.floor_share,
            "samples": self.samples,
            "lines": [line._asdict() for line in self.lines],
        }


def kernels_of(
    recording: Recording, codes: Mapping[int, Code], bytes_per_second: float
) -> list[KernelProfile]:
    """The kernels of a recording, the one with the most time first."""
    found: dict[Subject, KernelProfile] = {}
    for launch in recording.launches:
        code = codes.get(launch.entry)
        subject = code.subject if code else FILLS
        one = found.setdefault(subject, KernelProfile(subject.kernel, subject.launches))
        one.entries.add(launch.entry)
        _count(one, launch, subject, code)
    counters: dict[int, list[int]] = {}
    for sample in recording.samples:
        counters.setdefault(sample.entry, []).append(sample.counter)
    for one in found.values():
        one.floor_seconds = (one.bytes_read + one.bytes_written) / bytes_per_second
        for entry in one.entries:
            met = counters.get(entry, [])
            one.samples += len(met)
            if code := codes.get(entry):
                one.lines += lines_of(code, met)
        one.lines.sort(key=lambda line: -line.samples)
    return sorted(found.values(), key=lambda one: -one.total_seconds)


def _count(one: KernelProfile, launch: Launch, subject: Subject, code: Code | None) -> None:
    one.seconds.append((launch.ended - launch.begun) * 1e-9)
    one.failed += launch.status != 0
    for kind, size in zip(subject.kinds, launch.bytes, strict=False):
        if kind == "output":
            one.bytes_written += size
        else:
            one.bytes_read += size
    if one.flops is None:
        return
    flops = code.flops if code else None
    one.flops = None if flops is None else one.flops + flops * prod(launch.grid)
