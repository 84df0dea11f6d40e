"""Who makes what: once among threads and processes, and never a lock that nobody releases."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from anymetal.runtime import disk_cache, locks, zig
from anymetal.runtime.code import Code
from anymetal.targets.cpu import code_lookup
from anymetal.targets.cpu.variant import variant_for
from tests.frontend.kernels import kernel_source
from tests.runtime import damage as damages
from tests.runtime.native import ROOT

COMPILE = """
import os, sys
from anymetal.targets.cpu import code_lookup
from anymetal.targets.cpu.variant import variant_for
from tests.frontend.kernels import kernel_source
source = kernel_source("out[thread_position_in_grid.x] = 4711;", name="common")
code_lookup.code_of(source, variant_for((64, 1, 1), (64, 1, 1)))
"""


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch) -> Path:
    path = tmp_path / "cache"
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(path))
    return path


def code(number: int) -> Code:
    """Of a kernel that is compiled, unless it was compiled before."""
    source = kernel_source(f"out[thread_position_in_grid.x] = {number};", name="turn")
    return code_lookup.code_of(source, variant_for((64, 1, 1), (64, 1, 1)))


def test_threads_make_a_thing_once() -> None:
    made = []

    def make() -> None:
        with locks.making("key"):
            if disk_cache.get("key") is None:
                made.append(threading.get_ident())
                time.sleep(0.05)
                disk_cache.put("key", ".so", b"code")

    with ThreadPoolExecutor(8) as threads:
        for job in [threads.submit(make) for _ in range(8)]:
            job.result()
    assert len(made) == 1


def test_different_things_do_not_wait_for_each_other() -> None:
    with locks.making("one"), ThreadPoolExecutor(1) as threads:

        def other() -> bool:
            with locks.making("two"):
                return True

        assert threads.submit(other).result(timeout=5)


def test_an_error_leaves_no_lock_behind() -> None:
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), locks.making("key"):
            raise ZeroDivisionError
    assert not locks._makers


def test_a_kernel_is_compiled_once_by_threads(capfd, monkeypatch) -> None:
    monkeypatch.setenv("ANYMETAL_DEBUG", "1")
    with ThreadPoolExecutor(4) as threads:
        codes = list(threads.map(code, [time.time_ns() % 10**6] * 4))
    assert len({one.entry for one in codes}) == 1
    assert capfd.readouterr().err.count(": compiled in") == 1


def test_a_kernel_is_compiled_once_by_processes() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "ANYMETAL_DEBUG": "1"}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", COMPILE], env=environment, stderr=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    told = [process.communicate(timeout=120)[1] for process in running]
    assert all(process.returncode == 0 for process in running), told
    assert sum(": compiled in" in text for text in told) == 1
    assert sum(": from the disk cache" in text for text in told) == 2


def test_a_kernel_that_vanishes_before_it_is_loaded_is_loaded(monkeypatch) -> None:
    load, seen = code_lookup.Code, []

    def cleared(found: disk_cache.Cached, *rest: Any) -> Code:
        disk_cache.clear()
        seen.append(found.path)
        return load(found, *rest)

    monkeypatch.setattr(code_lookup, "Code", cleared)
    assert code(time.time_ns() % 10**6)
    assert len(seen) == 1 and not seen[0].exists()


def test_a_stopped_process_is_not_waited_for_endlessly(directory, monkeypatch) -> None:
    monkeypatch.setattr(locks, "TIMEOUT", 0.1)
    holder = """
import time
from anymetal.runtime import locks
with locks.making("key"):
    print("held", flush=True)
    time.sleep(60)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", holder], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        start = time.monotonic()
        with locks.making("key"):
            assert time.monotonic() - start >= 0.1 and process.poll() is None
        process.kill()
        process.wait()
        monkeypatch.setattr(locks, "TIMEOUT", 60)
        with locks.making("key"):  # a dead one holds nothing
            assert time.monotonic() - start < 30
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("damage", [damages.folder, damages.link, damages.fifo, damages.listening])
def test_something_in_the_place_of_the_lock(directory, damage) -> None:
    directory.mkdir(mode=0o700)
    damage(directory / "lock")
    with locks.making("key"):
        pass
    assert not (directory.parent.parent / "victim").exists()


def test_file_systems_without_locks(monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(38, "not implemented")

    monkeypatch.setattr(fcntl, "lockf", refuse)
    with locks.making("key"):
        pass


def in_child(action) -> int:
    """Exit status of a forked child that does something; it has ten seconds."""
    child = os.fork()
    if child == 0:
        import signal

        signal.alarm(10)
        try:
            action()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_that_is_forked_during_a_compilation_can_compile() -> None:
    code(0)
    numbers, done = iter(range(1, 10**6)), threading.Event()

    def compile_many() -> None:
        while not done.is_set():
            code(next(numbers))

    threads = [threading.Thread(target=compile_many) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for i in range(4):
            time.sleep(0.03 * i)
            assert in_child(lambda i=i: code(-1 - i)) == 0
    finally:
        done.set()
        for thread in threads:
            thread.join()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_can_make_what_its_parent_was_making() -> None:
    def make() -> None:
        with locks.making("key"):
            pass

    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with locks.making("other"):
            entered.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    try:
        assert in_child(make) == 0
        assert "other" in locks._makers
    finally:
        leave.set()
        thread.join()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_tool_ends_although_a_child_lives_on() -> None:
    """A child that was forked while the tool ran must not hold its input open."""
    with ThreadPoolExecutor(1) as threads:
        job = threads.submit(zig.run, "clang", "-cc1", "-E", "-x", "c", "-", text="int i;\n")
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
        try:
            status, output, _ = job.result(timeout=10)
            assert status == 0 and b"int i;" in output
        finally:
            os.kill(child, 9)
            os.waitpid(child, 0)
