"""Kernels that show whether they ran, end badly, or take their time; and programs that use them."""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import mlx.core as mx
import numpy as np

import anymetal
from anymetal.kernel import MetalKernel
from tests.runtime.native import ROOT


def kernel(
    name: str,
    body: str,
    inputs: Sequence[str] = ("x",),
    outputs: Sequence[str] = ("out",),
    **options: Any,
) -> MetalKernel:
    """A kernel whose body finds the number of its thread in `i`."""
    source = f"uint i = thread_position_in_grid.x; {body}"
    return anymetal.metal_kernel(name, inputs, outputs, source, **options)


def run(kernel: MetalKernel, *inputs: Any, **call: Any) -> list[mx.array]:
    """A call with as many threads and elements as the first input has, unless it says otherwise."""
    shape = call.pop("shape") if "shape" in call else inputs[0].shape
    count = len(kernel.definition.output_names)
    call.setdefault("output_shapes", [shape] * count)
    call.setdefault("output_dtypes", [call.pop("dtype", mx.float32)] * count)
    call.setdefault("grid", (math.prod(shape), 1, 1))
    call.setdefault("threadgroup", (64, 1, 1))
    return kernel(inputs=list(inputs), **call)


_double = kernel("double", "out[i] = 2 * x[i];")
_negate_sin = kernel("minus_sin", "out[i] = -metal::precise::sin(x[i]);")
_broken = kernel("broken", "out[i] = x[i] + nonsense;")
_faulty = kernel("faulty", "out[(1l << 45) + i] = x[i];")
_endless = kernel("endless", "volatile int on = 1; while (on) {} out[i] = x[i];")
_slow = kernel(
    "slow",
    "float value = x[i]; for (int k = 0; k < steps[0]; ++k) value = value * 0.5f + 0.5f; "
    "out[i] = value;",
    ("x", "steps"),
)
_waiting = kernel(
    "waiting",
    "device atomic_int* gate = (device atomic_int*)open; "
    "atomic_store_explicit(gate + 1, 1, memory_order_relaxed); "
    "while (atomic_load_explicit(gate, memory_order_relaxed) == 0) {} "
    "out[i] = x[i];",
    ("x", "open"),
)
_ticking = kernel(
    "ticking",
    "if (i == 0) atomic_fetch_add_explicit((device atomic_int*)ticks, 1, memory_order_relaxed); "
    "out[i] = x[i];",
    ("x", "ticks"),
)


def double(x: mx.array, **call: Any) -> mx.array:
    return run(_double, x, **call)[0]


def minus_sin(x: mx.array, **call: Any) -> mx.array:
    return run(_negate_sin, x, **call)[0]


def broken(x: mx.array, **call: Any) -> mx.array:
    """Does not compile."""
    return run(_broken, x, **call)[0]


def faulty(x: mx.array, **call: Any) -> mx.array:
    """Writes where no memory is."""
    return run(_faulty, x, **call)[0]


def endless(x: mx.array, **call: Any) -> mx.array:
    """Runs until it is stopped."""
    return run(_endless, x, **call)[0]


def slow(x: mx.array, steps: int, **call: Any) -> mx.array:
    """Ones, if x is ones; a million steps take some milliseconds."""
    return run(_slow, x, mx.array([steps] * 8), **call)[0]


class Gate:
    """A kernel that waits: work that is under way for as long as a test wants.

    It reads, and writes, an *input* that Python changes meanwhile: a spy.
    """

    def __init__(self) -> None:
        self._array = mx.zeros((8,), mx.int32)
        mx.eval(self._array)

    def __call__(self, x: mx.array, **call: Any) -> mx.array:
        """x, once the gate is open."""
        return run(_waiting, x, self._array, **call)[0]

    def open(self) -> None:
        np.array(self._array, copy=False)[0] = 1

    @property
    def reached(self) -> bool:
        """Whether the kernel runs, or ran."""
        return bool(np.array(self._array, copy=False)[1])


class Ticks:
    """Counts how often its kernel ran. The kernel adds to an *input*, in place: a spy, too."""

    def __init__(self) -> None:
        self._array = mx.zeros((8,), mx.int32)
        mx.eval(self._array)

    def __call__(self, x: mx.array, **call: Any) -> mx.array:
        """x, and a tick when it runs."""
        return run(_ticking, x, self._array, **call)[0]

    @property
    def count(self) -> int:
        return int(np.array(self._array, copy=False)[0])


def active_memory() -> int:
    """Bytes in arrays, once all work is done and all that nobody holds is gone."""
    gc.collect()
    mx.synchronize()
    return mx.get_active_memory()


#: What `program` puts in front.
PROLOGUE = '''
import faulthandler, os, signal, sys, threading, time
faulthandler.dump_traceback_later(TIMEOUT, exit=True)
import mlx.core as mx
import anymetal
from tests.graph.kernels import *
x = mx.ones(8)

def interrupt(*gates):
    for gate in gates:
        while not gate.reached:
            time.sleep(0.01)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

def ctrl_c(*gates):
    """Ctrl-C as soon as a kernel waits at the gate; one for each gate."""
    threading.Thread(target=interrupt, args=gates, daemon=True).start()
'''


def program(text: str, timeout: int = 60, **environment: str) -> subprocess.CompletedProcess[str]:
    """What became of a program of its own, which knows this module and x, eight ones.

    One that takes longer than the timeout, in seconds, ends with a trace of all its threads.
    """
    return subprocess.run(
        [sys.executable, "-c", PROLOGUE.replace("TIMEOUT", str(timeout - 10)) + text],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def answer(text: str, timeout: int = 60, **environment: str) -> list[str]:
    """The lines that a program printed; it must end well and say nothing else."""
    done = program(text, timeout, **environment)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()
