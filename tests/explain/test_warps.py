"""What is told of a warp's lines, against what follows by hand from NVIDIA's rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

from anymetal.explain import cuda
from anymetal.explain.kernels import Explanation
from anymetal.targets.base import Extent
from anymetal.targets.cuda import compiler, ptxas
from tests.explain.kernels import HERE, INPUTS, OUTPUTS
from tests.frontend.kernels import kernel_source

_BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
_LANE = "uint lane = thread_index_in_simdgroup;"
_2D = "uint2 p = thread_position_in_threadgroup.xy;"


def explained(
    body: str,
    grid: Extent = (1024, 1, 1),
    group: Extent = (256, 1, 1),
    architecture: str = "sm_90",
) -> Explanation:
    source = kernel_source(HERE + body, inputs=INPUTS, outputs=OUTPUTS)
    return cuda.explain(source, cuda.launches_of(source, grid, group), architecture)


def facts_of(line: str, group: Extent = (256, 1, 1)) -> list[str]:
    grid = (max(1024, group[0]), 4 * group[1], 1) if group[1] > 1 else (1024, 1, 1)
    facts = explained(line, grid, group).facts
    return [f"{f.kind} {f.text}" for f in facts if f.location and f.location.line == 2]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("out[i] = a[0];", ["load `a`: broadcast: one address, 1 sector",
                            "store `out`: coalesced: 4 sectors"]),
        ("to[i] = b[i + n];", ["load `b`: coalesced: 4 sectors"]),
        ("out[i] = a[i + 1];",
         ["load `a`: coalesced: 5 sectors where 4 would do, since it begins inside of one"]),
        ("out[i] = a[i + 8];", ["load `a`: coalesced: 4 sectors"]),
        ("out[i] = a[2 * i];",
         ["load `a`: strided, 8 bytes from lane to lane: 8 sectors where 4 would do"]),
        ("out[i] = a[3 * i];",
         ["load `a`: strided, 12 bytes from lane to lane: 12 sectors where 4 would do"]),
        ("out[40 * i] = 1;",
         ["store `out`: strided, 160 bytes from lane to lane: 32 sectors where 4 would do"]),
        ("out[i] = a[1023 - i];", ["load `a`: coalesced: 4 sectors"]),
        ("out[i] = a[1024 - i];",
         ["load `a`: coalesced: 5 sectors where 4 would do, since it begins inside of one"]),
        ("((device float4*)out)[i] = ((const device float4*)a)[i] * 2;",
         ["load `a`: coalesced, 16 bytes a lane: 16 sectors",
          "store `out`: coalesced, 16 bytes a lane: 16 sectors"]),
        ("float2 v = ((const device float2*)a)[i]; out[i] = v.x + v.y;",
         ["load `a`: coalesced, 8 bytes a lane: 8 sectors"]),
        ("((device half*)out)[i] = 1;", ["store `out`: coalesced: 2 sectors"]),
        ("((device char*)out)[i] = 1;", ["store `out`: coalesced: 1 sector"]),
        ("out[i] = a[b[i]];",
         ["load `a`: scattered: up to 32 sectors where 4 would do (the address depends on what is "
          "loaded from `b` in line 2)"]),
        ("out[i] = a[i * n];",
         ["load `a`: strided by a number of run time: up to 32 sectors where 4 would do (the "
          "address depends on a product of variables in line 2)"]),
        (f"{_LANE} out[i] = a[lane / 8 * n + lane % 8];",
         ["load `a`: coalesced in 4 rows: 4 sectors"]),
        (f"{_LANE} out[i] = a[lane / 4 * 64 + lane % 4];",
         ["load `a`: in pieces, known from the lane number: 8 sectors where 4 would do"]),
        ("atomic_fetch_add_explicit((device atomic_int*)to, b[i], memory_order_relaxed);",
         ["atomic `to`: one address in all lanes: one after the other, unless ptxas combines "
          "them"]),
        ("atomic_fetch_add_explicit((device atomic_int*)to + i, 1, memory_order_relaxed);",
         ["atomic `to`: coalesced: 4 sectors"]),
        ("out[i] = simd_sum(a[i]);", ["cross-lane 5 shfl"]),
        ("to[i] = uint64_t(simd_ballot(a[i] > 0));", ["cross-lane 1 vote"]),
        ("if (n > 3) out[i] = a[i];", ["branch uniform: the warp goes one way"]),
        ("if (a[i] > 0) to[i] = b[3 * i] / b[5 * i];",
         ["branch divergent: the warp goes both ways, one after the other, if its lanes differ "
          "(the condition depends on what is loaded from `a` in line 2)"]),
        ("for (int k = 0; k < n; k++) out[k] += a[i];",
         ["loop uniform: all lanes go round together"]),
        ("for (int k = 0; k < b[i]; k++) out[k] = a[i];",
         ["loop divergent: the warp goes round until its last lane has left (the condition "
          "depends on what is loaded from `b`)"]),
        ("if (a[i] > 0) out[i] = simd_sum(a[i]);",
         ["in step lanes part here on the way to what lanes do together in line 2: the warp keeps "
          "in step (the condition depends on what is loaded from `a` in line 2)"]),
        (f"if (a[i] > 0) {_BARRIER} out[i] = 1;",
         ["in step lanes part here on the way to a barrier in line 2: the warp keeps in step (the "
          "condition depends on what is loaded from `a` in line 2)",
          "barrier the warp waits for the others of its threadgroup"]),
        ("float p[4]; for (int k = 0; k < 4; k++) p[k] = a[k * n]; out[i] = p[0] + p[3];",
         ["load `a`: broadcast: one address, 1 sector"]),
    ],
)  # fmt: skip
def test_lines(line: str, expected: list[str]) -> None:
    found = facts_of(line)
    assert set(expected) <= set(found), found
    if "private" not in "".join(expected):
        assert "private" not in "".join(found)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("l", "no bank conflict"),
        ("l * 2", "2-way bank conflict: 8 bytes from lane to lane"),
        ("l * 3", "no bank conflict"),
        ("l * 16", "16-way bank conflict: 64 bytes from lane to lane"),
        ("255 - l", "no bank conflict"),
        ("(l % 8) * 32 + l / 8", "8-way bank conflict"),
        ("(l % 8) * 33 + l / 8", "4-way bank conflict"),  # banks x + y: four ways to 3
        ("l / 32 * 32 + (l % 32 ^ 5)", "no bank conflict"),
        ("n", "broadcast"),
        ("b[i]", "bank conflicts as the addresses come (the address depends on what is loaded "
                 "from `b` in line 2)"),
    ],
)  # fmt: skip
def test_banks(index: str, expected: str) -> None:
    found = facts_of(f"threadgroup float t[4096]; t[l] = a[i]; {_BARRIER} out[i] = t[{index}];")
    assert f"load `t`: threadgroup memory, {expected}" in found


_ARRAYS = """\
float p[40]; for (int k = 0; k < 40; k++) p[k] = a[k * n + i];
float q[40]; for (int k = 0; k < 40; k++) q[k] = a[k * 3 * n + i] + p[39 - k];
float s = 0; for (int k = 0; k < 40; k++) for (int j = 0; j < 40; j++) s = s * p[k] + q[j] * s;
out[i] = s + p[b[i] % 40];"""


def test_private_arrays_in_local_memory() -> None:
    """More than there are registers; ptxas finds some for a small one."""
    facts = explained(_ARRAYS, (1024, 1, 1), (1024, 1, 1)).facts
    told = {f"{f.location.line} {f.kind} {f.text}" for f in facts if f.location}
    where = "private array in local memory, which is device memory"
    if ptxas.ptxas() is None:
        where = "private array, in local memory (device memory) unless ptxas finds registers"
    assert f"2 store `p`: {where}: one index, coalesced" in told
    assert f"5 load `p`: {where}: each lane has its own index" in told
    small = "float p[9]; for (int k = 0; k < 9; k++) p[k] = a[k * n]; out[i] = p[b[i] & 7];"
    if ptxas.ptxas() is not None:
        assert "load `p`: private array: ptxas keeps it in registers" in facts_of(small)


def test_what_is_joined_counts_once() -> None:
    """Eight loads and stores are two of 16 bytes each, of which eight lanes meet in half the banks;
    a ninth is alone."""
    text = "threadgroup float t[2304]; for (int k = 0; k < 9; k++) t[8 * l + k] = a[8 * i + k]; "
    found = facts_of(f"{text} {_BARRIER} out[i] = t[l];")
    loads = [one for one in found if one.startswith("load `a`")]
    assert sorted(loads) == [
        *["load `a`: strided, 32 bytes from lane to lane: 32 sectors where 16 would do"] * 2,
        "load `a`: strided, 32 bytes from lane to lane: 32 sectors where 4 would do",
    ]


@pytest.mark.parametrize("seed", range(3))
def test_random_addresses(seed: int) -> None:
    """Sectors counted over all bytes of 32 lanes, of addresses that are affine in parts of the lane
    number."""
    rng = np.random.default_rng(seed)
    lane, lines, expected = np.arange(32), [_LANE, "float s = 0;"], []
    for shift in rng.integers(1, 5, 20):
        row, column, start = (int(n) for n in rng.integers(0, 40, 3))
        lines.append(
            f"s = s * a[(lane >> {shift}) * {row} + (lane % {2**shift}) * {column} + {start}] + 1;"
        )
        elements = (lane >> shift) * row + lane % 2**shift * column + start
        expected.append(len(np.unique((4 * elements[:, None] + np.arange(4)) // 32)))
    facts = explained("\n".join([*lines, "out[i] = s;"])).facts
    loads = {fact.location.line: fact.text for fact in facts if fact.kind == "load"}
    found = [int(re.search(r"(\d+) sectors?\b", loads[line])[1]) for line in range(4, 24)]
    assert found == expected


@pytest.mark.parametrize("seed", range(2))
def test_random_bits_of_positions(seed: int) -> None:
    """Of threads, whose warps begin at multiples of 32; some go beyond what is followed."""
    rng = np.random.default_rng(seed)
    lane, lines, expected = np.arange(32), ["float s = 0;"], []
    for shift in rng.integers(1, 5, 20):
        row, column, mask, start = (int(n) for n in rng.integers(0, 32, 4))
        index = "((l >> {0}) * {1} + (l % {2} ^ {3}) * {4} + (l ^ {3}) + {5})"
        lines.append(
            f"s = s * a[{index.format(shift, row, 2**shift, mask, column, 8 * start)}] + 1;"
        )
        elements = (lane >> shift) * row + (lane % 2**shift ^ mask) * column + (lane ^ mask)
        expected.append(len(np.unique((4 * elements[:, None] + np.arange(4)) // 32)))
    # Of one warp: (l >> shift) * row of others begins elsewhere.
    facts = explained("\n".join([*lines, "out[i] = s;"]), (32, 1, 1), (32, 1, 1)).facts
    loads = {fact.location.line: fact.text for fact in facts if fact.kind == "load"}
    found = [re.search(r"(\d+) sectors?\b", loads[line]) for line in range(3, 23)]
    pairs = [(int(f[1]), n) for f, n in zip(found, expected, strict=True) if f]
    known = [pair for pair, line in zip(pairs, range(3, 23), strict=True)
             if "scattered" not in loads[line]]  # fmt: skip
    assert len(known) > 15 and all(ours == theirs for ours, theirs in known)


def test_banks_of_vectors() -> None:
    """Four words a lane, eight lanes at a time: all banks once."""
    text = f"threadgroup float4 t[256]; t[l] = a[i]; {_BARRIER} ((device float4*)out)[i] = t[l];"
    assert "load `t`: threadgroup memory, no bank conflict" in facts_of(text)


@pytest.mark.parametrize(
    ("width", "group", "expected"),
    [
        (32, (32, 8, 1), "32-way bank conflict: 128 bytes from lane to lane"),
        (33, (32, 8, 1), "no bank conflict"),
        (16, (16, 16, 1), "8-way bank conflict"),  # 16 x + y: four banks
        (17, (16, 16, 1), "2-way bank conflict"),  # 17 x + y: those of y + 1 meet those of y
    ],
)
def test_columns_of_tiles(width: int, group: Extent, expected: str) -> None:
    text = f"{_2D} threadgroup float t[{group[0]}][{width}]; t[0][l] = 1; {_BARRIER} "
    found = facts_of(text + "out[i] = t[p.x][p.y];", group)
    assert f"load `t`: threadgroup memory, {expected}" in found


def test_rows_of_tiles_are_coalesced() -> None:
    found = facts_of(f"{_2D} out[p.y * n + p.x] = 1;", (16, 16, 1))
    assert found[-1] == "store `out`: coalesced in 2 rows: 4 sectors"


def test_costs_order_findings() -> None:
    body = "float s = 0;\nfor (int k = 0; k < 100; k++)\n  s += a[i * 7 + k];\nout[i * 3] = s;"
    found = explained(body)
    # The iterations that a loop has by four stand as one, those that are left as another.
    loop, *_, behind = (one for one in found.findings if one.fact.kind in ("load", "store"))
    assert (loop.fact.location.line, behind.fact.location.line) == (4, 5)
    assert loop.share > 0.5 > 10 * behind.share
    assert sum(found.weights.lines.values()) <= found.weights.total
    ((_, code),) = [one for one in found.weights.code.items() if one[0][1] == 5]
    assert any(line.startswith("st.global") for line in code)


def test_advice() -> None:
    texts = {
        "threadgroup float t[4096]; t[l * 32] = 1; out[i] = t[l];": "tile[32][33]",
        "if (a[i] > 0) out[i] = simd_sum(a[i]);": "where all threads come by",
        _ARRAYS: "An array stays in registers if all its indices are constants",
        "out[i] = a[b[i]];": "sort the indices beforehand",
    }  # fmt: skip
    for body, words in texts.items():
        assert any(words in one.advice.text for one in explained(body).findings), body


# -- what a kernel takes ------------------------------------------------------------------


@pytest.fixture
def without_ptxas(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(ptxas, "ptxas", lambda: None)
    yield


def test_without_ptxas_it_is_said_how_to_get_it(without_ptxas: None) -> None:
    found = explained("out[i] = a[i];")
    (line,) = found.resources
    assert "pip install nvidia-cuda-nvcc" in line
    assert "pip install" in found.to_dict()["resources"]["unknown"]  # type: ignore[index]


@pytest.mark.skipif(ptxas.ptxas() is None, reason="no ptxas: pip install nvidia-cuda-nvcc")
def test_what_ptxas_counts() -> None:
    body = f"threadgroup float t[1024]; t[l] = a[i]; {_BARRIER} out[i] = t[255 - l];"
    found = explained(body)
    taken, counted = found.to_dict()["resources"], found.resources
    assert taken["memory"] == 4096 and 8 <= taken["registers"] <= 32  # type: ignore[index]
    assert taken["spilled"] == 0  # type: ignore[index]
    assert re.fullmatch(
        r"\d+ registers a thread, no spills, 4096 bytes of threadgroup memory", counted[0]
    )
    assert counted[1].startswith("occupancy 100%: 64 of 64 warps a multiprocessor, in 8 ")
    (old,) = explained(body, architecture="sm_70").resources  # newer ones do not know it
    assert "occupancy" in old


@pytest.mark.skipif(ptxas.ptxas() is None, reason="no ptxas: pip install nvidia-cuda-nvcc")
@pytest.mark.parametrize(
    "body",
    [
        "float s = 0; for (int k = 0; k < n; k++) s += exp(a[i + k] * s); out[i] = s;",
        "if (a[i] > 0) out[i] = simd_sum(a[i]) / atan(a[i]);",
    ],
)
def test_marks_change_no_instruction(body: str) -> None:
    """Nor what it takes."""
    source = kernel_source(HERE + body, inputs=INPUTS, outputs=OUTPUTS)
    launches = cuda.launches_of(source, (1024, 1, 1), (256, 1, 1))
    plain = compiler.compiled(source, "sm_90", launches.form)
    look = cuda._Look()
    marked = compiler.compiled(source, "sm_90", launches.form, stages=look)
    code = re.compile(r"^\t(?:@!?%p\d+ )?[a-z].*;$", re.M)
    assert code.findall(plain) == code.findall(marked)
    assert ".loc" in marked and ".loc" not in plain
    found = cuda.explain(source, launches, "sm_90").to_dict()["resources"]
    taken = ptxas.assembled(plain, "sm_90")
    assert isinstance(taken, ptxas.Assembled)
    assert found == {**taken._asdict(), "occupancy": found["occupancy"]}  # type: ignore[index]
