"""What besides the kernel decides its machine code: our own sources, the tools, the CPU.

All of it is a part of cache keys. It is found once per process, in about a millisecond, without
importing or starting any of the tools.
"""

from __future__ import annotations

import functools
import importlib.util
import os

from anymetal.machine import caches_here
from anymetal.runtime.disk_cache import digest
from anymetal.source import KernelSource

_PACKAGE = os.path.dirname(os.path.dirname(__file__))

#: The folder of MLX's Metal headers, as kernels spell it in `#include`.
MLX_HEADERS = "mlx/backend/metal/kernels"

#: Files inside the packages that compile, and of MLX, on which all of this rests; another version
#: is another size or another time.
_TOOLS = {
    "ziglang": "zig",
    "llvmlite": os.path.join("binding", "libllvmlite.so"),
    "mlx": os.path.join("include", "mlx", "version.h"),
}

#: Lines of /proc/cpuinfo that say what code a processor can run, and which code suits it.
_CPU_LINES = (
    "vendor_id",
    "cpu family",
    "model",
    "flags",
    "CPU implementer",
    "CPU architecture",
    "CPU variant",
    "CPU part",
    "Features",
)


@functools.cache
def fingerprint() -> str:
    """Digest of all that kernels of one process have in common."""
    return digest(package(), tools(), processor(), repr(caches_here()))


def key_of(kind: str, source: KernelSource, version: str) -> str:
    """Under which the disk cache has the code of a kernel: code of this kind and version."""
    texts = repr(source)
    headers = included(texts) if source.prelude == "mlx" else ""
    return digest(kind, fingerprint(), texts, headers, version)


def package() -> str:
    """Names, sizes and times of AnyMetal's own files: editing the compiler empties the cache."""
    return files_in(_PACKAGE)


def included(text: str) -> str:
    """Names, sizes and times of MLX's Metal headers, if a kernel's text may include some."""
    if MLX_HEADERS not in text:
        return ""
    folder = inside("mlx", "include", MLX_HEADERS)
    return files_in(folder) if folder else ""


def inside(package: str, *parts: str) -> str | None:
    """The path of a file or folder in an installed package, if it is there.

    `mlx` has no `__init__.py`, so any folder of that name that Python may import from is a part of
    it: a checkout of MLX in the current folder, or what MLX itself keeps in /tmp.
    """
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = os.path.join(folder, *parts)
        if os.path.exists(path):
            return path
    return None


def files_in(folder: str) -> str:
    """Name, size and time of every file below a folder."""
    lines: list[str] = []
    folders = [folder]
    while folders:
        with os.scandir(folders.pop()) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        folders.append(entry.path)
                else:
                    status = entry.stat()
                    lines.append(f"{entry.path} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(sorted(lines))


def tools() -> str:
    """Which Clang, which LLVM and which MLX are installed."""
    lines = []
    for name, binary in _TOOLS.items():
        if path := inside(name, binary):
            status = os.stat(path)
            lines.append(f"{path} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(lines)


def processor() -> str:
    """Model and instruction sets of the first processor."""
    known = [f"{name}:{value}" for name, value in described().items() if name in _CPU_LINES]
    return "\n".join(known) or os.uname().machine


def features() -> list[str]:
    """Instruction sets of the first processor, by the system's names."""
    # An emulator may show the file of the machine below it, whose features are none of ours.
    line = "flags" if os.uname().machine == "x86_64" else "Features"
    return described().get(line, "").split()


def described() -> dict[str, str]:
    """What the system tells of the first processor; nothing on some systems."""
    try:
        with open("/proc/cpuinfo") as file:
            text = file.read(16384).partition("\n\n")[0]
    except OSError:
        return {}
    lines = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value for name, _, value in lines}
