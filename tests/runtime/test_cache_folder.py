"""Where the cache is, and that kernels run where it cannot be: one line says so, nothing fails."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from anymetal.runtime import cache_folder, disk_cache
from tests.runtime.native import ROOT

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")

#: A program that stores something and finds it; what it prints is where.
PROGRAM = """
import os, sys
from anymetal.runtime import disk_cache
stored = disk_cache.put(disk_cache.digest("key"), ".so", b"code")
assert disk_cache.get(disk_cache.digest("key")) == stored
disk_cache.put(disk_cache.digest("other"), ".so", b"code")
print(stored.path)
"""


def run(program: str = PROGRAM, **environment: str | None) -> tuple[Path, str]:
    """Where a program put something, and what it said beside."""
    wanted = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={name: value for name, value in wanted.items() if value is not None},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip()), done.stderr


def said(reason: str) -> str:
    return f"anymetal: what is compiled is not kept for later processes: {reason}\n"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has been told yet, and there is no folder of this process."""
    monkeypatch.setattr(cache_folder, "_told", [])
    monkeypatch.setattr(cache_folder, "_private", set())


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cache"
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(path))
    return path


def test_the_places_where_the_cache_may_be(tmp_path, monkeypatch):
    monkeypatch.delenv("ANYMETAL_CACHE_DIR", raising=False)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert disk_cache.cache_directory() == tmp_path / "home" / ".cache" / "anymetal"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert disk_cache.cache_directory() == tmp_path / "home" / ".cache" / "anymetal"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert disk_cache.cache_directory() == tmp_path / "xdg" / "anymetal"
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "chosen"))
    assert disk_cache.cache_directory() == tmp_path / "chosen"
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", "~/chosen")
    assert disk_cache.cache_directory() == tmp_path / "home" / "chosen"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", "a/relative/one")
    assert disk_cache.cache_directory() == tmp_path / "a" / "relative" / "one"
    monkeypatch.chdir("/")
    assert disk_cache.cache_directory() == tmp_path / "a" / "relative" / "one"


def all_may_write(path: Path) -> str:
    path.mkdir()
    path.chmod(0o777)
    return f"{path} is not used, because others may write to {path} (mode 777)"


def all_may_write_above(path: Path) -> str:
    path.parent.chmod(0o777)
    return f"{path} is not used, because others may write to {path.parent} (mode 777)"


def a_file(path: Path) -> str:
    path.write_text("")
    return f"{path} cannot be used: File exists"


def below_a_file(path: Path) -> str:
    path.parent.rmdir()
    path.parent.write_text("")
    return f"{path} cannot be used: Not a directory"


def of_somebody_else(path: Path) -> str:
    path.mkdir()
    os.chown(path, 4711, 4711)
    return f"{path} is not used, because {path} belongs to user 4711"


@pytest.mark.parametrize(
    "trouble",
    [
        *(all_may_write, all_may_write_above, a_file, below_a_file),
        pytest.param(of_somebody_else, marks=AS_ROOT),
    ],
)
def test_a_folder_that_cannot_be_used(tmp_path: Path, trouble: Callable[[Path], str]) -> None:
    path = tmp_path / "parent" / "cache"
    path.parent.mkdir()
    reason = trouble(path)
    stored, message = run(ANYMETAL_CACHE_DIR=str(path))
    assert message == said(reason)
    # A folder of that process alone, which went with it.
    assert not stored.is_relative_to(path) and not stored.parents[2].exists()


def test_without_a_home() -> None:
    none = {"ANYMETAL_CACHE_DIR": None, "XDG_CACHE_HOME": None}
    stored, message = run(**none, HOME="/nonexistent/user")
    assert message == said(
        "/nonexistent/user/.cache/anymetal cannot be used: there is no home directory "
        "/nonexistent/user"
    )
    assert not stored.exists() and not Path("/nonexistent").exists()
    unknown = f"import pwd\ndef none(_): raise KeyError\npwd.getpwuid = none\n{PROGRAM}"
    stored, message = run(unknown, **none, HOME=None)
    assert message == said("this user has no home directory; set ANYMETAL_CACHE_DIR")


def test_nobody_listens(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    close = "import os, sys\nos.close(2)\n"
    for more in ("", "sys.stderr = None\n", "sys.stderr.close()\n"):
        assert run(f"{close}{more}{PROGRAM}", ANYMETAL_CACHE_DIR=str(tmp_path / "cache"))[1] == ""


def test_files_may_not_grow(directory: Path) -> None:
    """A limit on the size of files holds for the folder of the process, too."""
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
    large = PROGRAM.replace('b"code"', "bytes(100_000)")
    done = subprocess.run(
        [sys.executable, "-c", limit + large], cwd=ROOT, capture_output=True, text=True
    )
    assert said(f"{directory} cannot be written: File too large") in done.stderr
    assert "ToolchainError: what is compiled can be kept nowhere: [Errno 27]" in done.stderr
    assert list((directory / "tmp").iterdir()) == []


def test_a_disk_that_fills_up(directory: Path, monkeypatch, capfd) -> None:
    """The cache's disk alone."""
    write = os.fsync

    def full(descriptor: int) -> None:
        if os.readlink(f"/proc/self/fd/{descriptor}").startswith(str(directory)):
            raise OSError(28, "No space left on device")
        write(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    key = disk_cache.digest("key")
    for content in (b"one", b"two"):
        stored = disk_cache.put(key, ".so", content)
        assert not stored.path.is_relative_to(directory)
        assert disk_cache.get(key) == stored and stored.content == content
    # What is not loaded as a library is not put into another folder.
    stored = disk_cache.put(key, ".pch", b"headers")
    assert stored.content == b"headers" and not stored.path.exists()
    assert disk_cache.get(key, ".pch") is None
    reason = f"{directory} cannot be written: No space left on device"
    assert capfd.readouterr().err == said(reason)
    assert list((directory / "tmp").iterdir()) == []
    monkeypatch.undo()


def test_what_is_kept(directory: Path, monkeypatch) -> None:
    assert cache_folder.is_kept()
    monkeypatch.setattr(cache_folder, "_told", ["a disk was full before"])
    assert not cache_folder.is_kept()


@AS_ROOT
def test_a_file_system_that_is_full(tmp_path: Path) -> None:
    mounted = tmp_path / "small"
    mounted.mkdir(mode=0o700)
    command = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", str(mounted)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        (mounted / "filler").write_bytes(bytes(40_000))
        large = PROGRAM.replace('b"code"', "bytes(100_000)")
        kept = "from anymetal.runtime import cache_folder\nassert not cache_folder.is_kept()\n"
        stored, message = run(kept + large, ANYMETAL_CACHE_DIR=str(mounted / "cache"))
        reason = f"{mounted}/cache cannot be written: No space left on device"
        assert message == said(reason) and not stored.is_relative_to(mounted)
        assert list((mounted / "cache" / "tmp").iterdir()) == []
    finally:
        subprocess.run(["umount", str(mounted)], check=True)


#: Python's own files may be root's alone.
LEAVE = """
import os, fcntl, grp, pwd, shutil, tempfile
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
"""

READ = f"""
from anymetal.runtime import disk_cache
{LEAVE}
found = disk_cache.get(disk_cache.digest("key"))
assert found is not None and found.content == b"code", found
assert len(disk_cache.verify().broken) == 1
for name in ("new", "bad"):
    assert disk_cache.get(disk_cache.digest(name)) is None
    found = disk_cache.put(disk_cache.digest(name), ".so", b"more")
    assert disk_cache.get(disk_cache.digest(name)) == found
print(found.path)
"""


@pytest.fixture
def shared() -> Path:
    """A folder that others can reach."""
    import tempfile

    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def test_a_warm_cache_that_is_read_only(shared: Path) -> None:
    directory = shared / "cache"
    run(ANYMETAL_CACHE_DIR=str(directory))
    (directory / "entries" / f"{disk_cache.digest('bad')}.so").write_bytes(b"junk")
    for path in (directory, *directory.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = sorted(directory.rglob("*"))
    stored, message = run(READ, ANYMETAL_CACHE_DIR=str(directory))
    assert message == said(f"{directory} cannot be written")
    assert not stored.exists() and sorted(directory.rglob("*")) == before
    for path in (directory, *directory.rglob("*/")):
        path.chmod(0o755)


@AS_ROOT
def test_a_process_that_becomes_somebody_else(shared: Path) -> None:
    directory = shared / "cache"
    program = f"{PROGRAM.replace('print(stored.path)', '')}{LEAVE}{PROGRAM}"
    stored, message = run(program, ANYMETAL_CACHE_DIR=str(directory))
    assert message == said(f"{directory} cannot be read")
    assert not stored.parents[2].exists()


def test_after_a_fork_both_go_on(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    program = f"{PROGRAM}\nif pid := os.fork(): os.waitpid(pid, 0)\n{PROGRAM}"
    done = run(program.replace("print(stored.path)", ""), ANYMETAL_CACHE_DIR=str(tmp_path / "c"))
    assert done[1].count("\n") == 1


def test_others_may_read_what_they_cannot_write(directory: Path) -> None:
    """A folder whose mode lets others write was perhaps written by them."""
    stored = disk_cache.put(disk_cache.digest("key"), ".so", b"code")
    stored.path.chmod(0o644)
    assert disk_cache.get(disk_cache.digest("key")) == stored
    stored.path.chmod(0o646)
    assert disk_cache.get(disk_cache.digest("key")) is None
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_a_helper_finds_what_its_process_finds(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a cache that cannot be written, it is read there, and what is new goes elsewhere."""
    key, new = disk_cache.digest("key"), disk_cache.digest("new")
    stored = disk_cache.put(key, ".pch", b"headers")
    assert cache_folder.environment()["ANYMETAL_CACHE_DIR"] == str(directory)
    may = cache_folder._may
    monkeypatch.setattr(
        cache_folder,
        "_may",
        lambda path, mode: (path, mode) != (directory, os.W_OK) and may(path, mode),
    )
    cache_folder._place.cache_clear()
    for name, value in cache_folder.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(cache_folder, "_private", set())  # as in another process
    cache_folder._place.cache_clear()
    assert disk_cache.get(key, ".pch") == stored
    assert (
        disk_cache.put(new, ".so", b"code").path.parents[1]
        == disk_cache.cache_directory()
        != directory
    )
    cache_folder._place.cache_clear()
