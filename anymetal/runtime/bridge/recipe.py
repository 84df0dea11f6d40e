"""What building the bridge takes: a compiler, the headers of Python, nanobind and MLX, a key.

Looking them up takes milliseconds and starts nothing.
"""

from __future__ import annotations

import os
import time
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import NamedTuple

import mlx.core as mx

from anymetal.runtime import disk_cache

_FOLDER = Path(__file__).parent
_WHOLE = "bridge.cpp"  # includes the other .cpp files
#: Seconds after which a build that failed is tried again: a disk was full, or memory was short.
RETRY = 86400.0
_FAILED, _AGAIN = "log of the bridge, which failed", "log of the bridge, to be tried again"

_COMPILERS = ("c++", "g++", "clang++")

#: `z now`: a library that lacks a symbol of MLX must fail when it is loaded, not in a call.
_FLAGS = (
    "-shared -std=c++20 -O2 -fPIC -fvisibility=hidden -fno-strict-aliasing -ffunction-sections "
    "-fdata-sections -DNDEBUG -DNB_COMPACT_ASSERTIONS -DNB_DOMAIN=mlx -s -Wl,--gc-sections "
    "-Wl,-z,now"
).split()


class Missing(Exception):
    """Something that the bridge is made of is not there."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.remedy = remedy


class Recipe(NamedTuple):
    """How to build the bridge for this Python, this MLX, with this compiler."""

    command: tuple[str, ...]  #: to be completed by "-o" and a path
    versions: str  #: of what it is built with and for, in words
    key: str

    def library(self) -> disk_cache.Cached | None:
        """The finished bridge, if it was built before."""
        return disk_cache.get(self.key)

    def failure(self) -> disk_cache.Cached | None:
        """The log of a build that failed, if one did."""
        return disk_cache.get(self._failure_key, ".log")

    def failed(self, log: str, again: bool = False) -> disk_cache.Cached:
        """Keeps the log of a build that failed; `again`: it is to be tried by the next program."""
        return disk_cache.put(self._failure_key, ".log", log.encode(), _AGAIN if again else _FAILED)

    def is_given_up(self) -> bool:
        """Whether a build failed so lately that nobody should try the same again."""
        failure = self.failure()
        if failure is None or failure.name == _AGAIN:
            return False
        return 0 <= time.time() - failure.made < RETRY

    def succeeded(self, library: bytes) -> None:
        """Keeps the bridge."""
        disk_cache.put(self.key, ".so", library, "the bridge to MLX")
        disk_cache.remove(self._failure_key, ".log")

    @property
    def _failure_key(self) -> str:
        return disk_cache.digest("failed bridge", self.key)


def shipped() -> Path:
    """Where a wheel has its bridge for this Python and this MLX, if it has one."""
    tag = disk_cache.digest("shipped bridge", *_texts())[:12]
    return _FOLDER / "shipped" / f"mlx-{_mlx_version()}-{tag}{EXTENSION_SUFFIXES[0]}"


def recipe() -> Recipe:
    """All that the build needs; raises `Missing`."""
    compiler = find_compiler()
    python = _python_headers()
    binder, version = _nanobind()
    mlx = Path(mx.__file__).parent
    library = mlx / "lib" / "libmlx.so"
    if not (mlx / "include" / "mlx" / "array.h").exists() or not library.exists():
        raise Missing(
            f"MLX's headers or its library are not in {mlx}",
            "install MLX as its publishers pack it: python -m pip install --force-reinstall mlx",
        )
    headers = (
        _FOLDER.parent,
        *python,
        binder / "include",
        binder / "ext" / "robin_map" / "include",
        mlx / "include",
    )
    sources = (binder / "src" / "nb_combined.cpp", _FOLDER / _WHOLE)
    command = (
        *compiler,
        *_FLAGS,
        *(f"-I{folder}" for folder in headers),
        *map(str, sources),
        str(library),
    )
    versions = f"with nanobind {version} for MLX {_mlx_version()}"
    key = disk_cache.digest(
        "bridge",
        EXTENSION_SUFFIXES[0],  # Python's ABI: ".cpython-311-x86_64-linux-gnu.so"
        versions,
        *(_identity(path) for path in (Path(compiler[0]), library, sources[0])),
        *command,
        *_texts(),
    )
    return Recipe(command, versions, key)


def _texts() -> list[bytes]:
    own = sorted(file for file in _FOLDER.iterdir() if file.suffix in (".cpp", ".h"))
    return [file.read_bytes() for file in (*own, _FOLDER / "../launch.h")]


def _mlx_version() -> str:
    version: str = mx.__version__  # type: ignore[attr-defined]  # the stubs lack it
    return version


def find_compiler() -> tuple[str, ...]:
    """`$CXX` with its options, else the first C++ compiler on the PATH; raises `Missing`."""
    if wanted := os.environ.get("CXX", "").strip():
        import shlex  # takes longer than all the rest here

        chosen = shlex.split(wanted)
        if path := _which(chosen[0]):
            return (path, *chosen[1:])
        raise Missing(f"no program {chosen[0]!r}, which CXX names", "correct or unset CXX")
    for name in _COMPILERS:
        if path := _which(name):
            return (path,)
    raise Missing("no C++ compiler", "on Debian and Ubuntu: apt-get install g++")


def _which(name: str) -> str | None:
    """`shutil.which` without importing that, which takes longer than all the rest here."""
    folders = [""] if os.sep in name else os.environ.get("PATH", os.defpath).split(os.pathsep)
    paths = (os.path.join(folder, name) for folder in folders)
    return next((p for p in paths if os.path.isfile(p) and os.access(p, os.X_OK)), None)


def _python_headers() -> list[Path]:
    import sysconfig

    folders = {sysconfig.get_path(name): None for name in ("include", "platinclude")}
    found = [Path(folder) for folder in folders if folder]
    if not any((folder / "Python.h").exists() for folder in found):
        raise Missing(
            f"Python's headers (Python.h) are not in {sysconfig.get_path('include')}",
            "on Debian and Ubuntu: apt-get install python3-dev",
        )
    return found


def _nanobind() -> tuple[Path, str]:
    """nanobind's folder, which has its sources, and its version."""
    try:
        import nanobind
    except ImportError as error:
        remedy = "python -m pip install 'nanobind>=3'"
        raise Missing("no Python package `nanobind`", remedy) from error
    return Path(nanobind.__file__).parent, nanobind.__version__


def _identity(path: Path) -> str:
    """Another version of a file is another size and another time."""
    status = path.stat()
    return f"{path.resolve()} {status.st_size} {status.st_mtime_ns}"
