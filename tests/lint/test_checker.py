"""Whatever a file holds, the linter answers; and it finds nothing in this project's own kernels."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from anymetal.lint import checker
from anymetal.lint.checker import check_file
from anymetal.testing import metal_case
from tests.lint import cases
from tests.lint.own_kernels import check_source, library_kernels, others
from tests.lint.programs import checked, found, program

ROOT = Path(__file__).parents[2]
_PIECES = ['"', "'", "{", "}", "(", ")", "\\", "\n", '"""', "#", "é", "\t", 'f"', "$", "0", ";"]


def test_a_defect_of_a_rule_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(look: object) -> None:
        raise KeyError("gone")

    monkeypatch.setattr(checker, "_RULES", (broken, *checker._RULES))
    report = checked(program("half a = half(x[0]); a *= 0.5; y[0] = a;"), tmp_path)
    assert [one.failed for one in report.unchecked] == [True]
    assert (
        "a defect of the linter, please report it: KeyError: 'gone'" in report.unchecked[0].reason
    )
    assert found(report) == [("AM304", 7, 41)]  # the other rules go on


def test_a_compiler_that_does_not_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from anymetal.errors import ToolchainError

    def broken(kernel: object) -> None:
        raise ToolchainError("no Clang\nanywhere")

    monkeypatch.setattr(checker, "compiled", broken)
    report = checked(program("y[0] = x[0];"), tmp_path)
    assert [(one.failed, one.reason) for one in report.unchecked] == [
        (True, "kernel 'k': no Clang")
    ]


def _mutated(text: str, choice: random.Random) -> str:
    for _ in range(choice.randint(1, 5)):
        at, what = choice.randrange(len(text)), choice.random()
        if what < 0.4:
            text = text[:at] + text[at + choice.randint(1, 20) :]
        elif what < 0.7:
            text = text[:at] + choice.choice(_PIECES) + text[at:]
        else:
            start = choice.randrange(len(text))
            text = text[:at] + text[start : start + 20] + text[at:]
    return text


@pytest.mark.parametrize(
    "runs",
    [pytest.param(range(12), id="few"), pytest.param(range(12, 600), marks=pytest.mark.slow)],
)
def test_broken_programs(runs: range, tmp_path: Path) -> None:
    """Half of them have mistakes anywhere, the others in the kernel's text."""
    programs = [path.read_text() for path in sorted((ROOT / "examples").glob("*.py"))]
    path = tmp_path / "program.py"
    for run in runs:
        choice = random.Random(run)
        text = choice.choice(programs)
        if run % 2:
            start = text.index('"""', text.index("source") if "source" in text else 0)
            end = text.find('"""', start + 3)
            text = text[: start + 3] + _mutated(text[start + 3 : end], choice) + text[end:]
        else:
            text = _mutated(text, choice)
        path.write_text(text)
        report = check_file(path)
        assert not any("defect" in one.reason for one in report.unchecked), run


# -- our own kernels ----------------------------------------------------------------------------


def test_examples_are_clean() -> None:
    reports = [check_file(path) for path in sorted((ROOT / "examples").glob("*.py"))]
    assert sum(report.kernels for report in reports) >= 7
    for report in reports:
        assert not report.findings and not report.unchecked, report.file.name


@pytest.mark.slow
def test_the_library_is_clean() -> None:
    sources = library_kernels()
    assert len({source.name for source in sources}) > 8
    for source in sources:
        findings, report = check_source(source)
        assert not findings and not report.unchecked, source.name


#: True: the documentation's kernel loads each of four corners before it masks those outside.
OTHERS = {"docs_grid_sample": ["AM201"] * 4}


@pytest.mark.slow
def test_what_is_found_in_kernels_in_the_style_of_other_projects() -> None:
    codes = {}
    for name, findings, report in others():
        assert not report.unchecked, name
        codes[name] = [finding.code for finding in findings]
    assert len(codes) > 90
    assert {name: found for name, found in codes.items() if found} == OTHERS


#: All of these are true: the kernels are tests of what AnyMetal makes of such mistakes.
PROGRAMS = {
    "tests/runtime/test_bridge.py": ["AM202", "AM403"],
    "tests/test_kernel_api_arguments.py": ["AM203"],
    "tests/test_install.py": ["AM403", "AM203"],
    "tests/simd/test_scalar_build.py": ["AM106", "AM402"],
    "tests/targets/cuda/test_launch.py": ["AM403"],
}


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["anymetal", "benchmarks", "tests"])
def test_what_is_found_in_programs(folder: str) -> None:
    paths = [p for p in sorted((ROOT / folder).rglob("*.py")) if "metal_kernel" in p.read_text()]
    left_out = {"lint", "sanitize"}  # mistakes on purpose
    paths = [path for path in paths if not left_out & set(path.parts)]
    reports = {str(p.relative_to(ROOT)): check_file(p) for p in paths}
    codes = {name: [f.code for f in report.findings] for name, report in reports.items()}
    assert {name: found for name, found in codes.items() if found} == {
        name: found for name, found in PROGRAMS.items() if name.startswith(folder)
    }


CASES: dict[str, list[tuple[str, int, int]]] = {
    "casts/mixed_signedness.metal": [("AM306", 12, 14)],
    "control/load_for_a_branch_and_behind_it.metal": [("AM201", 12, 16)],
    "integer/promotion.metal": [("AM306", 16, 16)],
    "integer/shifts.metal": [("AM306", 22, 23)],
    "large/template_library.metal": [
        *(("AM102", 1392, 3), ("AM102", 1397, 5), ("AM102", 1418, 3), ("AM102", 1423, 3)),
        *(("AM102", 1432, 3), ("AM102", 1434, 3), ("AM102", 1441, 3), ("AM102", 1443, 3)),
        ("AM102", 1445, 3),
    ],
    "math/mixed_arguments.metal": [("AM303", 10, 10), ("AM303", 11, 10), ("AM303", 12, 10)],
    "simd/shuffle_from_inactive_lanes.metal": [("AM106", 9, 24)],
    "threadgroup/early_exit_in_loop.metal": [("AM102", 12, 3), ("AM102", 14, 3)],
    "threadgroup/return_and_break_between_barriers.metal": [("AM102", 20, 3), ("AM102", 22, 3)],
    "threadgroup/return_before_barrier.metal": [("AM102", 17, 1)],
    "threadgroup/return_before_barriers_in_loop.metal": [("AM102", 17, 3), ("AM102", 19, 3)],
    "threadgroup/write_then_return.metal": [("AM102", 15, 1)],
    "types/scalar_operands.metal": [("AM306", 11, 16)],
}


@pytest.mark.slow
@pytest.mark.parametrize("folder", sorted(p.name for p in cases.FOLDER.iterdir() if p.is_dir()))
def test_what_is_found_in_cases(folder: str) -> None:
    codes = {}
    for path in cases.paths(cases.FOLDER / folder):
        findings, _ = cases.check_case(metal_case.parse(path))
        if findings:
            name = str(path.relative_to(cases.FOLDER))
            codes[name] = sorted((f.code, f.place.line, f.place.column) for f in findings)
    assert codes == {name: found for name, found in CASES.items() if name.startswith(f"{folder}/")}
