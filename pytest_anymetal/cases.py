"""`.metal` files with directives, collected as tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anymetal.testing.metal_case import CaseFormatError, MetalCase, parse, run

#: What tells a case from another Metal file.
_EXPECTS = re.compile(rb"^// (?:expect|error):", re.MULTILINE)


def is_case(path: Path) -> bool:
    """Whether the file says what it expects."""
    return _EXPECTS.search(path.read_bytes()) is not None


class MetalFile(pytest.File):
    """One case; it runs once for each of its dtypes."""

    def collect(self) -> Iterator[MetalItem]:
        """Its tests, which have the names of dtypes in brackets if there are several."""
        try:
            case = parse(self.path)
            dtypes = case.dtypes
        except CaseFormatError as error:
            raise self.CollectError(str(error)) from None
        for dtype in dtypes:
            name = f"{self.path.stem}[{dtype}]" if dtype else self.path.stem
            yield MetalItem.from_parent(self, name=name, case=case, dtype=dtype)


class MetalItem(pytest.Item):
    """A case with one dtype."""

    def __init__(self, *, case: MetalCase, dtype: str, **more: Any) -> None:
        super().__init__(**more)
        self._case, self._dtype = case, dtype

    def runtest(self) -> None:
        """Launches the kernel and compares its outputs."""
        run(self._case, self._dtype)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What is wrong with the kernel; where we found that helps nobody."""
        if isinstance(excinfo.value, (AssertionError, CaseFormatError)):
            return str(excinfo.value)
        return f"{type(excinfo.value).__name__}: {excinfo.value}"

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """For the headings of failures."""
        return self.path, None, f"{self.path.name}: {self.name}"
