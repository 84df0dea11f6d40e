"""`--metal-report`: which kernels ran, and what it took."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from pathlib import Path
from typing import Any

import pytest

from anymetal import targets
from anymetal.testing.recording import Recording

_PACKAGES = ("anymetal", "mlx", "llvmlite", "ziglang")
#: Under which a worker of pytest-xdist hands over what it has recorded.
_KEY = "anymetal"


class Reporting:
    """Counts in this process, and adds what workers have counted."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.recording = Recording()
        self.recording.begin()

    def pytest_sessionfinish(self) -> None:
        """A worker hands over what it has; everybody else writes the file."""
        self.recording.end()
        output = getattr(self.config, "workeroutput", None)
        if output is not None:
            output[_KEY] = self.recording.as_dict()
            return
        path = self.config.getoption("--metal-report-json")
        if path:
            text = json.dumps({**_surroundings(), "kernels": self.recording.as_dict()}, indent=2)
            Path(path).write_text(f"{text}\n", encoding="utf-8")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker of pytest-xdist has ended."""
        self.recording.add(getattr(node, "workeroutput", {}).get(_KEY, {}))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The section behind the results."""
        if not self.config.getoption("--metal-report"):
            return
        terminalreporter.section("metal kernels")
        for line in _lines(self.recording):
            terminalreporter.write_line(line)


def _surroundings() -> dict[str, Any]:
    versions = {}
    for name in (*_PACKAGES, "numpy"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "target": targets.active().name,
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": versions,
    }


def _lines(recording: Recording) -> list[str]:
    about = _surroundings()
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    lines = [
        f"target {about['target']} on {about['system']} {about['machine']}, Python "
        f"{about['python']}, {versions}",
    ]
    kernels = sorted(recording.kernels.items())
    if not kernels:
        return [*lines, "no kernels were called"]
    width = max(len("kernel"), *(len(name) for name, _ in kernels))
    lines.append(f"{'kernel':{width}}  calls  compiled  from cache  seconds")
    for name, one in kernels:
        lines.append(
            f"{name:{width}}  {one.calls:5}  {one.compiled:8}  {one.cached:10}  {one.seconds:7.2f}"
        )
    return lines
