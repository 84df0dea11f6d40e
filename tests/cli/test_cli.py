"""The command line, as a user's shell sees it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import anymetal
from anymetal import targets
from anymetal.cli import doctor
from anymetal.runtime import disk_cache, scratch


def anymetal_command(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    root = str(Path(anymetal.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root, "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", "anymetal", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment,
        timeout=60,
    )


def python_command(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=cwd, timeout=60
    )


@pytest.fixture
def script(tmp_path):
    def write(text: str, name: str = "program.py") -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return str(path)

    return write


def test_version_and_help():
    assert anymetal_command("--version").stdout.strip() == f"anymetal {anymetal.__version__}"
    assert "doctor" in anymetal_command("--help").stdout
    assert "--pretend-gpu" in anymetal_command("run", "--help").stdout


def test_unknown_command():
    done = anymetal_command("fly")
    assert done.returncode == 2
    assert "fly" in done.stderr


WORLD = """\
import os, sys
print(sys.argv, sys.path[0], __name__, os.path.basename(__file__), __spec__ is None)
print(sys.modules["__main__"].__dict__ is globals())
"""


def test_a_script_sees_what_python_shows_it(script, tmp_path):
    path = script(WORLD)
    arguments = [path, "--pretend-gpu", "-m", "x", "--help"]
    assert anymetal_command("run", *arguments).stdout == python_command(*arguments).stdout
    (tmp_path / "elsewhere").mkdir()
    relative = ["../program.py", "1"]
    ours = anymetal_command("run", *relative, cwd=tmp_path / "elsewhere")
    assert ours.stdout == python_command(*relative, cwd=tmp_path / "elsewhere").stdout


def test_a_module_sees_what_python_shows_it(script, tmp_path):
    script(
        "import sys; print(sys.argv, sys.path[0], __name__, __package__, __file__)", "pkg/mod.py"
    )
    ours = anymetal_command("run", "-m", "pkg.mod", "-v", "x", cwd=tmp_path)
    assert ours.stdout == python_command("-m", "pkg.mod", "-v", "x", cwd=tmp_path).stdout
    assert ours.returncode == 0, ours.stderr


def test_a_folder_with_main(script, tmp_path):
    script("import sys, helper; print(helper.x, sys.argv[1:])", "app/__main__.py")
    script("x = 5", "app/helper.py")
    assert anymetal_command("run", str(tmp_path / "app"), "z").stdout == "5 ['z']\n"


def test_tracebacks_begin_in_the_program(script):
    path = script("def f():\n    return 1 // 0\n\nf()\n")
    ours, python = anymetal_command("run", path), python_command(path)
    assert ours.stderr == python.stderr
    assert ours.returncode == python.returncode == 1


def test_syntax_error(script):
    path = script("x = (\n")
    assert anymetal_command("run", path).stderr == python_command(path).stderr


@pytest.mark.parametrize("code", ["3", "None", "'why'"])
def test_exit_status(script, code):
    path = script(f"import sys; sys.exit({code})")
    ours, python = anymetal_command("run", path), python_command(path)
    assert (ours.returncode, ours.stderr) == (python.returncode, python.stderr)


def test_interrupt_kills_by_signal(script):
    path = script("raise KeyboardInterrupt")
    assert anymetal_command("run", path).returncode == -signal.SIGINT


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "which program?"),
        (["run", "-m"], "expected one argument"),
        (["run", "--nonsense", "x.py"], "--nonsense"),
        (["run", "/no/such/script.py"], "can't open file '/no/such/script.py'"),
    ],
)
def test_wrong_use(arguments, words):
    done = anymetal_command(*arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_the_program_gets_our_kernels(script):
    path = script(
        "import mlx.core as mx\n"
        "print(mx.fast.metal_kernel.__module__.split('.')[0], mx.metal.is_available())\n"
    )
    assert anymetal_command("run", path).stdout == "anymetal False\n"
    assert anymetal_command("run", "--pretend-gpu", path).stdout == "anymetal True\n"


def test_run_imports_no_user_interface(script):
    """The command must cost a program little time."""
    path = script("import sys; print({'rich', 'typer', 'click', 'llvmlite'} & set(sys.modules))")
    assert anymetal_command("run", path).stdout == "set()\n"


def test_doctor_reports_this_machine():
    done = anymetal_command("doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    for words in ("CPU", "Clang", "22.", "LLVM", "mlx", "cache", "[cuda13]"):
        assert words in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_doctor_where_the_locale_has_few_characters(monkeypatch, tmp_path, encoding):
    for name, value in {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "K\xe4se \u4e00"))
    monkeypatch.setenv("ANYMETAL_BRIDGE", "0")
    done = anymetal_command("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert "  ok CPU" in done.stdout and "se \\udce4\\udcb8\\udc80" in done.stdout


def test_doctor_for_programs():
    done = anymetal_command("doctor", "--json")
    found = json.loads(done.stdout)
    assert found["works"] is True and done.returncode == 0
    names = {(one["section"], one["name"]) for one in found["findings"]}
    assert names >= {("machine", "processor"), ("tools", "Clang"), ("kernel", "compiled and run")}


def test_doctor_runs_a_kernel(monkeypatch):
    (found,) = doctor._kernel()
    assert (found.state, found.value[:19]) == ("good", "1000 threads, right")
    real = anymetal.metal_kernel

    def wrong(source: str, **arguments: Any) -> Any:
        return real(source=source.replace("x[i] +", "x[i] -"), **arguments)

    monkeypatch.setattr(anymetal, "metal_kernel", wrong)
    (found,) = doctor._kernel()
    assert (found.value, found.state) == ("wrong results", "broken")

    def broken(source: str, **arguments: Any) -> Any:
        return real(source=source + " nonsense;", **arguments)

    monkeypatch.setattr(anymetal, "metal_kernel", broken)
    (found,) = doctor._kernel()
    assert found.state == "broken" and "MetalCompileError" in found.value


def test_doctor_misses_no_compiler_where_mlx_has_metal(monkeypatch):
    """There they are not installed; the kernel itself runs here, of course."""
    monkeypatch.setattr(targets, "HAS_METAL", True)
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    monkeypatch.setattr(doctor, "_kernel", lambda: iter(()))
    found = list(doctor.findings())
    assert [one.section for one in found if one.state == "broken"] == []
    assert {one.name: one.value for one in found}["compilers"].startswith("not needed")


def test_doctor_names_what_is_missing(monkeypatch):
    from anymetal.errors import ToolchainError
    from anymetal.frontend import toolchain

    def missing() -> str:
        raise ToolchainError("`ziglang` is not installed. Reinstall.")

    monkeypatch.setattr(toolchain, "clang_version", missing)
    found = {finding.name: finding for finding in doctor.findings()}
    assert found["Clang"].state == "broken"
    assert "Reinstall" in found["Clang"].remedy


def test_doctor_reports_the_state_of_the_cache(monkeypatch, tmp_path):
    def found() -> dict[str, doctor.Finding]:
        return {finding.name: finding for finding in doctor._cache()}

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # others may have left something
    monkeypatch.setattr(scratch, "_IN_MEMORY", str(tmp_path))
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "cache"))
    path = disk_cache.put(disk_cache.digest("key"), ".so", b"code").path
    assert found()["folder"].value == str(tmp_path / "cache")
    assert found()["content"].value == "1 entries, 0.0 MB in all" and "files" not in found()
    path.write_bytes(b"junk")
    (tmp_path / "cache" / "tmp" / "left").touch()
    assert found()["files"].value == "1 damaged, 1 left over"
    assert path.exists()
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "open" / "cache"))
    folder = found()["folder"]
    assert folder.state == "absent" and folder.value.endswith("/open/cache, not used")
    assert f"others may write to {tmp_path}/open (mode 777)" in folder.remedy


def test_doctor_sees_tools_that_do_not_fit(monkeypatch):
    from anymetal.frontend import toolchain

    monkeypatch.setattr(toolchain, "clang_version", lambda: "21.1.0")
    found = {finding.name: finding for finding in doctor.findings()}
    assert "Clang 21.1.0" in found["versions"].value
    assert doctor.doctor() == 1


def test_doctor_tells_what_compiles(monkeypatch):
    from anymetal.runtime import interpreter

    assert doctor._helpers().value == interpreter.interpreter()
    monkeypatch.setattr(interpreter, "interpreter", lambda: None)
    assert doctor._helpers().state == "absent" and "in the program" in doctor._helpers().remedy
