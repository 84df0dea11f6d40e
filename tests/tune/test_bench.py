"""`do_bench`: what counts, and what is printed."""

from __future__ import annotations

import time

import mlx.core as mx
import pytest

import anymetal
from anymetal.timing import Timing
from anymetal.tune.bench import Bench


def test_times_are_those_of_the_call():
    bench = anymetal.do_bench(lambda: time.sleep(0.002), seconds=0.05, warmup=0)
    assert bench.seconds >= 0.002
    assert len(bench.times.seconds) >= 7
    low, high = bench.quartiles
    assert 0.002 <= low <= bench.seconds <= high
    assert bench.floor is bench.share_of_floor is None


def test_what_is_returned_is_evaluated():
    """In trees, too: evaluation happens in the time and not later."""
    done = []

    @mx.custom_function
    def lazy(x):
        return x + 1

    def call():
        outputs = {"a": [lazy(mx.ones(3))], "b": mx.zeros(2)}
        done.append(outputs)
        return outputs

    bench = anymetal.do_bench(call, seconds=0.01, warmup=0.01)
    assert len(done) > len(bench.times.seconds)


def test_a_floor_takes_part_in_each_round():
    x = mx.random.normal((1 << 16,))
    bench = anymetal.do_bench(lambda: mx.exp(x), seconds=0.05, bytes_moved=2 * x.nbytes)
    assert bench.floor is not None
    assert len(bench.floor.seconds) == len(bench.times.seconds)
    assert bench.share_of_floor > 0


def test_a_line_for_people():
    times = Timing("call", (0.002, 0.002, 0.004, 0.002, 0.002))
    assert str(Bench(times)) == "2.00 ms (2.00 ms to 2.00 ms, 5 rounds)"
    floor = Timing("floor", (0.001,) * 5)
    assert str(Bench(times, floor)) == "2.00 ms (2.00 ms to 2.00 ms, 5 rounds), 0.50 of the floor"


@pytest.mark.parametrize("name", ["seconds", "warmup", "bytes_moved"])
def test_negative_numbers(name):
    with pytest.raises(ValueError, match=rf"\[do_bench\] {name} must not be negative, but is -1"):
        anymetal.do_bench(lambda: None, **{name: -1})
