"""Processors that are emulated: what /proc/cpuinfo says there, and which model QEMU runs."""

from __future__ import annotations

from typing import NamedTuple

_BASE = "fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid"
_V8_2 = f"{_BASE} atomics fphp asimdhp asimdrdm lrcpc dcpop asimddp"
_SVE = f"{_V8_2} sha3 jscvt fcma sha512 sve asimdfhm uscat ilrcpc flagm i8mm bf16"


class Machine(NamedTuple):
    """One processor."""

    part: str  #: by which LLVM knows it: "CPU part" of Arm, Ltd.
    features: str  #: in Linux's words
    model: str  #: QEMU's: one that has at least these features

    @property
    def cpuinfo(self) -> str:
        """/proc/cpuinfo for as many processors as this process may use."""
        return (
            f"processor\t: 0\nBogoMIPS\t: 200.00\nFeatures\t: {self.features}\n"
            "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x1\n"
            f"CPU part\t: {self.part}\nCPU revision\t: 1\n\n"
        )


#: Raspberry Pi 4; Graviton 2 and Ampere Altra; Graviton 3, with vectors of 256 bits.
MACHINES = {
    "cortex-a72": Machine("0xd08", _BASE, "cortex-a72"),
    "neoverse-n1": Machine("0xd0c", _V8_2, "neoverse-n1"),
    "neoverse-v1": Machine("0xd40", _SVE, "max,sve128=on,sve256=on,sve512=off"),
}
