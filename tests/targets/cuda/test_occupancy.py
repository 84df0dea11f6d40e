"""Occupancy, computed by hand from NVIDIA's table of limits."""

from __future__ import annotations

import random
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

from anymetal.targets.cuda.names import PTX_OF
from anymetal.targets.cuda.occupancy import LIMITS, occupancy


@pytest.mark.parametrize(
    ("architecture", "threads", "registers", "memory", "blocks", "share", "limit"),
    [
        # 32 x 32 registers a warp: 16 warps in each of four quarters
        ("sm_80", 256, 32, 0, 8, 1, "warps"),
        # 33 count as 40: 1280 a warp, 12 warps a quarter, 48 in all, of 8 a block
        ("sm_80", 256, 33, 0, 6, 0.75, "registers"),
        ("sm_80", 256, 128, 0, 2, 0.25, "registers"),
        ("sm_80", 256, 255, 0, 1, 0.125, "registers"),
        ("sm_80", 32, 16, 0, 32, 0.5, "blocks"),
        # five warps count as eight of 8192 where one block is looked at
        ("sm_80", 160, 255, 0, 1, 5 / 64, "registers"),
        ("sm_80", 288, 255, 0, 0, 0, "registers"),
        # 33 threads are two warps
        ("sm_80", 33, 16, 0, 32, 1, "warps"),
        # 48 KiB and 1 KiB beside, of 164
        ("sm_80", 64, 16, 48 << 10, 3, 6 / 64, "threadgroup memory"),
        ("sm_90", 64, 16, 32 << 10, 6, 12 / 64, "threadgroup memory"),
        ("sm_75", 1024, 64, 0, 1, 1, "warps"),
        ("sm_75", 256, 32, 16 << 10, 4, 1, "warps"),
        ("sm_86", 1024, 32, 0, 1, 32 / 48, "warps"),
        ("sm_89", 32, 32, 0, 24, 0.5, "blocks"),
        ("sm_70", 128, 32, 32 << 10, 3, 12 / 64, "threadgroup memory"),
    ],
)
def test_by_hand(
    architecture: str, threads: int, registers: int, memory: int, blocks: int, share: float,
    limit: str,
) -> None:  # fmt: skip
    found = occupancy(architecture, threads, registers, memory)
    assert (found.blocks, found.share, found.limit) == (blocks, share, limit)
    assert found.warps == blocks * -(-threads // 32) <= found.most


def test_there_are_limits_for_all_architectures() -> None:
    assert LIMITS.keys() == PTX_OF.keys()


_PROGRAM = """
#include <cstdio>
#include <cstring>
#include "cuda_occupancy.h"

int main() {
  int major, minor, warps, bytes, threads, registers, memory;
  while (scanf("%d %d %d %d", &major, &minor, &warps, &bytes) == 4) {
    if (scanf("%d %d %d", &threads, &registers, &memory) != 3) return 1;
    cudaOccDeviceProp device;
    cudaOccFuncAttributes kernel;
    cudaOccDeviceState state;
    cudaOccResult found;
    memset(&device, 0, sizeof device);
    memset(&kernel, 0, sizeof kernel);
    memset(&state, 0, sizeof state);
    device.computeMajor = major, device.computeMinor = minor;
    device.warpSize = 32, device.numSms = 1;
    device.maxThreadsPerBlock = 1024, device.maxThreadsPerMultiprocessor = 32 * warps;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.sharedMemPerBlock = 48 << 10, device.sharedMemPerMultiprocessor = bytes;
    device.reservedSharedMemPerBlock = major >= 8 ? 1024 : 0;
    device.sharedMemPerBlockOptin = bytes - device.reservedSharedMemPerBlock;
    kernel.maxThreadsPerBlock = 1024, kernel.numRegs = registers, kernel.sharedSizeBytes = memory;
    kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.maxDynamicSharedSizeBytes = device.sharedMemPerBlockOptin;
    state.carveoutConfig = 100;
    int error = cudaOccMaxActiveBlocksPerMultiprocessor(
        &found, &device, &kernel, &state, threads, 0);
    printf("%d\\n", error ? -1 : found.activeBlocksPerMultiprocessor);
  }
}
"""


@pytest.mark.slow
def test_as_nvidias_header(tmp_path: Path) -> None:
    """`cuda_occupancy.h` of the CUDA toolkit, for random kernels."""
    header = _header()
    compiler = shutil.which("g++")
    if header is None or compiler is None:
        pytest.skip("no cuda_occupancy.h (pip install nvidia-cuda-runtime-cu12), or no g++")
    (tmp_path / "program.cpp").write_text(_PROGRAM)
    program = tmp_path / "program"
    command = [compiler, "-w", f"-I{header.parent}", str(tmp_path / "program.cpp")]
    subprocess.run([*command, "-o", str(program)], check=True)
    draw = random.Random()
    asked = []
    for _ in range(5000):
        architecture = draw.choice(list(LIMITS))
        memory = draw.choice([0, draw.randint(0, 48 << 10), draw.randint(0, 4000)])
        asked.append((architecture, draw.randint(1, 1024), draw.randint(16, 255), memory))
    lines = []
    for architecture, threads, registers, memory in asked:
        limits, digits = LIMITS[architecture], architecture.removeprefix("sm_")
        numbers = digits[:-1], digits[-1], limits.warps, limits.memory, threads, registers, memory
        lines.append(" ".join(map(str, numbers)))
    done = subprocess.run(
        [program], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    found = [occupancy(*one).blocks for one in asked]
    assert found == [int(line) for line in done.stdout.split()]


def _header() -> Path | None:
    for package in ("nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12"):
        try:
            files = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name == "cuda_occupancy.h":
                return Path(str(file.locate()))
    return None
