"""The disk cache: found again, never loaded when damaged, safe among processes."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from anymetal.runtime import disk_cache, files
from tests.runtime import damage as damages
from tests.runtime.native import ROOT


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch):
    path = tmp_path / "cache"
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(path))
    return path


KEY = disk_cache.digest("a kernel")


@pytest.fixture(autouse=True)
def victim(tmp_path) -> Iterator[None]:
    path = tmp_path / "victim"
    path.write_text("precious")
    yield
    assert path.read_text() == "precious"


def test_what_was_put_is_found(directory):
    assert disk_cache.get(KEY) is None
    stored = disk_cache.put(KEY, ".so", b"code", "a kernel")
    assert disk_cache.get(KEY) == stored
    assert stored.content == b"code" and stored.name == "a kernel" and stored.path.suffix == ".so"
    assert stored.path.read_bytes().startswith(b"code\n") and stored.path.is_relative_to(directory)
    assert disk_cache.get(disk_cache.digest("another kernel")) is None
    assert disk_cache.get(KEY, ".json") is None


def test_put_again_replaces():
    disk_cache.put(KEY, ".so", b"old")
    stored = disk_cache.put(KEY, ".so", b"new")
    assert disk_cache.get(KEY) == stored and stored.content == b"new"


def test_nobody_else_may_read_or_write(directory):
    mask = os.umask(0)
    try:
        path = disk_cache.put(KEY, ".so", b"code").path
    finally:
        os.umask(mask)
    for folder in (directory, directory / "entries", directory / "tmp"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_entries_that_were_exchanged_are_refused():
    paths = [disk_cache.put(disk_cache.digest(name), ".so", name.encode()).path for name in "ab"]
    contents = [path.read_bytes() for path in paths]
    for path, content in zip(paths, reversed(contents), strict=True):
        path.write_bytes(content)
    assert [disk_cache.get(disk_cache.digest(name)) for name in "ab"] == [None, None]
    assert not any(path.exists() for path in paths)


def test_an_entry_of_another_kind_is_refused():
    path = disk_cache.put(KEY, ".so", b"code").path
    path.rename(path.with_suffix(".json"))
    assert disk_cache.get(KEY, ".json") is None


@pytest.mark.parametrize("damage", damages.ALL, ids=lambda damage: damage.__name__)
def test_a_damaged_entry_counts_as_none_and_is_made_again(directory, damage):
    path = disk_cache.put(KEY, ".so", b"code" * 1000, "a kernel").path
    damage(path)
    assert disk_cache.get(KEY) is None
    disk_cache.put(KEY, ".so", b"new code")
    assert disk_cache.get(KEY).content == b"new code"
    # Without anybody asking for it:
    damage(path)
    verdict = disk_cache.verify(keep=True)
    assert (verdict.good, len(verdict.broken)) == (0, 1) and str(path) in verdict.broken[0]
    assert disk_cache.verify() == verdict
    assert disk_cache.verify() == (0, [], 0)
    damage(path)
    disk_cache.clear()
    assert not path.is_symlink() and not path.exists()
    damage(path)  # and in the way of a new one
    assert disk_cache.put(KEY, ".so", b"code").content == b"code"
    assert disk_cache.get(KEY).content == b"code"


def test_every_flipped_bit_is_noticed():
    content = bytes(range(64))
    path = disk_cache.put(KEY, ".so", content, "a kernel").path
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), 5):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        assert disk_cache.get(KEY) is None, bit
    path.write_bytes(whole)
    assert disk_cache.get(KEY).content == content


@pytest.mark.parametrize("folder", ["entries", "tmp"])
@pytest.mark.parametrize("damage", damages.OF_FOLDERS, ids=lambda damage: damage.__name__)
def test_a_folder_that_is_none_is_made_again(directory, folder, damage):
    disk_cache.put(KEY, ".so", b"code")
    damage(directory / folder)
    assert disk_cache.get(KEY) is None or folder == "tmp"
    stored = disk_cache.put(KEY, ".so", b"new")
    assert stored.path.is_relative_to(directory) and disk_cache.get(KEY) == stored


def test_entries_size_and_clear(directory):
    assert (disk_cache.entries(), disk_cache.size()) == ([], 0)
    for number in range(5):
        disk_cache.put(disk_cache.digest(str(number)), ".so", bytes(1000 + number))
    table = disk_cache.put_table("a.json", b"[]", "measured")
    (directory / "notes.txt").write_text("mine")
    found = disk_cache.entries()
    assert len(found) == 5 and all(1000 < entry.size < 1200 for entry in found)
    assert [entry.name for entry in disk_cache.tables()] == ["measured"]
    assert 5010 <= disk_cache.size() < 6000
    disk_cache.clear()
    assert disk_cache.entries() == [] and disk_cache.size() == table.stat().st_size
    disk_cache.clear(measured=True)
    assert disk_cache.size() == 0
    assert (directory / "notes.txt").read_text() == "mine"


def test_what_an_entry_is_and_when_it_was_used() -> None:
    path = disk_cache.put(KEY, ".so", b"code", "kernel exp\nof m\udc80ne " + "é" * 1000).path
    os.utime(path, (1, 1))
    (entry,) = disk_cache.entries()
    assert entry.name.startswith("kernel exp of m?ne éé") and len(entry.name) == 200
    assert entry.used == 1 and entry.made > 1e9
    assert disk_cache.get(KEY).path == path
    assert disk_cache.entries()[0].used > 1e9


def put_old(number: int, size: int) -> Path:
    """A file that was last used at second `number`, by another process."""
    path = disk_cache.put(disk_cache.digest(str(number)), ".so", bytes([number]) * size).path
    disk_cache._in_use.discard(path.name)
    os.utime(path, (number, number))
    return path


def test_what_was_not_used_for_longest_goes_first(monkeypatch, directory):
    paths = [put_old(number, 900) for number in range(1, 6)]
    monkeypatch.setenv("ANYMETAL_CACHE_LIMIT", "3500")
    disk_cache.put(KEY, ".pch", bytes(900))
    assert [path.exists() for path in paths] == [False, False, False, True, True]
    assert len(disk_cache.entries()) == 3


def test_the_limit_holds_at_all_times(monkeypatch):
    """Although it is only now and then that all files are looked at."""
    looks = []
    look = disk_cache._shrink
    monkeypatch.setattr(disk_cache, "_shrink", lambda *given: (looks.append(1), look(*given)))
    monkeypatch.setenv("ANYMETAL_CACHE_LIMIT", "4M")
    random = Random(0)
    for number in range(300):
        path = disk_cache.put(str(number), ".so", bytes(random.randrange(1, 40_000))).path
        disk_cache._in_use.discard(path.name)
        assert disk_cache.size() <= 4 << 20
    assert disk_cache.size() > 3 << 20
    assert len(looks) < 150


def test_what_this_process_uses_stays(monkeypatch):
    used = disk_cache.put(KEY, ".so", bytes(1000)).path
    os.utime(used, (1, 1))
    old = put_old(5, 1000)
    monkeypatch.setenv("ANYMETAL_CACHE_LIMIT", "1")
    new = disk_cache.put(disk_cache.digest("new"), ".so", bytes(2000)).path
    assert (used.exists(), old.exists(), new.exists()) == (True, False, True)


def test_what_a_killed_process_was_writing_goes(directory):
    disk_cache.put(KEY, ".so", b"code")
    live, dead = directory / "tmp" / "live", directory / "tmp" / "dead"
    for path in (live, dead):
        path.write_bytes(bytes(1000))
    with open(live) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert disk_cache.verify(keep=True) == (1, [], 1) and dead.exists()
        disk_cache.put(KEY, ".so", b"code")  # whoever writes tidies up
        assert live.exists() and not dead.exists()
    assert disk_cache.verify() == (1, [], 1) and not live.exists()


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
    assert disk_cache.limit() == expected


@pytest.mark.parametrize("text", ["much", "-1", "1X", "M", "1 G 2", "1e9"])
def test_other_limits_are_errors(text, monkeypatch):
    monkeypatch.setenv("ANYMETAL_CACHE_LIMIT", text)
    with pytest.raises(ValueError, match="a number with K, M, G or T, such as 500M or 2G, not"):
        disk_cache.put(KEY, ".so", b"code")


def test_keys_know_where_one_part_ends():
    keys = {
        disk_cache.digest("ab", "c"),
        disk_cache.digest("a", "bc"),
        disk_cache.digest("abc"),
        disk_cache.digest(b""),
    }
    assert len(keys) == 4
    assert disk_cache.digest("ab") == disk_cache.digest(b"ab")


def test_a_directory_that_vanishes_is_no_error(directory):
    disk_cache.put(KEY, ".so", b"code")
    shutil.rmtree(directory)
    assert disk_cache.get(KEY) is None
    assert disk_cache.put(KEY, ".so", b"code").path.is_relative_to(directory)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


#: Puts, gets and damages entries, tidies up and clears, and dies at any moment.
HAMMER = """
import contextlib, os, random, sys
from anymetal.runtime import disk_cache, files
random.seed(int(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    number = random.randrange(6)
    key, content = disk_cache.digest(str(number)), b"%d" % number * random.choice([1, 50_000])
    action = random.random()
    if action < 0.45:
        assert disk_cache.put(key, ".so", content).content == content
    elif action < 0.96:
        found = disk_cache.get(key)
        assert found is None or set(found.content) == {ord(str(number))}
    elif action < 0.97:
        disk_cache.verify()
    elif action < 0.98:
        disk_cache.clear()
    else:  # somebody damages a file
        for entry in disk_cache.entries()[:1]:
            junk = entry.path.with_name(f"junk.{os.getpid()}")
            junk.write_bytes(b"junk")
            with contextlib.suppress(FileNotFoundError):  # another process clears the junk away
                junk.replace(entry.path)
"""


def hammer(seed: int, steps: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HAMMER, str(seed), str(steps)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_processes_may_read_write_damage_and_clear_at_once(directory):
    for process in [hammer(seed, 400) for seed in range(4)]:
        said = process.communicate(timeout=100)[0]
        assert (process.returncode, said) == (0, "")
    disk_cache.verify()
    assert not list((directory / "tmp").iterdir())
    for entry in disk_cache.entries():
        content = files.read(entry.path)[0]
        assert disk_cache.digest(content[:1].decode()) == entry.path.stem and len(set(content)) == 1
