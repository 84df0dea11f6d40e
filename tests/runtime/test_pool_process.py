"""What the thread pool does to a whole process: Ctrl-C, time limit, fork, foreign handlers."""

from __future__ import annotations

import signal

import pytest

from tests.runtime.native import output_of, run_script

#: Sends this process SIGINT after 0.3 s, and again every 0.3 s.
INTERRUPTS = """
import os, signal, threading, time
def press(times):
    def work():
        for _ in range(times):
            time.sleep(0.3)
            os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=work, daemon=True).start()
"""

threads = pytest.mark.parametrize("threads", ["1", "2", "8"])


@threads
@pytest.mark.parametrize("groups", [1, 1000])
def test_ctrl_c_stops_a_runaway_kernel(threads, groups):
    script = f"""
{INTERRUPTS}
launch = Launcher({groups}, [], FOREVER)
for _ in range(2):
    press(1)
    try:
        launch()
    except KeyboardInterrupt:
        print("stopped", end=" ")
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
seen = (ctypes.c_uint32 * 99)()
Launcher(99, [seen], COUNT)()
print(set(seen))
"""
    assert output_of(script, ANYMETAL_NUM_THREADS=threads) == "stopped stopped {1}"


def test_ctrl_c_between_launches_and_in_short_ones_is_one_keyboard_interrupt():
    script = f"""
{INTERRUPTS}
launch = Launcher(100, [(ctypes.c_uint32 * 100)()], COUNT)
for _ in range(3):
    press(1)
    try:
        while True:
            launch()
    except KeyboardInterrupt:
        print("once", end=" ")
    time.sleep(0.1)
"""
    assert output_of(script) == "once once once"


def test_an_own_handler_is_called_and_the_launch_goes_on_until_the_second_ctrl_c():
    script = f"""
{INTERRUPTS}
calls = []
signal.signal(signal.SIGINT, lambda *_: calls.append(1))
press(1)
Launcher(1, [(ctypes.c_uint64 * 1)(1_500_000_000)], COSTS)()
time.sleep(0)
print(len(calls), end=" ")
press(2)
try:
    Launcher(1, [], FOREVER)()
except KeyboardInterrupt:
    print("stopped", len(calls) - 1)
"""
    # Python remembers that a signal came, not how often.
    assert output_of(script) == "1 stopped 1"


def test_an_ignored_ctrl_c_stays_ignored():
    script = f"""
{INTERRUPTS}
signal.signal(signal.SIGINT, signal.SIG_IGN)
press(2)
Launcher(1, [(ctypes.c_uint64 * 1)(1_500_000_000)], COSTS)()
print("whole")
"""
    assert output_of(script) == "whole"


def test_the_default_action_of_ctrl_c_still_ends_the_process():
    script = f"""
{INTERRUPTS}
signal.signal(signal.SIGINT, signal.SIG_DFL)
press(1)
Launcher(1, [], FOREVER)()
"""
    assert run_script(script).returncode == -signal.SIGINT


def test_a_launch_of_another_thread_leaves_ctrl_c_to_the_main_thread():
    script = f"""
{INTERRUPTS}
launch = Launcher(1, [(ctypes.c_uint64 * 1)(1_500_000_000)], COSTS)
thread = threading.Thread(target=launch)
thread.start()
press(1)
try:
    thread.join()
except KeyboardInterrupt:
    print("main", end=" ")
thread.join()
print("whole")
"""
    assert output_of(script) == "main whole"


@threads
@pytest.mark.parametrize("groups", [1, 1000])
def test_the_time_limit_stops_a_runaway_kernel(threads, groups):
    script = f"""
import time
launch = Launcher({groups}, [], FOREVER, name="endless")
short = Launcher(64, [(ctypes.c_uint32 * 64)()], COUNT)
for _ in range(2):
    start = time.monotonic()
    try:
        launch()
    except TimeoutError as error:
        assert time.monotonic() - start > 0.15
        print(str(error)[:43])
    while time.monotonic() - start < 0.4:
        short()
"""
    text = output_of(script, ANYMETAL_NUM_THREADS=threads, ANYMETAL_TIME_LIMIT="0.2")
    assert text.splitlines() == ["kernel `endless` ran longer than 0.2 s (ANY"] * 2


@pytest.mark.parametrize(
    ("name", "value"),
    [("ANYMETAL_NUM_THREADS", "0"), ("ANYMETAL_NUM_THREADS", "two"), ("ANYMETAL_TIME_LIMIT", "-1"),
     ("ANYMETAL_TIME_LIMIT", "nan"), ("ANYMETAL_TIME_LIMIT", "1m")],
)  # fmt: skip
def test_wrong_settings_are_named(name, value):
    done = run_script("pool()", **{name: value})
    assert done.returncode == 1
    assert f"ValueError: {name} must be a" in done.stderr and repr(value) in done.stderr


def test_a_forked_child_has_a_pool_of_its_own():
    script = """
import os, threading
def check():
    seen = (ctypes.c_uint32 * 5000)()
    launch = Launcher(5000, [seen], COUNT)
    for _ in range(20):
        launch.call.group_time = 1e9
        launch()
    assert set(seen) == {20}
    return len(os.listdir("/proc/self/task"))
check()
stop = False
def disturb():  # forks happen while another thread is in a launch
    while not stop:
        check()
thread = threading.Thread(target=disturb)
thread.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        alone = len(os.listdir("/proc/self/task"))
        with_workers = check()
        grandchild = os.fork()
        if grandchild == 0:
            check()
            os._exit(0)
        fine = os.waitpid(grandchild, 0)[1] == 0
        os._exit(0 if (alone, with_workers) == (1, 4) and fine else 1)
    assert os.waitpid(child, 0)[1] == 0
stop = True
thread.join()
check()
print("fine")
"""
    assert output_of(script, ANYMETAL_NUM_THREADS="4") == "fine"


def test_a_child_forked_during_a_launch_of_the_main_thread_keeps_pythons_ctrl_c():
    script = """
import os, signal, threading, time
def fork():
    time.sleep(0.2)
    child = os.fork()
    if child == 0:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        except KeyboardInterrupt:
            os._exit(7)
        os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
thread = threading.Thread(target=fork)
thread.start()
Launcher(1, [(ctypes.c_uint64 * 1)(600_000_000)], COSTS)()
thread.join()
"""
    assert output_of(script) == "7"


def test_multiprocessing_by_fork_works():
    script = """
import multiprocessing
def work(groups):
    seen = (ctypes.c_uint32 * groups)()
    launch = Launcher(groups, [seen], COUNT)
    for _ in range(50):
        launch.call.group_time = 1e9
        launch()
    return set(seen) == {50}
work(10)
with multiprocessing.get_context("fork").Pool(4) as workers:
    print(all(workers.map(work, range(1, 200))))
"""
    assert output_of(script) == "True"


def test_concurrent_launches_on_many_workers():
    script = """
import threading
def work(groups):
    seen = (ctypes.c_uint32 * groups)()
    launch = Launcher(groups, [seen], COUNT)
    for number in range(1, 301):
        launch.call.group_time = (1e9, 1e-9, 100.0)[number % 3]
        launch()
        assert set(seen) == {number}
    done.append(groups)
done = []
threads = [threading.Thread(target=work, args=(1 + 61 * i,)) for i in range(24)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(done))
"""
    assert output_of(script, ANYMETAL_NUM_THREADS="16") == "24"


def test_faults_in_concurrent_launches_hit_only_the_guilty():
    script = """
import threading
from anymetal.errors import KernelMemoryError
def good():
    seen = (ctypes.c_uint32 * 400)()
    launch = Launcher(400, [seen], COUNT)
    for number in range(1, 301):
        launch.call.group_time = 1e9
        launch()
        assert set(seen) == {number}
    done.append("good")
def bad():
    launch = Launcher(400, [], "if (group % 50 == 9) *(volatile int*)8 = 1;")
    for _ in range(100):
        launch.call.group_time = 1e9
        try:
            launch()
        except KernelMemoryError:
            continue
        return
    done.append("bad")
done = []
threads = [threading.Thread(target=work) for work in (good, bad) * 4]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(sorted(done))
"""
    expected = ["bad"] * 4 + ["good"] * 4
    assert output_of(script, ANYMETAL_NUM_THREADS="6") == str(expected)


@pytest.mark.parametrize("handler", ["", "import faulthandler; faulthandler.enable()\n"])
@pytest.mark.parametrize("first", [True, False])
def test_a_crash_outside_kernels_is_still_a_crash(handler, first):
    launch = "Launcher(8, [(ctypes.c_uint32 * 8)()], COUNT)()\n"
    script = (handler + launch if first else launch + handler) + "ctypes.string_at(0)"
    done = run_script(script)
    assert done.returncode == -signal.SIGSEGV
    assert ("Fatal Python error: Segmentation fault" in done.stderr) == bool(handler)


def test_a_fault_in_a_kernel_under_faulthandler_is_an_exception():
    script = """
import faulthandler
faulthandler.enable()
from anymetal.errors import KernelMemoryError
for _ in range(3):
    try:
        Launcher(8, [], "*(volatile int*)8 = 1;")()
    except KernelMemoryError:
        print("caught", end=" ")
"""
    assert output_of(script) == "caught caught caught"


def test_a_signal_sent_by_kill_still_ends_the_process():
    done = run_script("import os, signal\npool()\nos.kill(os.getpid(), signal.SIGSEGV)")
    assert done.returncode == -signal.SIGSEGV


def test_small_launches_start_no_thread():
    script = """
import os
launch = Launcher(1, [(ctypes.c_uint32 * 1)()], COUNT)
for _ in range(100):
    launch()
print(len(os.listdir("/proc/self/task")))
"""
    assert output_of(script, ANYMETAL_NUM_THREADS="8") == "1"
