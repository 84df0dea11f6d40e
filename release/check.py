"""`make release-check`: whether what would be published is whole, says so, and works.

    python release/check.py

Builds the source distribution and, from that alone, a wheel; looks into both; has `twine` judge
their metadata and whether the README renders; installs the wheel with and without a back end of
MLX; checks the types of the examples against it. Wheels in dist/, which `make wheels` has made, are
judged as well.
"""

from __future__ import annotations

import re
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from release.environments import ROOT, environment, run

#: What users get, and what they must not.
_IN_WHEEL = (
    "anymetal/py.typed",
    "anymetal/frontend/include/metal_stdlib",
    "anymetal/runtime/bridge/bridge.cpp",
    "anymetal/linalg/metal/",
    "anymetal_start/inherited/sitecustomize.py",
    "pytest_anymetal",
    ".dist-info/licenses/LICENSE",
    ".dist-info/entry_points.txt",
    ".dist-info/sboms/",
)
_NOT_IN_WHEEL = ("tests/", "benchmarks/", "release/", "__pycache__", ".pyc", "hatch_build")
_PROGRAMS = "anymetal_start/bin/"
_ON_A_MAC = """
import platform, subprocess
arm = subprocess.check_output(["sysctl", "-n", "hw.optional.arm64"], text=True)
print(platform.system(), arm, end="")
"""
_IN_SDIST = ("tests/", "docs/", "release/", "LICENSE", "CHANGELOG.md", "requirements.lock")


class Wrong(Exception):
    """Something must not be published like this."""


def the_source_distribution(folder: Path) -> None:
    """It has what it takes to build, test and read."""
    run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)])
    (made,) = folder.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
        _expect(names, _IN_SDIST, ("__pycache__", ".venv", ".git/"))
        archive.extractall(folder, filter="data")


def a_wheel_from_it(folder: Path) -> None:
    """Nothing that only the repository has is needed."""
    (source,) = (path for path in folder.iterdir() if path.is_dir())
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    run(command, cwd=source)
    the_content_of(next(folder.glob("*.whl")))


def the_content_of(wheel: Path) -> None:
    """What is in a wheel, and whether its programs can be executed."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        _expect(names, _IN_WHEEL, _NOT_IN_WHEEL)
        for one in archive.infolist():
            if one.filename.startswith(_PROGRAMS) and not one.external_attr >> 16 & stat.S_IXUSR:
                raise Wrong(f"{one.filename} in {wheel.name} cannot be executed")


def the_versions(folder: Path) -> None:
    """The files have the version of the package, and the change log tells of it."""
    found = re.search(r'__version__ = "([^"]+)"', (ROOT / "anymetal/__init__.py").read_text())
    assert found
    version = found[1]
    for made in (*folder.glob("anymetal-*.*"), *_shipped()):
        if made.is_file() and not made.name.startswith(f"anymetal-{version}"):
            raise Wrong(f"{made.name} is not of version {version}")
    log = (ROOT / "CHANGELOG.md").read_text()
    if f"## [{version}]" not in log and f"becomes {version}" not in log:
        raise Wrong(f"CHANGELOG.md has nothing about {version}")


def the_metadata(folder: Path) -> None:
    """What an index asks for, and whether it can show the README."""
    files = [str(path) for path in (*folder.glob("*.whl"), *folder.glob("*.tar.gz"), *_shipped())]
    run([sys.executable, "-m", "twine", "check", "--strict", *files])


def the_wheels_of_all_pythons(folder: Path) -> None:
    """Those of `make wheels`: the bridge is inside."""
    for wheel in _shipped():
        the_content_of(wheel)
        with zipfile.ZipFile(wheel) as archive:
            if "-manylinux_" not in wheel.name:
                raise Wrong(f"{wheel.name} has a tag that no index takes")
            if not any("/bridge/shipped/mlx-" in name for name in archive.namelist()):
                raise Wrong(f"{wheel.name} has no bridge to MLX")


def an_installation(folder: Path) -> None:
    """Without a back end it says what to install; with one it runs a kernel."""
    (wheel,) = folder.glob("*.whl")
    with environment(sys.executable) as place:
        anymetal = str(Path(place.python).with_name("anymetal"))
        place.install(str(wheel))
        told = place.run(anymetal, "doctor", status=1).stdout
        if "pip install 'anymetal[cpu]'" not in told:
            raise Wrong(f"without a back end `anymetal doctor` says:\n{told}")
        place.install(f"{wheel}[cpu]")
        place.run(anymetal, "doctor", variables={"XDG_CACHE_HOME": str(place.folder / "cache")})
        (place.folder / "mac.py").write_text(_ON_A_MAC)
        told = place.run(anymetal, "run", "--pretend-mac", "mac.py").stdout
        if told != "Darwin 1\n":
            raise Wrong(f"`anymetal run --pretend-mac` makes the machine {told!r}")


def the_types_of_the_package(folder: Path) -> None:
    """Checkers of types, as strict as they get, have nothing to say about programs that use it."""
    (wheel,) = folder.glob("*.whl")
    examples = [str(path) for path in sorted((ROOT / "examples").glob("*.py"))]
    with environment(sys.executable) as place:
        place.install(f"{wheel}[cpu]", "numpy", "matplotlib")
        run([sys.executable, "-m", "pyright", "--pythonpath", place.python, *examples])
        run([sys.executable, "-m", "mypy", "--python-executable", place.python, *examples])


CHECKS: tuple[Callable[[Path], None], ...] = (
    the_source_distribution,
    a_wheel_from_it,
    the_wheels_of_all_pythons,
    the_versions,
    the_metadata,
    an_installation,
    the_types_of_the_package,
)


def _shipped() -> list[Path]:
    return sorted((ROOT / "dist").glob("*.whl"))


def _expect(names: list[str], wanted: tuple[str, ...], unwanted: tuple[str, ...]) -> None:
    for part in wanted:
        if not any(part in name for name in names):
            raise Wrong(f"{part} is missing")
    for part in unwanted:
        if found := [name for name in names if part in name]:
            raise Wrong(f"{found[0]} must not be there")


def results() -> Iterator[tuple[str, str]]:
    """Each check and what is wrong; nothing behind the first that fails."""
    with TemporaryDirectory(prefix="anymetal-release-") as folder:
        for check in CHECKS:
            name = check.__name__.replace("_", " ")
            try:
                check(Path(folder))
            except Wrong as wrong:
                yield name, str(wrong)
                return
            yield name, ""


def main() -> int:
    """Run the checks; 1 if one fails."""
    status = 0
    for name, wrong in results():
        print(f"{name}: {wrong or 'good'}", flush=True)
        status |= bool(wrong)
    return status


if __name__ == "__main__":
    sys.exit(main())
