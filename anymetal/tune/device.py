"""What a measured table holds for: the target, its processor and the number of threads."""

from __future__ import annotations

import os
from dataclasses import dataclass

import mlx.core as mx

from anymetal import targets
from anymetal.runtime.disk_cache import digest
from anymetal.runtime.identity import described, features, processor

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
    known = features()
    widest = next((name for name in _NOTABLE if name in known), "")
    text = ", ".join(filter(None, (_model(), widest, f"{threads} thread{'s' * (threads > 1)}")))
    return Device(kind, text, _key(kind, processor(), str(threads)))


def _key(*parts: str) -> str:
    return f"{parts[0]}-{digest(*parts)[:16]}"


def _model() -> str:
    """The processor's name, where the system tells it; its architecture else."""
    return " ".join(described().get("model name", "").split()) or os.uname().machine
