"""Files under all rules: what `anymetal check` does, without the command."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from anymetal.errors import (
    AnyMetalError,
    MetalCompileError,
)
from anymetal.findings.model import Finding, Place
from anymetal.findings.silence import is_silenced
from anymetal.ir.problem import Problem
from anymetal.lint import (
    arrays,
    barriers,
    complaints,
    launches,
    metal,
    names,
    python,
    sharing,
    types,
)
from anymetal.lint.fixes import Edit
from anymetal.lint.guess import Compiled, compiled
from anymetal.lint.kernels import Kernel, Unchecked
from anymetal.lint.look import Look
from anymetal.lint.source_files import read
from anymetal.lint.text import File

#: Rules that look at a kernel that compiles.
_RULES: tuple[Callable[[Look], Iterator[Finding]], ...] = (
    barriers.check,
    sharing.check,
    arrays.check,
    types.check,
    complaints.check,
)


@dataclass
class Report:
    """What was found in one file."""

    file: File
    findings: list[Finding] = field(default_factory=list)
    unchecked: list[Unchecked] = field(default_factory=list)
    fixes: dict[object, Edit] = field(default_factory=dict)  #: by the identity of the finding
    kernels: int = 0

    def edits(self) -> list[Edit]:
        """The repairs of those findings that have one."""
        return [self.fixes[f.identity] for f in self.findings if f.identity in self.fixes]


def check_file(path: Path, wanted: Callable[[str], bool] = lambda code: True) -> Report:
    """Every finding in a Python program or a Metal file whose code is `wanted`.

    Nothing is raised because of what the file holds: what cannot be checked is in the report.
    """
    try:
        text, _ = read(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        unread = Unchecked(Place(str(path), 0), f"cannot be read: {reason}", failed=True)
        return Report(File(str(path), ""), unchecked=[unread])
    report = Report(File(str(path), text))
    checks = _metal(report) if path.suffix == ".metal" else _python(report)
    for kernel, found in checks:
        texts = (kernel.header.value, kernel.body.value) if kernel else ()
        for finding in found:
            if wanted(finding.code) and not is_silenced(finding, texts):
                report.findings.append(finding)
    report.findings.sort(key=lambda f: (f.place.line, f.place.column, f.code))
    return report


def check_kernel(kernel: Kernel, made: Compiled, report: Report) -> list[Finding]:
    """What the rules find in a kernel that compiles."""
    look, found = Look(kernel, made), []
    for rule in _RULES:
        try:
            found += list(rule(look))
        except (Problem, AnyMetalError) as error:  # such as calls of pointers to functions
            _not_checked(report, kernel, _first_line(error), failed=False)
            break
        except Exception as error:
            reason = f"a defect of the linter, please report it: {type(error).__name__}: {error}"
            _not_checked(report, kernel, reason, failed=True)
    report.fixes.update(look.fixes)
    # A function that is inlined twice has its mistakes in both copies.
    return list({(finding.code, finding.place): finding for finding in reversed(found)}.values())


def _python(report: Report) -> Iterator[tuple[Kernel | None, Iterable[Finding]]]:
    try:
        module = python.parse(report.file)
    except SyntaxError as error:
        line, column = error.lineno or 0, error.offset or 0
        place = Place(report.file.name, line, column, report.file.line(line))
        reason = f"is no Python that this version can read: {error.msg}"
        report.unchecked.append(Unchecked(place, reason, failed=True))
        return
    kernels, unchecked = python.kernels(module)
    report.unchecked += unchecked
    report.kernels = len(kernels) + len(unchecked)
    for kernel in kernels:
        found = [*launches.check(kernel, module), *arrays.unused_inputs(kernel)]
        yield kernel, [*found, *_text_of(kernel, report)]


def _text_of(kernel: Kernel, report: Report) -> Iterator[Finding]:
    """What is wrong in the Metal text of a kernel of a Python program."""
    try:
        made = compiled(kernel)
    except AnyMetalError as error:
        _not_checked(report, kernel, _first_line(error), failed=True)
        return
    if made.sources:
        yield from check_kernel(kernel, made, report)
        return
    found = list(names.check(kernel, names.sure(kernel, made.errors)))
    yield from found
    if not found:
        reason = "it does not compile with any dtypes that were tried"
        _not_checked(report, kernel, reason, failed=True)


def _metal(report: Report) -> Iterator[tuple[Kernel | None, Iterable[Finding]]]:
    kernels, unchecked = metal.kernels(report.file)
    report.unchecked += unchecked
    report.kernels = len(kernels) + len(unchecked)
    for kernel, source in kernels:
        if isinstance(source, MetalCompileError):
            errors = [(*at, source) for at in metal.errors(source)]
            yield kernel, names.check(kernel, errors)
        else:
            yield kernel, check_kernel(kernel, Compiled([source]), report)


def _not_checked(report: Report, kernel: Kernel, reason: str, failed: bool) -> None:
    node, file = kernel.node, kernel.file
    place = kernel.at_call(node) if node else Place(file.name, 1, 1, file.line(1))
    report.unchecked.append(Unchecked(place, f"kernel {kernel.name!r}: {reason}", failed))


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
