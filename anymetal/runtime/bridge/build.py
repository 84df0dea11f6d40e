"""The program that builds the bridge: `python -m anymetal.runtime.bridge.build`.

With a path as its argument it builds the bridge there, for a wheel (hatch_build.py). With
`--locked` it has inherited the lock that loader.py takes, and holds it as long as it lives.

A process of its own, so that a build outlives a short program, and a bridge that crashes when it
is first loaded crashes nothing else. Its result is in the disk cache: the library or a log.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anymetal.runtime import scratch
from anymetal.runtime.bridge.lock import LOCKED, lock_file
from anymetal.runtime.bridge.native import Native, Unusable, load
from anymetal.runtime.bridge.recipe import Missing, Recipe, recipe

_TIMEOUT = 600  #: seconds for the compiler
_MOST_FILES = 1 << 16  #: that a process has open, roughly


def main() -> int:
    """Builds the bridge unless that was done or tried before."""
    if os.environ.get("ANYMETAL_BRIDGE") != "wait":
        os.nice(19)
    try:
        wanted = recipe()
    except Missing as error:
        print(error, error.remedy, sep="; ", file=sys.stderr)
        return 1
    if len(sys.argv) > 1 and sys.argv[1] != LOCKED:
        return _build_at(wanted, Path(sys.argv[1]))
    lock = None if LOCKED in sys.argv else lock_file(wait=True)
    if wanted.library() is None and not wanted.is_given_up():
        with _group() as group:
            build(wanted, group)
    if lock is not None:
        os.close(lock)
    return int(wanted.library() is None)


def build(wanted: Recipe, group: int | None = None) -> Native | None:
    """The bridge, which is then in the cache, too, as is the log if it fails.

    The compiler runs in this process group.
    """
    with scratch.workspace() as folder:
        library = folder / "bridge.so"
        log = _compile([*wanted.command, "-o", str(library)], folder, group)
        if not library.exists():
            wanted.failed(log)
            return None
        # A crash in the next lines leaves this log behind, and nobody tries again for a while.
        wanted.failed(f"{log}\ncrashed when loaded\n")
        try:
            native = load(library)
        except Unusable as error:
            wanted.failed(f"{log}\n{error}\n")
        else:
            wanted.succeeded(library.read_bytes())
            return native
    return None


def _build_at(wanted: Recipe, library: Path) -> int:
    """The bridge as a file of this name; returns 1 with the reason on stderr if there is none."""
    library.parent.mkdir(parents=True, exist_ok=True)
    library.unlink(missing_ok=True)
    with scratch.workspace() as folder:
        log = _compile([*wanted.command, "-o", str(library)], folder, None)
    try:
        if library.exists():
            load(library)
            return 0
    except Unusable as error:
        library.unlink()
        log += f"{error}\n"
    print(log, file=sys.stderr)
    return 1


def _compile(command: list[str], folder: Path, group: int | None) -> str:
    """Runs the compiler, whose temporary files go into `folder`; the command and what it said."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "TMPDIR": str(folder)},
            preexec_fn=None if group is None else lambda: os.setpgid(0, group),
            timeout=_TIMEOUT,
            text=True,
            errors="replace",
        )
        said = f"{done.stdout}status {done.returncode}\n"
    except (OSError, subprocess.SubprocessError) as error:
        said = f"{error}\n"
    return f"{shlex.join(command)}\n{said}"


@contextmanager
def _group() -> Iterator[int]:
    """A process group whose members end with the block, or when this process is killed.

    Its leader waits for the end of a pipe whose other end nobody but this process has.
    """
    end, ours = os.pipe()
    leader = os.fork()
    if leader == 0:
        os.setpgid(0, 0)
        os.closerange(3, end)  # among them the lock, which goes with the process that builds
        os.closerange(end + 1, _MOST_FILES)
        os.read(end, 1)
        os.killpg(0, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.setpgid(leader, leader)  # whoever of the two comes first
    os.close(end)
    try:
        yield leader
    finally:
        os.killpg(leader, signal.SIGKILL)
        os.waitpid(leader, 0)
        os.close(ours)


if __name__ == "__main__":
    sys.exit(main())
