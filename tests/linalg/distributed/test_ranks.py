"""Routines over several ranks: beside LAPACK, the same bits for any number of them, and failure."""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from anymetal import linalg
from anymetal.errors import RankLostError
from anymetal.linalg.distributed import ranks
from tests.linalg.distributed.launching import BACKEND, ROOT, free_ports, run, start

PROGRAMS = Path(__file__).parent
CHECKS = PROGRAMS / "checks.py"
ALL = (
    "limbs,undefined,sums,gradients,gradients_of_singular_values,compiled,factors,factors_at_once,triangles,"
    "singular_values,odd_matrices,files,counts,disagreement"
)


#: NCCL has a rank for each GPU.
RANKS = [1, 2, 3, 4, 8] if BACKEND == "ring" else [1, 2]
on_the_ring = pytest.mark.skipif(BACKEND != "ring", reason="about MLX's ring")


def checked(ranks: int, folder: Path, checks: str = ALL, seconds: int = 1200) -> list[str]:
    path = folder / "matrix.npy"
    np.save(path, np.random.default_rng(5).standard_normal((150, 90)).astype(np.float32))
    outputs = run(ranks, CHECKS, folder, checks, str(path), str(seconds), seconds=seconds + 20)
    for output in outputs:
        assert re.findall(r"passed (\w+)", output) == checks.split(",")
    check_bytes(outputs)
    return outputs


def check_bytes(outputs: list[str]) -> None:
    """What all sockets have received is what the collectives should take, to the byte."""
    lines = [re.search(r"bytes (\d+) (\d+)\nmessages (\d+)", output) for output in outputs]
    numbers = [tuple(map(int, line.groups())) for line in lines if line]
    assert len(numbers) == len(outputs)
    received, collective, messages = zip(*numbers, strict=True)
    if sys.platform == "linux" and BACKEND == "ring":
        assert sum(received) == collective[0] + sum(messages)


def bits_of_one_machine() -> list[str]:
    """What all ranks print, for each way to cut the rows."""
    from tests.linalg.distributed.checks import bits, wild

    x, y, A = (mx.array(a) for a in (wild(40_000), wild(40_001)[1:], wild(2100).reshape(300, 7)))
    lines = []
    for accumulate in ("limb", "exact"):
        results = [
            linalg.dot(x, y, accumulate=accumulate),
            linalg.norm(x, accumulate=accumulate),
            linalg.gram(A, accumulate=accumulate),
            linalg.project(A, A[:, :2], accumulate=accumulate),
        ]
        lines.append(" ".join(["bits", accumulate, *map(bits, results)]))
    return lines * 3


@on_the_ring
def test_three_ranks(tmp_path: Path) -> None:
    for output in checked(3, tmp_path, "limbs,disagreement"):
        assert re.findall("bits.*", output) == bits_of_one_machine()


@pytest.mark.slow
@pytest.mark.parametrize("ranks", RANKS)
def test_all(ranks: int, tmp_path: Path) -> None:
    for output in checked(ranks, tmp_path):
        assert re.findall("bits.*", output) == bits_of_one_machine()


@on_the_ring
@pytest.mark.slow
def test_launched_by_mlx(tmp_path: Path) -> None:
    launcher = Path(sys.executable).with_name("mlx.launch")
    port = str(free_ports(1)[0])
    program = [sys.executable, str(CHECKS), "sums", "-", "300"]
    environment = ["--env", f"PYTHONPATH={ROOT}"]
    done = subprocess.run(
        [launcher, "-n", "2", "--backend", "ring", "-p", port, *environment, *program],
        capture_output=True,
        text=True,
        timeout=320,
        stdin=subprocess.DEVNULL,
    )
    assert done.stdout.count("passed sums") == 2, done.stdout + done.stderr


@on_the_ring
@pytest.mark.slow
@pytest.mark.parametrize("time_of_death", range(20))
def test_killed(time_of_death: int, tmp_path: Path) -> None:
    """The others end within 30 s, with the error."""
    processes = start(4, PROGRAMS / "endless.py", tmp_path, "300")
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "going\n"
        time.sleep(0.05 * time_of_death)
        victim = time_of_death % 4
        os.kill(processes[victim].pid, signal.SIGKILL)
        begin = time.monotonic()
        errors = [process.communicate(timeout=30)[1] for process in processes]
        assert time.monotonic() - begin < 30
    finally:
        for process in processes:
            process.kill()
    for rank, (process, error) in enumerate(zip(processes, errors, strict=True)):
        if rank != victim:
            assert process.returncode == 1
            assert f"Rank {rank} of 4 has lost another rank" in error, error


@on_the_ring
@pytest.mark.slow
def test_hanging(tmp_path: Path) -> None:
    """The others end after the time that they were told, with an error."""
    processes = start(3, PROGRAMS / "endless.py", tmp_path, "4")
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "going\n"
        os.kill(processes[1].pid, signal.SIGSTOP)
        errors = [processes[rank].communicate(timeout=30)[1] for rank in (0, 2)]
    finally:
        for process in processes:
            process.kill()
    # One has waited for that time. The other one has, too, or was told by the end of the first.
    assert any("has waited 4 s for the others" in error for error in errors), errors
    assert all("RankLostError" in error for error in errors), errors


@on_the_ring
@pytest.mark.slow
def test_killed_amid_a_search_and_launched_again(tmp_path: Path) -> None:
    """Goes on with what all ranks have, and comes to the same bits."""
    path, program = tmp_path / "matrix.npy", PROGRAMS / "search.py"
    A = np.random.default_rng(7).standard_normal((400, 60)).astype(np.float32)
    np.save(path, A)
    expected = run(3, program, tmp_path, str(path), str(tmp_path / "whole"), seconds=120)
    journal = tmp_path / "cut"
    for deaths in range(6):
        processes = start(3, program, tmp_path, str(path), str(journal))
        try:
            for process in processes:
                assert process.stdout is not None
                assert process.stdout.readline() == "going\n"
            _await_files(journal, 4 + 3 * deaths)
            os.kill(processes[deaths % 3].pid, signal.SIGKILL)
            errors = [process.communicate(timeout=60)[1] for process in processes]
        finally:
            for process in processes:
                process.kill()
        codes = {process.returncode for process in processes}
        assert codes == {1, -signal.SIGKILL}, errors
    assert list(journal.glob("*/step-*"))
    again = run(3, program, tmp_path, str(path), str(journal), seconds=120)
    assert [line.split("bits")[1] for line in again] == [line.split("bits")[1] for line in expected]


def _await_files(journal: Path, number: int) -> None:
    """Until so many products have been begun, however many of them are there no more."""
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        numbers = [int(p.stem.split("-")[1]) for p in journal.glob("*/product-*")]
        if max(numbers, default=-1) >= number - 1:
            return
        time.sleep(0.005)
    raise AssertionError(f"No product {number} within 60 s")


class ManyRanks:
    """A group as collectives see it, all of whose ranks have the same."""

    def size(self) -> int:
        return 300


def test_few_numbers_of_many_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """MLX's ring takes no fewer numbers than ranks where there are more than 256."""
    asked: list[int] = []

    def collective(share: mx.array, group: ManyRanks) -> mx.array:
        asked.append(share.size)
        return share * group.size()

    monkeypatch.setattr(mx.distributed, "all_sum", collective)
    for shape, expected in (((), 300), ((2, 3), 300), ((301,), 301)):
        got = ranks.all_sum(mx.ones(shape), ManyRanks())  # type: ignore[arg-type]
        assert got.shape == shape and (got == 300).all().item()
        assert asked.pop() == expected


def test_error_can_be_pickled() -> None:
    error = pickle.loads(pickle.dumps(RankLostError("qr", 1, 4, "gone")))
    assert str(error).startswith("[qr] Rank 1 of 4 has lost another rank")
