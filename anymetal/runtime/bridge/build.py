"""The program that builds the bridge: `python -m anymetal.runtime.bridge.build`.

With a path as its argument it builds the bridge there, for a wheel (hatch_build.py).

A process of its own, so that a build outlives a short program, and a bridge that crashes when it
is first loaded crashes nothing else. Its result is in the disk cache: the library or a log.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anymetal.runtime import cache
from anymetal.runtime.bridge.native import Native, Unusable, load
from anymetal.runtime.bridge.recipe import Missing, Recipe, recipe

_PATIENCE = 600  #: seconds for the compiler


def main() -> int:
    """Builds the bridge unless that was done or tried before."""
    if os.environ.get("ANYMETAL_BRIDGE") != "wait":
        os.nice(19)
    try:
        wanted = recipe()
    except Missing as error:
        print(error, error.remedy, sep="; ", file=sys.stderr)
        return 1
    if len(sys.argv) > 1:
        return _build_at(wanted, Path(sys.argv[1]))
    build(wanted)
    return int(wanted.library() is None)


def build(wanted: Recipe) -> Native | None:
    """The bridge, if nobody has built it or tried to; then it is in the cache, too."""
    with _alone():
        if wanted.library() is None and wanted.failure() is None:
            return _build(wanted)
    return None


def _build(wanted: Recipe) -> Native | None:
    with tempfile.TemporaryDirectory(prefix="anymetal-") as folder:
        library = Path(folder) / "bridge.so"
        command = [*wanted.command, "-o", str(library)]
        log = _compile(command)
        if not library.exists():
            cache.put(wanted.failure_key, ".log", log.encode())
            return None
        # A crash in the next lines leaves this log behind, and nobody tries again.
        note = cache.put(wanted.failure_key, ".log", f"{log}\ncrashed when loaded\n".encode())
        native = None
        try:
            native = load(library)
        except Unusable as error:
            cache.put(wanted.failure_key, ".log", f"{log}\n{error}\n".encode())
        else:
            cache.put(wanted.key, ".so", library.read_bytes(), "the bridge to MLX")
        note.unlink(missing_ok=True)
        return native


def _build_at(wanted: Recipe, library: Path) -> int:
    """The bridge as a file of this name; returns 1 with the reason on stderr if there is none."""
    library.parent.mkdir(parents=True, exist_ok=True)
    library.unlink(missing_ok=True)
    log = _compile([*wanted.command, "-o", str(library)])
    try:
        if library.exists():
            load(library)
            return 0
    except Unusable as error:
        library.unlink()
        log += f"{error}\n"
    print(log, file=sys.stderr)
    return 1


def _compile(command: list[str]) -> str:
    """Runs the compiler; returns the command and all that it printed."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PATIENCE,
            text=True,
            errors="replace",
        )
        said = f"{done.stdout}status {done.returncode}\n"
    except (OSError, subprocess.TimeoutExpired) as error:
        said = f"{error}\n"
    return f"{shlex.join(command)}\n{said}"


@contextmanager
def _alone() -> Iterator[None]:
    """Holds off the builds of other processes that share the cache."""
    with open(cache.cache_directory() / "bridge.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main())
