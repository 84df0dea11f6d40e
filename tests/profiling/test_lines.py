"""Lines of program counters."""

from __future__ import annotations

import ctypes
from collections import Counter
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from anymetal.profiling.lines import lines_of
from anymetal.runtime import disk_cache
from anymetal.runtime.code import Code
from anymetal.targets.cpu.code_lookup import code_of
from anymetal.targets.cpu.variant import variant_for
from tests.frontend.kernels import kernel_source

_HEADER = "inline float twice(float v) {\n  return v / 3 + v * v;\n}\n"
_BODY = """uint i = thread_position_in_grid.x;
float sum = 0;
for (uint j = 0; j < uint(a[0]); ++j)
  sum += twice(a[i + j]);
out[i] = sum;
"""


@pytest.fixture(scope="module")
def code() -> Code:
    return code_of(kernel_source(_BODY, _HEADER, name="steps"), variant_for((64, 1, 1), (64, 1, 1)))


def _addresses(code: Code) -> range:
    """All of its function."""
    with open(code.path, "rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        (symbol,) = table.get_symbol_by_name("steps.kernel")
        return range(code.entry, code.entry + symbol["st_size"])


def test_each_address_has_a_line_and_its_text(code: Code) -> None:
    found = lines_of(code, _addresses(code))
    assert sum(line.samples for line in found) == len(_addresses(code))
    assert [line.samples for line in found] == sorted(
        (line.samples for line in found), reverse=True
    )
    texts = {"steps.metal": _BODY.split("\n"), "steps.header.metal": _HEADER.split("\n")}
    for line in found:
        if line.number:
            assert line.text == texts[line.file][line.number - 1].strip()
    places = Counter((line.file, line.number) for line in found)
    assert max(places.values()) == 1
    assert places[("steps.header.metal", 2)] and places[("steps.metal", 3)]


def test_what_is_called_has_the_name_of_its_library(code: Code) -> None:
    at = ctypes.cast(ctypes.CDLL("libm.so.6").cbrtf, ctypes.c_void_p).value
    assert at is not None
    (line,) = lines_of(code, [at, at])
    assert line.file.startswith("libm") and line.number == 0 and line.samples == 2
    assert "cbrt" in line.text


def test_addresses_of_nothing(code: Code) -> None:
    (line,) = lines_of(code, [8])
    assert line == ("", 0, "outside of all libraries", 1)


def test_a_file_that_is_gone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: Code) -> None:
    monkeypatch.setattr(code, "path", str(tmp_path / "gone.so"))
    (line,) = lines_of(code, [code.entry])
    assert line.number == 0 and line.file.endswith(".so")
    (tmp_path / "gone.so").write_bytes(b"no library")
    assert lines_of(code, [code.entry]) == [line]


def test_texts_that_are_gone(code: Code) -> None:
    folder = disk_cache.cache_directory() / "texts"
    kept = {path: path.read_bytes() for path in folder.glob("*/steps*.metal")}
    assert kept
    try:
        for path in kept:
            path.unlink()
        found = lines_of(code, _addresses(code))
    finally:
        for path, content in kept.items():
            path.write_bytes(content)
    assert any(line.number for line in found)
    assert all(line.text == "" for line in found if line.number)
