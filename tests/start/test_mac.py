"""`--pretend-mac`: who is told what, in a process of its own and in those that it starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anymetal import targets
from anymetal_start import answers, commands, mac

pytestmark = pytest.mark.skipif(targets.HAS_METAL, reason="there is nothing to pretend")

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A run of Python that finds AnyMetal and the library of this folder."""
    path = os.pathsep.join([str(ROOT), str(HERE)])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )


def on_a_mac(*arguments: str, **variables: str) -> str:
    """What a program prints under `anymetal run --pretend-mac`."""
    done = python("-m", "anymetal", "run", "--pretend-mac", *arguments, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def pretended():
    mac.apply()
    yield
    mac.undo()


USES_THE_LIBRARY = """
import apple_only, mlx.core as mx
print(apple_only.square(mx.arange(4)).tolist(), apple_only.report())
"""


def test_a_library_that_asks_for_a_mac(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(USES_THE_LIBRARY)
    printed = on_a_mac(str(program))
    assert printed == "[0, 1, 4, 9] Apple M1, macOS 15.5, memory as MLX says: True\n"
    for arguments in ([], ["-m", "anymetal", "run"], ["-m", "anymetal", "run", "--pretend-gpu"]):
        refused = python(*arguments, str(program))
        assert "ImportError: apple_only needs macOS, not linux" in refused.stderr


# What the standard library and compiled packages load by `sys.platform`, before the first kernel.
LOADS = """
import sys, platform
assert sys.platform == "darwin"
import urllib.request, sysconfig, ctypes.util, asyncio, uuid, multiprocessing.context
import llvmlite.binding, numpy, nanobind, ziglang, pytest, _pytest
assert sysconfig.get_config_var("SOABI") in sysconfig.get_config_var("EXT_SUFFIX")
assert ctypes.util.find_library("c").endswith(".so.6")
assert not hasattr(multiprocessing.context, "nothing")
import mlx.core as mx
kernel = mx.fast.metal_kernel("k", [], ["y"], "y[0] = {value};")
call = dict(inputs=[], grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(1,)],
            output_dtypes=[mx.int32])
print(kernel(**call)[0].item(), sys.platform, platform.system())
"""


@pytest.mark.parametrize("bridge", ["wait", "0"])
def test_all_that_loads_libraries_sees_the_truth(tmp_path, bridge):
    """Without the bridge also with an empty cache: compilers run."""
    program = tmp_path / "program.py"
    program.write_text(LOADS.replace("{value}", "7"))
    folder = {} if bridge == "wait" else {"ANYMETAL_CACHE_DIR": str(tmp_path / "cache")}
    assert on_a_mac(str(program), ANYMETAL_BRIDGE=bridge, **folder) == "7 darwin Darwin\n"


def answer(module: str, **names: object) -> str:
    """What code of a module with this name and file is told."""
    names = {"__name__": module, **names}
    exec("import sys, platform; answer = (sys.platform, platform.system())", names)
    told = names["answer"]
    assert told in [("darwin", "Darwin"), ("linux", "Linux")]
    return told[1]


def test_who_is_told(pretended, tmp_path):
    installed = str(tmp_path / "site-packages" / "{}" / "__init__.py")
    assert answer("__main__") == "Darwin"
    assert answer("program", __file__="/home/user/program.py") == "Darwin"
    assert answer("not_installed_by_pip", __file__=installed) == "Darwin"
    for name in ("subprocess", "urllib.request", "anymetal.runtime.zig", "mlx.nn"):
        assert answer(name) == "Linux"
    for name in ("llvmlite.binding.ffi", "numpy", "_pytest.config", "nanobind"):
        assert answer(name, __file__=installed) == "Linux"


@pytest.mark.parametrize(
    "requirement, told",
    [
        ("mlx>=0.30.0", "Darwin"),
        ("MLX", "Darwin"),
        ('mlx ; sys_platform == "darwin"', "Darwin"),
        ("mlx-lm[server]", "Darwin"),
        ("mlx_vlm>=0.1", "Darwin"),
        ("mlxtend", "Linux"),
        ("numpy", "Linux"),
    ],
)
def test_installed_packages_are_told_if_they_need_mlx(pretended, tmp_path, requirement, told):
    name = f"needs_{abs(hash(requirement))}"
    folder = tmp_path / "site-packages"
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nRequires-Dist: {requirement}\n"
    )
    (about / "top_level.txt").write_text(f"{name}\n")
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("import platform\nsystem = platform.system()\n")
    program = f"import sys; sys.path.append({str(folder)!r}); import {name}; print({name}.system)"
    done = python("-c", f"from anymetal_start import mac; mac.apply(); {program}")
    assert (done.stdout, done.stderr) == (f"{told}\n", "")


def test_tests_may_change_the_platform(pretended, monkeypatch):
    """As they do with the real one: what they set holds for everybody, until they put it back."""
    from unittest import mock

    with mock.patch("sys.platform", "win32"):
        assert sys.platform == "win32"
    assert sys.platform == "darwin"
    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", "linux")
        assert sys.platform == "linux"
    assert sys.platform == "darwin"


def test_undo():
    before = dict(vars(sys)), type(sys), os.uname, subprocess.Popen.__init__
    mac.apply()
    mac.apply()
    assert (sys.platform, os.uname().machine) == ("darwin", "arm64")
    mac.undo()
    mac.undo()
    assert (dict(vars(sys)), type(sys), os.uname, subprocess.Popen.__init__) == before
    assert sys.platform == "linux"


def test_platform_says_the_same_as_the_programs(pretended):
    import platform

    assert platform.mac_ver() == (answers.MACOS, ("", "", ""), "arm64")
    assert platform.platform(terse=True) == f"macOS-{answers.MACOS}"
    assert platform.platform().startswith(f"macOS-{answers.MACOS}-arm64-arm-64bit")
    assert platform.release() == os.uname().release == answers.sysctl()["kern.osrelease"]
    assert platform.version() == os.uname().version == answers.sysctl()["kern.version"]
    assert platform.uname()[:5] == tuple(os.uname())
    assert platform.node() == os.uname().nodename
    assert (platform.architecture(), platform.libc_ver()) == (("64bit", ""), ("", ""))
    with pytest.raises(OSError):
        platform.freedesktop_os_release()


SYSCTL = [
    (["-n", "hw.memsize"], f"{answers.memory()}\n", ""),
    (["hw.optional.arm64"], "hw.optional.arm64: 1\n", ""),
    (["-n", "hw.model", "hw.machine"], "Macmini9,1\narm64\n", ""),
    (["-n", "hw.nonsense"], "", "sysctl: unknown oid 'hw.nonsense'\n"),
    (["iogpu.wired_limit_mb=1"], "", "sysctl: iogpu.wired_limit_mb: Operation not permitted\n"),
]


@pytest.mark.parametrize("arguments, printed, complaint", SYSCTL)
def test_sysctl(arguments, printed, complaint, capsys):
    assert commands.main("sysctl", arguments) == (1 if complaint else 0)
    assert tuple(capsys.readouterr()) == (printed, complaint)


def test_sysctl_lists_branches_and_everything(capsys):
    commands.main("sysctl", ["hw.perflevel0"])
    lines = capsys.readouterr().out.splitlines()
    assert f"hw.perflevel0.physicalcpu: {os.cpu_count()}" in lines
    assert all(line.startswith("hw.perflevel0.") for line in lines)
    commands.main("sysctl", ["-a"])
    assert len(capsys.readouterr().out.splitlines()) == len(answers.sysctl())


def test_other_programs(capsys):
    assert commands.main("sw_vers", ["-productVersion", "--buildVersion"]) == 0
    assert capsys.readouterr().out == f"{answers.MACOS}\n{answers.BUILD}\n"
    assert commands.main("sw_vers", ["-nonsense"]) == 1
    assert "ProductName:\t\tmacOS" in (commands.main("sw_vers", []), capsys.readouterr().out)[1]
    commands.main("system_profiler", ["SPHardwareDataType", "SPDisplaysDataType", "-json"])
    found = json.loads(capsys.readouterr().out)
    assert found["SPHardwareDataType"][0]["chip_type"] == answers.CHIP
    assert found["SPDisplaysDataType"][0]["sppci_cores"] == "8"
    commands.main("system_profiler", ["SPDisplaysDataType"])
    assert "Chipset Model: Apple M1\n" in capsys.readouterr().out


def test_the_programs_are_programs():
    """In a wheel, too: installers keep that a file may be executed."""
    for name in commands.PATHS:
        assert os.access(mac._PROGRAMS / name, os.X_OK)
