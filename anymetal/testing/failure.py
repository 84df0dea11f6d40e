"""What a fuzzer keeps of a case that failed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Failure:
    """A case that failed. The fuzzer's command with `--seed SEED --count 1` repeats it, with
    `--class ONLY` if the run was of one class."""

    seed: int
    only: str
    kind: str
    status: str
    detail: str
    key: str

    @property
    def setting(self) -> str:
        """Variables in front of the command, and a space; or nothing."""
        return ""

    @property
    def line(self) -> str:
        """What repeats it, and how it failed."""
        only = f" --class {self.only}" if self.only else ""
        what = " ".join(self.detail.split())[:160]
        return f"{self.status}: {self.setting}--seed {self.seed}{only} ({self.kind}) {what}"
