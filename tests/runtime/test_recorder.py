"""What the pool notes of launches while a profile is taken."""

from __future__ import annotations

import ctypes
import threading
import time

import pytest

from anymetal.errors import KernelMemoryError
from anymetal.runtime import recorder
from anymetal.runtime.arrays import BufferExtent
from anymetal.runtime.recorder import Recording
from tests.runtime.native import COSTS, COUNT, Launcher, output_of


def launcher(groups: int, nanoseconds: int) -> Launcher:
    return Launcher(groups, [(ctypes.c_uint64 * groups)(*[nanoseconds] * groups)], COSTS)


def recorded(*launches: Launcher) -> Recording:
    recorder.begin()
    try:
        for launch in launches:
            launch()
    finally:
        found = recorder.end()
    return found


def test_launches_in_their_order_with_all_that_is_known() -> None:
    short, long = launcher(1, 1000), launcher(4, 3_000_000)
    short()
    before = time.monotonic_ns()
    found = recorded(short, long, short)
    after = time.monotonic_ns()
    long()  # behind the end
    assert [one.entry for one in found.launches] == [short.call.entry] * 3  # one code, COSTS
    assert [one.grid for one in found.launches] == [(1, 1, 1), (4, 1, 1), (1, 1, 1)]
    times = [moment for one in found.launches for moment in (one.begun, one.ended)]
    assert times == sorted(times) and before <= times[0] and times[-1] <= after
    assert found.launches[1].ended - found.launches[1].begun >= 3_000_000
    assert {one.thread for one in found.launches} == {threading.get_native_id()}
    assert all(one.group == (1, 1, 1) and one.status == 0 for one in found.launches)
    assert all(one.bytes == () for one in found.launches) and found.lost == 0


def test_bytes_of_arrays_that_have_extents() -> None:
    extents = (BufferExtent * 2)(BufferExtent(0, 40), BufferExtent(8, 2**33))
    launch = Launcher(2, [(ctypes.c_uint32 * 2)(), (ctypes.c_uint32 * 2)(), extents], COUNT)
    launch.call.arrays = 2
    (found,) = recorded(launch).launches
    assert found.bytes == (40, 2**33)


def test_samples_are_inside_of_kernels() -> None:
    launch = launcher(64, 5_000_000)
    for _ in range(20):  # other programs may have the processors for a while
        found = recorded(launch)
        assert {one.entry for one in found.samples} <= {launch.call.entry}
        # `now` of the kernel asks the C library for the time: most of them are in its code.
        own = [s for s in found.samples if 0 <= s.counter - launch.call.entry < 4096]
        if len(found.samples) >= 50 and own:
            break
    else:
        raise AssertionError("hardly a sample in a third of a second, or none in the kernel")


def test_a_launch_that_fails_is_noted_as_such() -> None:
    faulty = Launcher(1, [], "*reinterpret_cast<volatile int*>(8) = 1;")

    def run() -> None:
        with pytest.raises(KernelMemoryError):
            faulty()

    recorder.begin()
    run()
    (found,) = recorder.end().launches
    assert found.status == 3


def test_the_end_waits_for_launches_that_run() -> None:
    launch = launcher(1, 300_000_000)
    launch.call.group_time = 1e9
    thread = threading.Thread(target=launch)
    recorder.begin()
    thread.start()
    time.sleep(0.1)
    found = recorder.end()
    thread.join()
    assert len(found.launches) == 1


def test_one_at_a_time() -> None:
    recorder.begin()
    with pytest.raises(RuntimeError, match="one at a time"):
        recorder.begin()
    recorder.end()
    recorder.begin()
    assert recorder.end().launches == []


@pytest.mark.parametrize("earlier", [False, True])
def test_other_peoples_timers_still_reach_their_handlers(earlier: bool) -> None:
    """SIGPROF of `setitimer`, which profilers of Python use; set before and after our first."""
    script = f"""
import signal
from anymetal.runtime import recorder
launch = Launcher(64, [(ctypes.c_uint64 * 64)(*[5_000_000] * 64)], COSTS)
met = []
def profiled():
    recorder.begin()
    launch()
    return len(recorder.end().samples)
if not {earlier}:
    profiled()
signal.signal(signal.SIGPROF, lambda number, frame: met.append(number))
signal.setitimer(signal.ITIMER_PROF, 0.002, 0.002)
deadline = time.monotonic() + 20
while not (samples := profiled()) or not met and time.monotonic() < deadline:
    pass
signal.setitimer(signal.ITIMER_PROF, 0)
print(samples > 0, len(met) > 0)
"""
    assert output_of(script) == "True True"


def test_the_child_of_a_fork_starts_anew() -> None:
    script = """
from anymetal.runtime import recorder
launch = Launcher(64, [(ctypes.c_uint64 * 64)(*[5_000_000] * 64)], COSTS)
recorder.begin()
launch()
child = os.fork()
if child == 0:
    launch()
    recorder.begin()
    launch()
    found = recorder.end()
    os._exit(0 if len(found.launches) == 1 and found.samples else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(recorder.end().launches))
"""
    assert output_of(script) == "0 1"
