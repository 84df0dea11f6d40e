"""`anymetal doctor`: what this machine can run, what was found, and how to get what is missing."""

from __future__ import annotations

import ctypes
import os
import platform
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version

import anymetal
from anymetal import targets
from anymetal.errors import AnyMetalError
from anymetal_start import report
from anymetal_start.report import Finding
from anymetal_start.report import State as State

#: What of a CPU's features matters to the code that AnyMetal generates for it.
_VECTOR_FEATURES = (
    "avx512f avx512bw avx512vl avx512fp16 avx512bf16 avx2 fma f16c avx sse4.2 "
    "neon asimd fullfp16 bf16 sve sve2"
).split()


def doctor(as_json: bool = False) -> int:
    """Print the report; status 1 if something that AnyMetal needs is broken."""
    return report.show(findings(), as_json)


def findings() -> Iterator[Finding]:
    """All lines of the report, in order."""
    for section in (_machine, _targets, _tools, _packages, _bridge, _cache, _kernel):
        yield from section()


def _machine() -> Iterator[Finding]:
    yield Finding("machine", "system", f"{platform.system()} {platform.machine()}")
    if targets.HAS_METAL:
        return
    try:
        import llvmlite.binding as llvm

        features = llvm.get_host_cpu_features()
        present = [name for name in _VECTOR_FEATURES if features.get(name)]
        yield Finding("machine", "processor", f"{llvm.get_host_cpu_name()}, {_cores()} threads")
        yield Finding("machine", "SIMD features", " ".join(present) or "none of note")
    except (ImportError, RuntimeError) as error:
        yield Finding("machine", "processor", str(error), "broken", "see LLVM below")


def _cores() -> int:
    """Processors that this process may use, which a container can limit."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _targets() -> Iterator[Finding]:
    import mlx.core as mx

    yield Finding("targets", "CPU", "compiled to SIMD code for this processor")
    if mx.metal.is_available():
        yield Finding("targets", "Apple GPU", "kernels go to MLX unchanged")
    else:
        yield Finding("targets", "Apple GPU", "none", "absent", "needs a Mac with Metal")
    if targets.has_cuda():
        yield _nvidia_gpu()
    else:
        remedy = "with an NVIDIA GPU and its driver: pip install 'anymetal[cuda13]' or [cuda12]"
        yield Finding("targets", "NVIDIA GPU", "none", "absent", remedy)
    yield _in_use()


def _nvidia_gpu() -> Finding:
    import mlx.core as mx

    from anymetal.targets.cuda.launch import architecture_here

    try:
        text = f"{mx.device_info(mx.gpu).get('device_name', 'one')}, code for {architecture_here()}"
    except AnyMetalError as error:
        return Finding("targets", "NVIDIA GPU", str(error), "broken", "ANYMETAL_TARGET=cpu")
    return Finding("targets", "NVIDIA GPU", f"{text}; kernels go there as PTX, through MLX")


def _in_use() -> Finding:
    """The target of kernels on MLX's default device."""
    asked = os.environ.get("ANYMETAL_TARGET")
    why = f"ANYMETAL_TARGET={asked}" if asked else "the best of this machine"
    try:
        return Finding("targets", "in use", f"{targets.for_stream(None).name} ({why})")
    except AnyMetalError as error:
        return Finding("targets", "in use", str(error), "broken", "unset ANYMETAL_TARGET")


def _tools() -> Iterator[Finding]:
    if targets.HAS_METAL:
        yield Finding("tools", "compilers", "not needed: MLX runs the kernels")
        return
    from anymetal.frontend import toolchain

    versions = []
    for name, package, ask in (
        ("Clang", "ziglang", toolchain.clang_version),
        ("LLVM", "llvmlite", toolchain.llvm_version),
    ):
        finding, found = _ask(name, package, ask)
        versions.append(found)
        yield finding
    if all(versions) and versions[0].split(".")[0] != versions[1].split(".")[0]:
        try:
            toolchain.check_versions(versions[0])
        except AnyMetalError as error:
            yield Finding("tools", "versions", str(error), "broken")
    yield _helpers()
    yield _libmvec()


def _helpers() -> Finding:
    """What compiles kernels: processes beside the program, if Python can be started."""
    from anymetal.runtime.interpreter import interpreter

    if found := interpreter():
        return Finding("tools", "helper processes", found)
    remedy = "kernels are compiled in the program itself: ANYMETAL_COMPILE_LIMIT does not hold"
    return Finding("tools", "helper processes", "no Python interpreter", "absent", remedy)


def _ask(name: str, package: str, ask: Callable[[], str]) -> tuple[Finding, str]:
    try:
        found = ask()
    except AnyMetalError as error:
        return Finding("tools", name, "missing", "broken", str(error)), ""
    return Finding("tools", name, f"{found} (package {package} {_package(package)})"), found


def _libmvec() -> Finding:
    """glibc's vector functions: without them exp, sin and the like run one lane at a time."""
    name = "vector maths"
    try:
        library = ctypes.CDLL("libmvec.so.1")
    except OSError:
        remedy = "needs glibc 2.22 on x86_64 or 2.39 on aarch64; kernels run, maths is slower"
        return Finding("tools", name, "no libmvec", "absent", remedy)
    widths = {"4 lanes": "_ZGVbN4v_expf", "8 lanes": "_ZGVdN8v_expf", "16 lanes": "_ZGVeN16v_expf"}
    if platform.machine() == "aarch64":
        widths = {"4 lanes": "_ZGVnN4v_expf", "SVE": "_ZGVsMxv_expf"}
    found = [width for width, symbol in widths.items() if hasattr(library, symbol)]
    return Finding("tools", name, f"libmvec, {', '.join(found)}")


def _packages() -> Iterator[Finding]:
    yield Finding("packages", "Python", f"{platform.python_version()} ({sys.executable})")
    yield Finding("packages", "anymetal", anymetal.__version__)
    yield Finding("packages", "mlx", _package("mlx"))
    back_ends = [n for n in ("mlx-cpu", "mlx-cuda-12", "mlx-cuda-13", "mlx-metal") if _package(n)]
    described = ", ".join(f"{name} {_package(name)}" for name in back_ends)
    if len(back_ends) > 1:
        remedy = "they overwrite each other's files: uninstall all, then install one"
        yield Finding("packages", "MLX back end", described, "broken", remedy)
    else:
        yield Finding("packages", "MLX back end", described or "part of mlx")


def _package(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _bridge() -> Iterator[Finding]:
    if targets.HAS_METAL:
        return
    from anymetal.runtime.bridge import loader, recipe

    try:
        yield Finding("bridge to MLX", "C++ compiler", shlex.join(recipe.find_compiler()))
    except recipe.Missing as error:
        yield Finding("bridge to MLX", "C++ compiler", str(error), "absent", error.remedy)
    loader.retry()
    status = loader.status()
    state: State = "good" if status.works else "absent"
    yield Finding("bridge to MLX", "bridge", status.text, state, status.remedy)


def _cache() -> Iterator[Finding]:
    from anymetal.runtime import cache_folder, disk_cache

    place = cache_folder.place()
    if place.writable:
        yield Finding("cache", "folder", str(place.path))
    else:
        use = "only read" if place.readable else "not used"
        remedy = f"{place.reason}; what is compiled is not kept for later processes"
        yield Finding("cache", "folder", f"{place.path}, {use}", "absent", remedy)
    count = len(disk_cache.entries())
    yield Finding("cache", "content", f"{count} entries, {disk_cache.size() / 1e6:.1f} MB in all")
    found = disk_cache.verify(keep=True)
    if found.broken or found.leftovers:
        text = f"{len(found.broken)} damaged, {found.leftovers} left over"
        yield Finding("cache", "files", text, "absent", "anymetal cache verify removes them")


def _kernel() -> Iterator[Finding]:
    """A kernel that no cache has: whether it compiles, runs and gives the right result."""
    import mlx.core as mx

    number = time.time_ns() % 1_000_003
    kernel = anymetal.metal_kernel(
        name="doctor",
        input_names=["x"],
        output_names=["y"],
        source=f"uint i = thread_position_in_grid.x; y[i] = x[i] + {number};",
    )
    x = mx.arange(1000, dtype=mx.int32)
    start = time.perf_counter()
    try:
        (y,) = kernel(
            inputs=[x],
            grid=(x.size, 1, 1),
            threadgroup=(256, 1, 1),
            output_shapes=[x.shape],
            output_dtypes=[x.dtype],
        )
        right = mx.array_equal(y, x + number).item()
    except Exception as error:  # whatever it is, this is where it is told
        yield Finding("kernel", "compiled and run", f"{type(error).__name__}: {error}", "broken")
        return
    took = f"1000 threads, right, {time.perf_counter() - start:.2f} s with compilation"
    if right:
        yield Finding("kernel", "compiled and run", took)
    else:
        yield Finding("kernel", "compiled and run", "wrong results", "broken", "please report it")
