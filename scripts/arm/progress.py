"""A pytest plugin: what is done stands in a file, and the next call goes on from there.

Each line of the file is a test and what came of it. A test whose last line says "started" has ended
its process, and is not run again; neither is one that failed, until its lines are removed.
"""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from scripts.arm.left_out import reason

STARTED, LOST = "started", "lost"


def outcomes(file: Path) -> dict[str, str]:
    """The tests in the file and what came of them: passed, failed, skipped, or lost."""
    found: dict[str, str] = {}
    if file.exists():
        for line in file.read_text().splitlines():
            test, outcome = json.loads(line)
            found[test] = outcome
    return {test: LOST if outcome == STARTED else outcome for test, outcome in found.items()}


def append(file: Path, test: str, outcome: str) -> None:
    """Adds a line."""
    with file.open("a") as lines:
        lines.write(json.dumps([test, outcome]) + "\n")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("progress")
    group.addoption("--progress", type=Path, help="the file")
    group.addoption("--seconds", type=float, help="begin no test after so many seconds")
    group.addoption("--sample", help="in an order that is drawn by this word")
    group.addoption("--shard", help="I/N: the I-th of N parts of the tests")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Progress(config), "progress")


class _Progress:
    def __init__(self, config: pytest.Config) -> None:
        self.file: Path = config.getoption("--progress")
        self.seconds: float | None = config.getoption("--seconds")
        self.sample: str | None = config.getoption("--sample")
        self.shard: str | None = config.getoption("--shard")
        self.begin = time.monotonic()
        self.outcome = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        if self.shard:
            index, count = map(int, self.shard.split("/"))
            items[:] = items[index - 1 :: count]
        if self.sample:
            random.Random(self.sample).shuffle(items)
        done = outcomes(self.file)
        rest = [item for item in items if item.nodeid not in done]
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in done])
        items[:] = rest
        for item in rest:
            if why := reason(item.nodeid):
                item.add_marker(pytest.mark.skip(reason=why))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.outcome = "passed"
        append(self.file, nodeid, STARTED)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or (report.skipped and self.outcome == "passed"):
            self.outcome = report.outcome

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        append(self.file, nodeid, self.outcome)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> object:
        result = yield
        if self.seconds and time.monotonic() > self.begin + self.seconds:
            item.session.shouldstop = "the time is up"
        return result
