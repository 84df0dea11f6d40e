"""How much work something is, where its time would say more about the machine than about it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def function_calls(work: Callable[[], object]) -> int:
    """How many functions, of Python and of C, it calls in this thread; the call of it is one."""
    number = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return number - 1  # that of setprofile
