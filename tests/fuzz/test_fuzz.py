"""Random kernels, each in the scalar and the 32-lane build, against the oracle."""

from __future__ import annotations

import os

import pytest

from anymetal.testing.fuzz.__main__ import minimise, run
from anymetal.testing.fuzz.execute import DEFAULT_WIDTHS
from anymetal.testing.fuzz.generate import generate
from anymetal.testing.fuzz.report import report


def _expect_agreement(seeds: range) -> None:
    jobs = min(2, os.cpu_count() or 1)
    counts, failures = run(seeds, DEFAULT_WIDTHS, jobs, max_failures=1)
    for seed, verdict in failures:
        pytest.fail(report(*minimise(generate(seed), verdict, DEFAULT_WIDTHS, tries=150)))
    assert counts["ok"] == len(seeds)


def test_thirty_kernels_agree() -> None:
    _expect_agreement(range(30))


@pytest.mark.slow
def test_two_thousand_kernels_agree() -> None:
    _expect_agreement(range(2000))
