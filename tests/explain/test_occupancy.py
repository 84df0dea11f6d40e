"""Occupancy, computed by hand from NVIDIA's table of limits."""

import pytest

from anymetal.explain.occupancy import LIMITS, occupancy
from anymetal.targets.cuda.names import PTX_OF


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
