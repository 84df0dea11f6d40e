"""The bridge to MLX: arrays nobody has touched, and all that may go wrong on the way to them."""

from __future__ import annotations

import ctypes
import gc
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mlx.core as mx
import pytest

import anymetal
from anymetal.cli import doctor
from anymetal.runtime import arrays, cache_folder, scratch
from anymetal.runtime.bridge import build, loader, native, recipe
from anymetal.runtime.pool import pool
from tests.runtime.native import ROOT, processes_of

DTYPES = [
    mx.bool_, mx.int8, mx.int16, mx.int32, mx.int64, mx.uint8, mx.uint16, mx.uint32, mx.uint64,
    mx.float16, mx.bfloat16, mx.float32, mx.float64, mx.complex64,
]  # fmt: skip
LARGE = (1 << 18,)


@pytest.fixture
def bridge(built_bridge: Path) -> native.Native:
    return native.load(built_bridge)


def test_every_file_of_the_bridge_decides_its_key_and_is_built():
    folder = Path(recipe.__file__).parent
    texts = recipe._texts()
    assert all(path.read_bytes() in texts for path in folder.glob("*.[ch]*"))
    includes = re.findall(r'#include "(.*)"', (folder / recipe._WHOLE).read_text())
    assert {*includes, recipe._WHOLE} == {path.name for path in folder.glob("*.cpp")}


@pytest.fixture
def compiler(tmp_path, monkeypatch) -> Callable[[str], Path]:
    """Puts a shell script in the place of the C++ compiler, and an empty cache beside it.

    In the script, $out is the file to make. The file "calls" gets a line for each call.
    """
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("ANYMETAL_BRIDGE", "wait")
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # a build that crashes leaves its folder

    def install(script: str) -> Path:
        calls, path = tmp_path / "calls", tmp_path / "c++"
        calls.touch()
        path.write_text(
            f"#!/bin/sh\necho called >> {shlex.quote(str(calls))}\nfor out; do :; done\n{script}\n"
        )
        path.chmod(0o755)
        monkeypatch.setenv("CXX", str(path))
        return calls

    return install


def empty(bridge: native.Native, shape: tuple[int, ...], dtype: mx.Dtype) -> mx.array:
    """The output of a launch without threads."""
    plan = bridge.lazy_plan("nothing", lambda: None)
    descriptor = bridge.descriptor(plan, [shape], [dtype], True, None, None)
    (array,) = bridge.call(descriptor, [], 0, None)
    mx.eval(array)
    return array


def address_of(array: mx.array) -> int:
    table = arrays.BufferTable(pool(), 1, [0])
    table.bind([array], False)
    return int(table.buffers[0])


def copying(built_bridge: Path) -> str:
    """A compiler that is done in no time."""
    return f'cp {shlex.quote(str(built_bridge))} "$out"'


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (5,), (0,), (3, 0), (2, 3, 4), (1,) * 12, (70_000,)])
def test_arrays_are_mlx_arrays_of_every_dtype_and_shape(bridge, dtype, shape):
    array = empty(bridge, shape, dtype)
    assert type(array) is mx.array
    assert (array.shape, array.dtype, array.size) == (shape, dtype, math.prod(shape))
    # Booleans other than 0 and 1 would be no fair question.
    ctypes.memset(address_of(array), 1, array.nbytes)
    raw = array.reshape(-1).view(mx.uint8)
    assert raw.size == array.nbytes and (raw == 1).all().item()
    doubled = mx.concatenate([array.reshape(-1)] * 2)
    assert (doubled.dtype, doubled.size) == (dtype, 2 * array.size)
    mx.eval(array, doubled)


def test_values_written_through_the_address_are_the_arrays(bridge):
    array = empty(bridge, (2, 3), mx.complex64)
    numbers = (ctypes.c_float * 12).from_address(address_of(array))
    numbers[:] = list(range(12))
    assert (array * 1j).tolist() == [[-1, -3 + 2j, -5 + 4j], [-7 + 6j, -9 + 8j, -11 + 10j]]
    assert mx.grad(lambda x: mx.real(x).sum())(array).shape == (2, 3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_large_arrays_begin_a_cache_line(bridge, dtype):
    count = (1 << 20) // dtype.size + 5
    arrays = [empty(bridge, (count,), dtype) for _ in range(3)]
    assert [address_of(array) % 64 for array in arrays] == [0, 0, 0]
    ctypes.memset(address_of(arrays[0]), 1, arrays[0].nbytes)
    assert (arrays[0].view(mx.uint8) == 1).all().item()


@pytest.mark.parametrize("padding", [0, 16, 40, 1000])
def test_outputs_begin_far_from_where_large_inputs_do_in_a_page(bridge, padding):
    kernel = anymetal.metal_kernel(
        name="far",
        input_names=["a", "b"],
        output_names=["c"],
        source="uint i = thread_position_in_grid.x; c[i] = a[i] + b[i];",
    )
    count = (1 << 18) + padding
    a, b = mx.arange(count, dtype=mx.float32), mx.ones((count,))
    for _ in range(3):
        inputs = [a, b]
        (a,) = kernel(
            inputs=inputs,
            grid=(count, 1, 1),
            threadgroup=(256, 1, 1),
            output_shapes=[(count,)],
            output_dtypes=[mx.float32],
        )
        mx.eval(a)
        place = address_of(a)
        ahead = [(place - address_of(x)) % 4096 for x in inputs]
        # At least one of two halves of the page is free of beginnings.
        assert place % 64 == 0 and min(ahead) >= 2048 - 64
    assert (a == mx.arange(count, dtype=mx.float32) + 3).all().item()


def test_too_much_memory_is_an_error(bridge):
    for shape in [(2**31 - 1,) * 2, (2**20,) * 3]:
        with pytest.raises((MemoryError, RuntimeError)):
            empty(bridge, shape, mx.float32)


def test_mlx_counts_and_frees_the_memory(bridge):
    gc.collect()  # arrays of tests before this one
    mx.synchronize()
    before = mx.get_active_memory()
    for shape in [(0,), (7,), (1 << 20,), (1 << 24,)]:
        held = [empty(bridge, shape, mx.float32) for _ in range(3)]
        size = sum(array.nbytes for array in held)
        assert size <= mx.get_active_memory() - before <= size + 3 * 8192
        del held
        assert mx.get_active_memory() == before
    # 100 GB in all: it must have been given back to somebody.
    for _ in range(400):
        array = empty(bridge, (1 << 26,), mx.float32)
        ctypes.memset(address_of(array), 1, 4096)
    del array
    assert mx.get_active_memory() == before


def test_threads_get_memory_of_their_own(bridge):
    def work(number: int) -> None:
        held = []
        for _ in range(50):
            array = empty(bridge, (1 << 16,), mx.uint8)
            ctypes.memset(address_of(array), number, array.nbytes)
            held = [*held[-7:], array]
        for array in held:
            content = ctypes.string_at(address_of(array), array.nbytes)
            assert content == bytes([number]) * array.nbytes

    before = mx.get_active_memory()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    assert mx.get_active_memory() == before


def test_small_and_large_outputs_are_filled(bridge):
    for dtype in DTYPES:
        for size in (0, 1, 7, 70_000, 1_000_003):
            plan = bridge.lazy_plan("fill", lambda: None)
            descriptor = bridge.descriptor(plan, [(size,)], [dtype], True, 1.0, None)
            (array,) = bridge.call(descriptor, [], 0, None)
            assert (array == 1).all().item(), (dtype, size)


def filled(init_value: float, dtype: mx.Dtype, size: int) -> mx.array:
    """What a kernel with threads, which does nothing, finds in its output."""
    kernel = anymetal.metal_kernel("fill", [], ["y"], "")
    return kernel(
        inputs=[],
        grid=(1, 1, 1),
        threadgroup=(1, 1, 1),
        output_shapes=[(size,)],
        output_dtypes=[dtype],
        init_value=init_value,
    )[0]


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, 100.5, math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != mx.float64])
def test_initial_values_are_those_of_mlx(dtype, value):
    if not math.isfinite(value) and not mx.issubdtype(dtype, mx.inexact):
        pytest.skip("C leaves it undefined")
    expected = mx.array(value, mx.float32).astype(dtype)
    for size in (1, 5, 300_000):
        found = filled(value, dtype, size)
        same = mx.array_equal(found, mx.full((size,), expected), equal_nan=True)
        assert same.item(), (size, found)
        if value == 0 and dtype == mx.float32:
            assert math.copysign(1, found[-1].item()) == math.copysign(1, value)


@pytest.mark.parametrize("dtype", [mx.uint8, mx.bfloat16, mx.float32, mx.complex64])
@pytest.mark.parametrize("value", [0.0, 3.5])
def test_what_no_cache_holds_is_filled_past_the_caches(dtype, value):
    size = (20 << 20) // dtype.size + 5  # not whole lines
    expected = mx.array(value, mx.float32).astype(dtype)
    found = filled(value, dtype, size)
    assert mx.array_equal(found, mx.full((size,), expected)).item()


def test_it_can_be_turned_off(compiler, monkeypatch):
    calls = compiler("exit 1")
    monkeypatch.setenv("ANYMETAL_BRIDGE", "0")
    assert loader.Bridge().native() is None
    assert loader.status() == (False, "turned off", "unset ANYMETAL_BRIDGE")
    assert not calls.read_text()
    monkeypatch.setenv("ANYMETAL_BRIDGE", "perhaps")
    with pytest.raises(ValueError, match="0, 1 or wait, not 'perhaps'"):
        loader.Bridge().native()


def test_without_a_compiler_there_is_none(compiler, monkeypatch, tmp_path):
    compiler("exit 1")
    monkeypatch.setenv("CXX", "/nowhere/c++ -O2")
    assert loader.Bridge().native() is None
    assert "no program '/nowhere/c++', which CXX names" in loader.status().text
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert loader.Bridge().native() is None
    found = {finding.name: finding for finding in doctor._bridge()}
    assert found["bridge"].value == "no C++ compiler"
    assert found["C++ compiler"].state == "absent" and "g++" in found["C++ compiler"].remedy


@pytest.mark.parametrize("part", ["nanobind", "Python.h", "libmlx.so"])
def test_each_missing_part_has_a_remedy(compiler, monkeypatch, part, tmp_path):
    calls = compiler("exit 1")
    if part == "nanobind":
        monkeypatch.setitem(sys.modules, "nanobind", None)
    elif part == "Python.h":
        monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    else:
        monkeypatch.setattr(mx, "__file__", str(tmp_path / "core.so"))
    assert loader.Bridge().native() is None
    assert not loader.status().works and "install" in loader.status().remedy
    assert not calls.read_text()


def test_a_failed_build_is_remembered(compiler):
    calls = compiler("echo 'no luck today'; exit 3")
    for _ in range(2):
        fresh = loader.Bridge()
        for _ in range(3):
            assert fresh.native() is None
    assert calls.read_text() == "called\n"
    status = loader.status()
    assert "could not be built" in status.text
    log = Path(status.remedy.split()[0])
    assert "no luck today\nstatus 3" in log.read_text()
    assert "it is tried again after 20" in status.remedy
    log.unlink()
    loader.Bridge().native()
    assert calls.read_text() == "called\ncalled\n"


def test_a_failed_build_is_tried_again_after_a_day(compiler, monkeypatch, capfd):
    calls = compiler("exit 3")
    assert loader.Bridge().native() is None
    capfd.readouterr()
    monkeypatch.setattr(recipe, "RETRY", 0.0)
    monkeypatch.setattr(loader, "_start_build", lambda *_: pytest.fail("started"))
    with pytest.raises(pytest.fail.Exception):
        loader.Bridge().native()
    told = capfd.readouterr().err
    assert re.fullmatch(r"anymetal: the bridge .* failed before \(.*\.log\) and is .*again\n", told)
    assert calls.read_text() == "called\n"


def test_a_failed_build_is_tried_again_after_doctor_was_asked(built_bridge, compiler, tmp_path):
    works = tmp_path / "works"
    calls = compiler(f"[ -e {works} ] || exit 3\n{copying(built_bridge)}")
    assert loader.Bridge().native() is None
    works.touch()
    assert loader.Bridge().native() is None
    (found,) = [finding for finding in doctor._bridge() if finding.name == "bridge"]
    assert found.value.startswith("could not be built")
    assert found.remedy.endswith(
        ".log has the compiler's words; it is tried again by the next program"
    )
    assert calls.read_text() == "called\n"
    assert loader.Bridge().native() is not None
    assert calls.read_text() == "called\ncalled\n" and loader.status().works
    assert not loader.retry()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("void* PyInit_extension() { __builtin_trap(); }", "crashed when loaded"),
        ("void* PyInit_other() { return 0; }", "does not load"),
        ("void am_gone(); void* PyInit_extension() { am_gone(); return 0; }", "am_gone"),
    ],
)
def test_a_bridge_that_does_not_load_is_never_kept(built_bridge, compiler, code, said):
    real = shlex.join(recipe.find_compiler())
    compiler(f'echo \'extern "C" {{ {code} }}\' | {real} -x c++ -shared -fPIC -o "$out" -')
    assert loader.Bridge().native() is None
    assert "could not be built" in loader.status().text
    assert said in Path(loader.status().remedy.split()[0]).read_text()


def test_who_ends_the_compilers_does_not_hold_the_lock(tmp_path) -> None:
    """Else a build that has crashed counts as one that goes on, until that process has noticed."""
    with open(tmp_path / "lock", "w") as lock, build._group() as leader:
        deadline = time.monotonic() + 10
        while len(os.listdir(f"/proc/{leader}/fd")) > 4:  # the standard streams, and a pipe's end
            assert time.monotonic() < deadline
        held = [os.readlink(file) for file in Path(f"/proc/{leader}/fd").iterdir()]
    assert lock.name not in held


@pytest.mark.slow
@pytest.mark.parametrize("option", ["-DNB_INTERNALS_VERSION=99", "-UNB_DOMAIN -DNB_DOMAIN=other"])
def test_a_foreign_nanobind_is_noticed(built_bridge, compiler, option):
    real = shlex.join(recipe.find_compiler())
    compiler(f'exec {real} "$@" {option}')
    assert loader.Bridge().native() is None
    log = Path(loader.status().remedy.split()[0]).read_text()
    assert "the bridge does not fit MLX" in log
    if "99" in option:
        assert "_v99" in log


def test_calls_do_not_wait_for_the_build(built_bridge, compiler, monkeypatch, tmp_path):
    gate = tmp_path / "gate"
    calls = compiler(f"while [ ! -e {gate} ]; do sleep 0.05; done\n{copying(built_bridge)}")
    monkeypatch.setenv("ANYMETAL_BRIDGE", "1")
    fresh = loader.Bridge()
    assert "not built yet" in loader.status().text
    assert fresh.native() is None
    assert "being built" in loader.status().text
    deadline = time.monotonic() + 60
    while not calls.read_text():
        assert time.monotonic() < deadline
        assert fresh.native() is None
        time.sleep(0.02)
    gate.touch()
    while fresh.native() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert loader.status().works
    # Found at once by whoever comes later, and not built again.
    assert loader.Bridge().native() is not None
    assert calls.read_text() == "called\n"


def test_a_build_that_ends_without_a_word_is_tried_twice(compiler, monkeypatch):
    calls = compiler("exit 1")
    real, started = loader._start_build, []

    def start(program: str, lock: int) -> int:
        started.append(program)
        return real("/bin/false", lock)

    monkeypatch.setattr(loader, "_start_build", start)
    fresh = loader.Bridge()
    for _ in range(3):
        assert fresh.native() is None
    assert len(started) == 2 and calls.read_text() == ""


def test_something_in_the_place_of_the_lock(built_bridge, compiler, tmp_path):
    calls = compiler(copying(built_bridge))
    (tmp_path / "cache" / "bridge.lock" / "folder").mkdir(parents=True)
    (tmp_path / "cache").chmod(0o700)
    assert loader.Bridge().native() is not None
    assert calls.read_text() == "called\n"


def test_threads_that_come_together_start_one_build(built_bridge, compiler):
    calls = compiler(f"sleep 0.3\n{copying(built_bridge)}")
    fresh = loader.Bridge()
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: fresh.native(), range(8)))
    assert all(made)
    assert calls.read_text() == "called\n"


def test_processes_that_come_together_build_once(built_bridge, compiler):
    calls = compiler(f"sleep 1\n{copying(built_bridge)}")
    program = "from anymetal.runtime.bridge import loader;print(loader.native() is not None)"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    assert [process.communicate(timeout=60)[0] for process in processes] == ["True\n"] * 2
    assert calls.read_text() == "called\n"


SHORT = "from anymetal.runtime.bridge import loader; print(loader.native())"


def test_short_programs_start_one_build_in_all(built_bridge, compiler, monkeypatch, tmp_path):
    gate = tmp_path / "gate"
    calls = compiler(f"while [ ! -e {gate} ]; do sleep 0.05; done\n{copying(built_bridge)}")
    monkeypatch.setenv("ANYMETAL_BRIDGE", "1")
    running = [
        subprocess.Popen([sys.executable, "-c", SHORT], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [program.communicate(timeout=60)[0] for program in running] == ["None\n"] * 4
    builders = [command for command in processes_of(tmp_path, 0) if "bridge.build" in command]
    assert len({command for command in builders if "--locked" in command}) == 1, builders
    gate.touch()
    assert processes_of(tmp_path) == []
    assert loader.status().works and calls.read_text() == "called\n"


def test_what_could_not_be_kept_is_built_only_for_who_needs_it(
    built_bridge, compiler, monkeypatch, tmp_path, capfd
):
    calls = compiler(copying(built_bridge))
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "open" / "cache"))
    monkeypatch.setenv("ANYMETAL_BRIDGE", "1")
    monkeypatch.setattr(scratch, "_folders", {})
    monkeypatch.setattr(cache_folder, "_told", [])
    monkeypatch.setattr(cache_folder, "_private", set())
    monkeypatch.setattr("tempfile.tempdir", None)
    fresh = loader.Bridge()
    for _ in range(3):
        assert fresh.native() is None
    assert "could not be kept" in loader.status().text
    assert processes_of(tmp_path, 0) == [] and calls.read_text() == ""
    assert fresh.require() is not None
    assert calls.read_text() == "called\n" and fresh.native() is not None
    assert capfd.readouterr().err.count("anymetal: what is compiled is not kept") == 1


def test_a_killed_build_leaves_nothing(built_bridge, compiler, monkeypatch, tmp_path):
    works = tmp_path / "works"
    calls = compiler(f"[ -e {works} ] || {{ sleep 300 & wait; }}\n{copying(built_bridge)}")
    monkeypatch.setenv("ANYMETAL_BRIDGE", "1")
    fresh = loader.Bridge()
    assert fresh.native() is None
    deadline = time.monotonic() + 60
    while not calls.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert len(processes_of(tmp_path, 0)) >= 3  # the builder, the compiler and what that started
    os.kill(fresh._builder, signal.SIGKILL)
    assert processes_of(tmp_path) == []
    works.touch()
    assert fresh.require() is not None
    assert calls.read_text() == "called\ncalled\n"
    monkeypatch.setattr("tempfile.tempdir", None)
    scratch.sweep()
    assert not list(tmp_path.glob("anymetal-*"))


def test_a_build_outlives_the_program_that_started_it(built_bridge, compiler, monkeypatch):
    calls = compiler(f"sleep 1\n{copying(built_bridge)}")
    monkeypatch.setenv("ANYMETAL_BRIDGE", "1")
    program = "from anymetal.runtime.bridge import loader;print(loader.native())"
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("None\n", "")
    deadline = time.monotonic() + 60
    while not loader.status().works:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert calls.read_text() == "called\n"


def test_nothing_is_imported_before_it_is_needed():
    program = (
        "import sys, anymetal, anymetal.targets.cpu.launch;"
        "print(sorted(n for n in sys.modules if n.startswith('anymetal.runtime.bridge.')),"
        "'nanobind' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    names = [f"anymetal.runtime.bridge.{name}" for name in ("loader", "lock")]
    assert done.stdout == f"{names} False\n"


@pytest.fixture
def shipped(monkeypatch, tmp_path) -> Path:
    """Where a wheel would have its bridge."""
    path = tmp_path / "shipped.so"
    monkeypatch.setattr(recipe, "shipped", lambda: path)
    return path


def test_a_bridge_that_came_with_the_package_needs_no_compiler(built_bridge, compiler, shipped):
    calls = compiler("exit 1")
    shipped.write_bytes(built_bridge.read_bytes())
    assert loader.Bridge().native() is not None
    assert loader.status() == (True, "came with the package", "")
    assert not calls.read_text()


def test_a_bridge_of_the_package_that_does_not_fit_is_passed_over(built_bridge, compiler, shipped):
    calls = compiler(copying(built_bridge))
    shipped.write_bytes(b"no library")
    assert loader.Bridge().native() is not None
    assert calls.read_text() == "called\n"


MOVED = """
import pathlib, sys
import mlx.core as mx
from anymetal.runtime.bridge import loader, recipe
path = pathlib.Path(sys.argv[1])
recipe.shipped = lambda: path
print(loader.status().text.split()[0])
path.write_bytes(pathlib.Path(sys.argv[2]).read_bytes())
print(loader.require().CallCache({}, int) is not None, loader.status().text)
"""


def test_the_first_bridge_of_a_process_stays(built_bridge, shipped):
    """Another one beside the package, as while a wheel is made, has no types of its own."""
    command = [sys.executable, "-c", MOVED, str(shipped), str(built_bridge)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout == "built\nTrue came with the package\n", done.stderr


COMPILED = """
import sys
import mlx.core as mx, anymetal
kernel = anymetal.metal_kernel("twice", ["x"], ["y"],
    "uint i = thread_position_in_grid.x; y[i] = 2 * x[i];")
def twice(x):
    return kernel(inputs=[x], output_shapes=[x.shape], output_dtypes=[x.dtype],
                  grid=(x.size, 1, 1), threadgroup=(8, 1, 1))[0]
if len(sys.argv) > 1: print(twice(mx.ones(3)).tolist())
print(mx.compile(lambda x: twice(x) + 1)(mx.ones(3)).tolist())
"""


def run_compiled(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", COMPILED, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)


def test_without_a_compiler_kernels_run_but_not_under_compile(compiler, monkeypatch):
    compiler("exit 1")
    monkeypatch.setenv("CXX", "/nowhere/c++")
    monkeypatch.setenv("ANYMETAL_BRIDGE", "1")
    done = run_compiled("plain")
    assert done.stdout == "[2.0, 2.0, 2.0]\n"
    assert "ValueError: [eval] Attempting to eval an array during function" in done.stderr
    assert "no program '/nowhere/c++', which CXX names; correct or unset CXX" in done.stderr


def test_compile_waits_for_the_build_and_says_so(built_bridge, compiler, monkeypatch):
    calls = compiler(f"sleep 1\n{copying(built_bridge)}")
    monkeypatch.setenv("ANYMETAL_BRIDGE", "1")
    for said in [
        r"AnyMetal builds its bridge to MLX, once for this version of MLX \.\.\. \d s\n",
        "",
    ]:
        done = run_compiled()
        assert done.stdout == "[3.0, 3.0, 3.0]\n", done.stderr
        assert re.fullmatch(said, done.stderr)
    assert calls.read_text() == "called\n"
