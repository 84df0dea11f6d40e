"""What a run has found: counts and failures; as text and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from anymetal.testing.failure import Failure
from anymetal.testing.fire.check import Verdict


@dataclass
class Results:
    """Adds up verdicts."""

    trials: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)  #: "tokens refused" and so on
    failures: list[Failure] = field(default_factory=list)

    def add(self, seed: int, only: str, kind: str, verdict: Verdict) -> None:
        """One more trial."""
        self.trials += 1
        self.outcomes[f"{kind} {verdict.status}"] += 1
        if verdict.failed:
            failure = Failure(seed, only, kind, verdict.status, verdict.detail, verdict.key)
            self.failures.append(failure)

    def distinct(self) -> Iterator[Failure]:
        """The first failure of each kind."""
        seen = set()
        for failure in self.failures:
            if (failure.status, failure.key) not in seen:
                seen.add((failure.status, failure.key))
                yield failure

    def save(self, path: Path) -> None:
        """Writes them as JSON."""
        data = vars(self) | {"failures": [asdict(failure) for failure in self.failures]}
        path.write_text(json.dumps(data, indent=1))

    def summary(self) -> str:
        """The counts, a line for each class."""
        kinds = sorted({name.partition(" ")[0] for name in self.outcomes})
        lines = []
        for kind in kinds:
            counts = [
                f"{count} {name.partition(' ')[2]}"
                for name, count in sorted(self.outcomes.items())
                if name.partition(" ")[0] == kind
            ]
            lines.append(f"{kind:12} {', '.join(counts)}")
        lines.append(f"{self.trials} texts, {len(self.failures)} failed")
        return "\n".join(lines)
