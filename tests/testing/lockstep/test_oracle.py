"""The oracle itself, on kernels whose results are known without it."""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
import pytest

from anymetal.testing.lockstep import oracle
from anymetal.testing.lockstep.arrays import Arrays
from anymetal.testing.lockstep.case import ELEMENTS, Case, Data, Input, Output
from anymetal.testing.lockstep.oracle import Oracle, OracleError

#: Body, and what thread number i of a SIMD-group of 32 stores as an int.
ARITHMETIC = {
    "shift_by_constant": ("y[i] = SHL(1u, 33);", lambda i: 2),
    "shift_right_signed": ("y[i] = SHR(-16, 34);", lambda i: -4),
    "shift_of_long": ("y[i] = (int)SHR(1ul << 40, 100);", lambda i: 16),
    "shift_by_negative": ("y[i] = SHL(1, (int)i - 32);", lambda i: 1 << i if i < 31 else -(2**31)),
    "saturates": ("y[i] = CVT(int, 3e9f);", lambda i: 2**31 - 1),
    "saturates_below": ("y[i] = CVT(int, -INFINITY);", lambda i: -(2**31)),
    "not_a_number": ("y[i] = CVT(int, NAN);", lambda i: 0),
    "to_uchar": ("y[i] = CVT(uchar, (float)i * 20.5f);", lambda i: min(int(i * 20.5), 255)),
    "to_char": ("y[i] = CVT(char, 100.0f - (float)i * 20.0f);", lambda i: max(100 - 20 * i, -128)),
    "to_uint": ("y[i] = (int)(CVT(uint, 4e9f) - 3999999999u);", lambda i: 1),
    "to_ulong": ("y[i] = CVT(ulong, 1e30f) == ~0ul;", lambda i: 1),
    "truncates": ("y[i] = CVT(int, -1.75f);", lambda i: -1),
    "wraps": ("y[i] = 2147483647 + (int)i;", lambda i: 2**31 - 1 if i == 0 else -(2**31) + i - 1),
    "char_is_signed": ("char c = (char)(200 + i); y[i] = c;", lambda i: 200 + i - 256),
    "clz": ("y[i] = (int)clz((uchar)i);", lambda i: 8 - i.bit_length()),
    "ctz_of_zero": ("y[i] = (int)ctz((ushort)(i & 0));", lambda i: 16),
    "popcount": ("y[i] = (int)popcount((int)i - 32);", lambda i: (i - 32 & 2**32 - 1).bit_count()),
    "rotate": ("y[i] = rotate((uchar)0x81, (uchar)9);", lambda i: 3),
    "reverse": ("y[i] = (int)(reverse_bits(i) >> 27);", lambda i: int(f"{i:05b}"[::-1], 2)),
    "mulhi": ("y[i] = mulhi(-(int)i, 1 << 30);", lambda i: -i >> 2),
    "mulhi_of_long": ("y[i] = (int)mulhi((ulong)i << 60, 16ul);", lambda i: i % 16),
    "as_type": ("y[i] = as_type<int>(1.0f);", lambda i: 0x3F800000),
    "vectors": ("int4 v(i, 1, 2, 3); v = v * 2 + v; y[i] = v.x + v.w;", lambda i: 3 * i + 9),
    "packed": ("packed_int3 p(int3(i, 5, 7)); y[i] = p[0] + p[2] + sizeof(p);", lambda i: i + 19),
    "size_of_int3": ("y[i] = sizeof(int3) + i;", lambda i: 16 + i),
    "half_rounds": ("y[i] = CVT(int, (float)half(2049.0f + i));",
                    lambda i: int(np.float16(2049 + i))),
    "half_adds": ("y[i] = CVT(int, half(2048.0f) + half(1.0f));", lambda i: 2048),
    "bfloat_rounds": ("y[i] = CVT(int, (float)bfloat(257.0f));", lambda i: 256),
    "input": ("y[i] = x[31 - i];", lambda i: 31 - i),
}  # fmt: skip

#: The same, for what lanes do together.
LANES = {
    "sum": ("y[i] = simd_sum((int)i);", lambda i: 496),
    "sum_of_half_the_lanes": (
        "int s = -1;\nif (i % 2 == 0) {\ns = simd_sum((int)i);\n}\ny[i] = s;",
        lambda i: -1 if i % 2 else 240,
    ),
    "both_sides": (
        "int s;\nif (i < 8) {\ns = simd_sum(1);\n} else {\ns = simd_sum(2);\n}\ny[i] = s;",
        lambda i: 8 if i < 8 else 48,
    ),
    "prefix": ("y[i] = simd_prefix_exclusive_sum((int)i);", lambda i: i * (i - 1) // 2),
    "prefix_inclusive": ("y[i] = simd_prefix_inclusive_sum(2);", lambda i: 2 * i + 2),
    "quad": ("y[i] = quad_max((int)i);", lambda i: i | 3),
    "shuffle": ("y[i] = simd_shuffle((int)i, 31 - i);", lambda i: 31 - i),
    "up": ("y[i] = simd_shuffle_up((int)i, 2);", lambda i: i - 2 if i >= 2 else i),
    "down": ("y[i] = simd_shuffle_down((int)i, 2);", lambda i: i + 2 if i < 30 else i),
    "xor": ("y[i] = simd_shuffle_xor((int)i, 5);", lambda i: i ^ 5),
    "rotated": ("y[i] = simd_shuffle_rotate_down((int)i, 3);", lambda i: (i + 3) % 32),
    "filled": ("y[i] = simd_shuffle_and_fill_up((int)i, -(int)i, 1);",
               lambda i: i - 1 if i else -31),
    "ballot": ("y[i] = (int)(ulong)simd_ballot(i % 3 == 0);", lambda i: 0x49249249),
    # Lanes leave a loop one by one; the sum is over those that are still there.
    "loop": (
        "int s = 0;\nLOOP\nfor (uint k = 0; k <= i; k++) {\nITER\ns += simd_sum(1);\n}\nEND_LOOP\n"
        "y[i] = s;",
        lambda i: sum(32 - k for k in range(i + 1)),
    ),
    # A call directly in front of a break: it belongs to the iteration, not to what follows.
    "before_break": (
        "int s = 0;\nLOOP\nfor (uint k = 0; k < 40; k++) {\nITER\nif (k == i) {\n"
        "s = simd_sum(1);\nbreak;\n}\n}\nEND_LOOP\ny[i] = s;",
        lambda i: 1,
    ),
    # Those that left the loop wait for the others.
    "after_break": (
        "LOOP\nfor (uint k = 0; k < 40; k++) {\nITER\nif (k == i) {\nbreak;\n}\n}\nEND_LOOP\n"
        "y[i] = simd_sum(1);",
        lambda i: 32,
    ),
    "continue_meets_at_the_end": (
        "int s = 0;\nLOOP\nfor (uint k = 0; k < 4; k++) {\nITER\nif (i % 4 == k) {\ncontinue;\n}\n"
        "s += simd_sum(1);\n}\nEND_LOOP\ny[i] = s;",
        lambda i: 3 * 24,
    ),
    "inner_loop": (
        "int s = 0;\nLOOP\nfor (uint k = 0; k < 2; k++) {\nITER\nLOOP\n"
        "for (uint m = 0; m < i % 2 + k; m++) {\nITER\ns += simd_sum(1);\n}\nEND_LOOP\n"
        "s += 100 * simd_sum(1);\n}\nEND_LOOP\ny[i] = s;",
        lambda i: 6400 + (16 + 32 + 16 if i % 2 else 32),
    ),
    "return": ("y[i] = -1;\nif (i % 2 == 1) {\nreturn;\n}\ny[i] = simd_sum(1);",
               lambda i: -1 if i % 2 else 16),
    "barrier": (
        "threadgroup int t[32];\nt[i] = (int)i;\nthreadgroup_barrier(mem_flags::mem_threadgroup);\n"
        "y[i] = t[31 - i] + t[0];",
        lambda i: 31 - i,
    ),
    "barriers_in_a_loop": (
        "threadgroup int t[32];\nt[i] = (int)i;\nfor (int k = 0; k < 3; k++) {\n"
        "threadgroup_barrier(mem_flags::mem_threadgroup);\nint v = t[(i + 1) % 32];\n"
        "threadgroup_barrier(mem_flags::mem_threadgroup);\nt[i] = v;\n}\ny[i] = t[i];",
        lambda i: (i + 3) % 32,
    ),
    "threadgroup_pointer": (
        "threadgroup int t[32];\nthreadgroup int* p = t + i;\n*p = 2 * (int)i;\ny[i] = t[i];",
        lambda i: 2 * i,
    ),
    "atomics": (
        "threadgroup atomic_uint n;\nif (i == 0) {\natomic_store_explicit(&n, 0u, "
        "memory_order_relaxed);\n}\nthreadgroup_barrier(mem_flags::mem_threadgroup);\n"
        "atomic_fetch_add_explicit(&n, i, memory_order_relaxed);\n"
        "threadgroup_barrier(mem_flags::mem_threadgroup);\n"
        "y[i] = (int)atomic_load_explicit(&n, memory_order_relaxed);",
        lambda i: 496,
    ),
}  # fmt: skip
LANES["all_of_some"] = (
    "int a = 0;\nif (i > 3) {\na = simd_all(i > 3);\na += 2 * simd_any(i < 3);\n}\ny[i] = a;",
    lambda i: int(i > 3),
)
LANES["first"] = (
    "int f = -1;\nif (i > 4) {\nf = simd_broadcast_first((int)i);\n"
    "f += simd_is_first();\n}\ny[i] = f;",
    lambda i: -1 if i < 5 else 5 + (i == 5),
)


def case_of(body: str, threads: int = 32, **more: object) -> Case:
    body = f"uint i = thread_position_in_grid.x;\n{body}\n"
    inputs = (Input("x", "int", np.arange(32, dtype=np.int32)),)
    outputs = (Output("y", "int", threads),)
    fields = {"grid": (threads, 1, 1), "threadgroup": (threads, 1, 1), **more}
    return Case("known", "known", 0, body, inputs, outputs, **fields)  # type: ignore[arg-type]


def run(cases: list[Case], folder: Path) -> list[Data]:
    compiled = Oracle(cases, folder)
    results = []
    for case in cases:
        arrays = Arrays(case)
        compiled.run(case, arrays)
        assert not arrays.damage()
        results.append(arrays.outputs[0])
    return results


@pytest.mark.parametrize("machine", [True, False], ids=["of the machine", "of the wheel"])
@pytest.mark.parametrize("table", [ARITHMETIC, LANES], ids=["arithmetic", "lanes"])
def test_known_results(table, machine, tmp_path, monkeypatch):
    """With the machine's compiler, and with the one that stands in where there is none."""
    if not machine:
        monkeypatch.setattr(oracle, "compiler", oracle.clang_of_the_wheel)
    cases = [Case(**{**case_of(body).__dict__, "name": name}) for name, (body, _) in table.items()]
    for (name, (_, expected)), got in zip(table.items(), run(cases, tmp_path), strict=True):
        assert got.tolist() == [expected(i) for i in range(32)], name


def test_positions(tmp_path):
    """Every attribute, in a grid with edges, against NumPy."""
    grid, group = (20, 5, 3), (8, 3, 2)
    names = (
        "thread_index_in_threadgroup", "simdgroup_index_in_threadgroup",
        "thread_index_in_simdgroup", "simdgroups_per_threadgroup", "threads_per_threadgroup.y",
        "threadgroup_position_in_grid.z", "thread_position_in_threadgroup.x",
        "threadgroups_per_grid.x", "dispatch_threads_per_threadgroup.x",
    )  # fmt: skip
    stores = "".join(f"y[i * {len(names)} + {k}] = {name};\n" for k, name in enumerate(names))
    gid = "uint3 p = thread_position_in_grid;\nuint i = p.x + 20 * (p.y + 5 * p.z);\n"
    case = Case(
        "positions", "known", 0, gid + stores, (), (Output("y", "uint", prod(grid) * len(names)),),
        grid, group,
    )  # fmt: skip
    (got,) = run([case], tmp_path)
    for number, found in enumerate(got.reshape(-1, len(names)).tolist()):
        at = (number % 20, number // 20 % 5, number // 100)
        place = [p // g for p, g in zip(at, group, strict=True)]
        inside = [p % g for p, g in zip(at, group, strict=True)]
        size = [min(g, n - p * g) for g, n, p in zip(group, grid, place, strict=True)]
        index = inside[0] + size[0] * (inside[1] + size[1] * inside[2])
        assert found == [
            index, index // 32, index % 32, -(-prod(size) // 32), size[1], place[2], inside[0], 3,
            8,
        ]  # fmt: skip


def test_template_and_atomic_outputs(tmp_path):
    body = "atomic_fetch_add_explicit(&y[i % 2], (T)N, memory_order_relaxed);"
    case = case_of(body, template=(("T", "int"), ("N", -3)), atomic=True)
    (got,) = run([case], tmp_path)
    assert got[:2].tolist() == [0x5A5A5A5A - 48] * 2


def test_text_that_is_no_cpp_is_an_error(tmp_path):
    with pytest.raises(OracleError, match="nonsense"):
        Oracle([case_of("nonsense;")], tmp_path)


def test_a_store_in_front_of_an_array_is_found():
    case = case_of("")
    arrays = Arrays(case)
    assert not arrays.damage()
    import ctypes

    ctypes.c_uint8.from_address(arrays.addresses[1] - 1).value = 0
    assert "array 1" in arrays.damage()


def test_arrays_start_as_asked():
    arrays = Arrays(case_of(""))
    assert arrays.inputs[0].tolist() == list(range(32))
    assert arrays.outputs[0].dtype == ELEMENTS["int"]
    assert (arrays.outputs[0] == 0x5A5A5A5A).all()
