"""What Clang and LLVM's optimiser know about the processor that a thread program is for."""

from __future__ import annotations

from typing import NamedTuple


class Profile(NamedTuple):
    """Given by the target; it decides sizes, how arguments are passed, and what costs how much."""

    triple: str
    cpu: str = ""  #: by LLVM's name; empty is any of its architecture
    features: str = ""  #: beside those of `cpu`: LLVM's list, "+ptx80,…"
    #: Private arrays should be registers, for which loops through them are unrolled whole.
    unrolls: bool = False

    @property
    def architecture(self) -> str:
        return self.triple.split("-")[0]

    @property
    def flags(self) -> list[str]:
        """Arguments of `clang -cc1`."""
        cpu = ["-target-cpu", self.cpu] if self.cpu else []
        names = [name for name in self.features.split(",") if name]
        return ["-triple", self.triple, *cpu, *(f for n in names for f in ("-target-feature", n))]


#: For those who only want to know what is in a text, and for no processor in particular.
ANY_PROFILE = Profile("x86_64-unknown-linux-gnu")
