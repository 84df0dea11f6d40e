"""Processors that ANYMETAL_CPU names."""

from __future__ import annotations

import platform
from collections.abc import Iterator

import llvmlite.binding as llvm
import pytest

from anymetal.runtime import identity
from anymetal.targets.cpu import front_end_profile, named_processors
from anymetal.targets.cpu.named_processors import expect_here, machine_named

_LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
_X86, _ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"
#: What Linux tells of a Neoverse N1 and of a Zen 3 processor, as far as it matters here.
_N1 = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop"
_ZEN3 = "cx16 sse4_1 sse4_2 ssse3 popcnt avx avx2 fma f16c bmi1 bmi2 abm"


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    expect_here.cache_clear()
    yield
    expect_here.cache_clear()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="levels of x86-64")
@pytest.mark.parametrize("cpu", _LEVELS)
def test_llvm_agrees_on_what_this_processor_lacks(cpu: str) -> None:
    enabled = {name for name, there in llvm.get_host_cpu_features().items() if there}
    lacking = sorted(machine_named(cpu).enabled - enabled)
    if lacking:
        with pytest.raises(ValueError, match=f"lacks {', '.join(lacking)}: "):
            expect_here(cpu)
    else:
        expect_here(cpu)


@pytest.mark.parametrize(
    ("here", "told", "cpu", "lacking"),
    [
        (_X86, _ZEN3, "x86-64-v2", ""),
        (_X86, _ZEN3, "x86-64-v3", ""),
        (_X86, _ZEN3, "x86-64-v4", "avx512bw, avx512cd, avx512dq, avx512f, avx512vl"),
        (_X86, _ZEN3.replace(" abm", ""), "x86-64-v3", "lzcnt"),
        (_X86, _ZEN3, "apple-m1", "aarch64"),
        (_ARM, _N1, "aarch64", ""),
        (_ARM, _N1, "apple-m1", ""),
        (_ARM, _N1, "neoverse-v1", "bf16, sve"),
        (_ARM, f"{_N1} bf16 sve", "neoverse-v1", ""),
        (_ARM, _N1, "x86-64-v2", "x86_64"),
        # Systems that tell nothing of their features.
        (_ARM, "", "neoverse-v1", ""),
        (_X86, "", "x86-64-v4", ""),
        (_X86, "", "neoverse-v1", "aarch64"),
    ],
)
def test_what_processors_lack(
    here: str, told: str, cpu: str, lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front_end_profile, "host_triple", lambda: here)
    monkeypatch.setattr(named_processors, "features", told.split)
    if lacking:
        with pytest.raises(ValueError, match=f"but this processor lacks {lacking}: "):
            expect_here(cpu)
    else:
        expect_here(cpu)


@pytest.mark.parametrize(("machine", "line"), [("x86_64", "flags"), ("aarch64", "Features")])
def test_features_are_those_of_our_own_processor(
    machine: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An emulator may show the file of the machine below it."""
    told = {"flags": " avx2", "Features": " asimd"}
    system = identity.os.uname()
    monkeypatch.setattr(identity, "described", lambda: told)
    monkeypatch.setattr(
        identity.os, "uname", lambda: type(system)((*system[:4], machine)), raising=True
    )
    assert identity.features() == told.pop(line).split()
    assert identity.features() == []
