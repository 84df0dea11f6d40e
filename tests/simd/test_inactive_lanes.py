"""What inactive lanes hold must not show: bases of strided values, endless loops, addresses."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal import targets
from anymetal.targets.cpu import CpuTarget
from anymetal.targets.cpu.llvm_target import machine_for
from tests.ir.programs import program, run_program

_X = np.arange(100, dtype=np.float32)


@pytest.fixture(autouse=True)
def fresh_target() -> Iterator[None]:
    """A target that has no plans for the processor of other tests."""
    targets.select(CpuTarget())
    yield
    targets.select(None)


def use_level(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile for this level of x86-64 only, if the processor has it."""
    here = machine_for("")
    if level and not (
        here.triple.startswith("x86_64") and machine_for(level).enabled <= here.enabled
    ):
        pytest.skip(f"this processor is not {level}")
    monkeypatch.setenv("ANYMETAL_CPU", level)


def run(body: str, threads: int = 100, group: int = 32) -> np.ndarray:
    """100 floats `out`, -1 where the kernel writes nothing; `x` counts from 0."""
    kernel = anymetal.metal_kernel(
        name="lanes", input_names=["x"], output_names=["out"], source=body
    )
    (result,) = kernel(
        inputs=[mx.array(_X)],
        output_shapes=[(100,)],
        output_dtypes=[mx.float32],
        grid=(threads, 1, 1),
        threadgroup=(group, 1, 1),
        init_value=-1,
    )
    return np.array(result)


#: Indices of an array in terms of %t, which is between 0 and 19 in active lanes, and in the others
#: (lane 0 among them) is not; then the index as a formula.
INDICES: dict[str, tuple[str, Callable[[int], int]]] = {
    "zext": ("%i = zext i32 %t to i64", lambda t: t),
    "not negative": ("%i = zext nneg i32 %t to i64", lambda t: t),
    "signed": ("%i = sext i32 %t to i64", lambda t: t),
    "no common bits": (
        "%b = or disjoint i32 %t, 32\n%i = zext nneg i32 %b to i64",
        lambda t: t + 32,
    ),
    "no overflow": ("%b = shl nuw nsw i32 %t, 1\n%i = zext nneg i32 %b to i64", lambda t: 2 * t),
    "no carry": ("%b = add nuw nsw i32 %t, 7\n%i = zext nneg i32 %b to i64", lambda t: t + 7),
    "no borrow": ("%b = sub nuw nsw i32 19, %t\n%i = zext nneg i32 %b to i64", lambda t: 19 - t),
    "product": ("%b = mul nuw nsw i32 %t, 3\n%i = sext i32 %b to i64", lambda t: 3 * t),
    "no lost bits": (
        "%b = zext nneg i32 %t to i64\n%c = add nuw nsw i64 %b, 1\n"
        "%d = trunc nuw nsw i64 %c to i32\n%i = zext nneg i32 %d to i64",
        lambda t: t + 1,
    ),
}


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("threads", [32, 29])
def test_bases_of_strided_values(name: str, threads: int) -> None:
    """What LLVM knows of the active lanes is wrong for the base, and it must not spoil the rest."""
    lines, formula = INDICES[name]
    kernel = program(
        f"""
        entry:
          %lane = call i32 @__am_lane()
          %t = sub i32 %lane, 5
          %in = icmp ult i32 %t, 20
          br i1 %in, label %then, label %end
        then:
          {lines}
          %from = getelementptr i32, ptr %a, i64 %i
          %x = load i32, ptr %from
          %to = getelementptr i32, ptr %out, i64 %i
          store i32 %x, ptr %to
          br label %end
        end:
          ret void
        """
    )
    source, result = np.arange(1, 65, dtype=np.uint32), np.zeros(64, np.uint32)
    run_program(kernel, [source.view(np.uint8), result.view(np.uint8)], 32, threads)
    written = [formula(t) for t in range(20)]
    expected = np.zeros(64, np.uint32)
    expected[written] = source[written]
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    "body",
    [
        "if (x[i] > 1000) while (true);\nout[i] = x[i];",
        "out[i] = x[i]; if (x[i] > 1000) for (;;) { out[0] += 1; }",
        "for (int k = 0; k < 4; k++) { if (x[i] + k > 1000) while (true); }\nout[i] = x[i];",
        "if (x[i] < 50) { out[i] = x[i]; return; }\nif (x[i] < 0) while (true);\nout[i] = x[i];",
    ],
)
def test_endless_loops_that_no_lane_enters(body: str) -> None:
    np.testing.assert_array_equal(run("uint i = thread_position_in_grid.x;\n" + body), _X)


@pytest.mark.parametrize("cast", ["float", "half", "uchar"])
@pytest.mark.parametrize("index", ["i", "7 * i % 100", "99 - i"])
@pytest.mark.parametrize("level", ["", "x86-64-v2", "x86-64-v3"])
def test_stray_addresses_of_inactive_lanes(
    cast: str, index: str, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With and without instructions for accesses of that size."""
    use_level(level, monkeypatch)
    body = f"""
        int i = thread_position_in_grid.x;
        const device {cast}* from = (const device {cast}*)x;
        device {cast}* to = (device {cast}*)out;
        int far = (i % 3 == 0 ? 0 : 1 << 30) + {index};
        if (i % 3 == 0) to[far] = from[far];
    """
    expected = np.full(100, -1, np.float32)
    at = [eval(index, {"i": i}) for i in range(0, 100, 3)]
    type_ = {"float": np.float32, "half": np.float16, "uchar": np.uint8}[cast]
    expected.view(type_)[at] = _X.view(type_)[at]
    np.testing.assert_array_equal(run(body).view(type_), expected.view(type_))


@pytest.mark.parametrize("cast", ["uchar4", "half2", "float2"])
@pytest.mark.parametrize("level", ["", "x86-64-v2", "x86-64-v3"])
def test_groups_under_a_mask(cast: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours that all lanes together access at once, but for the inactive ones."""
    use_level(level, monkeypatch)
    body = f"""
        uint i = thread_position_in_grid.x;
        if (i % 3 == 1 && i < 48u)
          ((device {cast}*)out)[i] = ((const device {cast}*)x)[i + 1].{"yxwz"[: int(cast[-1])]};
    """
    type_, count = {
        "uchar4": (np.uint8, 4),
        "half2": (np.float16, 2),
        "float2": (np.float32, 2),
    }[cast]
    expected = np.full(100, -1, np.float32)
    source, target = _X.view(type_).reshape(-1, count), expected.view(type_).reshape(-1, count)
    lanes = np.arange(1, 48, 3)
    target[lanes] = source[lanes + 1][:, [1, 0, 3, 2][:count]]
    np.testing.assert_array_equal(run(body).view(type_), expected.view(type_))


@pytest.mark.parametrize("level", ["", "x86-64-v2", "x86-64-v3"])
def test_gangs_that_wait_keep_what_inactive_lanes_use(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Masked accesses behind a barrier, of sizes with and without instructions."""
    use_level(level, monkeypatch)
    body = """
        uint i = thread_position_in_grid.x, l = thread_index_in_threadgroup;
        device uchar* bytes = (device uchar*)out;
        threadgroup float t[100];
        if (l % 3 == 0) t[(l * 7) % 100] = x[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float v = 0;
        if (l % 3 == 0) v = t[(l * 7) % 100];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (l % 3 == 0) out[(l * 7) % 100] = v;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (l % 3 == 1) bytes[4 * ((l * 7) % 100)] = uchar(x[i]);
        if (l % 3 == 1) bytes[4 * ((l * 7) % 100) + 1] = bytes[4 * ((l * 7) % 100)];
    """
    expected = np.full(100, -1, np.float32)
    lanes = np.arange(100)
    expected[lanes[::3] * 7 % 100] = _X[::3]
    for lane in lanes[1::3]:
        expected.view(np.uint8).reshape(100, 4)[lane * 7 % 100, :2] = lane
    np.testing.assert_array_equal(run(body, group=100).view(np.uint32), expected.view(np.uint32))
