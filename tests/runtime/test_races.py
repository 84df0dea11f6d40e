"""The thread pool and the bridge's C++ in native programs, with and without ThreadSanitizer."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

import pytest

from anymetal.runtime.bridge import recipe
from tests.runtime.native import RUNTIME

HERE = Path(__file__).parent
_OPTIONS = f'-std=c++20 -O1 -g -pthread -I{RUNTIME} -DPOOL="{RUNTIME}/pool.cpp"'.split()
#: Of each program, what it is made of.
PROGRAMS = {
    "pool_races": [HERE / "pool_races.cpp"],
    "pool_moves": [HERE / "pool_moves.cpp"],
    "pool_companions": [HERE / "pool_companions.cpp"],
    "bridge_races": [HERE / "bridge_races.cpp", RUNTIME / "pool.cpp"],
}


@functools.cache
def compiler() -> list[str]:
    try:
        return list(recipe.find_compiler())
    except recipe.Missing as error:
        pytest.skip(f"{error}; {error.remedy}")


def built(folder: Path, name: str, *options: str) -> Path:
    """The program, or a skipped test where the compiler does not know these options."""
    probe = folder / "probe.cpp"
    probe.write_text("int main() {}")
    for sources, required in (([probe], False), (PROGRAMS[name], True)):
        command = [*compiler(), *_OPTIONS, *options, *map(str, sources), "-o", str(folder / name)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode and not required:
            pytest.skip(f"{compiler()[0]} cannot build with {options}: {done.stderr[-300:]}")
        assert done.returncode == 0, done.stderr
    return folder / name


def failures_of(program: Path, rounds: int, threads: int) -> str:
    """What the program says after so many rounds; it and ThreadSanitizer must be content."""
    # Without randomised addresses: the sanitizers of older compilers do not know today's kernels'.
    command = ["setarch", "-R", str(program), str(rounds), str(threads)]
    if subprocess.run(["setarch", "-R", sys.executable, "-c", ""], capture_output=True).returncode:
        command = command[2:]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-6000:]}"
    return done.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_many_threads_at_once(tmp_path, name):
    assert failures_of(built(tmp_path, name), 10, 4).startswith("0 failures")


@pytest.mark.slow
@pytest.mark.parametrize("threads", [2, 16])
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_data_races(tmp_path, name, threads):
    program = built(tmp_path, name, "-fsanitize=thread")
    assert failures_of(program, 25, threads).startswith("0 failures")


@pytest.mark.slow
def test_a_data_race_would_be_seen(tmp_path):
    """The same tools on a pool whose owners let each other's launches go too early."""
    source = (RUNTIME / "pool.cpp").read_text()
    for header in RUNTIME.glob("*.h"):
        (tmp_path / header.name).write_text(header.read_text())
    broken = source.replace("if (alone() || spin(OWNER_SPIN, alone)) return;", "return;")
    assert broken != source
    (tmp_path / "pool.cpp").write_text(broken)
    options = ["-fsanitize=thread", "-UPOOL", f'-DPOOL="{tmp_path}/pool.cpp"']
    program = built(tmp_path, "pool_races", *options)
    with pytest.raises(AssertionError, match=r"data race|[1-9]\d* failures"):
        failures_of(program, 50, 4)
