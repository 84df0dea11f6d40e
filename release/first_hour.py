"""What somebody does with AnyMetal in the first hour, from the wheel, where nothing else is.

    python release/first_hour.py [--place chroot|environment] [--wheel FILE]

The place is a minimal Debian, if this can be made (as root, with mmdebstrap), and else a new
virtual environment. There, one after the other: installation of the wheel, `anymetal doctor`, the
programs of the README and of the page about tuning, which must print what the pages say, a
notebook, the tests of a small library in two processes (docs/testing.md), and a profile.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from release.environments import ROOT, locked_versions, run
from release.pages import files
from release.wheels import build

#: Releases of Debian by the minor version of their Python.
_RELEASES = {11: "bookworm", 13: "trixie"}
_PACKAGES = "python3,python3-venv,ca-certificates"
_BESIDE = ("numpy", "pytest", "pytest-xdist", "ipykernel", "jupyter_client")

#: Mounts are those of the process alone: nobody has to take them away.
_ENTER = """
for name in proc dev; do mount --rbind "/$name" "$0/$name"; done
root=$0 home=$1
shift
exec /usr/sbin/chroot "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$home" "$@"
"""


class Place:
    """Where a newcomer begins: Python, and a folder with nothing but what is put there."""

    def __init__(self, root: Path | None, folder: Path) -> None:
        self._root, self.folder = root, folder
        self._home = folder if root is None else Path("/") / folder.relative_to(root)
        python = [sys.executable] if root is None else ["/usr/bin/python3"]
        self._run([*python, "-m", "venv", "--clear", f"{self._home}/venv"])

    def python(self, *arguments: str, status: int = 0) -> str:
        """What Python prints with these arguments, in the folder."""
        return self._run([f"{self._home}/venv/bin/python", *arguments], status)

    def _run(self, command: list[str], status: int = 0) -> str:
        variables = {
            "PATH": f"{self._home}/venv/bin:/usr/bin:/bin",
            "HOME": str(self._home),
            "LC_ALL": "C",
            "PIP_CONFIG_FILE": str(self._home / "pip.conf"),
        }
        if self._root is not None:
            begin = ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-ec", _ENTER]
            command = [*begin, str(self._root), str(self._home), *command]
        return run(command, variables, self.folder, status).stdout


@contextmanager
def place(kind: str | None) -> Iterator[Place]:
    """A new place, which goes at the end."""
    with TemporaryDirectory(prefix="anymetal-first-hour-") as name:
        folder = Path(name)
        if kind != "environment":
            here = _in_debian(folder / "root")
            if here is not None:
                yield here
                return
            if kind == "chroot":
                raise SystemExit("No Debian: that takes root, mmdebstrap, a mirror and an index.")
            print("No Debian can be made here: a new environment instead.")
        _copy_settings_of_pip(folder)
        yield Place(None, folder)


def _in_debian(root: Path) -> Place | None:
    """A Debian in which pip finds packages."""
    if not _debian(root):
        return None
    _copy_settings_of_pip(root / "home")
    try:
        here = Place(root, root / "home")
        here.python(*"-m pip download --quiet --no-deps --dest found packaging".split())
    except SystemExit:
        return None
    return here


def _debian(root: Path) -> bool:
    release = _RELEASES.get(sys.version_info[1])
    if release is None or shutil.which("mmdebstrap") is None:
        return False
    command = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={_PACKAGES}"]
    if subprocess.run([*command, release, str(root)], capture_output=True).returncode:
        return False
    shutil.copy("/etc/resolv.conf", root / "etc")
    return True


def _copy_settings_of_pip(folder: Path) -> None:
    """The index that this machine installs from."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True
    )
    setting = r"^(?:global|install|:env:)\.(index-url|extra-index-url|trusted-host)='(.*)'$"
    found = re.findall(setting, done.stdout, re.MULTILINE)
    settings = "".join(f"{name} = {value}\n" for name, value in dict(found).items())
    (folder / "pip.conf").write_text(f"[global]\n{settings}")
    certificates = Path("/etc/ssl/certs/ca-certificates.crt")
    inside = folder.parent / "etc/ssl/certs/ca-certificates.crt"
    if inside.exists() and certificates.exists():
        shutil.copy(certificates, inside)


class Hour:
    """The steps, each of which says what it has seen or ends the run."""

    def __init__(self, here: Place, wheel: Path) -> None:
        self._here, self._wheel = here, wheel

    def install(self) -> str:
        folder = self._here.folder
        (folder / "constraints.txt").write_text(locked_versions())
        shutil.copy(self._wheel, folder)
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        pip += ["--constraint", "constraints.txt"]
        self._here.python(*pip, f"{self._wheel.name}[cpu]", *_BESIDE)
        return self._wheel.name

    def doctor(self) -> str:
        told = self._here.python("-m", "anymetal", "doctor")
        return next(line for line in told.splitlines() if "compiled and run" in line).strip()

    def pages(self) -> str:
        names = ["README.md", "tuning.md"]
        self._put(ROOT / "release" / "pages.py", ROOT / "README.md", ROOT / "docs" / "tuning.md")
        return self._here.python("pages.py", *names).strip().replace("\n", "; ")

    def notebook(self) -> str:
        self._put(ROOT / "release" / "notebooks.py", ROOT / "examples" / "first_kernel.ipynb")
        return self._here.python("notebooks.py", "first_kernel.ipynb").strip()

    def tests(self) -> str:
        library = self._here.folder / "library"
        library.mkdir()
        for name, text in files((ROOT / "docs" / "testing.md").read_text()).items():
            if name.endswith((".py", ".metal")):
                (library / name).write_text(text)
        told = self._here.python(*"-m pytest --metal -n 2 --metal-report library".split())
        assert re.search(r"^wave +3 +\d+ +\d+", told, re.MULTILINE), told
        return told.strip().splitlines()[-1].strip("= ")

    def profile(self) -> str:
        self._put(ROOT / "examples" / "threadgroup_reduction.py")
        told = self._here.python("-m", "anymetal", "profile", "threadgroup_reduction.py")
        row = re.search(r"^ +1 +\S+ µ?m?s +100% .*row_moments", told, re.MULTILINE)
        assert row, told
        return " ".join(row[0].split())

    def _put(self, *files: Path) -> None:
        for file in files:
            shutil.copy(file, self._here.folder)


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the place, take all steps, and say how long each took."""
    parser = argparse.ArgumentParser(prog="release/first_hour.py")
    parser.add_argument("--place", choices=["chroot", "environment"])
    parser.add_argument("--wheel", type=Path)
    options = parser.parse_args(arguments)
    wheel = options.wheel or build(sys.executable)
    begin = time.monotonic()
    with place(options.place) as here:
        hour = Hour(here, wheel.resolve())
        for step in (
            hour.install,
            hour.doctor,
            hour.pages,
            hour.notebook,
            hour.tests,
            hour.profile,
        ):
            seen = step()
            print(f"{time.monotonic() - begin:6.0f} s  {step.__name__:9} {seen}", flush=True)


if __name__ == "__main__":
    main()
