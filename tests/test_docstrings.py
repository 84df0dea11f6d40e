"""What the package exports says what it takes, gives and raises, and its examples run."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path
from typing import get_type_hints

import pytest

import anymetal
from anymetal import errors

FUNCTIONS = [name for name in anymetal.__all__ if inspect.isfunction(getattr(anymetal, name))]
CLASSES = [name for name in anymetal.__all__ if inspect.isclass(getattr(anymetal, name))]
#: No argument of theirs is refused.
RAISE_NOTHING = {"custom_function", "install", "uninstall"}


def test_every_error_and_warning_is_exported() -> None:
    defined = {name for name, one in vars(errors).items() if inspect.isclass(one)}
    assert defined <= set(anymetal.__all__)


def sections(text: str) -> dict[str, list[str]]:
    """The parts of a docstring, and the names with which their lines begin."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in inspect.cleandoc(text).splitlines():
        if title := re.fullmatch(r"([A-Z]\w+):", line):
            current = found.setdefault(title[1], [])
        elif entry := re.match(r"    (\w+(?:, \w+)*): ", line):
            current += entry[1].split(", ")
    return found


def test_there_is_something_to_look_at() -> None:
    assert {"metal_kernel", "metal_library", "install"} <= set(FUNCTIONS)
    assert {"MetalKernel", "KernelLaunchError"} <= set(CLASSES)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_describes_every_argument_and_what_comes_of_it(name: str) -> None:
    function = getattr(anymetal, name)
    parts = sections(function.__doc__)
    assert parts.get("Args", []) == list(inspect.signature(function).parameters)
    assert ("Returns" in parts) == (
        get_type_hints(inspect.unwrap(function))["return"] is not type(None)
    )
    errors = {**vars(__import__("builtins")), **vars(anymetal.errors)}
    raised = [errors[error] for error in parts.get("Raises", [])]
    assert bool(raised) == (name not in RAISE_NOTHING)
    assert all(issubclass(error, Exception) for error in raised)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_of_a_function(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (test,) = doctest.DocTestFinder(recurse=False).find(getattr(anymetal, name), name, globs={})
    assert any(f"anymetal.{name}(" in e.source or f"@anymetal.{name}" in e.source
               for e in test.examples)  # fmt: skip
    told: list[str] = []
    results = doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    assert results.attempted > 3 and not results.failed, "".join(told)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_says_what_it_is(name: str) -> None:
    one = getattr(anymetal, name)
    assert (one.__doc__ or "").strip().endswith((".", ".)"))
    for method, function in inspect.getmembers(one, inspect.isfunction):
        if not method.startswith("_") or method == "__call__":
            assert function.__doc__, f"{name}.{method}"


@pytest.mark.parametrize(
    "call", [anymetal.MetalKernel.__call__, anymetal.library.LibraryFunction.__call__]
)
def test_a_call_of_a_kernel_describes_every_argument(call: object) -> None:
    parts = sections(call.__doc__ or "")
    names = list(inspect.signature(call).parameters)  # type: ignore[arg-type]
    assert parts["Args"] == [name for name in names if name != "self"]
    assert "Returns" in parts and "KernelLaunchError" in parts["Raises"]
