"""Launches that fault, a hundred thousand, beside good ones: no wrong number, nothing is left."""

from __future__ import annotations

import ctypes
import gc
import os
import threading
from collections import Counter
from collections.abc import Callable

import mlx.core as mx
import pytest

from anymetal.errors import KernelMemoryError
from tests.graph.kernels import active_memory, answer, kernel, run
from tests.runtime.native import COUNT, Launcher

_STRAY = "if (group % 50 == 9) *(volatile int*)8 = 1;"
_double = kernel("good_double", "out[i] = 2 * x[i];")
_moody = kernel("moody", "out[x[i] > 5 ? (1l << 45) + i : i] = 2 * x[i];")


class Work:
    """Threads that launch until each has done its share; what they saw."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def together(self, *jobs: Callable[[int], Counter[str]]) -> None:
        threads = [threading.Thread(target=self._do, args=[job, i]) for i, job in enumerate(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _do(self, job: Callable[[int], Counter[str]], number: int) -> None:
        seen = job(number)
        with self._lock:
            self.seen += seen


def native_faults(count: int) -> Callable[[int], Counter[str]]:
    """Launches without the bridge, of which every one faults, on this thread or on a worker."""

    def work(number: int) -> Counter[str]:
        seen: Counter[str] = Counter()
        launch = Launcher(64, [], _STRAY)
        for i in range(count):
            launch.call.group_time = 1e9 if i % 4 == 0 else 1e-9
            try:
                launch()
                seen["no fault"] += 1
            except KernelMemoryError:
                seen["faults"] += 1
        return seen

    return work


def native_launches(count: int) -> Callable[[int], Counter[str]]:
    def work(number: int) -> Counter[str]:
        seen: Counter[str] = Counter()
        groups = (ctypes.c_uint32 * 400)()
        launch = Launcher(400, [groups], COUNT)
        for i in range(1, count + 1):
            launch.call.group_time = 1e9 if i % 4 == 0 else 1e-9
            launch()
            seen["good" if set(groups) == {i} else "wrong"] += 1
        return seen

    return work


def graph_faults(count: int) -> Callable[[int], Counter[str]]:
    """Nodes of the graph that fail, and others of the same kernel that do not."""

    def work(number: int) -> Counter[str]:
        seen: Counter[str] = Counter()
        stream = mx.new_stream(mx.cpu)
        good, bad = mx.ones(8 + number), mx.ones(8 + number) * 9
        for i in range(count):
            try:
                y = mx.abs(run(_moody, bad, stream=stream)[0], stream=stream)
                mx.eval(y)
                seen["no fault"] += 1
            except KernelMemoryError:
                seen["faults"] += 1
            if i % 8 == 0:
                fine = run(_moody, good, stream=stream)[0].tolist() == [2] * good.size
                seen["good" if fine else "wrong"] += 1
        return seen

    return work


def graph_launches(count: int) -> Callable[[int], Counter[str]]:
    def work(number: int) -> Counter[str]:
        seen: Counter[str] = Counter()
        stream = mx.new_stream(mx.cpu)
        x = mx.arange(256).astype(mx.float32)
        for i in range(count):
            y = run(_double, x + i, stream=stream)[0]
            fine = y.tolist() == [2.0 * (k + i) for k in range(256)]
            seen["good" if fine else "wrong"] += 1
        return seen

    return work


def left() -> tuple[int, int, int]:
    """Memory in arrays, open files and threads."""
    gc.collect()
    mx.clear_cache()
    return active_memory(), len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def many(native: int, graph: int) -> None:
    """Prints what became of so many launches that fault, in each of three threads."""

    def all_together(native: int, graph: int) -> Counter[str]:
        work = Work()
        work.together(
            *(native_faults(native) for _ in range(3)),
            *(graph_faults(graph) for _ in range(3)),
            native_launches(native // 10),
            graph_launches(graph),
        )
        return work.seen

    all_together(50, 20)  # all is compiled, all threads are there
    before, memory = left(), resident()
    seen = all_together(native, graph)
    after = left()
    print(seen["faults"], seen["no fault"], seen["wrong"], seen["good"] > native // 10)
    print(after[0] <= before[0], after[1] <= before[1], after[2] - before[2] <= 8)
    print(resident() - memory < 64 << 20)


@pytest.mark.parametrize(
    ("native", "graph"), [(300, 30), pytest.param(28_000, 5_400, marks=pytest.mark.slow)]
)
def test_faults_beside_good_launches(native, graph):
    """Evaluation on Metal: a fault is the error of one launch and touches no other."""
    text = f"from tests.graph import test_many_faults\ntest_many_faults.many({native}, {graph})\n"
    lines = answer(text, timeout=1200, ANYMETAL_FAULTS="raise")
    assert lines == [f"{3 * (native + graph)} 0 0 True", "True True True", "True"]
