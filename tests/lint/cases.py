"""The one-kernel cases of `tests/kernels`, as kernels that the linter can look at."""

from __future__ import annotations

from pathlib import Path

import mlx.core as mx

from anymetal.errors import AnyMetalError
from anymetal.findings import Finding
from anymetal.lint.checker import Report, check_kernel
from anymetal.lint.guess import Compiled, made_of
from anymetal.lint.kernels import Kernel, Launch
from anymetal.lint.text import File, Text
from anymetal.signature import KernelDefinition, SignatureGenerator
from anymetal.source import KernelSource
from anymetal.testing import metal_case
from anymetal.testing.metal_case import MetalCase

FOLDER = Path(__file__).parents[1] / "kernels"


def check_case(case: MetalCase) -> tuple[list[Finding], Report]:
    """What is found in a case with the first of its dtypes; nothing if it shall not compile."""
    file = File(case.path.name, case.path.read_text() if case.path.exists() else case.body)
    report = Report(file)
    try:
        source = _source(case)
        made = Compiled([made_of(source)])
    except AnyMetalError:
        return [], report
    size = case.launch
    launch = Launch(size.grid, size.threadgroup, initialised=bool(case.all("init")))
    header, body = (_in_file(text, file) for text in (case.header, case.body))
    kernel = Kernel(case.path.stem, file, body, header, launches=[launch])
    return check_kernel(kernel, made, report), report


def _in_file(text: str, file: File) -> Text:
    """Header or body of a case, whose lines have the numbers that they have in the file."""
    places: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        start = file.offset(number, 0) if number <= file.text.count("\n") + 1 else len(file.text)
        places += range(start, start + len(line) + 1)
    return Text(text, places[: len(text)])


def _source(case: MetalCase) -> KernelSource:
    dtype = case.dtypes[0]
    template: list[tuple[str, bool | int | mx.Dtype]] = []
    if dtype:
        template.append(("T", metal_case._dtype(dtype)))
    for pair in case.one("template", "").split():
        name, value = pair.split("=")
        known = {"true": True, "false": False}
        is_number = value.lstrip("-").isdigit()
        template.append(
            (name, known[value] if value in known else int(value))
            if value in known or is_number
            else (name, metal_case._dtype(value))
        )
    inputs = [metal_case.declaration(case, text, dtype) for text in case.all("input")]
    outputs = [metal_case.declaration(case, text, dtype) for text in case.all("output")]
    definition = KernelDefinition(
        "k",
        tuple(one.name for one in inputs),
        tuple(one.name for one in outputs),
        case.body,
        case.header,
        atomic_outputs=case.one("atomic_outputs", "") == "true",
    )
    arrays = [mx.zeros(one.shape, one.dtype) for one in inputs]
    dtypes = [one.dtype for one in outputs]
    return SignatureGenerator(definition).specialization(arrays, dtypes, template).source


def paths(folder: Path) -> list[Path]:
    """All cases, in order."""
    return sorted(folder.rglob("*.metal"))
