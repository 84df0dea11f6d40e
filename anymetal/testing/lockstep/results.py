"""What a run has found: counts, failures, and which passes fired; as text and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from anymetal.testing import failure
from anymetal.testing.lockstep import fired
from anymetal.testing.lockstep.check import Verdict
from anymetal.testing.passes_off import Off, setting


@dataclass(frozen=True)
class Failure(failure.Failure):
    """A kernel that failed, with what it was compiled without."""

    off: tuple[str, ...] = ()  #: passes of the compiler that were off

    @property
    def setting(self) -> str:
        """`ANYMETAL_PASSES` as it was."""
        return setting(self.off)


@dataclass
class Results:
    """Adds up verdicts; results of several runs can be added, too."""

    kernels: int = 0
    processor_seconds: float = 0.0  #: that compilations took
    slowest: float = 0.0  #: of them, and its seed
    slowest_seed: int = -1
    status: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def add(self, seed: int, only: str, kind: str, verdict: Verdict, off: Off = ()) -> None:
        """One more case."""
        self.kernels += 1
        self.status[verdict.status] += 1
        self.kinds[kind] += 1
        self.fired.update(verdict.fired)
        self.processor_seconds += sum(verdict.seconds.values())
        most = max(verdict.seconds.values(), default=0.0)
        if most > self.slowest:
            self.slowest, self.slowest_seed = most, seed
        if verdict.failed:
            failure = Failure(seed, only, kind, verdict.status, verdict.detail, verdict.key, off)
            self.failures.append(failure)

    def merge(self, other: Results) -> None:
        """Adds the results of another run."""
        self.kernels += other.kernels
        self.processor_seconds += other.processor_seconds
        if other.slowest > self.slowest:
            self.slowest, self.slowest_seed = other.slowest, other.slowest_seed
        self.status += other.status
        self.kinds += other.kinds
        self.fired += other.fired
        self.failures += other.failures

    def save(self, path: Path) -> None:
        """Writes them as JSON."""
        data = vars(self) | {"failures": [asdict(failure) for failure in self.failures]}
        path.write_text(json.dumps(data, indent=1))

    @classmethod
    def load(cls, path: Path) -> Results:
        """Reads what `save` wrote."""
        data = json.loads(path.read_text())
        for name in ("status", "kinds", "fired"):
            data[name] = Counter(data[name])
        data["failures"] = [
            Failure(**{**failure, "off": tuple(failure["off"])}) for failure in data["failures"]
        ]
        return cls(**data)

    def table(self) -> str:
        """How many kernels each pass fired in, the rare ones first."""
        counts = sorted((self.fired[name], name) for name in fired.names())
        gone = fired.missing()
        lines = ["kernels  what fired (anymetal.…)"]
        for count, name in counts:
            note = "  (not generated)" if name in fired.EXEMPT and not count else ""
            note = "  (no longer there)" if name in gone else note
            lines.append(f"{count:7}  {name}{note}")
        return "\n".join(lines)

    def summary(self) -> str:
        """The counts in a few lines."""
        words = ", ".join(f"{count} {status}" for status, count in sorted(self.status.items()))
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.kinds.items()))
        needed = [name for name in fired.names() if name not in fired.EXEMPT]
        rarest = min(needed, key=lambda name: self.fired[name])
        return (
            f"{self.kernels} kernels: {words}\nclasses: {kinds}\n"
            f"slowest build: {self.slowest:.1f} s of processor time (seed {self.slowest_seed})\n"
            f"rarest of {len(needed)} passes and ways: {rarest}, in {self.fired[rarest]} kernels"
        )


def merged(paths: Sequence[Path]) -> Results:
    """The results of several runs as one."""
    total = Results()
    for path in paths:
        total.merge(Results.load(path))
    return total
