"""`anymetal check`: formats, exit statuses, choices of rules, broken files, silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anymetal.cli import main
from anymetal.lint.rules import RULES
from tests.lint.programs import marked, program

CLEAN = program("uint i = thread_position_in_grid.x; y[i] = x[i];")
BAD = program("uint i = thread_position_in_grid.x; y[i] = max(float(x[i]), 0);", "x z")
NOTE = program("""
    uint i = thread_position_in_grid.x;
    if (i >= n) return;
    threadgroup_barrier(mem_flags::mem_device);
    y[i] = x[i];
""")
LIBRARY = """\
#include <metal_stdlib>
using namespace metal;
kernel void copy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  if (i & 1) {
    §threadgroup_barrier(mem_flags::mem_device);
  }
  y[i] = §max(x[i], 0);
}
"""


def _status(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        main(["check", *map(str, arguments)])
    return int(end.value.code or 0)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in {"clean.py": CLEAN, "bad.py": BAD, "note.py": NOTE}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "bad.py").write_text(BAD)
    (tmp_path / "notes.txt").write_text("no program")
    return tmp_path


def test_statuses(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _status(files / "clean.py") == 0
    assert capsys.readouterr().out == "nothing in 1 kernel of 1 file\n"
    assert _status(files / "note.py") == 0
    assert "[AM102]" in capsys.readouterr().out
    assert _status(files) == 1
    assert capsys.readouterr().out.endswith(
        "1 error, 1 warning and 1 note in 3 kernels of 3 files\n"
    )
    assert _status(files / "missing.py") == 2
    assert "missing.py: not checked: cannot be read: No such file" in capsys.readouterr().err


def test_choices_of_rules(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _status(files, "--select", "AM303", "--format", "json") == 1
    assert [f["code"] for f in json.loads(capsys.readouterr().out)["findings"]] == ["AM303"]
    assert _status(files, "--ignore", "am3,AM203") == 0
    assert _status(files, "--select", "AM9") == 2
    assert "AM9" in capsys.readouterr().err


def test_formats(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = files / "bad.py"
    assert _status(bad, "--format", "json") == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [(f["code"], f["line"], f["kernel"]) for f in findings] == [
        ("AM203", 5, "k"),
        ("AM303", 7, "k"),
    ]
    assert _status(bad, "--format", "sarif") == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(RULES)
    assert [result["ruleId"] for result in run["results"]] == ["AM203", "AM303"]
    assert _status(bad, "--format", "github") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"::warning file={bad},line=5,col=17,")
    assert lines[1].startswith(f"::error file={bad},line=7,")
    assert _status(bad, "--format", "xml") == 2


def test_fix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "half.py"
    path.write_text(program("half a = half(x[0]); a *= 0.5; y[0] = a;"))
    assert _status(path) == 1
    assert _status(path, "--fix") == 0
    assert "half.py: 1 repaired" in capsys.readouterr().err
    assert "a *= 0.5h;" in path.read_text()
    before = path.read_text()
    assert _status(path, "--fix") == 0
    assert path.read_text() == before


BROKEN = {
    "syntax.py": (b"def f(:\n", "is no Python"),
    "bytes.py": (b"x = '\xff'\n", "cannot be read: invalid or missing encoding declaration"),
    "nulls.py": (b"x = 1\0\n", "cannot be read: it has null characters"),
    "coding.py": (b"# coding: nonsense\n", "cannot be read: unknown encoding"),
    "deep.py": (b"x = " + b"(" * 5000 + b")" * 5000, "is no Python"),
    "bytes.metal": (b"\xff\xfe\x00", "cannot be read"),
    "folder.py": (None, ""),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, reason = BROKEN[name]
    if content is None:
        (tmp_path / name).mkdir()
        assert _status(tmp_path / name) == 0
        return
    (tmp_path / name).write_bytes(content)
    assert _status(tmp_path / name) == 2
    printed = capsys.readouterr()
    assert f"{tmp_path / name}" in printed.err and reason in printed.err
    assert "Traceback" not in printed.err


def test_metal_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, places = marked(LIBRARY)
    path = tmp_path / "k.metal"
    path.write_text(text)
    assert _status(path, "--format", "json") == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [(f["code"], f["line"], f["column"]) for f in findings] == [
        ("AM101", *places[0]),
        ("AM303", *places[1]),
    ]
    path.write_text(text.replace("y[i] =", "y[i] = missing +"))
    assert _status(path, "--format", "json") == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [(f["code"], f["line"]) for f in findings] == [("AM302", 8)]
    path.write_text("y[0] = 1;")
    assert _status(path) in (0, 1)


SILENCED = {
    "the line": ("y[i] = max(float(x[i]), 0);  // anymetal: ignore[AM303]", True),
    "all rules": ("y[i] = max(float(x[i]), 0);  // anymetal: ignore", True),
    "another rule": ("y[i] = max(float(x[i]), 0);  // anymetal: ignore[AM101]", False),
    "another line": ("// anymetal: ignore[AM303]\n    y[i] = max(float(x[i]), 0);", False),
    "the kernel": (
        "// anymetal: ignore-kernel[AM101, AM303]\n    y[i] = max(float(x[i]), 0);",
        True,
    ),
    "no rule": ("y[i] = max(float(x[i]), 0);  // anymetal: ignore[]", False),
}


@pytest.mark.parametrize("name", SILENCED)
def test_silence(name: str, tmp_path: Path) -> None:
    line, silent = SILENCED[name]
    path = tmp_path / "p.py"
    path.write_text(program(f"\n    uint i = thread_position_in_grid.x;\n    {line}\n"))
    assert _status(path) == (0 if silent else 1)


def test_silence_in_python(tmp_path: Path) -> None:
    path = tmp_path / "p.py"
    text = program("y[0] = x[0];", "x z").replace("'z'],", "'z'],  # anymetal: ignore[AM203]")
    path.write_text(text)
    assert _status(path) == 0
