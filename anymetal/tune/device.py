"""What a measured table holds for: the target, its processor and the number of threads."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import mlx.core as mx

from anymetal import targets
from anymetal.runtime.disk_cache import digest
from anymetal.runtime.identity import processor

#: Features that people recognise a processor by, the widest one that it has.
_NOTABLE = ("avx512f", "avx2", "sse4_2", "sve", "asimd")


@dataclass(frozen=True)
class Device:
    """Something whose speed is the same from one day to the next."""

    kind: str  #: of the target: "cpu", or "metal" for Apple's GPUs
    name: str  #: for people
    key: str  #: for files: equal keys are equal devices


def kind_of_device() -> str:
    """The target that runs kernels of MLX's default device, by name: with a GPU it may be the CPU
    for some calls."""
    return targets.for_stream(None).name


def device() -> Device:
    """That on which kernels run now."""
    kind = kind_of_device()
    if kind != "cpu":
        name = str(mx.device_info().get("device_name", kind))
        return Device(kind, name, _key(kind, name))
    from anymetal.runtime.pool import pool

    threads = pool().threads
    model, features = _model(), _features()
    widest = next((name for name in _NOTABLE if name in features), "")
    text = ", ".join(filter(None, (model, widest, f"{threads} thread{'s' * (threads > 1)}")))
    return Device(kind, text, _key(kind, processor(), str(threads)))


def _key(*parts: str) -> str:
    return f"{parts[0]}-{digest(*parts)[:16]}"


def _model() -> str:
    """The processor's name, where the system tells it; its architecture else."""
    found = re.search(r"^model name\s*:\s*(.+)$", _cpuinfo(), re.MULTILINE)
    return " ".join(found[1].split()) if found else os.uname().machine


def _features() -> list[str]:
    found = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", _cpuinfo(), re.MULTILINE)
    return found[1].split() if found else []


def _cpuinfo() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return file.read(16384).partition("\n\n")[0]
    except OSError:
        return ""
