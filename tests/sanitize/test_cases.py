"""Every `.metal` file under kernels/ is a test; README.md there describes the format."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from tests.sanitize.cases import FOLDER, Case, all_cases, check, read, run

CASES = all_cases()
#: By default one pair of this many runs, drawn by its name; all others are long tests.
_ONE_OF = 12


def _is_quick(case: Case) -> bool:
    pair = case.name.removesuffix("_ok")
    return zlib.crc32(pair.encode()) % _ONE_OF == 0


@pytest.mark.parametrize(
    ("case", "dtype"),
    [
        pytest.param(
            case,
            dtype,
            id="-".join(filter(None, (case.name, dtype))),
            marks=[] if _is_quick(case) else pytest.mark.slow,
        )
        for case in CASES
        for dtype in case.kernel.dtypes
    ],
)
def test_case(case: Case, dtype: str) -> None:
    check(case, run(case, dtype))


def test_every_mistake_has_a_repaired_twin() -> None:
    names = {case.name: case.is_clean for case in CASES}
    clean = {name.removesuffix("_ok") for name in names if name.endswith("_ok")}
    assert {name for name, is_clean in names.items() if not is_clean} == clean
    assert all(names[f"{name}_ok"] for name in clean)


def test_wrong_kinds_and_lines_fail(tmp_path: Path) -> None:
    """The runner itself: a case that asks for too much, too little, or something else."""
    text = (FOLDER / "bounds" / "device_write.metal").read_text()
    path = FOLDER / "bounds" / "device_write.metal"
    good = read(path)
    found = run(good)
    check(good, found)
    for old, new in (
        ("// finds: bounds-write", ""),
        ("// finds: bounds-write", "// finds: bounds-read"),
        ("// finds: bounds-write", "// finds: bounds-write, bounds-read"),
        ("uint i", "\nuint i"),
    ):
        assert old in text
        (tmp_path / "other.metal").write_text(text.replace(old, new, 1))
        with pytest.raises(AssertionError, match=r"not found|not asked for"):
            check(read(tmp_path / "other.metal"), found)
    (tmp_path / "other.metal").write_text(text.replace("bounds-write", "bounds-wrote"))
    with pytest.raises(ValueError, match="no kind of finding"):
        read(tmp_path / "other.metal")
