"""What a call costs besides the work, each time beside its budget.

Most of it can happen only once in a process, so each figure is the median over fresh processes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

from anymetal.timing import duration

PROCESSES = 5
WARM = 25e-6  #: seconds that a warm call may take

_KERNEL = """
import sys, time
from statistics import median
import mlx.core as mx
import anymetal

def make(number):
    return anymetal.metal_kernel(
        name="tiny", input_names=["x"], output_names=["out"],
        source=f"uint i = thread_position_in_grid.x; out[i] = metal::exp(x[i]) * {number}.0f;")

x = mx.ones((16,))
mx.eval(x)

def call(kernel):
    start = time.perf_counter()
    (out,) = kernel(inputs=[x], grid=(16, 1, 1), threadgroup=(16, 1, 1),
                    output_shapes=[(16,)], output_dtypes=[mx.float32])
    mx.eval(out)
    return time.perf_counter() - start

number = int(sys.argv[1])
"""
_IMPORT = """
import time
import mlx.core
start = time.perf_counter()
import anymetal
print(time.perf_counter() - start)
"""
_FIRST = _KERNEL + "print(call(make(number)))"
_LATER = _KERNEL + "call(make(0)); call(make(1000 + number)); print(call(make(number)))"
_WARM = _KERNEL + "kernel = make(0); print(median(call(kernel) for _ in range(3000)))"
_LAZY = (
    _KERNEL
    + """
kernel, many = make(0), 500

def ours():
    return kernel(inputs=[x], grid=(16, 1, 1), threadgroup=(16, 1, 1),
                  output_shapes=[(16,)], output_dtypes=[mx.float32])[0]

def theirs():
    return mx.exp(x)

def times(make):
    start = time.perf_counter()
    results = [make() for _ in range(many)]
    built = time.perf_counter()
    mx.eval(results)
    return (built - start) / many, (time.perf_counter() - built) / many

call(kernel)
rounds = [(*times(ours), *times(theirs)) for _ in range(21)]
"""
)
_BUILD = _LAZY + "print(median(build for build, _, _, _ in rounds))"
_EVALUATE = _LAZY + "print(median(ours - theirs for _, ours, _, theirs in rounds))"
#: Keeps a processor from sleeping, and lets everybody else go first.
_AWAKE = """
import os
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while os.getppid() == {parent}:
    pass
"""
_MLX = """
import time
from statistics import median
import mlx.core as mx

def call():
    start = time.perf_counter()
    mx.eval(mx.exp(x))
    return time.perf_counter() - start

x = mx.ones((16,))
mx.eval(x)
print(median(call() for _ in range(3000)))
"""


@dataclass(frozen=True)
class Latency:
    """One figure; `budget` in seconds, 0 if there is none."""

    name: str
    seconds: tuple[float, ...]
    budget: float = 0

    @property
    def line(self) -> tuple[str, str, str, str, str]:
        """Name, median, range, budget, verdict."""
        middle = median(self.seconds)
        spread = f"{duration(min(self.seconds))} to {duration(max(self.seconds))}"
        budget = duration(self.budget) if self.budget else ""
        verdict = ("ok" if middle <= self.budget else "OVER") if self.budget else ""
        return self.name, duration(middle), spread, budget, verdict


TITLE = f"latency: the cost of a call, {PROCESSES} processes each"
HEADINGS = ("", "median", "range", "budget", "")


def measure() -> Iterator[Latency]:
    """All figures. They use a cache of their own, which holds what all kernels have in common."""
    new, newer = range(1, 1 + PROCESSES), range(101, 101 + PROCESSES)
    with tempfile.TemporaryDirectory() as cache:
        _child(_FIRST, cache, 0)  # builds the precompiled header, the pool and kernel 0

        def each(code: str, numbers: Sequence[int], bridge: str = "wait") -> tuple[float, ...]:
            return tuple(_child(code, cache, number, bridge) for number in numbers)

        yield Latency("import anymetal, after mlx.core", each(_IMPORT, new), 0.150)
        yield Latency("first call of a new kernel, in a new process", each(_FIRST, new), 0.5)
        yield Latency("first call of a new kernel, later", each(_LATER, newer), 0.5)
        yield Latency("first call of a cached kernel, in a new process", each(_FIRST, new), 0.050)
        yield Latency("warm call, launched at once", each(_WARM, new, bridge="0"), WARM)
        yield Latency("warm call, a node of the graph", each(_WARM, new), WARM)
        yield Latency("  for comparison: mx.exp of 16 elements", each(_MLX, new))
        with processors_awake():
            yield Latency("  the same, processors kept awake", each(_WARM, new), WARM)
            yield Latency("  mx.exp, processors kept awake", each(_MLX, new))
        yield Latency("node of the graph, 16 elements: to build", each(_BUILD, new), 10e-6)
        yield Latency("  to evaluate, beyond mx.exp", each(_EVALUATE, new), 10e-6)


@contextmanager
def processors_awake() -> Iterator[None]:
    """Nobody waits for a processor to wake up.

    MLX evaluates on a thread of its own, which sleeps between calls; so does its processor, and in
    a virtual machine it takes some 20 µs to come back, for MLX's own operations as well.
    """
    code = _AWAKE.format(parent=os.getpid())
    processors = os.sched_getaffinity(0) if hasattr(os, "SCHED_IDLE") else ()
    spinning = [subprocess.Popen([sys.executable, "-c", code]) for _ in processors]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def _child(code: str, cache: str, number: int, bridge: str = "wait") -> float:
    """Run code in a new process; what it prints is the figure. Kernels are nodes of MLX's graph,
    or with `bridge` "0" launched at once."""
    done = subprocess.run(
        [sys.executable, "-c", code, str(number)],
        env={**os.environ, "ANYMETAL_CACHE_DIR": cache, "ANYMETAL_BRIDGE": bridge},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"a measuring process failed:\n{done.stderr}")
    return float(done.stdout)
