"""What the compiler is told of a processor."""

from __future__ import annotations

from pathlib import Path

import pytest

from anymetal.ir import types as t
from anymetal.machine import COMMON, Caches, Machine, caches_here
from anymetal.runtime import identity
from anymetal.targets.cpu import front_end_profile, llvm_target

_X86 = "x86_64-unknown-linux-gnu"
_ARM = "aarch64-unknown-linux-gnu"
_V2 = "+sse4.2"
_V3 = "+avx2,+f16c,+fma,-avx512f"
_V4 = "+avx2,+f16c,+fma,+avx512f,+avx512bw"
_NEON = "+neon,+fp-armv8"


@pytest.mark.parametrize(
    ("triple", "features", "words", "registers"),
    [(_X86, _V2, 4, 16), (_X86, _V3, 8, 16), (_X86, _V4, 16, 32), (_ARM, _NEON, 4, 32)],
)
def test_vectors(triple: str, features: str, words: int, registers: int) -> None:
    machine = Machine(triple, "", features)
    assert (machine.words, machine.registers) == (words, registers)


@pytest.mark.parametrize(
    ("triple", "features", "size", "operations"),
    [
        (_X86, _V2, 4, ""),
        (_X86, _V3, 4, "load store"),
        (_X86, _V3, 8, "load store"),
        (_X86, _V3, 2, ""),
        (_X86, _V4, 4, "load store gather scatter"),
        (_X86, _V4, 1, "load store"),
        (_X86, _V4.replace("+avx512bw", "-avx512bw"), 2, ""),
        (_ARM, _NEON, 4, ""),
    ],
)
def test_masked_accesses(triple: str, features: str, size: int, operations: str) -> None:
    machine = Machine(triple, "", features)
    found = [op for op in ("load", "store", "gather", "scatter") if machine.masked(op, size)]
    assert found == operations.split()


@pytest.mark.parametrize(
    ("triple", "features", "half", "bfloat"),
    [
        (_X86, _V2, False, False),
        (_X86, _V3, True, False),
        (_X86, f"{_V4},+avx512bf16", True, True),
        (_ARM, _NEON, True, False),
        (_ARM, f"{_NEON},+bf16", True, True),
    ],
)
def test_conversions(triple: str, features: str, half: bool, bfloat: bool) -> None:
    machine = Machine(triple, "", features)
    assert (machine.converts(t.HALF), machine.converts(t.BFLOAT)) == (half, bfloat)


def test_what_is_tuned_grows_with_the_caches() -> None:
    small = Machine(_X86, "", _V3, Caches(64, 16 << 10, 256 << 10, 4 << 20))
    usual = Machine(_X86, "", _V3)
    for name in ("many_lines", "near_bytes", "private_bytes", "streamed_bytes"):
        assert 0 < getattr(small, name) < getattr(usual, name)


@pytest.mark.parametrize(
    ("cpu", "triple", "name", "features"),
    [
        ("aarch64", _ARM, "generic", {"neon"}),
        ("cortex-a76", _ARM, "cortex-a76", {"neon"}),
        ("neoverse-v1", _ARM, "neoverse-v1", {"neon", "sve", "bf16"}),
        ("apple-m1", _ARM, "apple-m1", {"neon"}),
        ("x86-64-v3", _X86, "x86-64-v3", {"avx2"}),
    ],
)
@pytest.mark.parametrize("here", [_X86, _ARM])
def test_processors_by_name(
    cpu: str, triple: str, name: str, features: set[str], here: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever that is."""
    monkeypatch.setattr(front_end_profile, "host_triple", lambda: here)
    machine = llvm_target.machine_for.__wrapped__(cpu)
    assert (machine.triple, machine.cpu) == (triple, name)
    assert features <= machine.enabled


def _cache(folder: Path, index: int, *told: str) -> None:
    (folder / f"index{index}").mkdir(parents=True)
    for name, text in zip(("level", "type", "size", "coherency_line_size"), told, strict=True):
        (folder / f"index{index}" / name).write_text(f"{text}\n")


def test_caches_that_the_system_tells_of(tmp_path: Path) -> None:
    _cache(tmp_path, 0, "1", "Data", "48K", "128")
    _cache(tmp_path, 1, "1", "Instruction", "64K", "32")
    _cache(tmp_path, 2, "2", "Unified", "2048K", "128")
    (tmp_path / "uevent").write_text("")
    assert caches_here(str(tmp_path)) == Caches(128, 48 << 10, 2 << 20, COMMON.last)


@pytest.mark.parametrize("told", [None, ("1", "Data", "48 KB", "64")])
def test_caches_of_which_nothing_is_told(told: tuple[str, ...] | None, tmp_path: Path) -> None:
    if told:
        _cache(tmp_path, 0, *told)
    assert caches_here(str(tmp_path if told else tmp_path / "none")) == COMMON


def test_code_for_other_caches_has_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identity.fingerprint.__wrapped__()
    monkeypatch.setattr(identity, "caches_here", lambda: Caches(64, 1, 2, 3))
    assert identity.fingerprint.__wrapped__() != before
