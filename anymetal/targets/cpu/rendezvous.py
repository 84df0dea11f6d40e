"""The scheduler of the scalar build: threads that wait for each other in cross-lane calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anymetal.targets.cpu.support import link_support

_SCHEDULER = "am_rendezvous"

DECLARATION = f"declare hidden void @{_SCHEDULER}(ptr, i32)\n"


def turns() -> list[str]:
    """Run the started threads of a threadgroup to their end: the last part of a ring."""
    return [
        "turn:",
        f"  call void @{_SCHEDULER}(ptr %ring, i32 %threads)",
        "  br label %group.done",
    ]


def link_scheduler(module: Any) -> None:
    """Add the scheduler to a module that calls it."""
    link_support(module, _SCHEDULER, Path(__file__).with_suffix(".cpp"))
