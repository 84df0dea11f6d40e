"""Machine code is there as long as somebody can launch it, and no longer."""

from __future__ import annotations

import gc
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType

import mlx.core as mx
import pytest

import anymetal
from anymetal import kernel as kernels
from anymetal.runtime import disk_cache, zig
from anymetal.runtime.bridge import loader
from anymetal.runtime.code import Code
from anymetal.runtime.pool import pool
from anymetal.signature import generator_of
from anymetal.targets.cpu import code_lookup
from tests.runtime.native import object_of

#: The constant lies in memory: not all processors have it in an instruction.
BODY = """
static const volatile float added = {};
static_cast<float*>(buffers[1])[group] = static_cast<float*>(buffers[0])[group] + added;
"""
COUNT = 64


@pytest.fixture(autouse=True, params=["graph", "at once"])
def way(request, monkeypatch, built_bridge):
    if request.param == "at once":
        monkeypatch.setattr(loader, "native", lambda: None)
    return request.param


@pytest.fixture(autouse=True)
def compiler(monkeypatch, tmp_path) -> None:
    """C++ in the place of Metal, compiled once: only a constant differs between kernels."""
    monkeypatch.setenv("ANYMETAL_STRICT", "0")
    pool()  # no library of the test's cache
    forget()
    whole = object_of(BODY.format("12345.25f"))
    assert whole.count(_bytes(12345.25)) == 1

    def shared_library(source, variant, stages):
        number = float(source.body.split()[-1])
        return zig.link_shared(whole.replace(_bytes(12345.25), _bytes(number)))

    monkeypatch.setattr(code_lookup, "shared_library", shared_library)
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "cache"))


def _bytes(number: float) -> bytes:
    import struct

    return struct.pack("<f", number)


def kernel(number: float):
    return anymetal.metal_kernel("native", ["x"], ["y"], f"// threadgroup {number}")


def call(kernel, x):
    return kernel(
        inputs=[x],
        output_shapes=[x.shape],
        output_dtypes=[x.dtype],
        grid=(x.size, 1, 1),
        threadgroup=(1, 1, 1),
    )[0]


def loaded() -> int:
    """How many kernels of the test's cache are in memory."""
    folder = str(disk_cache.cache_directory())
    maps = Path("/proc/self/maps").read_text().splitlines()
    return len({line.split(None, 5)[5] for line in maps if folder in line})


def forget() -> None:
    """Nobody defines a kernel again that was defined before."""
    kernels._made.cache_clear()
    generator_of.cache_clear()
    code_lookup._recent.clear()
    gc.collect()


X = mx.arange(64.0)
mx.eval(X)  # on the thread that made it


def test_code_goes_with_its_kernel() -> None:
    base = loaded()
    one, two = kernel(1), kernel(2)
    assert call(one, X)[0].item() == 1 and call(two, X)[0].item() == 2
    assert loaded() == base + 2
    del one
    forget()
    assert loaded() == base + 1
    assert call(two, X)[1].item() == 3
    del two
    forget()
    assert loaded() == base


def test_what_is_not_computed_yet_keeps_its_code(way) -> None:
    base = loaded()
    y = call(kernel(3), X)
    forget()
    assert y[2].item() == 5
    y = call(kernel(4), call(kernel(5), X))
    mx.eval(call(kernel(4), X))
    forget()
    disk_cache.clear()
    assert y[2].item() == 11
    del y
    mx.synchronize()
    forget()
    assert loaded() == base


def test_equal_definitions_share_code() -> None:
    base = loaded()
    for _ in range(3):
        assert call(kernel(6), X)[0].item() == 6
    assert loaded() == base + 1
    forget()
    assert loaded() == base
    assert call(kernel(6), X)[0].item() == 6


def test_a_bounded_number_of_definitions_is_kept() -> None:
    base = loaded()
    for number in range(2 * COUNT):
        call(kernel(number), X[:1]).item()
    assert loaded() <= base + generator_of.cache_info().maxsize


def test_kernels_come_and_go_in_threads() -> None:
    """A launch runs while other kernels, and equal ones, are unloaded."""
    base, wrong = loaded(), []

    def work(seed: int) -> None:
        for done in range(COUNT):
            number = (seed + 7 * done) % 12
            y = call(kernel(number), X)
            if done % 3 == 0:
                generator_of.cache_clear()
                code_lookup._recent.clear()
            if y.tolist() != [number + i for i in range(64)]:
                wrong.append((number, y))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert not wrong
    mx.synchronize()
    forget()
    assert loaded() == base


def test_nobody_is_given_code_that_is_being_unloaded() -> None:
    """While `__del__` of an object runs, weak references still give it to other threads."""
    found: list[Code | None] = []
    code = Code(disk_cache.put("one more", ".so", zig.link_shared(object_of(""))), "test")
    known, base = weakref.ref(code), loaded()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name == "__del__":
            found.append(known())

    sys.setprofile(note)
    try:
        del code
    finally:
        sys.setprofile(None)
    assert found == [None]
    assert loaded() == base - 1


def test_a_launch_that_runs_keeps_its_code(way) -> None:
    """The kernel is dropped meanwhile, and so is all else that knows of it."""
    base = loaded()
    y = call(kernel(8), mx.zeros((200_000,)))
    mx.async_eval(y)
    forget()
    total = y.sum()
    del y
    forget()
    assert total.item() == 8 * 200_000
    del total
    mx.synchronize()
    forget()
    assert loaded() == base


def test_a_library_that_vanishes_from_the_disk_stays_usable(tmp_path) -> None:
    library = disk_cache.put("a kernel", ".so", zig.link_shared(object_of("")))
    code = Code(library, "test")
    entry = code.entry
    library.path.unlink()
    again = Code(library, "test")  # the system knows it by its name
    del code
    assert again.entry == entry and again.path == str(library.path)
