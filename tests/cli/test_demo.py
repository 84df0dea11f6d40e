"""The demo: its kernels against oracles in float64, and that it tells good from bad."""

from __future__ import annotations

import io

import mlx.core as mx
import numpy as np
import pytest
from rich.console import Console

from anymetal.cli.demo import demo
from anymetal.cli.demo.elementwise import exp, exp_strided
from anymetal.cli.demo.oracle import distance
from anymetal.cli.demo.screen import Screen
from anymetal.timing import Timing, duration, interleaved


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16], ids=str)
def test_exp(dtype: mx.Dtype) -> None:
    x = mx.random.normal((37, 29)).astype(dtype)
    expected = np.exp(np.array(x.astype(mx.float32), dtype=np.float64))
    limit = {mx.float32: 1e-6, mx.float16: 1e-3, mx.bfloat16: 8e-3}[dtype]
    assert distance(exp(x).astype(mx.float32), expected) < limit
    view = x[::-3, 4:21:2]
    assert distance(exp_strided(view).astype(mx.float32), expected[::-3, 4:21:2]) < limit


def test_the_whole_demo_on_a_plain_terminal() -> None:
    printed = io.StringIO()
    assert demo(Console(file=printed, width=80), quick=True) == 0
    text = printed.getvalue()
    assert "[[kernel]] void custom_kernel_demo_exp_float_float(" in text
    assert "FAILED" not in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_an_error_that_is_too_large_or_nan_fails() -> None:
    printed = io.StringIO()
    screen = Screen(Console(file=printed, width=80))
    screen.check("good", 1e-7, 1e-6)
    screen.check("large", 1e-5, 1e-6)
    screen.check("not a number", float("nan"), 1e-6)
    assert (screen.checks, screen.failures) == (3, 2)
    assert printed.getvalue().count("FAILED") == 2


def test_contenders_take_turns_and_ratios_are_of_one_round() -> None:
    calls: list[str] = []
    contenders = {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}
    timings = interleaved(contenders, seconds=0, rounds=4)
    assert "".join(calls) == "ab" + "abba" * 2  # once to warm up, then in turns
    assert [len(timing.seconds) for timing in timings] == [4, 4]
    slow = Timing("slow", (2.0, 20.0, 3.0))
    assert slow.over(Timing("fast", (1.0, 10.0, 1.0))) == 2
    assert slow.median == 3


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(12.345, "12.3 s"), (0.0204, "20.4 ms"), (0.000812, "812 µs"), (1.5e-7, "0.15 µs")],
)
def test_durations_have_three_digits(seconds: float, text: str) -> None:
    assert duration(seconds) == text
