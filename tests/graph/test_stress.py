"""Many kernels in flight: random graphs over several streams, compared with NumPy; nothing is left.

The bridge shares little between threads (plans, failures, the thread pool), and what it shares can
be wrong in ways that only happen now and then. A build for ThreadSanitizer would need a Python and
an MLX that are built for it, too; so these tests provoke such moments instead: streams that wait
for each other, kernels that are compiled while others run, results that are let go while they are
computed, several threads of Python. Each runs in a process of its own, which is killed with a trace
of all threads should it stand still.
"""

from __future__ import annotations

import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import mlx.core as mx
import numpy as np
import pytest

from tests.graph.kernels import active_memory, answer, kernel, run

#: Numbers stay small: every operation works in integers modulo a prime.
PRIME = 8191

_add = kernel("add_mod", f"out[i] = (x[i] + y[i]) % {PRIME};", ("x", "y"))
_mix = kernel(
    "mix_mod",
    f"int a = x[i], b = y[n - 1 - i]; s[i] = (a + 3 * b) % {PRIME}; d[i] = (2 * a + b) % {PRIME};",
    ("x", "y", "n"),
    ("s", "d"),
)
_strided = kernel(
    "strided_mod",
    f"out[i] = (x[elem_to_loc(i, x_shape, x_strides, x_ndim)] * 5 + 1) % {PRIME};",
    ensure_row_contiguous=False,
)
_count = kernel(
    "count_mod",
    "atomic_fetch_add_explicit(&out[x[i] % 16], 1, memory_order_relaxed);",
    atomic_outputs=True,
)

Pair = tuple[mx.array, np.ndarray]


def add(a: mx.array, b: mx.array, **call: object) -> mx.array:
    return run(_add, a, b, dtype=mx.int32, **call)[0]


class Dag:
    """A random graph of kernels and operations, each result beside NumPy's."""

    def __init__(self, seed: int, size: int, streams: list[mx.Stream]) -> None:
        self._random = random.Random(seed)
        self._streams = streams
        self._size = size
        start = np.random.default_rng(seed).integers(0, PRIME, (4, size)).astype(np.int32)
        self.pairs: list[Pair] = [(mx.array(row), row) for row in start]
        self._compiled = mx.compile(
            lambda x, y: (add(add(x, y, stream=streams[0]), x, stream=streams[-1]) + 1) % PRIME
        )
        self.launches = 0

    def grow(self, launches: int) -> None:
        """Add nodes until so many kernels were launched."""
        steps = [
            self._kernel, self._kernel, self._two_outputs, self._strided, self._counted,
            self._operation, self._compiled_call, self._start, self._evaluate, self._forget,
        ]  # fmt: skip
        while self.launches < launches:
            self._random.choice(steps)()

    def check(self) -> None:
        chosen = self._random.sample(self.pairs, min(len(self.pairs), 40))
        for ours, expected in [*chosen, *self.pairs[-10:]]:
            assert np.array_equal(np.array(ours), expected)

    def _pick(self) -> Pair:
        # Mostly recent results, so that the graph is deep.
        recent = self.pairs[-12:] if self._random.random() < 0.7 else self.pairs
        return self._random.choice(recent)

    @property
    def _stream(self) -> mx.Stream:
        return self._random.choice(self._streams)

    def _kernel(self) -> None:
        (x, nx), (y, ny) = self._pick(), self._pick()
        self.launches += 1
        self.pairs.append((add(x, y, stream=self._stream), (nx + ny) % PRIME))

    def _two_outputs(self) -> None:
        (x, nx), (y, ny) = self._pick(), self._pick()
        self.launches += 1
        s, d = run(_mix, x, y, self._size, dtype=mx.int32, stream=self._stream)
        back = ny[::-1]
        if self._random.random() < 0.7:
            self.pairs.append((s, (nx + 3 * back) % PRIME))
        self.pairs.append((d, (2 * nx + back) % PRIME))

    def _strided(self) -> None:
        x, nx = self._pick()
        self.launches += 1
        turned = x.reshape(-1, 8).T[::-1]
        (y,) = run(_strided, turned, dtype=mx.int32, stream=self._stream)
        self.pairs.append((y.reshape(-1), (nx.reshape(-1, 8).T[::-1].reshape(-1) * 5 + 1) % PRIME))

    def _counted(self) -> None:
        x, nx = self._pick()
        self.launches += 1
        (counts,) = run(
            _count, x, dtype=mx.int32, output_shapes=[(16,)], init_value=0, stream=self._stream,
        )  # fmt: skip
        expected = np.bincount(nx % 16, minlength=16).astype(np.int32)
        wide = mx.tile(counts, self._size // 16)
        self.pairs.append((wide, np.tile(expected, self._size // 16)))

    def _operation(self) -> None:
        (x, nx), (y, ny) = self._pick(), self._pick()
        stream = self._stream
        z = mx.remainder(mx.add(x, mx.multiply(y, 2, stream=stream), stream=stream), PRIME)
        self.pairs.append((z, (nx + 2 * ny) % PRIME))

    def _compiled_call(self) -> None:
        (x, nx), (y, ny) = self._pick(), self._pick()
        self.launches += 2
        self.pairs.append((self._compiled(x, y), ((nx + ny) % PRIME + nx) % PRIME))
        ours, expected = self.pairs[-1]
        self.pairs[-1] = (ours, (expected + 1) % PRIME)

    def _start(self) -> None:
        mx.async_eval([self._pick()[0] for _ in range(3)])

    def _evaluate(self) -> None:
        if self._random.random() < 0.1:
            mx.eval(self._pick()[0])

    def _forget(self) -> None:
        """Let a result go, perhaps while it is computed."""
        if len(self.pairs) > 30:
            del self.pairs[self._random.randrange(len(self.pairs) - 10)]


def work(seed: int, launches: int, size: int = 1024, streams: int = 2) -> None:
    """A random graph on streams of this thread."""
    dag = Dag(seed, size, [mx.new_stream(mx.cpu) for _ in range(streams)])
    dag.grow(launches)
    dag.check()


def one_batch(seed: int, launches: int) -> None:
    """The same, all in flight at once: nothing is evaluated before everything is recorded."""
    dag = Dag(seed, 256, [mx.new_stream(mx.cpu), mx.new_stream(mx.cpu)])
    dag._start = dag._evaluate = dag._forget = lambda: None  # type: ignore[method-assign]
    dag.grow(launches)
    mx.async_eval([ours for ours, _ in dag.pairs])
    dag.check()


def compile_together(threads: int) -> None:
    """Threads evaluate kernels that nobody has compiled, some of them the same."""
    barrier = threading.Barrier(threads)

    def meet(number: int) -> list[float]:
        x = mx.ones((8,))
        shared = kernel("stress_shared", "out[i] = x[i] + 100;")
        own = kernel(f"stress_own_{number % 3}", f"out[i] = x[i] + {number % 3};")
        barrier.wait()
        return [run(own, run(shared, x)[0])[0][0].item(), number % 3 + 101]

    with ThreadPoolExecutor(threads) as pool:
        for got, expected in pool.map(meet, range(threads)):
            assert got == expected


def leaves_nothing(function, *arguments: object) -> None:
    """Run it once to warm up; then memory must return to where it was."""
    function(*arguments)
    mx.clear_cache()
    before = active_memory()
    function(*arguments)
    mx.clear_cache()
    assert active_memory() <= before, (active_memory(), before)
    assert mx.get_cache_memory() == 0


def in_a_process(call: str) -> None:
    text = f"from tests.graph import test_stress as stress\n{call}\nprint('done')\n"
    assert answer(text) == ["done"]


@pytest.mark.parametrize("seed", range(3))
def test_a_thousand_kernels_on_two_streams(seed):
    """Streams: "operations on different streams may overlap", and wait for what they depend on."""
    in_a_process(f"stress.leaves_nothing(stress.work, {seed}, 1000)")


@pytest.mark.parametrize("seed", range(10, 12))
def test_a_thousand_kernels_in_one_evaluation(seed):
    """Lazy Evaluation: "many thousands of operations per eval should be okay"."""
    in_a_process(f"stress.leaves_nothing(stress.one_batch, {seed}, 1000)")


def test_several_python_threads():
    """Streams: each thread of Python evaluates on streams of its own, at the same time."""
    in_a_process(
        "with ThreadPoolExecutor(4) as pool:\n"
        "    list(pool.map(lambda seed: stress.work(seed, 250), range(20, 24)))\n".replace(
            "ThreadPoolExecutor", "stress.ThreadPoolExecutor"
        )
    )


def test_threads_that_compile_together(tmp_path, monkeypatch):
    """Evaluation on Metal: a kernel is compiled once, whoever comes first."""
    in_a_process("stress.compile_together(8)")


def test_failures_among_kernels_in_flight():
    """Evaluation on Metal: kernels that fail leave those beside and behind them in order."""
    in_a_process(
        "from anymetal.errors import KernelMemoryError, MetalCompileError\n"
        "for seed in range(6):\n"
        "    dag = stress.Dag(seed, 256, [mx.new_stream(mx.cpu), mx.new_stream(mx.cpu)])\n"
        "    dag.grow(60)\n"
        "    bad = [broken, faulty][seed % 2](x)\n"
        "    try:\n"
        "        mx.eval(bad, [ours for ours, _ in dag.pairs])\n"
        "        print('no error')\n"
        "    except (MetalCompileError, KernelMemoryError):\n"
        "        pass\n"
        "    for stream in dag._streams:\n"
        "        mx.synchronize(stream)\n"
        "    dag.check()\n"
        "    dag.grow(120)\n"
        "    dag.check()\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_larger_graphs(seed):
    """Streams: the same, on up to five streams, with arrays that are worth several threads."""
    streams, size = 2 + seed % 4, 1 << random.Random(seed).randrange(6, 17)
    in_a_process(f"stress.leaves_nothing(stress.work, {seed}, 3000, {size}, {streams})")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 205))
def test_many_python_threads(seed):
    """Streams: more threads than processors, while somebody else switches between them often."""
    in_a_process(
        "sys.setswitchinterval(1e-5)\n"
        "with stress.ThreadPoolExecutor(12) as pool:\n"
        f"    list(pool.map(lambda s: stress.work({seed} + s, 400), range(24)))\n"
    )


if __name__ == "__main__":
    work(int(sys.argv[1]), int(sys.argv[2]))
