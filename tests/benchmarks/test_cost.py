"""The model of what ranks send and take: by hand, from made-up times, and as it is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from anymetal.linalg.distributed.exchange import rounds
from benchmarks.cost import model
from benchmarks.cost.__main__ import KEPT, load, table
from benchmarks.cost.counting import Sent
from benchmarks.cost.model import Cluster, Fitted, Run
from benchmarks.cost.routines import ROUTINES


def test_chains() -> None:
    """A sum takes 2(p - 1) messages of a p-th, what is gathered p - 1 of the whole."""
    assert model.chain([Sent("all_sum", 1000)], 4) == (6, 6 * 250)
    assert model.chain([Sent("all_max", 1)], 8) == (14, 14)
    assert model.chain([Sent("all_gather", 128), Sent("all_sum", 10)], 3) == (2 + 4, 256 + 16)
    assert model.communication(ROUTINES["gram"], {"m": 10, "n": 3}, 1) == (0, 0)
    messages, words = model.communication(ROUTINES["qr"], {"m": 100, "n": 4}, 8)
    assert (messages, words) == (7 + rounds(8), 7 * 128 + 10 * rounds(8))


TRUE = Fitted(3e-5, 2e-9, 4e-3, dict.fromkeys(ROUTINES, 1e-3), dict.fromkeys(ROUTINES, 1e10))


def made_up(noise: float = 0.0) -> list[Run]:
    runs = [
        Run(name, size, ranks, 1.0)
        for name, routine in ROUTINES.items()
        for size in routine.sizes
        for ranks in (1, 2, 4, 8)
    ]
    return [
        run._replace(seconds=model.on_one_machine(TRUE, run, 2) * (1 + noise * (-1) ** i))
        for i, run in enumerate(runs)
    ]


def test_fit_finds_what_made_the_times() -> None:
    found = model.fit(made_up(), 2)
    assert found.alpha == pytest.approx(TRUE.alpha, rel=1e-3)
    assert found.beta == pytest.approx(TRUE.beta, rel=1e-3)
    assert found.tau == pytest.approx(TRUE.tau, rel=1e-3)
    for name in set(ROUTINES) - {"all_sum"}:
        assert found.rate[name] == pytest.approx(1e10, rel=1e-3)
    noisy = made_up(noise=0.05)
    found = model.fit(noisy, 2)
    assert found.beta == pytest.approx(TRUE.beta, rel=0.2)
    apart = model.factors(found, noisy, 2)
    assert apart == sorted(apart) and apart[0] >= 1 and apart[-1] < 1.2


def test_a_cluster() -> None:
    """10 Gbit/s are 3.2 ns for a word; machines do not share processors."""
    cluster = Cluster(10, 1e-5, 4)
    size = {"m": 8_000_000, "n": 100}
    messages, words = model.communication(ROUTINES["gram"], size, 8)
    expected = 1e-3 + 2 * 1e6 * 1e4 / 4e10 + messages * 1e-5 + words * 3.2e-9
    assert model.on_a_cluster(TRUE, "gram", size, 8, cluster) == pytest.approx(expected)


def test_what_is_kept_has_all_routines_and_draws_the_same(tmp_path: Path) -> None:
    runs, conditions = load()
    for name, routine in ROUTINES.items():
        wanted = {(str(size), ranks) for size in routine.sizes for ranks in (1, 2, 4, 8)}
        assert {(str(run.size), run.ranks) for run in runs if run.routine == name} == wanted
    assert len(table(runs, conditions["processors"]).splitlines()) == len(runs) + 4
    pytest.importorskip("matplotlib")
    from benchmarks.cost import picture

    for path in picture.draw(runs, conditions, tmp_path):
        assert path.stat().st_size > 10_000
        assert (KEPT.parent / path.name).exists()
