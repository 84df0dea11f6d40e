"""Measured tables: the nearest case, losers, and files of every kind."""

from __future__ import annotations

import importlib
import json

import pytest

from anymetal.errors import ToolchainError
from anymetal.runtime import disk_cache
from anymetal.tune import tables
from anymetal.tune.device import Device, device, kind_of_device
from anymetal.tune.names import MEASURED
from anymetal.tune.operations import operations
from anymetal.tune.tables import Entry, Table

HERE = Device("cpu", "a processor, 2 threads", "cpu-0123")


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path))
    return tmp_path / "tune"


def table(*entries):
    made = Table(HERE)
    for number, (sizes, seconds) in enumerate(entries):
        made.add(Entry("op", f"case {number}", sizes, "float32", seconds))
    return made


def nearest(made, *sizes, among=("a", "b", "c"), dtype="float32", operation="op"):
    found = made.nearest(operation, sizes, dtype, among)
    return found and found.path


def test_nearest_in_logarithms():
    made = table(((16,), {"a": 1, "b": 2}), ((64,), {"b": 1, "a": 2}))
    # 32 is as far from 16 as from 64, where the smaller one answers.
    assert [nearest(made, n) for n in (16, 31, 32, 33, 64)] == ["a", "a", "a", "b", "b"]


def test_nearest_in_several_extents():
    made = table(((1, 1024), {"a": 1, "b": 2}), ((1024, 8), {"b": 1, "a": 2}))
    assert nearest(made, 2, 512) == "a"
    assert nearest(made, 512, 16) == "b"


def test_out_of_reach():
    made = table(((64, 64), {"a": 1, "b": 2}))
    assert nearest(made, 64, 512) == nearest(made, 8, 8) == "a"
    assert nearest(made, 64, 513) is nearest(made, 7, 64) is None


def test_other_dtypes_operations_and_numbers_of_extents_say_nothing():
    made = table(((64,), {"a": 1, "b": 2}))
    assert nearest(made, 64, dtype="float16") is None
    assert nearest(made, 64, operation="other") is None
    assert nearest(made, 64, 64) is None


def test_an_extent_of_zero():
    assert nearest(table(((1,), {"a": 1, "b": 2})), 0) == "a"


def test_a_winner_that_cannot_serve():
    made = table(((64,), {"a": 1, "b": 2, "c": 3}), ((128,), {"c": 1, "a": 2}))
    assert nearest(made, 64, among=("c", "b")) == "b"
    assert nearest(made, 64, among=("c",)) == "c"
    assert nearest(made, 64, among=("d",)) is None


def test_a_case_where_all_are_wrong_is_passed_over():
    made = table(((64,), {}), ((128,), {"b": 1}))
    assert nearest(made, 64) == "b"


def test_a_tie_goes_to_who_wins_elsewhere():
    made = table(((8,), {"a": 1, "b": 1.01}), ((1024,), {"b": 1, "a": 2}))
    assert nearest(made, 8) == "b"
    assert made.losers("op") == ["a"]
    # Without a clear winner anywhere the fastest is taken.
    assert nearest(table(((8,), {"a": 1, "b": 1.01})), 8) == "a"


def test_losers():
    made = table(((8,), {"a": 1, "b": 2, "c": 3}), ((64,), {"c": 1, "b": 2}))
    assert made.losers("op") == ["b"]
    assert made.losers("other") == []


def test_a_case_measured_again():
    made = table(((8,), {"a": 1}))
    made.add(Entry("op", "case 0", (8,), "float32", {"b": 1}))
    assert [entry.seconds for entry in made.of("op")] == [{"b": 1}]


def test_the_reason():
    made = table(((8,), {"a": 0.5, "b": 1}), ((1024,), {"c": 1}))
    found = made.nearest("op", (8,), "float32", ("a", "b"))
    assert found.reason == "measured here at case 0: b takes 2.00 times as long"
    alone = made.nearest("op", (1024,), "float32", ("c",))
    assert alone.reason == "measured here at case 1"
    # What cannot serve the call is not spoken of, be it faster or slower.
    for path in ("a", "b"):
        only = made.nearest("op", (8,), "float32", (path, "c"))
        assert only.path == path
        assert only.reason == "measured here at case 0"


def test_write_and_read(folder):
    made = table(((8, 9), {"b": 0.25, "a": 0.125}))
    made.add(Entry("op", "rough", (1,), "float16", {}, {"a": "is wrong"}, rough=True))
    path = tables.write(made)
    assert path == folder / "cpu-0123.json"
    assert [file.name for file in folder.iterdir()] == [path.name]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert tables.read(HERE) == made
    stored = json.loads(path.read_text().partition("\n//sealed")[0])
    assert stored["device"] == "a processor, 2 threads"
    assert stored["losers"] == {"op": ["b"]}
    assert list(stored["entries"][0]["seconds"]) == ["a", "b"]


def test_no_file(folder):
    assert tables.read(HERE) is None


BAD = [
    b"",
    b"{",
    b"[]",
    b"\xff\xfe",
    b"null",
    b'{"format": 1}',
    b'{"format": 1, "versions": VERSIONS}',
    b'{"format": 1, "versions": VERSIONS, "entries": [{}]}',
    b'{"format": 1, "versions": VERSIONS, "entries": [{"operation": "op", "case": "c", '
    b'"sizes": [1], "dtype": "float32", "seconds": {"a": -1}}]}',
    b'{"format": 1, "versions": VERSIONS, "entries": [{"operation": "op", "case": "c", '
    b'"sizes": ["x"], "dtype": "float32", "seconds": {"a": 1}}]}',
]


@pytest.mark.parametrize("content", BAD)
def test_a_bad_file_is_a_warning(folder, content):
    content = content.replace(b"VERSIONS", json.dumps(tables.versions()).encode())
    disk_cache.put_table(f"{HERE.key}.json", content, "")
    with pytest.warns(RuntimeWarning, match=r"no table of `anymetal tune`: .*Run `anymetal tune`"):
        assert tables.read(HERE) is None


def test_a_damaged_file_is_a_warning_once(folder):
    path = tables.write(table(((8,), {"a": 0.5})))
    path.write_bytes(path.read_bytes().replace(b"0.5", b"0.4"))
    with pytest.warns(RuntimeWarning, match=r"does not fit its digest; .*Run `anymetal tune`"):
        assert tables.read(HERE) is None
    assert tables.read(HERE) is None and not path.exists()


@pytest.mark.parametrize("change", [{"format": 2}, {"versions": {"anymetal": "0", "mlx": "0"}}])
def test_tables_of_other_versions_are_left_out_silently(folder, change):
    tables.write(table(((8,), {"a": 1})))
    found = disk_cache.get_table(f"{HERE.key}.json")
    other = json.dumps({**json.loads(found.content), **change})
    disk_cache.put_table(f"{HERE.key}.json", other.encode(), "")
    assert tables.read(HERE) is None


def test_a_failed_write_leaves_the_old_table(folder, monkeypatch):
    made = table(((8,), {"a": 1}))
    tables.write(made)
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("no space")))
    with pytest.raises(ToolchainError, match="no space"):
        tables.write(table(((8,), {"b": 1})))
    assert tables.read(HERE) == made
    assert len(list(folder.iterdir())) == 1


def test_without_tables_nobody_asks_for_the_device(folder, monkeypatch):
    monkeypatch.setattr(tables, "device", lambda: pytest.fail("asked"))
    tables.forget()
    assert tables.of_this_device() is None
    tables.forget()


def test_the_device_in_use():
    here = device()
    assert here == device()
    assert here.kind == kind_of_device()
    assert here.key.startswith(f"{here.kind}-")
    assert here.key.replace("-", "").isalnum()
    assert "thread" in here.name or here.kind != "cpu"


def test_what_is_shipped():
    """Paths of routines as they are, each measured where it gave the right result."""
    assert tables.shipped("cpu") is None  # whose rules are the routines' defaults
    table = tables.shipped("cuda")
    assert table.device.kind == "cuda" and table.where == f"on {table.device.name}"
    assert set(table.operations()) == set(MEASURED)
    for operation in operations():
        assert {entry.case for entry in table.of(operation.name)} == {
            case.name for case in operation.cases
        }
    assert not [entry for entry in table.entries.values() if entry.rough or not entry.seconds]


@pytest.mark.parametrize(
    ("routine", "module"),
    [
        ("cholesky", "linalg.cholesky"),
        ("qr", "linalg.qr"),
        ("svd_topk", "linalg.svd"),
        ("grid_sample", "nn.sampling"),
    ],
)
def test_shipped_paths_are_there(routine, module):
    paths = importlib.import_module(f"anymetal.{module}").PATHS
    for entry in tables.shipped("cuda").of(routine):
        assert entry.seconds.keys() | entry.wrong.keys() <= set(paths)
