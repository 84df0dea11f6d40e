"""Profiles of kernels on GPUs: what is made of the activities that CUPTI tells of. Here these are
made up, and nothing is launched; tests/targets/cuda/test_on_gpu.py has real ones."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import mlx.core as mx
import pytest

import anymetal
from anymetal import targets
from anymetal.errors import ToolchainError
from anymetal.profiling import gpu
from anymetal.profiling.activities import Activities, Activity
from anymetal.profiling.gpu import OPERATIONS, Noting, kernels_of
from anymetal.profiling.report import Report
from tests.conftest import RecordingTarget
from tests.profiling.programs import run_double


def activity(name: str, begun: int, ended: int, blocks: int, **more: Any) -> Activity:
    known: dict[str, Any] = {"stream": 7, "registers": 40, "memory": 0, "spilled": 0}
    return Activity(
        name, begun, ended, blocks=(blocks, 1, 1), block=(256, 1, 1), **{**known, **more}
    )


@pytest.fixture
def noting() -> Noting:
    noted = Noting(RecordingTarget())
    targets.select(noted)
    try:
        for size in (1024, 1000):  # as many blocks
            run_double(size, mx.float32)
        run_double(1 << 20, mx.float32)
        run_double(1024, mx.float16)
    finally:
        targets.select(None)
    return noted


def test_kernels(noting: Noting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "architecture_here", lambda: "sm_90")
    small, large = sorted({blocks[0] for _, blocks in noting.moved})
    (single,) = (name for name, title in noting.titles.items() if title == "double<float>")
    (half,) = (name for name, title in noting.titles.items() if title == "double<float16_t>")
    found = kernels_of(
        [
            activity(single, 1000, 2000, small),
            activity(single, 3000, 6000, small),
            activity(single, 7000, 107_000, large),
            activity(half, 108_000, 109_000, small, registers=255, spilled=16),
            activity("void mlx::core::cu::copy", 110_000, 120_000, 3),
        ],
        noting,
        1e9,
    )
    first, others, last = found
    assert [one.title for one in found] == ["double<float>", OPERATIONS, "double<float16_t>"]
    assert first.seconds == pytest.approx([1e-6, 3e-6, 1e-4])
    assert first.bytes_read == first.bytes_written == 2 * 4 * 1012 + 4 * (1 << 20)
    assert first.floor_share == pytest.approx(2 * first.bytes_read / 1e9 / first.total_seconds)
    # 40 registers: 12 warps in a quarter of a multiprocessor, 6 blocks of 8 warps in all
    assert (
        first.variant
        == "threadgroups of 256, 40 registers; 75% of the warps that fit, by registers"
    )
    assert "255 registers, 16 bytes of them in memory; 12%" in last.variant
    assert others.variant == "" and others.floor_share is None and others.launches == 1
    report = Report()
    report.kernels, report.where, report.seconds = found, "NVIDIA H100", 1.0
    assert "in kernels on NVIDIA H100; a copy" in str(report)


class Cupti(ModuleType):
    """Looks like NVIDIA's package, and tells of one kernel at the end."""

    ActivityKind = SimpleNamespace(CONCURRENT_KERNEL=10)
    cuptiError = OSError
    busy = False

    def __init__(self) -> None:
        super().__init__("cupti")
        self.cupti = self
        self.enabled: list[int] = []

    def activity_register_timestamp_callback(self, clock: Callable[[], int]) -> None:
        assert clock() > 0

    def activity_register_callbacks(self, asked: Any, filled: Callable[[list[Any]], None]) -> None:
        size, most = asked()
        assert size >= 1 << 20 and most == 0
        self.filled = filled

    def activity_enable(self, kind: int) -> None:
        if self.busy:
            raise self.cuptiError("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED")
        self.enabled.append(kind)

    def activity_disable(self, kind: int) -> None:
        self.enabled.remove(kind)

    def activity_flush_all(self, flag: int) -> None:
        assert flag == 1
        extents = {f"{what}_{axis}": 1 for what in ("grid", "block") for axis in "xyz"}
        more = {"registers_per_thread": 8, "static_shared_memory": 64, "dynamic_shared_memory": 1}
        record = {"name": "metal_k", "start": 3, "end": 5, "stream_id": 2, **extents, **more}
        self.filled([SimpleNamespace(**record, local_memory_per_thread=0)])


def test_activities(monkeypatch: pytest.MonkeyPatch) -> None:
    cupti = Cupti()
    monkeypatch.setitem(sys.modules, "cupti", cupti)
    one = Activities()
    one.begin()
    assert cupti.enabled == [10]
    wanted = Activity("metal_k", 3, 5, 2, (1, 1, 1), (1, 1, 1), 8, 65, 0)
    assert one.end() == [wanted] and cupti.enabled == []
    cupti.busy = True
    with pytest.raises(ToolchainError, match="Another profiler"):
        Activities().begin()


def test_without_cupti(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupti", None)
    monkeypatch.setattr(type(targets.active()), "name", "cuda")
    with pytest.raises(ToolchainError, match="pip install cupti-python"), anymetal.profile():
        pass
