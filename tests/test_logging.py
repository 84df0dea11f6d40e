"""Lines that os_log prints: what they say, in which order, and that they stay whole."""

from __future__ import annotations

import os
import subprocess
import sys

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.targets.cpu.variant import gang_width
from tests.runtime.native import ROOT

WIDTHS = [32, 1]


def run(
    body: str, threads: int = 1, threadgroup: int = 0, header: str = "", width: int = 32
) -> np.ndarray:
    """Launches a kernel `talk` with an output `y` of one uint per thread."""
    kernel = anymetal.metal_kernel("talk", [], ["y"], body, header=header)
    with gang_width(width):
        (y,) = kernel(
            inputs=[],
            output_shapes=[(threads,)],
            output_dtypes=[mx.uint32],
            grid=(threads, 1, 1),
            threadgroup=(threadgroup or threads, 1, 1),
            init_value=0,
        )
    return np.array(y)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ('"x = %f at %u", 1.5f, 3u', "x = 1.500000 at 3"),
        ('"plain"', "plain"),
        ('"a new line\\n"', "a new line"),
        ('"%d%%", 50', "50%"),
        ('"%d %i", -7, 7', "-7 7"),
        ('"%u %x %X %o", 4294967295u, 255u, 255u, 8u', "4294967295 ff FF 10"),
        ('"%ld %lu %lx", -5000000000l, 5000000000ul, -1l', "-5000000000 5000000000 " + "f" * 16),
        ('"%lld %d", 5000000000l, 5000000000l', "5000000000 5000000000"),
        ('"%hhd %hhu %hd", char(-1), uchar(200), short(-300)', "-1 200 -300"),
        ('"%x %hhx", char(-1), char(-1)', "ffffffff ff"),
        ("\"%c%c\", 'A', 66", "AB"),
        ('"%5d|%-5d|%05d|%+d", 42, 42, 42, 42', "   42|42   |00042|+42"),
        ('"%.2f|%8.3f|%-8.1f|", 3.14159f, 2.5f, 1.0f', "3.14|   2.500|1.0     |"),
        ('"%e %g %.3g", 12345.0f, 1e-9f, 0.1f', "1.234500e+04 1e-09 0.1"),
        ('"%f %f", half(0.5h), bfloat(0.25f)', "0.500000 0.250000"),
        ('"%f %f", INFINITY, -INFINITY', "inf -inf"),
        ('"%d %d", true, false', "1 0"),
        ('"%p", (device float*)nullptr', "(nil)"),
        ('"%v4hlf", float4(1, 2, 3, 4)', "1.000000,2.000000,3.000000,4.000000"),
        ('"%v2.1f", float2(1)', "%v2.1f"),
        ('"%.1v2hlf %v3d", half2(1, 2), int3(4, 5, 6)', "1.0,2.0 4,5,6"),
        ('"%v4hhu %v2lu", uchar4(1), ulong2(7)', "1,1,1,1 7,7"),
        ('"%v3f", packed_float3(1)', "1.000000,1.000000,1.000000"),
        ('"%u", uint3(1, 2, 3)', "1,2,3"),
        ('"%d and %d", 1', "1 and (missing)"),
        ('"%d %f", 2.75f, 3', "2 3.000000"),
        ('"%k %", 1', "%k %"),
        ('"%.999f", 0.5f', "0.5" + "0" * 199),
    ],
)
def test_formats(call: str, text: str, capfd: pytest.CaptureFixture[str]) -> None:
    run(f"os_log_default.log({call}); y[0] = 1;")
    assert capfd.readouterr().err == f"[talk thread (0,0,0)] {text}\n"


def test_headings(capfd: pytest.CaptureFixture[str]) -> None:
    run(
        """
        os_log local("org.local", "body");
        logger.log("1"); logger.log_debug("2"); local.log_info("3"); local.log_error("4");
        os_log_default.log_fault("5"); os_log_default.log_with_type(os_log_type_error, "%d", 6);
        y[0] = 1;
        """,
        header='#include <metal_logging>\nconstant mlx::os_log logger("org.mlx", "header");\n',
    )
    headings = [line.removeprefix("[talk thread (0,0,0)") for line in lines(capfd)]
    assert headings == [
        " org.mlx:header] 1",
        " debug org.mlx:header] 2",
        " info org.local:body] 3",
        " error org.local:body] 4",
        " fault] 5",
        " error] 6",
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_active_lanes_in_their_order(width: int, capfd: pytest.CaptureFixture[str]) -> None:
    body = """
        uint i = thread_position_in_grid.x;
        if (i % 3 == 0) os_log_default.log("%u", i * i);
        y[i] = i;
    """
    y = run(body, 20, width=width)
    assert list(y) == list(range(20))
    assert lines(capfd) == [f"[talk thread ({i},0,0)] {i * i}" for i in range(0, 20, 3)]


@pytest.mark.parametrize("width", WIDTHS)
def test_in_loops_and_behind_barriers(width: int, capfd: pytest.CaptureFixture[str]) -> None:
    body = """
        threadgroup uint shared[40];
        uint i = thread_position_in_threadgroup.x;
        for (uint round = 0; round < 2; ++round) {
          shared[i] = i + round;
          threadgroup_barrier(mem_flags::mem_threadgroup);
          uint other = shared[39 - i];
          uint sum = simd_sum(other);
          if (i == 38) os_log_default.log("%u %u %u", round, other, sum);
          threadgroup_barrier(mem_flags::mem_threadgroup);
          y[i] += other;
        }
    """
    y = run(body, 40, width=width)
    assert list(y) == [2 * (39 - i) + 1 for i in range(40)]
    assert lines(capfd) == [f"[talk thread (38,0,0)] {r} {1 + r} {28 + 8 * r}" for r in range(2)]


def test_positions_in_three_dimensions(capfd: pytest.CaptureFixture[str]) -> None:
    kernel = anymetal.metal_kernel(
        "place", [], ["y"], 'os_log_default.log("%u", thread_position_in_grid.y); y[0] = 1;'
    )
    outputs = kernel(
        inputs=[],
        output_shapes=[(1,)],
        output_dtypes=[mx.int32],
        grid=(3, 4, 2),
        threadgroup=(2, 2, 2),
    )
    mx.eval(outputs)
    assert sorted(lines(capfd)) == [
        f"[place thread ({x},{y},{z})] {y}" for x in range(3) for y in range(4) for z in range(2)
    ]


def test_lines_of_many_threads_stay_whole(capfd: pytest.CaptureFixture[str]) -> None:
    threads = 4096
    body = """
        uint i = thread_position_in_grid.x;
        os_log_default.log("%080u %u", i, i);
        y[i] = i;
    """
    run(body, threads, 64)
    expected = [f"[talk thread ({i},0,0)] {i:080} {i}" for i in range(threads)]
    assert sorted(lines(capfd)) == sorted(expected)


def test_a_long_line_is_cut(capfd: pytest.CaptureFixture[str]) -> None:
    run('os_log_default.log("' + 5000 * "a" + '"); y[0] = 1;')
    assert capfd.readouterr().err == ("[talk thread (0,0,0)] " + 5000 * "a")[:4000] + "\n"


def test_a_format_that_is_known_when_it_runs(capfd: pytest.CaptureFixture[str]) -> None:
    """Formats that differ from thread to thread, and one with %s that no compiler sees."""
    body = """
        uint i = thread_position_in_grid.x;
        constant char* format = i % 2 ? odd : even;
        os_log_default.log(format, i);
        y[i] = i;
    """
    header = 'constant char odd[] = "odd %u"; constant char even[] = "even %s";\n'
    run(body, 3, header=header)
    assert lines(capfd) == [
        f"[talk thread ({i},0,0)] {text}" for i, text in enumerate(["even %s", "odd 1", "even %s"])
    ]


def lines(capfd: pytest.CaptureFixture[str]) -> list[str]:
    return capfd.readouterr().err.splitlines()


@pytest.mark.parametrize("threads", ["1", "4"])
@pytest.mark.parametrize("how", ["ctrl-c", "time limit"])
def test_a_kernel_that_prints_into_a_full_pipe_can_be_stopped(how, threads):
    text = f"""
import os, signal, sys, threading
import mlx.core as mx
import anymetal
talk = anymetal.metal_kernel("talk", [], ["y"], 'os_log_default.log("%u", 1u); y[0] = 1;',
                             header="#include <metal_logging>")
def run(size):
    return talk(inputs=[], output_shapes=[(1,)], output_dtypes=[mx.uint32], grid=(size, 1, 1),
                threadgroup=(32, 1, 1))[0]
mx.eval(run(1))
if {how == "ctrl-c"}:
    threading.Timer(1.0, os.kill, [os.getpid(), signal.SIGINT]).start()
try:
    mx.eval(run(1 << 20))
except (KeyboardInterrupt, TimeoutError) as error:
    print(type(error).__name__, flush=True)
os._exit(0)
"""
    limit = {} if how == "ctrl-c" else {"ANYMETAL_TIME_LIMIT": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", text],
        cwd=ROOT,
        env={**os.environ, **limit, "ANYMETAL_NUM_THREADS": threads},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,  # which nobody reads
        text=True,
    ) as program:
        try:
            assert program.wait(60) == 0
            assert program.stdout is not None
            answer = program.stdout.read().strip()
            assert answer == ("KeyboardInterrupt" if how == "ctrl-c" else "KernelTimeoutError")
        finally:
            program.kill()
