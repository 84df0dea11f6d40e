"""From a kernel to its PTX: disk cache, compiler."""

from __future__ import annotations

from typing import NamedTuple

from anymetal.frontend.known import Known
from anymetal.runtime import helpers, identity, locks
from anymetal.source import KernelSource
from anymetal.targets.cuda.names import ANY_FORM, Form

_BUILD = "anymetal.targets.cuda.compile_job:build"


class Version(NamedTuple):
    """A kernel for a class of launches."""

    source: KernelSource
    architecture: str  #: sm_90, say
    form: Form = ANY_FORM
    large: int = 0  #: how many times 2^31 bytes the largest array may have
    known: Known | None = None  #: of the launches, if the version is for these alone


def ptx_of(version: Version) -> bytes:
    """PTX text, out of the disk cache or made by a helper process; raises what compiling does."""
    name = f"kernel {version.source.name} for {version.architecture}"
    return locks.cached(_key(version), ".ptx", name, lambda: _compact(texts_of(version)[1])).content


def _compact(ptx: str) -> bytes:
    """The text without comments and the space that people need: MLX hashes it in each launch."""
    lines = (line.split("//")[0].strip() for line in ptx.splitlines())
    text = "\n".join(" ".join(line.split()).replace(", ", ",") for line in lines if line)
    return text.encode() + b"\n"


def texts_of(version: Version) -> tuple[str, str]:
    """LLVM IR and PTX, made by a helper process."""
    ir, ptx = helpers.compile(version.source.name, _BUILD, *version)
    return str(ir), str(ptx)


def _key(version: Version) -> str:
    source, *rest = version
    return identity.key_of("cuda", source, repr(rest))
