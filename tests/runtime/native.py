"""Kernels written in C++ instead of Metal, to test the thread pool without the compiler."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache as once
from pathlib import Path
from typing import Any

from anymetal.runtime import disk_cache, identity, zig
from anymetal.runtime.code import Code
from anymetal.runtime.pool import Call, pool

ROOT = Path(__file__).parents[2]
RUNTIME = ROOT / "anymetal" / "runtime"

_FRAME = """
#include "{folder}/libc.h"
#include "{folder}/launch.h"
{helpers}
extern "C" const char* const am_notes = "[]";
extern "C" const char* const am_order = "";
extern "C" const char* const am_complaints = "";
extern "C" const char* const am_flops = "";
extern "C" const char* const am_declined = "";
extern "C" const char* const am_stored = "";
extern "C" const char* const am_launches = "";
extern "C" void am_entry(void* const* buffers, [[maybe_unused]] const am_launch* launch,
                         uint64_t first, uint64_t last, [[maybe_unused]] am_worker* worker) {{
  for (uint64_t group = first; group < last; ++group) {{
    {body}
  }}
}}
"""

#: `body` of kernels that several tests use; `group` is the number of the threadgroup.
COUNT = "__atomic_fetch_add(static_cast<uint32_t*>(buffers[0]) + group, 1, __ATOMIC_RELAXED);"
FOREVER = "while (!*launch->cancel) {}"
#: Spins for as many nanoseconds as the first buffer says for this group.
COSTS = "for (uint64_t end = now() + static_cast<uint64_t*>(buffers[0])[group]; now() < end;) {}"


_loaded: list[Code] = []


@once
def object_of(body: str, helpers: str = "") -> bytes:
    """An object file that exports `am_entry`, running `body` for each group, and `am_notes`, which
    says that nothing is known of what it stores."""
    text = _FRAME.format(folder=RUNTIME, helpers=helpers, body=body)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cpp"
        path.write_text(text)
        return zig.compile_native(path)


@once
def entry_of(body: str, helpers: str = "") -> int:
    """Address of a loaded kernel, which later processes find in the cache."""
    headers = [header.read_bytes() for header in sorted(RUNTIME.glob("*.h"))]
    key = disk_cache.digest("test", identity.tools(), _FRAME, body, helpers, *headers)
    found = disk_cache.get(key, ".so")
    if found is None:
        found = disk_cache.put(key, ".so", zig.link_shared(object_of(body, helpers)))
    _loaded.append(Code(found, "test"))
    return _loaded[-1].entry


class Launcher:
    """One kernel with its buffers; every call runs it once."""

    def __init__(
        self, groups: int, buffers: Sequence[Any], body: str, helpers: str = "", name: str = "test"
    ) -> None:
        self.name, self.keep = name, list(buffers)
        addresses = [ctypes.addressof(buffer) for buffer in buffers] or [0]
        self.addresses = (ctypes.c_uint64 * len(addresses))(*addresses)
        self.call = Call()
        self.call.entry = entry_of(body, helpers)
        self.call.buffers = ctypes.addressof(self.addresses)
        self.call.grid[:] = self.call.groups[:] = (groups, 1, 1)
        self.call.group[:] = (1, 1, 1)
        self.call.total_groups = groups

    def __call__(self) -> None:
        pool().run(self.call, ctypes.addressof(self.call), self.name)


def run_script(
    script: str, timeout: float = 60, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs Python code in a process of its own, with everything of this module imported."""
    return subprocess.run(
        [sys.executable, "-c", f"from tests.runtime.native import *\n{script}"],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def output_of(script: str, timeout: float = 60, **environment: str) -> str:
    """What the code prints; it must end well."""
    done = run_script(script, timeout, **environment)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout.strip()


def processes_of(folder: Path, patience: float = 30) -> list[str]:
    """Commands of processes that use this cache; helpers may take a moment to end."""
    mark, end = f"ANYMETAL_CACHE_DIR={folder}".encode(), time.monotonic() + patience
    while True:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes() and int(process.name) != os.getpid():
                    found.append((process / "cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.05)
