"""What goes into every cache key changes when, and only when, it should."""

from __future__ import annotations

import os

from anymetal.runtime import identity


def test_stable_and_cheap(monkeypatch):
    """Of all files only one is read; the others are asked for their size and time."""
    opened, real = [], open
    monkeypatch.setattr("builtins.open", lambda path: opened.append(path) or real(path))
    first = identity.package(), identity.tools(), identity.processor()
    assert opened == ["/proc/cpuinfo"]
    assert first == (identity.package(), identity.tools(), identity.processor())
    assert all(first)


def test_an_edited_source_file_changes_it(tmp_path, monkeypatch):
    (tmp_path / "simd" / "__pycache__").mkdir(parents=True)
    source = tmp_path / "simd" / "gang.py"
    source.write_text("one")
    monkeypatch.setattr(identity, "_PACKAGE", str(tmp_path))
    seen = {identity.package()}
    (tmp_path / "simd" / "__pycache__" / "gang.pyc").write_text("compiled")
    assert identity.package() in seen
    source.write_text("two!")
    seen.add(identity.package())
    os.utime(source, (1, 1))
    seen.add(identity.package())
    source.rename(tmp_path / "simd" / "other.py")
    seen.add(identity.package())
    assert len(seen) == 4


def test_the_tools_are_named_without_being_imported():
    from tests.runtime.native import output_of

    script = """
import sys
from anymetal.runtime import identity
lines = identity.tools().splitlines()
print(len(lines), "ziglang" in lines[0], "llvmlite" in lines[1], "mlx" in lines[2])
print(any(name in sys.modules for name in ("ziglang", "llvmlite")))
"""
    assert output_of(script) == "3 True True True\nFalse"
