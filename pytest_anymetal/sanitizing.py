"""`pytest --metal-sanitize`: tests fail whose Metal kernels do something wrong."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest


class Sanitizing:
    """Observes every test."""

    def __init__(self, config: pytest.Config) -> None:
        from anymetal.sanitizer import launches, session
        from anymetal.sanitizer.session import Options

        launches.take_over()
        seed = config.getoption("--metal-sanitize-order")
        self.options = Options(order=None if seed is None else "shuffle", seed=seed or 0)
        #: For kernels that run outside of tests, as while modules are imported.
        self.outside, _ = session.start(self.options, whole_process=True)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        return (yield from self._observed(item, "setup"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        return (yield from self._observed(item, "call"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, Any]:
        return (yield from self._observed(item, "teardown"))

    def _observed(self, item: pytest.Item, when: str) -> Generator[None, Any, Any]:
        from anymetal.sanitizer import session

        found, before = session.start(self.options)
        try:
            result = yield
        finally:
            session.stop(found, before)
            if found.findings:
                item.add_report_section(when, "metal kernels", found.text())
        if found.errors:
            pytest.fail(f"Metal kernels have errors\n{found.text()}", pytrace=False)
        return result

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """What kernels did outside of tests."""
        if self.outside.findings:
            terminalreporter.section("metal kernels outside of tests")
            terminalreporter.write_line(self.outside.text())

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        from anymetal.sanitizer import session as sessions

        sessions.stop(self.outside, None)
        if self.outside.errors and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
