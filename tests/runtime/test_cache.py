"""The disk cache: found again, never loaded when damaged, safe among processes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from anymetal.runtime import cache
from tests.runtime.native import ROOT


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch):
    path = tmp_path / "cache"
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(path))
    return path


KEY = cache.digest("a kernel")


def test_what_was_put_is_found(directory):
    assert cache.get(KEY) is None
    path = cache.put(KEY, ".so", b"code")
    assert cache.get(KEY) == path
    assert path.read_bytes() == b"code" and path.suffix == ".so"
    assert path.is_relative_to(directory)
    assert cache.get(cache.digest("another kernel")) is None


def test_put_again_replaces():
    cache.put(KEY, ".so", b"old")
    path = cache.put(KEY, ".so", b"new")
    assert cache.get(KEY) == path and path.read_bytes() == b"new"


def test_nobody_else_may_read_or_write(directory):
    os.umask(os.umask(0))  # whatever the mask is
    path = cache.put(KEY, ".so", b"code")
    for folder in (directory, directory / "index", directory / "objects"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", [b"", b"cod", b"code ", b"c\0de", None])
def test_a_damaged_object_is_deleted_and_not_returned(damage):
    path = cache.put(KEY, ".so", b"code")
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage)
    assert cache.get(KEY) is None
    assert not path.exists() and cache.entries() == []
    assert cache.get(cache.put(KEY, ".so", b"code").name) is None
    assert cache.get(KEY) == path


@pytest.mark.parametrize("text", [b"", b"../../victim", b"\xff\xfe", b"0" * 64 + b".so", b"victim"])
def test_a_damaged_index_leads_nowhere(directory, text):
    victim = directory.parent / "victim"
    victim.write_text("precious")
    cache.put(KEY, ".so", b"code")
    (directory / "index" / KEY).write_bytes(text)
    assert cache.get(KEY) is None
    assert victim.read_text() == "precious"
    assert cache.entries() == []


def test_entries_size_and_clear(directory):
    assert (cache.entries(), cache.size()) == ([], 0)
    for number in range(5):
        cache.put(cache.digest(str(number)), ".so", bytes(1000 + number))
    (directory / "notes.txt").write_text("mine")
    found = cache.entries()
    assert len(found) == 5 and sum(entry.size for entry in found) == 5010
    assert all(entry.path.exists() and len(entry.key) == 64 for entry in found)
    assert 5010 <= cache.size() < 7000
    cache.clear()
    assert (cache.entries(), cache.size()) == ([], 0)
    assert (directory / "notes.txt").read_text() == "mine"


def test_what_an_entry_is_and_when_it_was_used() -> None:
    path = cache.put(KEY, ".so", b"code", "kernel exp\nof mine")
    os.utime(path, (1, 1))
    (entry,) = cache.entries()
    assert entry.name == "kernel exp of mine"
    assert entry.used == 1 and entry.made > 1e9
    assert cache.get(KEY) == path
    assert cache.entries()[0].used > 1e9


def put_old(number: int, size: int) -> Path:
    """A file that was last used at second `number`, by another process."""
    path = cache.put(cache.digest(str(number)), ".so", bytes([number]) * size)
    cache._in_use.discard(path.name)
    os.utime(path, (number, number))
    return path


def test_what_was_not_used_for_longest_goes_first(monkeypatch, directory):
    paths = [put_old(number, 1000) for number in range(1, 6)]
    header = directory / "headers" / "safe.pch"
    header.parent.mkdir()
    header.write_bytes(bytes(1000))
    os.utime(header, (3.5, 3.5))
    monkeypatch.setenv("ANYMETAL_CACHE_LIMIT", "4000")
    cache.put(KEY, ".so", bytes(1000))
    assert [path.exists() for path in paths] == [False, False, False, True, True]
    assert header.exists()
    assert len(cache.entries()) == len(list((directory / "index").iterdir())) == 3
    cache.put(KEY, ".so", bytes(1001))
    assert not header.exists()


def test_what_this_process_uses_stays(monkeypatch):
    used = cache.put(KEY, ".so", bytes(1000))
    os.utime(used, (1, 1))
    old = put_old(5, 1000)
    monkeypatch.setenv("ANYMETAL_CACHE_LIMIT", "1")
    new = cache.put(cache.digest("new"), ".so", bytes(2000))
    assert (used.exists(), old.exists(), new.exists()) == (True, False, True)


def test_files_that_are_being_written_stay(monkeypatch, directory):
    cache.put(KEY, ".so", b"code")
    temporary = directory / "headers" / "new.pch.tmp"
    temporary.parent.mkdir()
    temporary.write_bytes(bytes(1000))
    monkeypatch.setenv("ANYMETAL_CACHE_LIMIT", "10")
    cache.shrink()
    assert temporary.exists()
    assert cache.verify().leftovers == 0 and temporary.exists()
    os.utime(temporary, (1, 1))  # its process was killed
    assert cache.verify().leftovers == 1 and not temporary.exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 1 << 30),
        ("0", 0),
        ("12345", 12345),
        ("500M", 500 << 20),
        ("2G", 2 << 30),
        ("1.5k", 1536),
        ("2 GiB", 2 << 30),
        ("1tb", 1 << 40),
    ],
)
def test_limits(text, expected, monkeypatch):
    monkeypatch.setenv("ANYMETAL_CACHE_LIMIT", text)
    assert cache.limit() == expected


@pytest.mark.parametrize("text", ["much", "-1", "1X", "M", "1 G 2", "1e9"])
def test_other_limits_are_errors(text, monkeypatch):
    monkeypatch.setenv("ANYMETAL_CACHE_LIMIT", text)
    with pytest.raises(ValueError, match="a number with K, M, G or T, such as 500M or 2G, not"):
        cache.put(KEY, ".so", b"code")


def test_verify_removes_what_is_damaged_or_left_behind(directory):
    good = cache.put(cache.digest("good"), ".so", b"good")
    bad = cache.put(cache.digest("bad"), ".so", b"bad")
    bad.write_bytes(b"worse")
    fresh = cache.put(cache.digest("fresh"), ".so", b"fresh")
    left = cache.put(cache.digest("left"), ".so", b"left")
    for name in ("fresh", "left"):  # the index of one may be about to be written
        (directory / "index" / cache.digest(name)).unlink()
    os.utime(left, (1, 1))
    (directory / "index" / "junk").write_bytes(b"\xff")
    lock = directory / "locks" / "old"
    lock.parent.mkdir()
    lock.touch()
    os.utime(lock, (1, 1))
    verdict = cache.verify()
    assert verdict == (2, [bad.name], 4)  # left over: left, junk, the lock, the index of bad
    assert good.exists() and fresh.exists()
    assert not bad.exists() and not left.exists() and not lock.exists()
    assert cache.verify() == (2, [], 0)


def test_keys_know_where_one_part_ends():
    keys = {
        cache.digest("ab", "c"),
        cache.digest("a", "bc"),
        cache.digest("abc"),
        cache.digest(b""),
    }
    assert len(keys) == 4
    assert cache.digest("ab") == cache.digest(b"ab")


def test_the_places_where_the_cache_may_be(tmp_path, monkeypatch):
    monkeypatch.delenv("ANYMETAL_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache.cache_directory() == tmp_path / "home" / ".cache" / "anymetal"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.cache_directory() == tmp_path / "home" / ".cache" / "anymetal"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.cache_directory() == tmp_path / "xdg" / "anymetal"
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "chosen"))
    assert cache.cache_directory() == tmp_path / "chosen"


@pytest.mark.parametrize("mode", [0o777, 0o770, None])
def test_a_directory_that_is_not_ours_alone_is_not_used(directory, mode):
    if mode is None:  # a file stands in the way
        directory.write_text("")
    else:
        directory.mkdir()
        directory.chmod(mode)
    path = cache.put(KEY, ".so", b"code")
    assert not path.is_relative_to(directory)
    assert stat.S_IMODE(path.parents[1].stat().st_mode) == 0o700
    assert cache.get(KEY) == path


def test_a_private_directory_goes_with_its_process(directory):
    directory.write_text("")
    script = "from anymetal.runtime import cache; print(cache.put('key', '.so', b'code'))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert not Path(done.stdout.strip()).parents[1].exists()


def test_a_directory_that_vanishes_is_no_error(directory):
    cache.put(KEY, ".so", b"code")
    for path in sorted(directory.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    directory.rmdir()
    assert cache.get(KEY) is None
    assert cache.put(KEY, ".so", b"code").read_bytes() == b"code"


HAMMER = """
import os, random, sys
from anymetal.runtime import cache
random.seed(int(sys.argv[1]))
for _ in range(400):
    number = random.randrange(6)
    content = b"%d" % number * random.choice([1, 50_000])
    action = random.random()
    try:
        if action < 0.45:
            path = cache.put(cache.digest(str(number)), ".so", content)
        elif action < 0.96:
            path = cache.get(cache.digest(str(number)))
            if path is not None:
                content = path.read_bytes()  # whole, unless damaged since `get`
                assert content == b"junk" or set(content) == {ord(str(number))}
        elif action < 0.97:
            cache.verify()
        elif action < 0.98:
            cache.clear()
        else:  # somebody damages a file
            for entry in cache.entries()[:1]:
                junk = entry.path.with_name(f"junk.{os.getpid()}")
                junk.write_bytes(b"junk")
                junk.replace(entry.path)
    except FileNotFoundError:
        pass  # cleared between `get` and reading
"""


def test_processes_may_read_write_damage_and_clear_at_once():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with ThreadPoolExecutor(4) as threads:
        jobs = [
            threads.submit(
                subprocess.run,
                [sys.executable, "-c", HAMMER, str(seed)],
                env=environment,
                capture_output=True,
                text=True,
            )
            for seed in range(4)
        ]
        for job in jobs:
            assert job.result().returncode == 0, job.result().stderr
    for entry in cache.entries():
        if cache.get(entry.key) is not None:
            assert len(set(entry.path.read_bytes())) == 1
