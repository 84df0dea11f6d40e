"""Long runs of kernels that fault, and of all others with bounds checks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from anymetal.targets.cpu import faults, launch
from anymetal.testing.fuzz.check import check
from anymetal.testing.fuzz.generate import generate
from anymetal.testing.metal_case import MetalCase, run
from tests.graph.kernels import program
from tests.test_kernel_cases import CASES, case_name

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("error::anymetal.errors.StrayAccessWarning"),
]

#: Every launch has a grid of its own, hence a plan that does not know yet that the kernel faults.
_BESIDE_GOOD_ONES = """
import resource, warnings
import numpy as np
from anymetal.errors import KernelMemoryError

FAR = "(1l << 43)"
reads = kernel("reads", f"out[i] = x[i == 5 ? i + {FAR} : i] + 1;")
writes = kernel("writes", f"out[i == 5 ? i + {FAR} : i] = x[i] + 2;")
group = kernel("group", f"threadgroup float t[64]; uint k = thread_position_in_threadgroup.x; "
               f"t[k] = x[i]; threadgroup_barrier(mem_flags::mem_threadgroup); "
               f"out[i] = t[k ^ 1] + x[i == 5 ? i - {FAR} : 0] * 0;")
N = 64 * 80
X = np.arange(N, dtype=np.float32)
x = mx.array(X)
wrong = []
done = {"faults": 0, "good": 0}

def fault(kind):
    stream = mx.new_stream(mx.cpu)
    for launch in range(COUNT // 3):
        if launch in (COUNT // 30, COUNT // 3 - 1):
            meeting.wait()
            meeting.wait()
        n = 64 + (launch * 67) % (N - 64)
        if kind is writes:
            try:
                mx.eval(run(writes, x, grid=(n, 1, 1), stream=stream)[0])
                wrong.append("no error")
            except KernelMemoryError as error:
                if "thread (5, 0, 0)" not in str(error):
                    wrong.append(str(error))
        else:
            n = n // 64 * 64
            (out,) = run(kind, x, grid=(n, 1, 1), stream=stream, init_value=0)
            expected = np.where(X == 5, 0, X) + 1
            if kind is group:
                expected = X.reshape(-1, 2)[:, ::-1].reshape(-1)
            if not np.array_equal(np.array(out), np.where(np.arange(N) < n, expected, 0)):
                wrong.append((kind, n))
        done["faults"] += 1

def good():
    stream, y = mx.new_stream(mx.cpu), mx.array(X)
    while not over:
        out = double(y, stream=stream) + 1
        if not np.array_equal(np.array(out), 2 * X + 1):
            wrong.append("good")
        done["good"] += 1

def left():
    meeting.wait()
    time.sleep(1)
    threads = len(os.listdir("/proc/self/task"))
    rss = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
    meeting.wait()
    return threads, len(os.listdir("/proc/self/fd")), rss

warnings.simplefilter("ignore")
over, meeting = False, threading.Barrier(4)
faulty_ones = [threading.Thread(target=fault, args=[kind]) for kind in (reads, writes, group)]
good_ones = [threading.Thread(target=good) for _ in range(2)]
for thread in faulty_ones + good_ones: thread.start()
before, after = left(), left()
for thread in faulty_ones: thread.join()
over = True
for thread in good_ones: thread.join()
print(len(wrong), wrong[:3])
print(done["faults"] == COUNT // 3 * 3, done["good"] > 0)
few = 8  # pipes of helpers that compile, if there are any just now
print(after[0] <= before[0], after[1] <= before[1] + few, after[2] - before[2] < 64 << 20)
print(before, after, done, file=sys.stderr)
time.sleep(1)  # when a thread has ended, MLX lets go of what it kept for it, and needs Python
"""


@pytest.mark.parametrize("bridge", ["wait", "0"])
def test_a_hundred_thousand_faults_beside_good_launches(bridge):
    count = 100_000 if bridge == "wait" else 10_000
    text = f"COUNT = {count}\n{_BESIDE_GOOD_ONES}"
    done = program(text, timeout=3000, ANYMETAL_BRIDGE=bridge)
    assert done.stdout.splitlines() == ["0 []", "True True", "True True True"], done.stderr
    assert done.returncode == 0


@pytest.fixture
def bounds_checks(monkeypatch) -> Iterator[None]:
    """Every kernel begins with them."""
    monkeypatch.setattr(launch, "Plan", faults.CheckedPlan)


@pytest.mark.parametrize(
    ("case", "dtype"),
    [
        pytest.param(case, dtype, id=case_name(case, dtype))
        for case in CASES
        for dtype in case.dtypes
    ],
)
def test_kernels_that_stay_in_their_arrays(case: MetalCase, dtype: str, bounds_checks) -> None:
    """Bounds checks change nothing, and find nothing."""
    run(case, dtype)


def test_five_hundred_random_kernels(bounds_checks):
    for seed in range(500):
        verdict = check(generate(seed), (32, 1))
        assert not verdict.failed, (seed, verdict)
