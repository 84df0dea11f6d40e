"""Limits of time that the environment sets."""

from __future__ import annotations

import os


def seconds_in(variable: str) -> float | None:
    """A time limit from the environment; None if there is none."""
    text = os.environ.get(variable, "")
    if not text:
        return None
    try:
        if 0 < (seconds := float(text)) < 1e9:
            return seconds
    except ValueError:
        pass
    raise ValueError(f"{variable} must be a number of seconds above 0, not {text!r}")
