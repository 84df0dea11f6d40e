"""What is told about lines: it must be what the generator does."""

from __future__ import annotations

import pytest

from tests.explain.kernels import explained, facts_of

_BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"


@pytest.fixture(autouse=True)
def processor_with_masked_accesses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_CPU", "x86-64-v4")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "out[i] = a[0];",
            [
                "load `a`: uniform",
                "store `out`: contiguous, past the caches if the results are large",
            ],
        ),
        ("out[i] = out[i + 32];", ["load `out`: contiguous", "store `out`: contiguous"]),
        (
            "threadgroup float parts[8]; if (i % 32 == 0) parts[0] = 1; "
            + _BARRIER
            + " float v = 0; if (thread_index_in_simdgroup < 8) "
            "v = parts[thread_index_in_simdgroup]; out[i] = v;",
            [
                "load `parts`: contiguous, masked",
            ],
        ),
        ("out[i] = a[3 * i];", ["load `a`: strided, 12 bytes from lane to lane: gather"]),
        ("out[5 * i] = 1;", ["store `out`: strided, 20 bytes from lane to lane: scatter"]),
        (
            "float2 v = ((const device float2*)a)[i]; out[i] = v.x + v.y;",
            ["load `a`: grouped: 2 neighbours a lane, one wide load"] * 2,
        ),
        (
            "out[i] = a[b[i]];",
            [
                "load `a`: tested at run time: one element, a run, or gather (the address depends "
                "on what is loaded from `b` in line 2)"
            ],
        ),
        (
            "out[i] = a[i % 7];",
            [
                "load `a`: tested at run time: one element, a run, or gather (the address depends "
                "on a remainder in line 2)"
            ],
        ),
        (
            "out[b[i]] = 1;",
            [
                "store `out`: tested at run time: a run, or scatter (the address depends on what "
                "is loaded from `b` in line 2)"
            ],
        ),
        (
            "uint lane = thread_index_in_simdgroup; out[i] = a[lane / 8 * n + lane % 8];",
            ["load `a`: tiled: 4 rows of 8 elements, known from the lane number"],
        ),
        ("if (i < uint(n)) out[i] = a[i];", ["load `a`: contiguous, masked"]),
        ("out[i] = simd_sum(a[i]);", ["cross-lane reduction of all lanes, uniform result"]),
        ("out[i] = simd_shuffle_xor(a[i], 1);", ["cross-lane shuffle: a fixed permutation"]),
        ("out[i] = simd_broadcast(a[i], 5);", ["cross-lane all lanes read one lane"]),
        (
            "atomic_fetch_add_explicit((device atomic_int*)to, b[i], memory_order_relaxed);",
            ["atomic `to`: the lanes are combined first, then one locked instruction"],
        ),
        (
            "out[i] = atomic_fetch_add_explicit((device atomic_int*)to, 1, memory_order_relaxed);",
            ["atomic `to`: one locked instruction for all lanes; old values by a prefix sum"],
        ),
        (
            "atomic_fetch_add_explicit((device atomic_int*)to + b[i], 1, memory_order_relaxed);",
            ["atomic `to`: lane by lane, each a locked instruction"],
        ),
        (
            f"threadgroup float t[256]; t[l] = a[i]; {_BARRIER} out[i] = t[255 - l];",
            [
                "store `t`: contiguous",
                "barrier 8 SIMD-groups of the threadgroup run as one, nothing to wait for",
                "load `t`: contiguous, the last lane first",
            ],
        ),
        (
            "float p[9]; for (int k = 0; k < 9; k++) p[k] = a[k * n]; out[i] = p[b[i]];",
            [
                "store `p`: private array, interleaved: one vector",
                "load `p`: private array, interleaved; the index differs between lanes: gather",
            ],
        ),
        (
            "float p[9]; for (int k = 0; k < 9; k++) p[k] = a[k * n]; "
            "out[i] = ((thread char*)p)[b[i]];",
            [
                "store `p`: private array, interleaved: one vector",
                "load `p`: private array, interleaved; the index differs between lanes: gather",
            ],
        ),
        (
            "float p[9]; for (int k = 0; k < 9; k++) p[k] = a[k * n]; "
            "out[i] = *(thread float*)((thread char*)p + b[i]);",
            [
                "store `p`: private array, a copy for each lane, strided, 48 bytes from lane to "
                "lane: scatter"
            ],
        ),
        (  # LLVM takes the array apart
            "float p[3] = {1, a[i], 2}; int j = b[i] < 0 ? 0 : b[i] < 9 ? 1 : 2; p[j] = a[i * n]; "
            "out[i] = p[0] + p[1] * p[2];",
            [
                "store `p`: private array, interleaved: one vector",
                "store `p`: private array, interleaved; the index differs between lanes: scatter",
                "load `p`: private array, interleaved: one vector",
            ],
        ),
        (
            "if (a[i] > 0) to[i] = b[3 * i] / b[5 * i];",
            [
                "branch divergent: both sides in turn, each for its lanes; a side without lanes is "
                "skipped (the condition depends on what is loaded from `a` in line 2)"
            ],
        ),
        ("if (n > 3) to[i] = b[3 * i];", ["branch uniform: one side runs"]),
        (
            "float s = 0; for (int k = 0; k < n; k++) s += a[i + k] * s; out[i] = s;",
            ["loop uniform: all lanes go round together"],
        ),
        (
            "float s = 0; for (int k = 0; k < b[i]; k++) s += a[i + k] * s; out[i] = s;",
            [
                "loop divergent: goes round until the last lane has left (the condition depends on "
                "what is loaded from `b`)"
            ],
        ),
    ],
)
def test_facts(line: str, expected: list[str]) -> None:
    found = facts_of(line)
    missing = [text for text in expected if found.count(text) < expected.count(text)]
    assert not missing, "\n".join(found)


def test_what_is_done_for_each_simd_group_of_a_team_is_told_once() -> None:
    found = facts_of(f"threadgroup float t[256]; t[l] = a[i]; {_BARRIER} out[i] = t[l ^ 1];")
    assert found.count("store `t`: contiguous") == 1


def test_simd_groups_wait_for_each_other() -> None:
    line = f"threadgroup float t[1024]; t[l] = a[i]; {_BARRIER} out[i] = t[1023 - l];"
    found = facts_of(line, group=(1024, 1, 1))
    assert "barrier 8 SIMD-groups of the threadgroup run as one, the others have to come" in found
    found = facts_of(line, grid=(1000, 1, 1), group=(200, 1, 1))
    assert "barrier the SIMD-group is suspended until the others have come" in found


def test_a_threadgroup_of_one_simd_group_waits_for_nobody() -> None:
    found = facts_of(
        f"threadgroup float t[32]; t[l] = a[i]; {_BARRIER} out[i] = t[31 - l];", group=(32, 1, 1)
    )
    assert "barrier nothing to wait for, a threadgroup is one SIMD-group" in found


def test_processors_without_masked_accesses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_CPU", "x86-64-v2")
    found = facts_of("if (i < uint(n)) out[i] = a[i];")
    assert any("no masked load of 32 bits" in text for text in found)


def test_lines_of_the_header_are_known() -> None:
    header = "float pick(device const float* x, uint i) {\n  return x[7 * i];\n}"
    (fact,) = [
        f for f in explained("out[i] = pick(a, i);", header=header).facts if f.kind == "load"
    ]
    assert fact.location and (fact.location.where, fact.location.line) == ("k: header", 2)
    assert fact.price == "high"
