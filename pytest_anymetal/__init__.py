"""The pytest plugin: tests run Metal kernels on any machine. docs/testing.md describes it.

A package of its own, beside `anymetal`: pytest imports its plugins in every run, and `anymetal`
brings MLX along. So nothing here imports that before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_anymetal.cases import MetalFile
    from pytest_anymetal.session import Metal

_MARKER = (
    "metal_kernel(*names): the test runs Metal kernels, on any machine; it fails if it has called "
    "none of them, or not those of these names"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("anymetal", "Metal kernels")
    group.addoption(
        "--metal",
        action="store_true",
        help="run MLX's Metal kernels on any machine: in tests, workers and child processes",
    )
    group.addoption(
        "--metal-pretend",
        choices=("nothing", "gpu", "mac"),
        default=None,
        help="what programs under --metal are told of the machine (default: gpu)",
    )
    group.addoption(
        "--metal-report",
        action="store_true",
        help="which kernels ran, how long they took to compile, and on what, behind the results",
    )
    group.addoption("--metal-report-json", metavar="FILE", help="the same as JSON, to a file")
    group.addoption(
        "--metal-sanitize",
        action="store_true",
        help="run Metal kernels under AnyMetal's sanitizer; tests whose kernels have errors fail",
    )
    group.addoption(
        "--metal-sanitize-order",
        metavar="SEED",
        type=int,
        default=None,
        help="with --metal-sanitize: run launches also in other orders, drawn from this seed",
    )
    parser.addini("metal", "as --metal in every run", type="bool", default=False)
    parser.addini("metal_pretend", "as --metal-pretend", default="gpu")


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before any module of the program is imported, which may take MLX's function along."""
    _install(early_config, early_config.known_args_namespace)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    _install(config, config.option)  # workers of pytest-xdist have the options only now
    if config.getoption("--metal-sanitize"):
        from pytest_anymetal.sanitizing import Sanitizing

        config.pluginmanager.register(Sanitizing(config), "anymetal-sanitizing")
    if config.getoption("--metal-report") or config.getoption("--metal-report-json"):
        from pytest_anymetal.reporting import Reporting

        config.pluginmanager.register(Reporting(config), "anymetal-reporting")


def _install(config: pytest.Config, options: Any) -> None:
    if not _enabled(config, options):
        return
    told = getattr(options, "metal_pretend", None) or config.getini("metal_pretend")
    if told not in ("nothing", "gpu", "mac"):
        raise pytest.UsageError(f"metal_pretend must be nothing, gpu or mac, not {told!r}")
    import anymetal

    anymetal.install(pretend_gpu=told != "nothing", pretend_mac=told == "mac", children_too=True)


def _enabled(config: pytest.Config, options: Any) -> bool:
    return bool(getattr(options, "metal", False) or config.getini("metal"))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> MetalFile | None:
    """Under --metal: kernels with directives are tests (docs/testing.md)."""
    config = parent.config
    if file_path.suffix != ".metal" or not _enabled(config, config.option):
        return None
    from pytest_anymetal.cases import MetalFile, is_case

    return MetalFile.from_parent(parent, path=file_path) if is_case(file_path) else None


@pytest.fixture
def metal(request: pytest.FixtureRequest) -> Iterator[Metal]:
    """MLX's Metal kernels run on any machine in this test: see `Metal`."""
    from pytest_anymetal.session import Metal, installed

    with installed(), Metal.recording() as made:
        yield made


@pytest.fixture
def assert_kernel_close() -> Callable[..., None]:
    """`anymetal.testing.assert_kernel_close`."""
    from anymetal.testing.closeness import assert_kernel_close

    return assert_kernel_close


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """The marker: a test of kernels that calls none tests nothing."""
    marker = item.get_closest_marker("metal_kernel")
    if marker is None:
        return (yield)
    from pytest_anymetal.session import Metal, installed

    with installed(), Metal.recording() as made:
        result = yield
    called = made.calls
    missing = [name for name in marker.args if name not in called]
    if missing or not called:
        what = ", ".join(f"`{name}`" for name in missing) or "any Metal kernel"
        told = ", ".join(f"`{name}`" for name in called) or "none"
        pytest.fail(
            f"{item.name} is marked metal_kernel and has not called {what}; it has called: {told}",
            pytrace=False,
        )
    return result
