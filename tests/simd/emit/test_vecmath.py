"""The vector versions of libm functions that there are for a processor."""

from __future__ import annotations

import pytest

from anymetal.machine import Machine
from anymetal.simd.emit import vecmath
from anymetal.simd.emit.vecmath import vector_symbol

_X86 = "x86_64-unknown-linux-gnu"
_ARM = "aarch64-unknown-linux-gnu"
_V4 = "+avx2,+avx512f"


@pytest.mark.parametrize(
    ("triple", "features", "function", "symbol"),
    [
        (_X86, "", "expf", ("_ZGVbN4v_expf", 4)),
        (_X86, "+avx2", "expf", ("_ZGVdN8v_expf", 8)),
        (_X86, _V4, "expf", ("_ZGVeN16v_expf", 16)),
        (_X86, _V4, "powf", ("_ZGVeN16vv_powf", 16)),
        (_X86, "+avx2", "atan2f", ("_ZGVdN8vv_atan2f", 8)),
        (_ARM, "+neon", "sinf", ("_ZGVnN4v_sinf", 4)),
        ("riscv64-unknown-linux-gnu", "", "expf", None),
    ],
)
def test_symbols(
    triple: str,
    features: str,
    function: str,
    symbol: tuple[str, int] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vecmath, "_exists", lambda name: True)
    assert vector_symbol(Machine(triple, "", features), function) == symbol


def test_symbols_that_the_library_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vecmath, "_exists", lambda name: False)
    assert vector_symbol(Machine(_X86, "", _V4), "expf") is None
