"""What is installed and what is shipped: the lock file, and the bill of materials in the wheel."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from anymetal_start import back_end

ROOT = Path(__file__).parents[1]


def project() -> dict[str, Any]:
    tomllib = pytest.importorskip("tomllib")  # of Python 3.11
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def canonical(requirement: str) -> str:
    """The name that a requirement begins with, in PyPI's normal form."""
    name = re.match(r"[\w.-]+", requirement.strip())
    assert name, requirement
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def wanted(names: tuple[str, ...]) -> set[str]:
    """Packages of the project and of these extras, without those of the back end."""
    extras, found = project()["optional-dependencies"], set(project()["dependencies"])
    for name in names:
        for requirement in extras[name]:
            inner = re.match(r"anymetal\[([\w,]+)\]", requirement)
            if inner:
                found |= wanted(tuple(inner[1].split(",")))
            else:
                found.add(requirement)
    return {canonical(one) for one in found}


def test_the_lock_has_a_hash_for_each_package_of_development() -> None:
    text = (ROOT / "requirements.lock").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip()]
    assert all("==" in line and " --hash=sha256:" in line for line in lines)
    assert {canonical(line) for line in lines} >= wanted(("cpu", "dev"))


def test_versions_of_mlx_are_those_that_the_package_takes() -> None:
    first, beyond = (".".join(map(str, one)) for one in (back_end.FIRST, back_end.BEYOND))
    (found,) = [one for one in project()["dependencies"] if canonical(one) == "mlx"]
    assert found == f"mlx>={first},<{beyond}"


@pytest.mark.parametrize(
    "platform, expected",
    [
        ("darwin", {"mlx", "rich", "typer"}),
        ("linux", {"mlx", "rich", "typer", "ziglang", "llvmlite", "nanobind", "pyelftools"}),
    ],
)
def test_macs_get_no_compilers(platform: str, expected: set[str]) -> None:
    from packaging.requirements import Requirement

    requirements = [Requirement(text) for text in project()["dependencies"]]
    environment = {"sys_platform": platform, "platform_system": platform.title()}
    found = {one.name for one in requirements if not one.marker or one.marker.evaluate(environment)}
    assert found == expected


USER = """
import mlx.core as mx
import anymetal
from anymetal import linalg

kernel = anymetal.metal_kernel(name="k", input_names=["x"], output_names=["y"], source="")
y: list[mx.array] = kernel(inputs=[1], grid=(1, 1, 1), threadgroup=(1, 1, 1),
                           output_shapes=[(1,)], output_dtypes=[mx.float32])
q, r = linalg.qr(y[0])
product: mx.array = q @ r
function, metadata = anymetal.import_function("f.mlxfn", return_metadata=True)
(z,) = function(product)
anymetal.install(pretend_mac="yes")
"""


def test_programs_are_checked_against_our_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(USER)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "user.py"]
    variables = {**os.environ, "MYPYPATH": ""}
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True)
    (complaint, total) = done.stdout.splitlines()
    assert 'Argument "pretend_mac" to "install" has incompatible type "str"' in complaint
    assert total.startswith("Found 1 error in 1 file")


def test_the_tag_of_a_wheel_with_the_bridge() -> None:
    hatch_build = pytest.importorskip("hatch_build")
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    library = b"\0GLIBC_2.34\0GLIBC_2.2.5\0GLIBCXX_3.4.30\0CXXABI_1.3\0"
    assert hatch_build.tag(library).startswith(f"{python}-{python}-manylinux_2_35_")
    for newer in (b"GLIBC_2.36\0", b"GLIBCXX_3.4.31\0", b"CXXABI_1.3.14\0"):
        with pytest.raises(RuntimeError, match="build it on an older system"):
            hatch_build.tag(library + newer)


def test_the_wheel_has_a_bill_of_materials(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [one for one in archive.namelist() if ".dist-info/sboms/" in one]
        bill = json.loads(archive.read(name))
        programs = [one for one in archive.infolist() if "anymetal_start/bin/" in one.filename]
    assert len(programs) == 3
    assert all(one.external_attr >> 16 & 0o111 for one in programs), "they cannot be executed"
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["name"] == "anymetal"
    listed = {canonical(one["name"]) for one in bill["components"]}
    assert listed >= wanted(())
    assert all(one["purl"].startswith("pkg:pypi/") for one in bill["components"])
