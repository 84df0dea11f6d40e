"""Processes that work is handed to."""

from __future__ import annotations

import math
import os
from multiprocessing.connection import Connection

import pytest

from anymetal.testing.mlx_kernels import workers


def tell_who(pipe: Connection) -> None:
    """Answers with the number of its process."""
    while pipe.recv() is not None:
        pipe.send(os.getpid())


def test_another_process_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_MOST_PIECES", 3)
    found = list(workers.outcomes(tell_who, (), range(7), 1, math.inf, 60))
    assert [piece for piece, _, _ in found] == list(range(7))
    a, b, c = (answer for _, answer, _ in found[::3])
    assert [answer for _, answer, _ in found] == [a, a, a, b, b, b, c] and len({a, b, c}) == 3
