"""The thread pool in this process: every group once, balance, scratch memory, faults."""

from __future__ import annotations

import ctypes
import gc
import math
import struct
import threading
from collections import Counter

import pytest

from anymetal.errors import CompilerError, KernelLoadError, KernelMemoryError
from anymetal.runtime.pool import pool
from tests.runtime.native import COSTS, COUNT, RUNTIME, Launcher, entry_of


@pytest.mark.parametrize("groups", [0, 1, 2, 3, 7, 64, 1000, 65537, 300_000])
def test_every_group_runs_exactly_once(groups):
    seen = (ctypes.c_uint32 * max(groups, 1))()
    launch = Launcher(groups, [seen], COUNT)
    for number in range(1, 6):  # unknown cost at first, then judged by it
        launch()
        assert set(seen[:groups]) <= {number}, groups
    launch.call.group_time = 1e9  # believed to be long: shared with all workers
    launch()
    launch.call.group_time = 1e-9  # believed to be nothing: kept to the caller
    launch()
    assert set(seen[:groups]) <= {7}


def test_a_launch_believed_small_is_shared_once_it_proves_long():
    if pool().threads < 2:
        pytest.skip("one processor")
    who = (ctypes.c_uint64 * 64)()
    body = (
        f"{COSTS} static_cast<uint64_t*>(buffers[1])[group] = reinterpret_cast<uint64_t>(worker);"
    )
    launch = Launcher(64, [(ctypes.c_uint64 * 64)(*[1_000_000] * 64), who], body)
    for _ in range(20):  # other programs may have the processors for a while
        launch.call.group_time = 0.001
        launch()
        if len(set(who)) > 1:
            return
    raise AssertionError("the caller ran all groups alone")


@pytest.mark.parametrize("heavy", [range(10), range(990, 1000), range(0, 1000, 100)])
def test_uneven_groups_are_balanced(heavy):
    threads = pool().threads
    costs = [1_000_000 if group in heavy else 1000 for group in range(1000)]
    who = (ctypes.c_uint64 * 1000)()
    body = (
        f"{COSTS} static_cast<uint64_t*>(buffers[1])[group] = reinterpret_cast<uint64_t>(worker);"
    )
    launch = Launcher(1000, [(ctypes.c_uint64 * 1000)(*costs), who], body)
    # One good run is proof; there may be bad ones while other programs take the processors.
    for _ in range(300):
        launch()
        work = Counter()
        for worker, cost in zip(who, costs, strict=True):
            work[worker] += cost
        if len(work) == threads and max(work.values()) <= 1.3 * sum(costs) / threads:
            return
    raise AssertionError(f"the last time, the workers had {work.values()} ns of work")


def test_scratch_memory_and_frames_belong_to_one_worker():
    body = """
    auto* bad = static_cast<uint32_t*>(buffers[0]) + group;
    auto* scratch = worker->threadgroup;
    if (reinterpret_cast<uint64_t>(scratch) % 64) *bad |= 1;
    for (uint64_t i = 0; i < 32 * 1024 + 64; ++i) scratch[i] = uint8_t(group);
    void* frames[1024];
    for (uint32_t gang = 0; gang < 1024; ++gang) {
      uint64_t bytes = 64 + (gang + group) % 7 * 1000;
      frames[gang] = worker->frame(worker, gang, bytes);
      if (reinterpret_cast<uint64_t>(frames[gang]) % 64) *bad |= 2;
      __builtin_memset(frames[gang], int(gang), bytes);
      if (frames[gang] != worker->frame(worker, gang, 64)) *bad |= 4;
    }
    for (uint32_t gang = 0; gang < 1024; ++gang) {
      auto* bytes = static_cast<uint8_t*>(frames[gang]);
      if (bytes[0] != uint8_t(gang) || bytes[63] != uint8_t(gang)) *bad |= 8;
    }
    for (uint64_t i = 0; i < 32 * 1024 + 64; ++i) if (scratch[i] != uint8_t(group)) *bad |= 16;
    """
    bad = (ctypes.c_uint32 * 40)()
    Launcher(40, [bad], body)()
    assert set(bad) == {0}


def test_a_frame_beyond_memory_is_an_error():
    with pytest.raises(MemoryError):
        Launcher(4, [], "worker->frame(worker, 0, uint64_t{1} << 60);", name="greedy")()


def test_subnormals_are_flushed_in_kernels_only():
    body = """
    auto* values = static_cast<volatile float*>(buffers[0]);
    auto* doubled = static_cast<volatile float*>(buffers[1]);
    doubled[group] = values[0] * 2;   // a subnormal operand counts as zero
    doubled[group + 200] = values[1] / 2;  // a subnormal result becomes zero
    """
    tiny = (ctypes.c_float * 2)(1e-40, 1.2e-38)
    results = (ctypes.c_float * 400)(*[1.0] * 400)
    launch = Launcher(200, [tiny, results], body)
    launch.call.group_time = 1e9
    launch()
    assert set(results) == {0.0}
    assert struct.unpack("f", struct.pack("f", 1e-40))[0] > 0
    assert math.ldexp(1.0, -1070) * 2 > 0, "the caller's own mode must be back"


@pytest.mark.parametrize("groups", [1, 500])
@pytest.mark.parametrize("address", [0, 0x10, 0x7F0000000000])
def test_a_fault_becomes_an_exception_again_and_again(groups, address):
    seen = (ctypes.c_uint32 * groups)()
    last = groups - 1
    body = f"if (group == {last}) *reinterpret_cast<volatile int*>({address}ul) = 1; {COUNT}"
    for share in (1e9, 1e-9):
        for _ in range(20):
            launch = Launcher(groups, [seen], body, name="stray")
            launch.call.group_time = share
            with pytest.raises(
                KernelMemoryError, match="kernel `stray` was stopped by a segm"
            ) as e:
                launch()
            assert hex(address) in str(e.value) or address == 0
    ctypes.memset(seen, 0, ctypes.sizeof(seen))
    Launcher(groups, [seen], COUNT)()
    assert set(seen) == {1}, "the pool must still work"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("__builtin_trap();", "SIGILL|SIGTRAP"),
        (
            "static_cast<volatile int*>(buffers[0])[1] /= static_cast<int*>(buffers[0])[0];",
            "SIGFPE",
        ),
        ("reinterpret_cast<volatile int*>(0x8000000000000000)[0] = 1;", "SIGSEGV|SIGBUS"),
    ],
)
def test_traps_become_exceptions(body, text):
    if "SIGFPE" in text and not _is_x86():
        pytest.skip("division by zero does not trap here")
    for _ in range(3):
        with pytest.raises(KernelMemoryError, match=text):
            Launcher(8, [(ctypes.c_int * 2)(0, 1)], body)()


def test_stack_overflow_becomes_an_exception_on_every_kind_of_thread():
    # Frames smaller than a page: nothing may step over the page that guards the stack.
    helpers = """
    __attribute__((noinline)) static int deeper(volatile int* outside, int depth) {
      volatile int array[512];
      array[depth % 512] = *outside;
      return deeper(array, depth + 1) + array[*outside % 512];
    }
    """
    body = "static_cast<int*>(buffers[0])[0] = deeper(static_cast<int*>(buffers[0]), 0);"

    def overflow():
        with pytest.raises(KernelLoadError, match="needs more stack than the thread"):
            Launcher(1, [(ctypes.c_int * 1)()], body, helpers)()
        launch = Launcher(64, [(ctypes.c_int * 1)()], body, helpers)
        launch.call.group_time = 1e9
        with pytest.raises(KernelLoadError, match="needs more stack than the thread"):
            launch()
        return True

    assert overflow() and overflow()
    results = []
    for _ in range(3):
        thread = threading.Thread(target=lambda: results.append(overflow()))
        thread.start()
        thread.join()
    assert results == [True] * 3


def test_private_arrays_of_megabytes_fit_on_every_thread():
    body = """
    volatile char array[6 << 20];
    for (uint64_t i = 0; i < sizeof array; i += 512) array[i] = char(group);
    static_cast<uint32_t*>(buffers[0])[group] += array[group * 512] == char(group);
    """
    seen = (ctypes.c_uint32 * 64)()
    launch = Launcher(64, [seen], body)
    launch.call.group_time = 1e9
    launch()
    assert set(seen) == {1}


def test_many_threads_launch_at_once():
    wrong = []

    def work(groups):
        seen = (ctypes.c_uint32 * groups)()
        launch = Launcher(groups, [seen], COUNT)
        for number in range(1, 61):
            if number % 3 == 0:
                launch.call.group_time = 1e9
            launch()
            if set(seen) != {number}:
                wrong.append((groups, number))
                return

    threads = [threading.Thread(target=work, args=(1 + 37 * i,)) for i in range(90)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_give_back_their_memory():
    def pages():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0])

    seen = (ctypes.c_uint32 * 8)()
    launch = Launcher(8, [seen], "worker->frame(worker, 3, 1 << 20);" + COUNT)

    def launch_in_thread():
        thread = threading.Thread(target=launch)
        thread.start()
        thread.join()

    for _ in range(20):
        launch_in_thread()
    gc.collect()
    before = pages()
    for _ in range(200):
        launch_in_thread()
    assert (pages() - before) * 4096 < 64 << 20


def test_the_native_sources_compile_without_warnings(tmp_path):
    import subprocess

    from anymetal.runtime import zig

    for triple in ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"):
        for unit in ("pool.cpp", "arrays.cpp"):
            command = [zig.zig_path(), "clang", "-cc1", "-triple", triple, "-emit-obj", "-O2"]
            command += "-ffreestanding -nostdsysteminc -Wall -Wextra -Werror -std=c++17".split()
            command += ["-x", "c++", "-o", tmp_path / "out.o", RUNTIME / unit]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr


def _is_x86():
    import platform

    return platform.machine() == "x86_64"


def test_a_function_that_does_not_exist_is_named():
    with pytest.raises(CompilerError, match="calls 'nowhere', which this system does not have"):
        entry_of("nowhere();", 'extern "C" void nowhere();')
