"""Libraries of the cache are loaded, whatever has become of their files."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest

from anymetal.errors import CompilerError, ToolchainError
from anymetal.runtime import disk_cache, loading, zig
from anymetal.runtime.code import Code
from tests.runtime.native import object_of


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def library(number: int) -> bytes:
    return zig.link_shared(object_of("", f'extern "C" int number() {{ return {number}; }}'))


def number_in(stored: disk_cache.Cached) -> int:
    return int(loading.load(stored, lambda path: ctypes.CDLL(str(path))).number())


def test_the_file_in_the_cache_is_the_one_that_is_mapped():
    stored = disk_cache.put("one", ".so", library(1))
    assert number_in(stored) == 1
    assert str(stored.path) in Path("/proc/self/maps").read_text()


def test_a_file_that_is_gone():
    stored = [disk_cache.put(str(number), ".so", library(number)) for number in range(3)]
    disk_cache.clear()
    assert [number_in(one) for one in stored] == [0, 1, 2]


def test_a_file_system_that_executes_nothing(tmp_path, monkeypatch):
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "noexec,mode=700", "none", str(mounted)]
    try:
        if subprocess.run(command, capture_output=True).returncode:
            pytest.skip("nothing can be mounted here")
    except FileNotFoundError:
        pytest.skip("there is no `mount`")
    try:
        monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(mounted / "cache"))
        stored = disk_cache.put("one", ".so", library(7))
        assert stored.path.is_relative_to(mounted) and number_in(stored) == 7
    finally:
        subprocess.run(["umount", "-l", str(mounted)], check=True)  # a part stays mapped


def test_what_is_no_library_or_lacks_something():
    with pytest.raises(ToolchainError, match="cannot load a compiled kernel"):
        Code(disk_cache.put("junk", ".so", b"junk"), "junk")
    calls = object_of("gone();", 'extern "C" void gone();')
    with pytest.raises(CompilerError, match="'gone', which this system does not have"):
        Code(disk_cache.put("calls", ".so", zig.link_shared(calls)), "calls")
