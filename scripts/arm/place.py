"""The arm64 root: made of Debian's packages and of wheels, and entered.

Nothing is emulated while it is made: packages are unpacked, not set up, and pip is that of the
host. What is compiled in it is compiled by programs of the host:

* its `python` makes AnyMetal's helpers processes of the host (interpreter.c, native_helper.py);
* its `c++` and `g++`, and Clang in its `ziglang` wheel, are those in the `ziglang` wheel of the
  host.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import ziglang

from release.environments import ROOT as REPOSITORY
from release.environments import locked_versions
from scripts.arm.machines import MACHINES

_HERE = Path(__file__).parent
#: Debian's release with this minor version of Python: helpers of the host must be the same.
_RELEASES = {11: "bookworm", 13: "trixie"}
_PACKAGES = (
    "base-files,bash,dash,coreutils,grep,sed,findutils,procps,util-linux,libc-bin,zlib1g,"
    "ca-certificates,g++,libpython3-dev,python3,python3-venv"
)
_WHEELS = (
    "mlx[cpu] ziglang llvmlite nanobind rich typer numpy scipy mpmath pytest hypothesis hatchling "
    "editables pip"
).split()
#: Of wheels that Debian's C library can load.
_MANYLINUX = (
    *(f"manylinux_2_{minor}_aarch64" for minor in range(35, 16, -1)),
    "manylinux2014_aarch64",
)
_NEEDED = {
    "mmdebstrap": "mmdebstrap",
    "qemu-aarch64-static": "qemu-user-static",
    "unshare": "util-linux",
    "cc": "gcc libc6-dev",
}
_VENV = "/opt/venv"
_ZIG = Path(ziglang.__file__).parent

#: Clang itself, or as a C++ compiler, for this machine if it is told nothing else.
_ZIG_HERE = f"""#!/bin/sh
case "$1 $*" in
  *-cc1*|*--target*) ;;
  clang\\ *|c++\\ *) shift; exec {_VENV}/bin/c++ "$@" ;;
esac
exec /host{_ZIG}/zig "$@"
"""
_CXX = f"""#!/bin/sh
exec /host{_ZIG}/zig clang --driver-mode=g++ --target=aarch64-linux-gnu \\
  -resource-dir {_VENV}/clang -fuse-ld=/usr/bin/ld "$@"
"""


class Unavailable(Exception):
    """Why there is no emulation here."""


class Place:
    """A root, and what belongs to it, in a folder; with one of the machines of machines.py."""

    def __init__(self, folder: Path, machine: str, patience: float | None = None) -> None:
        """`patience`: seconds that a step of making it may take."""
        self.folder, self.machine, self._patience = folder.resolve(), machine, patience
        self.root, self.state = self.folder / "root", self.folder / "state"
        self._venv, self._temporary = self.root / _VENV[1:], self.state / "tmp"

    def make(self) -> None:
        """Makes what is missing; raises Unavailable."""
        _check_host()
        self._temporary.mkdir(parents=True, exist_ok=True)
        wanted = hashlib.sha256(f"{_PACKAGES} {_WHEELS} {locked_versions()}".encode()).hexdigest()
        stamp = self.folder / "made"
        if not stamp.exists() or stamp.read_text() != wanted:
            stamp.unlink(missing_ok=True)
            shutil.rmtree(self.root, ignore_errors=True)
            self._unpack_packages()
            self._install_wheels()
            stamp.write_text(wanted)
        self._point_here()
        self._ask_machine()

    def run(self, *command: str) -> int:
        """The status of a command in the root, in the repository's folder."""
        return subprocess.run(self._inside(command)).returncode

    # -- making it ------------------------------------------------------------------------

    def _unpack_packages(self) -> None:
        command = ["mmdebstrap", "--quiet", "--variant=extract", "--architectures=arm64"]
        release = _RELEASES.get(sys.version_info[1])
        if release is None:
            raise Unavailable(f"no release of Debian that is known here has Python {_minor()}")
        self._step([*command, f"--include={_PACKAGES}", release, str(self.root)])

    def _install_wheels(self) -> None:
        versions = self.folder / "constraints.txt"
        versions.write_text(locked_versions())
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:"]
        command += ["--disable-pip-version-check", "--constraint", str(versions)]
        command += ["--python-version", _minor(), "--implementation", "cp"]
        for platform in _MANYLINUX:
            command += ["--platform", platform]
        self._step([*command, "--target", str(self._packages), *_WHEELS])

    def _step(self, command: list[str]) -> None:
        try:
            subprocess.run(command, check=True, timeout=self._patience)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise Unavailable(f"no root could be made: {error}") from error

    @property
    def _packages(self) -> Path:
        return self._venv / "lib" / f"python{_minor()}" / "site-packages"

    def _point_here(self) -> None:
        """The environment has this checkout, and its programs those of the host around it."""
        programs, configuration = self._venv / "bin", f"{_VENV}/host.txt"
        programs.mkdir(exist_ok=True)
        (self.root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
        (self._venv / "pyvenv.cfg").write_text("home = /usr/bin\n")
        facts = ("/host", sys.executable, _HERE / "native_helper.py", self._facts)
        (self.root / configuration[1:]).write_text("".join(f"{fact}\n" for fact in facts))
        names = {
            "CONFIGURATION": configuration,
            "PYTHON": f"{_VENV}/bin/python",
            "REAL": f"/usr/bin/python{_minor()}",
        }
        command = ["cc", "-static", "-O1", "-s"]
        command += [f'-D{name}="{text}"' for name, text in names.items()]
        subprocess.run(
            [*command, "-o", str(programs / "python"), str(_HERE / "interpreter.c")], check=True
        )
        for name in ("c++", "g++"):
            _write_program(programs / name, _CXX)
        _write_program(self._packages / "ziglang" / "zig", _ZIG_HERE)
        (self._venv / "clang").mkdir(exist_ok=True)
        headers = self._venv / "clang" / "include"
        headers.unlink(missing_ok=True)
        headers.symlink_to(f"/host{_ZIG}/lib/include")
        (self._packages / "anymetal.pth").write_text(f"{REPOSITORY}\n")
        about = importlib.metadata.distribution("anymetal")
        metadata = Path(str(about.locate_file(f"anymetal-{about.version}.dist-info")))
        shutil.copytree(metadata, self._packages / metadata.name, dirs_exist_ok=True)

    @property
    def _facts(self) -> Path:
        return self.state / f"{self.machine}.json"

    def _ask_machine(self) -> None:
        """What helpers of the host have to know of the emulated machine."""
        (self.state / "cpuinfo").write_text(MACHINES[self.machine].cpuinfo)
        command = self._inside([f"{_VENV}/bin/python", str(_HERE / "machine.py")])
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Unavailable(f"programs do not run in {self.root}: {done.stderr.strip()}")
        self._facts.write_text(json.dumps(json.loads(done.stdout)))

    # -- entering it ----------------------------------------------------------------------

    def _inside(self, command: list[str] | tuple[str, ...]) -> list[str]:
        environment = {
            "HOME": str(self.state),
            # MLX keeps what mx.compile makes, for this machine, in the folder of temporary files:
            # its code for x86-64 must not be found here, nor Arm's by programs of the host.
            "TMPDIR": str(self._temporary),
            "LANG": "C.UTF-8",
            "PATH": f"{_VENV}/bin:/usr/bin:/bin",
            "QEMU_CPU": MACHINES[self.machine].model,
        }
        return [
            str(_HERE / "enter"),
            *map(str, (self.root, self.state, REPOSITORY, self.state / "cpuinfo")),
            *("/usr/bin/env", f"--chdir={REPOSITORY}", "--ignore-environment"),
            *(f"{name}={text}" for name, text in environment.items()),
            *command,
        ]


def _write_program(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)


def _minor() -> str:
    return f"3.{sys.version_info[1]}"


def _check_host() -> None:
    here = os.uname()
    if (here.sysname, here.machine) != ("Linux", "x86_64"):
        raise Unavailable(f"this is {here.sysname} on {here.machine}, not Linux on x86_64")
    if sys.version_info[1] not in _RELEASES:
        raise Unavailable(f"no release of Debian has Python {_minor()}")
    if os.geteuid():
        raise Unavailable("making a root takes the rights of root")
    missing = [package for program, package in _NEEDED.items() if not shutil.which(program)]
    if missing:
        raise Unavailable(f"programs are missing: apt-get install {' '.join(missing)}")
