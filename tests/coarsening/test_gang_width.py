"""Gangs that are not SIMD-groups: which kernels have them, and that only the time changes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from anymetal.source import KernelSource
from anymetal.targets.cpu.compiler import compile_kernel
from anymetal.targets.cpu.reporting import GangStages
from anymetal.targets.cpu.variant import variant_for
from anymetal.testing.lockstep.builds import builds_here
from anymetal.testing.lockstep.case import Case, Output
from anymetal.testing.lockstep.check import check, expected_of
from anymetal.testing.lockstep.generators.patterns.parts import case_of, numbers_of, touch
from anymetal.testing.lockstep.generators.patterns.rows_and_columns import blocked
from anymetal.testing.lockstep.oracle import Oracle
from tests.frontend.kernels import kernel_source

_ESCAPE = "while (n < 99 && v * v < 4.0f) { v = v * v + 0.1f; ++n; } out[i] = v + n;"
_NEWTON = "for (int k = 0; k < 9; ++k) v = 0.5f * (v + a[i] / v); out[i] = v;"

#: What a thread does with its element, and whether gangs are wide.
BODIES = {
    "a loop that computes": (_ESCAPE, True),
    "many operations": ("out[i] = metal::exp(metal::sin(v)) + metal::log(v);", True),
    "few operations": ("out[i] = v * 2.0f + 1.0f;", False),
    "loads in a loop": (_NEWTON.replace("a[i]", "a[i + k]"), False),
    "loads in front of a loop": (_NEWTON, True),
    "a gather": (_ESCAPE.replace("n < 99", "n < 99 + int(a[int(v)])"), False),
    "a sum of a SIMD-group": (_ESCAPE + " out[i] += metal::simd_sum(v);", False),
    "its number in the SIMD-group": (_ESCAPE + " out[i] += thread_index_in_simdgroup;", False),
    "a barrier": (_ESCAPE + " threadgroup_barrier(mem_flags::mem_device); out[i] = 1;", False),
    "a private array": ("float p[9]; " + _ESCAPE + " p[n % 9] = v; out[i] = p[int(v) % 9];", False),
    "many values at a time": (
        "float p[24]; for (int k = 0; k < 24; ++k) p[k] = v * k + metal::sin(v * k);"
        " for (int j = 0; j < 9; ++j) for (int k = 0; k < 24; ++k) p[k] = p[k] * p[23 - k] + v;"
        " for (int k = 0; k < 24; ++k) v = v / (p[k] + 2); out[i] = v;",
        False,
    ),
}


def _source(work: str) -> KernelSource:
    return kernel_source(f"uint i = thread_position_in_grid.x; int n = 0; float v = a[i]; {work}")


def _launches(source: KernelSource, threads: int, group: int, cpu: str) -> str:
    stages = GangStages()
    variant = variant_for((threads, 1, 1), (group, 1, 1))._replace(cpu=cpu)
    compile_kernel(source, variant, stages)
    return stages.launches


@pytest.mark.parametrize("name", BODIES)
def test_who_has_them(name: str) -> None:
    work, wide = BODIES[name]
    assert ("64 lanes wide" in _launches(_source(work), 1024, 256, "x86-64-v4")) is wide


@pytest.mark.parametrize(
    ("threads", "group", "cpu", "wide"),
    [
        (1024, 64, "x86-64-v4", True),
        (1024, 32, "x86-64-v4", False),
        (1024, 96, "x86-64-v4", False),
        (960, 96, "x86-64-v4", False),  # three SIMD-groups
        (1000, 250, "x86-64-v4", False),
        (1024, 256, "x86-64-v3", False),  # 32 lanes are four vectors
        (1024, 256, "x86-64-v2", False),  # chains of a loop: eight vectors are better than four
    ],
)
def test_launches_that_have_wide_ones(threads: int, group: int, cpu: str, wide: bool) -> None:
    assert ("lanes wide" in _launches(_source(_ESCAPE), threads, group, cpu)) is wide


_MANY = "float p = metal::exp(v), q = metal::exp(-v), r = metal::exp(v * v);"
_STRAIGHT = f"{_MANY} out[i] = (p * q + r * v) / (p + q * r + v * v) + p / q - r / v;"


@pytest.mark.parametrize(
    ("work", "threads", "group", "cpu", "narrow"),
    [
        (_STRAIGHT, 1024, 256, "neoverse-v1", True),
        (_STRAIGHT, 1024, 32, "apple-m1", True),
        (_STRAIGHT, 960, 96, "cortex-a76", True),
        (_STRAIGHT, 1024, 256, "x86-64-v2", True),
        (_STRAIGHT, 1024, 256, "x86-64-v3", False),
        (_STRAIGHT, 1000, 250, "neoverse-v1", False),
        (_STRAIGHT + " out[i] += metal::simd_sum(v);", 1024, 256, "neoverse-v1", False),
        ("out[i] = v * 2.0f + 1.0f;", 1024, 256, "neoverse-v1", False),
        (_STRAIGHT.replace("out[i]", "out[9 * i]"), 1024, 256, "neoverse-v1", False),
    ],
)
def test_launches_that_have_half_a_simd_group(
    work: str, threads: int, group: int, cpu: str, narrow: bool
) -> None:
    assert ("16 lanes wide" in _launches(_source(work), threads, group, cpu)) is narrow


_SUM = "for (int q = 0; q < 64; ++q) { float u = a[q * 9 + i]; STEP }"
_TWENTY = "float p[20] = {}; " + _SUM + " for (int e = 0; e < 20; ++e) out[i * 20 + e] = p[e];"
_ADDED = _TWENTY.replace("STEP", "for (int e = 0; e < 20; ++e) p[e] += u * a[q + e];")
_CHAIN = _TWENTY.replace(
    "STEP", "for (int e = 1; e < 20; ++e) p[e] += p[e - 1] * u; p[0] += p[19];"
)


@pytest.mark.parametrize(
    ("work", "group", "cpu", "narrow"),
    [
        (_ADDED, (256, 1, 1), "x86-64-v4", True),
        (_ADDED, (256, 1, 1), "x86-64-v3", True),
        (_ADDED, (256, 1, 1), "neoverse-v1", True),
        (_ADDED, (16, 16, 1), "x86-64-v4", True),
        (_ADDED, (32, 8, 1), "x86-64-v4", True),
        (_ADDED, (8, 8, 1), "x86-64-v4", False),  # lanes of two rows
        (_ADDED, (250, 1, 1), "x86-64-v4", False),
        (_ADDED.replace("20", "6"), (256, 1, 1), "x86-64-v4", False),  # registers for all lanes
        (_ADDED.replace("20", "6"), (256, 1, 1), "x86-64-v3", True),
        (_CHAIN, (256, 1, 1), "x86-64-v4", False),  # each sum waits for the one before
        (_ADDED + " out[i] += metal::simd_sum(v);", (256, 1, 1), "x86-64-v4", False),
        (_ADDED + " out[i] += thread_index_in_simdgroup;", (256, 1, 1), "x86-64-v4", True),
        (
            _ADDED + " threadgroup_barrier(mem_flags::mem_device); out[i] = 1;",
            (256, 1, 1),
            "",
            True,
        ),
    ],
)
def test_loops_with_more_sums_than_registers(
    work: str, group: tuple[int, int, int], cpu: str, narrow: bool
) -> None:
    place = "uint i = thread_position_in_grid.y * threads_per_grid.x + thread_position_in_grid.x;"
    source = kernel_source(f"{place} float v = a[i]; {work}")
    stages = GangStages()
    variant = variant_for((2 * group[0], group[1], 1), group)._replace(cpu=cpu)
    compile_kernel(source, variant, stages)
    assert ("16 lanes wide" in stages.launches) is narrow


def _blocks(seed: int) -> Case:
    return replace(blocked(random.Random(seed)), name=f"blocks_{seed}", kind="blocks", seed=seed)


def _random(seed: int) -> Case:
    """A kernel that computes: loops that end when their data say so, branches, early returns."""
    rng = random.Random(seed)
    kind = rng.choice(("float", "float", "int", "ulong"))
    size = rng.choice((64, 128, 192, 320, 100))
    leave = rng.choice(("", "if (v % 7u == 3u) break;", "if (v % 5u == 1u) continue;"))
    back = rng.choice(("", "if (v % 3u == 1u) return;"))
    lines = [
        "uint i = thread_position_in_grid.x;",
        f"uint v = u[i], s = i; {kind} b = x[i], c = b;",
        *touch(rng, "v", "s"),
        f"for (uint k = 0; k < {rng.choice(('v % 23u', 's % 9u', '12u'))}; k++) {{",
        f"v = v * {rng.randrange(3, 99, 2)}u + k;",
        leave,
        f"if ({rng.choice(('v & 1u', 'b < c', 'k > 2u'))}) c = c * b + ({kind})(k % 3u);",
        f"else s ^= {rng.choice(('v', 'v >> 3', 's << 1'))};",
        "}",
        *touch(rng, "v", "s", count=1),
        "y[i] = s ^ v;",
        back,
        "z[i] = c;",
    ]
    inputs = [numbers_of(rng, "u", "uint", size), numbers_of(rng, "x", kind, size)]
    outputs = [Output("y", "uint", size), Output("z", kind, size)]
    group = rng.choice((64, 128, 256))
    case = case_of(lines, inputs, outputs, (size, 1, 1), (group, 1, 1))
    return replace(case, name=f"computing_{seed}", kind="wide gangs", seed=seed)


def _straight(seed: int) -> Case:
    """A kernel without branches that keeps many values, some of neighbouring elements."""
    rng = random.Random(seed)
    size, beside = rng.choice((64, 96, 320)), rng.choice((1, 2, 3, 4))
    names = [f"v{k}" for k in range(12)]
    lines = ["uint i = thread_position_in_grid.x;"]
    lines += [f"uint v{k} = u[{beside} * i + {k % beside}] + {k}u;" for k in range(12)]
    lines += touch(rng, *names, count=40)
    order = rng.sample(names, 12)
    shares = [order[k::beside] for k in range(beside)]
    lines += [f"y[{beside} * i + {k}] = {' ^ '.join(shares[k])};" for k in range(beside)]
    lines.append(f"z[i] = {' + '.join(names)};")
    outputs = [Output("y", "uint", beside * size), Output("z", "uint", size)]
    inputs = [numbers_of(rng, "u", "uint", beside * size)]
    case = case_of(lines, inputs, outputs, (size, 1, 1), (rng.choice((32, 64)), 1, 1))
    return replace(case, name=f"straight_{seed}", kind="narrow gangs", seed=seed)


@pytest.mark.parametrize(
    ("drawn", "build", "others", "why"),
    [
        (_random, "native", "avx512", "width"),
        (_straight, "sse", "sse", "width"),
        (_blocks, "native", "avx512", "halves"),
        (_blocks, "sse", "sse", "halves"),
    ],
    ids=("wide", "narrow", "blocks", "blocks of other builds"),
)
def test_random_kernels(
    drawn: Callable[[int], Case], build: str, others: str, why: str, tmp_path: Path
) -> None:
    """Beside an oracle without gangs. Those of `others` are not all SIMD-groups."""
    builds = builds_here()
    if build not in builds:
        pytest.skip(f"this processor is not one for {build}")
    cases = [drawn(seed) for seed in range(24)]
    oracle = Oracle(cases, tmp_path)
    verdicts = [check(case, expected_of(case, oracle), [builds[build]], tmp_path) for case in cases]
    assert [verdict.detail for verdict in verdicts if verdict.status != "ok"] == []
    if others in builds:
        found = sum(f"coarsening.gang_width:{why}" in verdict.fired for verdict in verdicts)
        assert found >= 8
