"""Private arrays of any size up to the limit, on threads with little stack."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import numpy as np
import pytest
from mlx import core as mx

from anymetal.analysis.cache import LaunchFacts
from anymetal.coarsening import teams
from anymetal.errors import KernelLoadError
from anymetal.frontend.clang import compile_to_ir
from anymetal.pipeline.program import thread_program
from anymetal.runtime.pool import pool
from anymetal.source import KernelSource
from anymetal.targets.cpu.launch import CpuTarget
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.variant import Variant, gang_width
from anymetal.testing.fenced import Array
from tests.compiling import known_of, vector_ir
from tests.frontend.kernels import kernel_source

_STACK = 256 << 10  #: bytes that threads of some programs have

#: Each thread fills an array and reads it again, perhaps behind barriers.
_BODY = """
uint e = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
float own[SIZE];
for (uint k = 0; k < SIZE; ++k) own[k] = float(k ^ t) + x[e];
BARRIER
float sum = 0;
for (uint k = 0; k < 16; ++k) sum += own[(k * 97 + e * 31) % SIZE];
BARRIER
for (uint k = 0; k < 16; ++k) sum += own[(k * 61 + t * 31) % SIZE];
out[e] = sum;
"""


def _source(size: int, barrier: bool, body: str = _BODY) -> KernelSource:
    wait = "threadgroup_barrier(mem_flags::mem_none);" if barrier else ""
    text = body.replace("SIZE", str(size)).replace("BARRIER", wait)
    return kernel_source(text, inputs={"x": mx.zeros(8)})


def _expected(size: int, threads: int, x: Array) -> Array:
    e = np.arange(len(x))
    t = e % threads
    total = np.zeros(len(x))
    for k in range(16):
        total += (((k * 97 + e * 31) % size) ^ t) + x + (((k * 61 + t * 31) % size) ^ t) + x
    return total


def _on_small_stack(work: Callable[[], None], size: int = _STACK) -> None:
    """Does it on a thread with little stack, which is the only one: one threadgroup at a time."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    before = threading.stack_size(size)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    if failed:
        raise failed[0]


@pytest.mark.parametrize("barrier", [False, True], ids=["alone", "barrier"])
@pytest.mark.parametrize(
    ("size", "threads"),
    [  # every second one by default: each size, and each number of threads
        pytest.param(size, threads, marks=pytest.mark.slow if (i + j) % 2 else [])
        for i, size in enumerate((16, 600, 8192, 25600))
        for j, threads in enumerate((256, 1024, 100))
    ],
)
def test_arrays_of_any_size(size: int, threads: int, barrier: bool) -> None:
    for width in (32, 1) if threads == 100 else (32,):
        for groups in (1, 3):  # on the thread that calls, and on those of the pool
            x = np.random.default_rng(size).integers(0, 9, threads * groups).astype(np.float32)
            out = np.zeros(len(x), np.float32)

            def launch(x: Array = x, out: Array = out) -> None:
                CpuTarget().run_in_place(
                    _source(size, barrier), [x, out], (len(x), 1, 1), (threads, 1, 1)
                )

            with gang_width(width):
                _on_small_stack(launch)
            np.testing.assert_array_equal(out, _expected(size, threads, x))


_POINTERS = """
uint e = thread_position_in_grid.x;
struct Mixed { float value; uchar mark; };
Mixed mixed[SIZE]; float numbers[SIZE];
for (uint k = 0; k < SIZE; ++k) { mixed[k].value = k; mixed[k].mark = k; numbers[k] = k * 2; }
BARRIER
thread float* at = e % 2 ? &mixed[e % SIZE].value : &numbers[e % SIZE];
*at += x[e % 8];
BARRIER
out[e] = *at + mixed[(e + 1) % SIZE].mark + numbers[(e + 1) % SIZE];
"""


@pytest.mark.parametrize("barrier", [False, True], ids=["alone", "barrier"])
@pytest.mark.parametrize("size", [10, 3000])
def test_arrays_that_cannot_be_interleaved(size: int, barrier: bool) -> None:
    """Pointers into either of two arrays, and elements of two sizes."""
    e = np.arange(256)
    x, out = np.arange(8, dtype=np.float32), np.zeros(len(e), np.float32)
    source = _source(size, barrier, _POINTERS)
    _on_small_stack(lambda: CpuTarget().run_in_place(source, [x, out], (len(e), 1, 1), (128, 1, 1)))
    own = np.where(e % 2, 1, 2) * (e % size) + e % 8
    behind = (e + 1) % size
    np.testing.assert_array_equal(out, own + behind % 256 + 2 * behind)


def test_large_arrays_are_not_on_the_stack() -> None:
    def near(size: int) -> bool:
        source = _source(size, barrier=False)
        variant = Variant(True, True, True, full=True, partial=False, single=True)
        program = thread_program(source, raw=compile_to_ir(source))
        text = vector_ir(program, variant, machine_for(""))
        return f"alloca [{size * 4 * 32} x i8]" in text

    assert near(16) and near(512) and not near(513)


def test_teams_have_arrays_that_the_cache_holds() -> None:
    def team(size: int) -> int:
        program = thread_program(_source(size, barrier=True))
        launch = LaunchFacts(linear=True, aligned=True, flat=True, whole=True)
        return teams.form(known_of(program, launch, machine=machine_for("x86-64-v4")), 8, True)

    assert team(16) > 1
    assert team(16384) == 1


def test_more_than_the_limit_is_an_error_that_names_the_array() -> None:
    with pytest.raises(KernelLoadError, match="Unable to load kernel") as caught:
        thread_program(_source((1 << 18) + 1, barrier=False))
    assert "(1048580 bytes a thread)" in str(caught.value)
    assert "allowed (1048576)" in str(caught.value)
    assert "`own` (1048580 bytes, first used at k: source:4:" in str(caught.value)
    thread_program(_source(1 << 18, barrier=False))


def test_a_thread_with_too_little_stack_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies on the stack needs some: 60 KB of arrays, on a thread that has 48.

    (The C library hands on old stacks up to 4 times as large: not those of the other tests.)
    """
    x, out = np.zeros(32, np.float32), np.zeros(32, np.float32)
    little = 48 << 10
    if os.sysconf("SC_THREAD_STACK_MIN") > little:
        pytest.skip("no thread has so little stack here")
    source = _source(480, barrier=False)

    def launch() -> None:
        CpuTarget().run_in_place(source, [x, out], (32, 1, 1), (32, 1, 1))

    def on_little(address: int) -> int:
        """The launch alone: what Python does around it may itself need more stack than that."""
        status: list[int] = []
        _on_small_stack(lambda: status.append(run(address)), little)
        return status[0]

    launch()  # which compiles
    run = pool().run_at
    with monkeypatch.context() as patch:
        patch.setattr(pool(), "run_at", on_little)
        with pytest.raises(KernelLoadError, match="needs more stack than the thread that ran it"):
            launch()
    launch()
