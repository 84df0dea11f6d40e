"""The run over a code base of MLX's form: what is compiled, checked, told and kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from anymetal.testing.mlx_kernels import __main__ as command
from anymetal.testing.mlx_kernels import page
from anymetal.testing.mlx_kernels.families import CHECKS
from anymetal.testing.mlx_kernels.units import UNITS, find, missing

_FILES = {
    "defines.h": """
        #pragma once
        #include <metal_stdlib>
        #define instantiate(name, ...) \\
          template [[host_name(name)]] [[kernel]] decltype(__VA_ARGS__) __VA_ARGS__;
    """,
    "arange.metal": """
        #include "mlx/backend/metal/kernels/defines.h"
        template <typename T>
        [[kernel]] void progression(constant T& start, constant T& step, device T* out,
                                    uint i [[thread_position_in_grid]]) {
          out[i] = start + T(i) * step;
        }
        instantiate("arangefloat32", progression<float>)
        instantiate("arangeint32", progression<int>)
    """,
    # The place of the first that is not less; "right" should be that of the first that is more.
    "searchsorted.metal": """
        #include "mlx/backend/metal/kernels/defines.h"
        template <typename T>
        [[kernel]] void place(const device T* x, const device T* v, device uint* out,
                              constant int& n, constant int& stride,
                              uint i [[thread_position_in_grid]]) {
          uint found = 0;
          while (int(found) < n && x[found * stride] < v[i]) found++;
          out[i] = found;
        }
        instantiate("searchsorted_float32_left", place<float>)
        instantiate("searchsorted_int32_right", place<int>)
    """,
    "softmax.metal": """
        #include "mlx/backend/metal/kernels/defines.h"
        template <typename T> int depth(T n) { return n < 2 ? 1 : depth(n - 1) + depth(n - 2); }
        template <typename T>
        [[kernel]] void never(device T* out) { out[0] = depth(int(out[1])); }
        instantiate("never_float32", never<float>)
    """,
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with four units, of which one does not compile and one is no unit of MLX."""
    folder = tmp_path_factory.mktemp("checkout") / "mlx" / "backend" / "metal" / "kernels"
    folder.mkdir(parents=True)
    for name, text in _FILES.items():
        (folder / name).write_text(text)
    (folder / "new_unit.metal").write_text("")
    numbers = {"MAJOR": 1, "MINOR": 2, "PATCH": 3, "NUMERIC": 102003}
    (folder.parents[2] / "version.h").write_text(
        "".join(f"#define MLX_VERSION_{name} {n}\n" for name, n in numbers.items())
    )
    return folder.parents[3]


def run(source: Path, state: Path, *options: str) -> int:
    """The command's exit status."""
    return command.main(["--source", str(source), "--state", str(state), "--jobs", "1", *options])


def records(path: Path) -> dict[str, Any]:
    """What stands in a file of the state, by kernel."""
    return {one["kernel"]: one for one in map(json.loads, path.read_text().splitlines())}


def test_compiling(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    units = ("--units", "arange,softmax")
    assert run(source, tmp_path, *units) == 1
    assert "'new_unit'" in capsys.readouterr().err
    found = records(tmp_path / "compiled.jsonl")
    assert {name: one["outcome"] for name, one in found.items()} == {
        "arangefloat32": "compiled",
        "arangeint32": "compiled",
        "never_float32": "failed",
    }
    assert "recursion is not supported in a kernel: depth" in found["never_float32"]["reason"]
    assert found["arangeint32"]["size"] > 1000 and found["arangeint32"]["seconds"] > 0
    assert run(source, tmp_path, *units) == 1  # nothing is done again, and the failure is kept
    assert "3 kernels compiled, 0 to go" in capsys.readouterr().out


def test_checking(source: Path, tmp_path: Path) -> None:
    units = ("--check", "--units", "arange,searchsorted,softmax")
    assert run(source, tmp_path, *units) == 1
    found = records(tmp_path / "checked.jsonl")
    outcomes = {name: one["outcome"] for name, one in found.items() if "never" not in name}
    assert outcomes == {
        "arangefloat32": "right",
        "arangeint32": "right",
        "searchsorted_float32_left": "right",
        "searchsorted_int32_right": "wrong",
    }
    assert "of 301 are wrong; the first is number" in found["searchsorted_int32_right"]["reason"]


def test_a_record_that_was_cut_off_is_done_again(source: Path, tmp_path: Path) -> None:
    assert run(source, tmp_path, "--units", "arange", "--shard", "0/2") == 0
    log = tmp_path / "compiled.jsonl"
    log.write_text(log.read_text() + '{"unit": "arange", "kern')
    assert run(source, tmp_path, "--units", "arange") == 0
    assert list(records(log)) == ["arangefloat32", "arangeint32"]


def test_time_that_is_over(source: Path, tmp_path: Path) -> None:
    assert run(source, tmp_path, "--units", "arange", "--seconds", "0") == 3


def test_the_page(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    units = ("--units", "arange,searchsorted,softmax")
    run(source, tmp_path, *units)
    run(source, tmp_path, *units, "--check", "--page")
    text = page.PAGE.read_text()
    assert "a checkout of MLX 1.2.3 and" in text
    rows = {line.split(" | ")[0]: line.split(" | ") for line in text.splitlines()}
    assert rows["| arange"][1:4] == ["2", "2", "2"] and rows["| arange"][6:8] == ["2", "2"]
    assert rows["| searchsorted"][6:8] == ["2", "1"]
    assert rows["| all"][1:4] == ["5", "5", "4"]
    assert (
        "Of 5 kernels in 3 of MLX's 42 units, 5 were tried so far: 4 of these compile. 4 ran, 3 "
        in text
    )
    assert "The others were not tried" not in text
    assert "Compiling 5 kernels ahead of time took 0.0 hours of one processor" in text
    assert "* 5 kernels compiled in " in text and "* 5 kernels checked in " in text
    assert "softmax: " in text and "Rewrite it as a loop.: `never_float32`\n" in text
    assert ": `searchsorted_int32_right`" in text


def test_the_page_of_a_part(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    run(source, tmp_path, "--units", "arange", "--shard", "0/2", "--check", "--page")
    text = page.PAGE.read_text()
    assert (
        "Of 2 kernels in 1 of MLX's 42 units, 1 were tried so far: 1 of these compile. 1 ran, 1 "
        in text
    )
    assert "The others were not tried" in text


def test_a_sample(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    units = ("--units", "arange,searchsorted,softmax", "--seed", "9")
    run(source, tmp_path, *units, "--draw", "2")
    first = records(tmp_path / "compiled.jsonl").keys()
    run(source, tmp_path, *units, "--draw", "3", "--page")  # one more: the two are among them
    drawn = [one["kernel"] for one in map(json.loads, (tmp_path / "drawn.jsonl").open())]
    assert len(first) == 2 and drawn[:2] == list(first)
    assert sorted(drawn) == ["arangefloat32", "arangeint32", "never_float32"]
    text = " ".join(page.PAGE.read_text().split())
    assert "3 kernels were drawn at random from all of these units (seed 9)" in text
    assert "2 of them compile, which is 66.67%; 0 need more" in text
    assert "So 20.77% to 93.85% of all kernels compile" in text


@pytest.mark.parametrize("good, count", [(0, 10), (7, 9), (400, 400), (991, 1000)])
def test_wilson(good: int, count: int) -> None:
    interval = binomtest(good, count).proportion_ci(method="wilson")
    assert page.wilson(good, count) == pytest.approx((interval.low, interval.high), abs=1e-12)


def test_units() -> None:
    assert {unit.short for unit in UNITS} == CHECKS.keys()
    assert [one.name for one in find(["quantized_nax", "steel_gemm_fused"])] == [
        "quantized_nax",
        "steel/gemm/kernels/steel_gemm_fused",
    ]
    assert len({unit.short for unit in UNITS}) == len(UNITS)
    assert missing(Path("/nowhere")) == []
    with pytest.raises(ValueError, match="no unit 'gem'; there are arange, "):
        find(["gem"])
