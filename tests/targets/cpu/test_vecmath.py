"""What the vectorizer is told of a processor."""

from __future__ import annotations

import pytest

from anymetal.ir import types as t
from anymetal.targets.cpu import vecmath
from anymetal.targets.cpu.vecmath import VectorLibrary

_X86 = "x86_64-unknown-linux-gnu"
_ARM = "aarch64-unknown-linux-gnu"
_V2: frozenset[str] = frozenset()
_V3 = frozenset(("avx2", "f16c", "fma"))
_V4 = _V3 | {"avx512f", "avx512bw"}
_NEON = frozenset(("neon", "fp-armv8"))


@pytest.mark.parametrize(
    ("triple", "features", "function", "symbol"),
    [
        (_X86, _V2, "expf", ("_ZGVbN4v_expf", 4)),
        (_X86, _V3, "expf", ("_ZGVdN8v_expf", 8)),
        (_X86, _V4, "expf", ("_ZGVeN16v_expf", 16)),
        (_X86, _V4, "powf", ("_ZGVeN16vv_powf", 16)),
        (_X86, _V3, "atan2f", ("_ZGVdN8vv_atan2f", 8)),
        (_ARM, _NEON, "sinf", ("_ZGVnN4v_sinf", 4)),
        ("riscv64-unknown-linux-gnu", _V2, "expf", None),
    ],
)
def test_symbols(
    triple: str,
    features: frozenset[str],
    function: str,
    symbol: tuple[str, int] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vecmath, "_exists", lambda name: True)
    assert VectorLibrary(triple, features).symbol(function) == symbol


def test_symbols_that_the_library_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vecmath, "_exists", lambda name: False)
    assert VectorLibrary(_X86, _V4).symbol("expf") is None


@pytest.mark.parametrize(
    ("triple", "features", "size", "operations"),
    [
        (_X86, _V2, 4, ""),
        (_X86, _V3, 4, "load store gather"),
        (_X86, _V3, 8, "load store gather"),
        (_X86, _V3, 2, ""),
        (_X86, _V4, 4, "load store gather scatter"),
        (_X86, _V4, 1, "load store"),
        (_X86, _V4 - {"avx512bw"}, 2, ""),
        (_ARM, _NEON, 4, ""),
    ],
)
def test_masked_accesses(triple: str, features: frozenset[str], size: int, operations: str) -> None:
    target = VectorLibrary(triple, features)
    found = [op for op in ("load", "store", "gather", "scatter") if target.masked(op, size)]
    assert found == operations.split()


@pytest.mark.parametrize(
    ("triple", "features", "half", "bfloat"),
    [
        (_X86, _V2, False, False),
        (_X86, _V3, True, False),
        (_X86, _V4 | {"avx512bf16"}, True, True),
        (_ARM, _NEON, True, False),
        (_ARM, _NEON | {"bf16"}, True, True),
    ],
)
def test_conversions(triple: str, features: frozenset[str], half: bool, bfloat: bool) -> None:
    target = VectorLibrary(triple, features)
    assert (target.converts(t.HALF), target.converts(t.BFLOAT)) == (half, bfloat)
