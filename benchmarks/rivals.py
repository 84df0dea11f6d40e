"""The hand-written rivals: C++ in `rivals/`, compiled by the Clang that compiles kernels.

Each file becomes an object and all of them one library, kept in `results/` under the digest of what
it was made from.
"""

from __future__ import annotations

import ctypes
import functools
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from anymetal.runtime import zig
from anymetal.runtime.disk_cache import digest
from anymetal.runtime.identity import processor, tools

SOURCES = Path(__file__).parent / "rivals"
BUILT = Path(__file__).parent / "results"
#: For the processor that kernels are compiled for.
_CPU = os.environ.get("ANYMETAL_CPU") or "native"
FLAGS = (
    f"-std=c++20 -O3 -march={_CPU} -ffp-contract=fast -fno-math-errno "
    "-fno-exceptions -fno-rtti -fPIC"
).split()

_LINE, _PAGE = 64, 4096


def native(name: str, *arguments: Any, out: Any) -> Callable[[], Any]:
    """The C++ function `bench_<name>`, bound to its arguments; a call returns `out`,
    or where that lies in its memory (see `_apart`).

    It takes the arrays first, then the outputs (`out` is an array or a tuple of them), then the
    numbers: int becomes int64_t, float becomes float.
    """
    function = getattr(_library(), f"bench_{name}")
    function.restype = None
    inputs = [a for a in arguments if isinstance(a, np.ndarray)]
    outputs = tuple(_apart(o, inputs) for o in (out if isinstance(out, tuple) else (out,)))
    arrays = [a for a in (*arguments, *outputs) if isinstance(a, np.ndarray)]
    for array in arrays:
        if not array.flags.c_contiguous:
            raise ValueError(f"bench_{name}: an array is not contiguous; copy it first")
    numbers = [a for a in arguments if not isinstance(a, np.ndarray)]
    passed = [
        *(ctypes.c_void_p(array.ctypes.data) for array in arrays),
        *(ctypes.c_float(n) if isinstance(n, float) else ctypes.c_int64(n) for n in numbers),
    ]

    def run(keep: object = arrays) -> Any:
        function(*passed)
        return outputs if isinstance(out, tuple) else outputs[0]

    return run


def set_threads(count: int) -> None:
    """How many threads the rivals use from now on."""
    _library().bench_set_threads(count)


def aligned(*shape: int, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    """An output for a rival, touched, at a cache line as streaming stores want it."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + _LINE + _PAGE, np.uint8)
    start = -memory.ctypes.data % _LINE
    memory[:] = 1
    array: np.ndarray[Any, Any] = memory[start : start + size].view(dtype).reshape(shape)
    return array


def _apart(out: np.ndarray[Any, Any], inputs: Sequence[np.ndarray[Any, Any]]) -> Any:
    """An aligned array as far from where inputs begin in a page as AnyMetal's outputs are.

    A load waits for stores that differ from it by a multiple of a page, which may cost half of the
    speed; chance must not decide whom it hits (anymetal/runtime/bridge/memory.h).
    """
    memory = out.base
    if not isinstance(memory, np.ndarray) or memory.nbytes != out.nbytes + _LINE + _PAGE:
        return out
    if any(array.base is memory for array in inputs):
        return out
    address = memory.ctypes.data
    begins = [a.ctypes.data for a in inputs if a.nbytes >= 1 << 20]

    def ahead(start: int) -> int:
        return min([_PAGE - 8 * _LINE, *((address + start - begin) % _PAGE for begin in begins)])

    start = max(range(-address % _LINE, _PAGE, _LINE), key=ahead)
    return memory[start : start + out.nbytes].view(out.dtype).reshape(out.shape)


def compiler() -> str:
    """How the rivals are compiled, for the record."""
    return f"zig clang {' '.join(FLAGS)}"


@functools.cache
def _library() -> ctypes.CDLL:
    files = sorted(SOURCES.iterdir())
    key = digest(*(f"{f.name}\n{f.read_text()}" for f in files), *FLAGS, tools(), processor())
    path = BUILT / f"rivals-{key[:16]}.so"
    if not path.exists():
        BUILT.mkdir(exist_ok=True)
        for outdated in BUILT.glob("rivals-*.so"):
            outdated.unlink(missing_ok=True)
        built = _build([f for f in files if f.suffix == ".cpp"])
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as temporary:
            temporary.write(built)
        Path(temporary.name).rename(path)
    # Has the conversions of half that a processor without F16C lacks.
    ctypes.CDLL("libgcc_s.so.1", mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(path))


def _build(sources: Sequence[Path]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="anymetal-bench-") as folder:

        def compiled(source: Path) -> bytes:
            target = Path(folder) / f"{source.stem}.o"
            resources = zig.zig_path().parent / "lib"
            command: list[str | Path] = [zig.zig_path(), "clang", *FLAGS]
            command += [f"--target={zig.host_triple()}", "-resource-dir", resources]
            done = subprocess.run(
                [*command, "-c", source, "-o", target], capture_output=True, text=True
            )
            if done.returncode:
                raise RuntimeError(f"{source} does not compile:\n{done.stderr}")
            return target.read_bytes()

        with ThreadPoolExecutor(2) as pool:
            return zig.link_shared(*pool.map(compiled, sources))
