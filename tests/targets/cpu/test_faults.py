"""Kernels that fault: what they read outside of their arrays is 0, what they write there is lost,
and whoever runs them is told where.

What comes out is compared with NumPy, by the rules of robust buffer access. Stray addresses are far
away (`FAR` bytes), where nothing is mapped, so that the build without bounds checks faults.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass, field
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal import kernel as kernels
from anymetal.errors import KernelMemoryError, StrayAccessWarning
from anymetal.runtime.bridge import loader
from anymetal.targets.cpu import faults
from anymetal.targets.cpu.variant import gang_width
from tests.graph.kernels import answer, run

FAR = "(1l << 43)"  #: elements
_numbers = itertools.count()


@pytest.fixture(params=["graph", "at once"])
def way(request, monkeypatch, built_bridge):
    """With and without the bridge to MLX."""
    if request.param == "at once":
        monkeypatch.setattr(loader, "native", lambda: None)
    return request.param


@dataclass
class Case:
    """A kernel, whose threads have their number in `i`, and what it should give."""

    name: str
    body: str
    inputs: list[Any]
    expected: Any
    told: str  #: a part of the warning or error
    header: str = ""
    threads: int = 64
    threadgroup: int = 64
    init: float | None = 7
    options: dict[str, Any] = field(default_factory=dict)

    def run(self, number: int) -> np.ndarray:
        """What comes out. The number makes it a kernel of its own: what has been told of a kernel
        is not told again."""
        names = ["x", "y", "z"][: len(self.inputs)]
        body = f"uint i = thread_position_in_grid.x; // {number}\n{self.body}"
        kernel = anymetal.metal_kernel(
            self.name, names, ["out"], body, header=self.header, **self.options
        )
        given = [mx.array(a) if isinstance(a, np.ndarray) else a for a in self.inputs]
        expected = np.asarray(self.expected)
        (out,) = kernel(
            inputs=given,
            output_shapes=[expected.shape],
            output_dtypes=[getattr(mx, str(expected.dtype))],
            grid=(self.threads, 1, 1),
            threadgroup=(self.threadgroup, 1, 1),
            init_value=self.init,
        )
        mx.eval(out)
        return np.array(out)


I = np.arange(64)  # noqa: E741  (the numbers of threads)
X = (I + 1).astype(np.float32)
ONE = np.where(I == 17, 0, X)


def read_cases() -> list[Case]:
    half, wide = X.astype(np.float16), np.arange(256, dtype=np.float32).reshape(64, 4)
    bytes_ = np.frombuffer(X.tobytes(), np.uint8)
    two = np.where(I % 2 == 0, X, X * 2)
    rows = np.arange(64 * 8, dtype=np.float32).reshape(64, 8)
    sums = rows.sum(1)
    tile = np.roll(X, -1)
    return [
        Case("above", f"out[i] = x[i == 17 ? i + {FAR} : i];", [X], ONE,
             "`x` has 64 elements; thread (17, 0, 0) of threadgroup (0, 0, 0) read element "
             f"{(1 << 43) + 17} at source:2:10"),
        Case("below", f"out[i] = x[i == 17 ? i - {FAR} : i];", [X], ONE,
             f"read element {17 - (1 << 43)} at source:2:10"),
        Case("every_thread", f"out[i] = x[i + {FAR}] + 1;", [X], np.ones(64, np.float32),
             "In all, 64 reads"),
        Case("uniform", f"out[i] = x[{FAR}] + x[i];", [X], X, f"thread (0, 0, 0) of threadgroup "
             f"(0, 0, 0) read element {1 << 43} at"),
        Case("short", f"out[i] = x[i == 17 ? i + {FAR} : i];", [half],
             np.where(I == 17, 0, half).astype(np.float16), f"element {(1 << 43) + 17}"),
        Case("vectors", f"const device float4* v = (const device float4*)x; "
             f"((device float4*)out)[i] = v[i == 17 ? i + {FAR} : i];", [wide],
             np.where(I[:, None] == 17, 0, wide),
             f"`x` has 256 elements (shape (64, 4)); thread (17, 0, 0) of threadgroup (0, 0, 0) "
             f"read element {(1 << 45) + 68}"),
        # The last vector is half in the array: each component goes by itself.
        Case("half_a_vector", f"out[i] = x[i == 3 ? {FAR} : 0]; "
             "float4 v = *(const device float4*)(x + 62); out[60 + i % 4] = v[i % 4];", [X],
             np.where(I == 3, 0, np.where(I < 60, X[0], np.array([X[62], X[63], 0, 0])[I % 4]))
             .astype(np.float32), "`x` has 64 elements", threads=64),
        Case("bytes", f"const device uint8_t* b = (const device uint8_t*)x; "
             f"out[i] = b[i == 17 ? i + {FAR} : i + 0l];", [X],
             np.where(I == 17, 0, bytes_[:64]).astype(np.float32),
             f"byte {(1 << 43) + 17} (element {(1 << 41) + 4})"),
        Case("two_arrays", f"const device float* p = i % 2 == 0 ? x : y; "
             f"out[i] = p[i == 17 ? i + {FAR} : i];", [X, X * 2], np.where(I == 17, 0, two),
             "`y` has 64 elements; thread (17, 0, 0)"),
        Case("in_a_loop", f"float s = 0; for (int k = 0; k < 8; ++k) "
             f"s += x[i * 8 + k + (i == 17 && k == 3 ? {FAR} : 0)]; out[i] = s;", [rows],
             np.where(I == 17, sums - rows[:, 3], sums), f"element {17 * 8 + 3 + (1 << 43)}"),
        Case("a_walking_pointer", f"const device float* p = x + i * 8; float s = 0; "
             f"for (int k = 0; k < 8; ++k, ++p) s += *(k == 5 && i == 17 ? p + {FAR} : p); "
             "out[i] = s;", [rows], np.where(I == 17, sums - rows[:, 5], sums), "read element"),
        Case("in_the_header", f"out[i] = get(x, i == 17 ? i + {FAR} : i);", [X], ONE,
             "at header:2:10", header="float get(const device float* p, long at) {\n"
             "  return p[at];\n}\n"),
        Case("edge_of_the_grid", f"out[i] = x[i == 33 ? i + {FAR} : i];", [X],
             np.where(I >= 40, 7, np.where(I == 33, 0, X)).astype(np.float32),
             "thread (33, 0, 0) of threadgroup (1, 0, 0)", threads=40, threadgroup=24),
        Case("behind_a_barrier", "threadgroup float t[64]; "
             "uint k = thread_position_in_threadgroup.x; t[k] = x[i]; "
             "threadgroup_barrier(mem_flags::mem_threadgroup); "
             f"out[i] = t[(k + 1) % 64] + (i == 17 ? x[i + {FAR}] : 0);", [X], tile, "`x`"),
        Case("from_threadgroup_memory", "threadgroup float t[64]; "
             "uint k = thread_position_in_threadgroup.x; t[k] = x[i]; "
             "threadgroup_barrier(mem_flags::mem_threadgroup); "
             f"out[i] = t[k == 17 ? k + {FAR} : k];", [X], ONE,
             "threadgroup `t` has 64 elements; thread (17, 0, 0)"),
        Case("from_a_private_array",
             "float own[8]; for (int k = 0; k < 8; ++k) own[k] = x[i] + k; "
             f"out[i] = own[i == 17 ? i + {FAR} : x[i] < 0 ? 1 : 0];", [X], ONE,
             "private `own` has 8 elements"),
        Case("from_a_table", f"out[i] = table[i == 17 ? i + {FAR} : i % 4];", [X],
             np.where(I == 17, 0, np.array([3, 1, 4, 1])[I % 4]).astype(np.float32),
             "constant `table` has 4 elements",
             header="constant float table[4] = {3, 1, 4, 1};\n"),
        Case("a_pointer_in_memory", "const device float* p[2] = {x, y}; int which = x[i]; "
             f"out[i] = p[which & 1][i == 17 ? i + {FAR} : i];", [X, X * 2],
             np.where(I == 17, 0, np.where(X.astype(int) & 1, X * 2, X)), "thread (17, 0, 0)"),
        Case("null", "const device float* p = x; "
             "if (i == 17) p = (const device float*)(ulong)y[0]; "
             "out[i] = p[i == 17 ? 0 : i];", [X, np.zeros(9, np.uint64)], ONE,
             "thread (17, 0, 0) of threadgroup (0, 0, 0) read address 0x0, where no array is"),
        Case("shape", f"out[i] = x_shape[i == 17 ? i + {FAR} : 1];", [rows],
             np.where(I == 17, 0, 8).astype(np.int32), "`x_shape` has 2 elements"),
        Case("strided", f"out[i] = x[long(i) * x_strides[0] + (i == 17 ? {FAR} : 0)] "
             "+ x[long(i) * x_strides[0] + 7 * x_strides[1]];",
             [lambda: mx.array(rows)[:, ::-1]],
             np.where(I == 17, 0, rows[:, 7]) + rows[:, 0], "`x` has 512 elements (shape (64, 8))",
             options={"ensure_row_contiguous": False}),
        Case("broadcast", f"out[i] = x[i == 17 ? {FAR} : 0] + (i == 5 ? x[8] : 0);",
             [lambda: mx.broadcast_to(mx.array([5.0]), (64,))],
             np.where(I == 17, 0, 5).astype(np.float32), "`x` has 64 elements",
             options={"ensure_row_contiguous": False}),
        Case("an_empty_array", f"out[i] = x[i] + x[{FAR}] + y[i];",
             [lambda: mx.zeros((0, 3)), X], X, "`x` has 0 elements (shape (0, 3))"),
        Case("atomic_load", "out[i] = atomic_load_explicit((const device atomic_uint*)x + "
             f"(i == 17 ? i + {FAR} : i), memory_order_relaxed);", [X.astype(np.uint32)],
             ONE.astype(np.uint32), "read element"),
        Case("of_a_struct",
             f"out[i] = ((const device Pair*)x)[i == 17 ? i + {FAR} : i % 32].b;", [X],
             np.where(I == 17, 0, X[1::2][I % 32]), "`x` has 64 elements",
             header="struct Pair { float a, b; };\n"),
        Case("simd_sum", f"out[i] = simd_sum(x[i == 17 ? i + {FAR} : i]);", [X],
             np.where(I < 32, ONE[:32].sum(), X[32:].sum()).astype(np.float32), "`x`"),
    ]  # fmt: skip


def write_cases() -> list[Case]:
    kept = np.where(I == 17, 7, X).astype(np.float32)
    zero = np.zeros(64, np.int32)
    return [
        Case("store_above", f"out[i == 17 ? i + {FAR} : i] = x[i];", [X], kept,
             "`out` has 64 elements; thread (17, 0, 0) of threadgroup (0, 0, 0) wrote element "
             f"{(1 << 43) + 17} at source:2:"),
        Case("store_below", f"out[i == 17 ? i - {FAR} : i] = x[i];", [X], kept,
             f"wrote element {17 - (1 << 43)}"),
        Case("store_half", f"out[i == 17 ? i + {FAR} : i] = x[i];", [X.astype(np.float16)],
             kept.astype(np.float16), "wrote element"),
        Case("store_half4", f"((device half4*)out)[i == 7 ? i + {FAR} : i] = half4(x[i]);",
             [X.astype(np.float16)[:16]],
             np.repeat(np.where(I[:16] == 7, 7, X[:16]), 4).astype(np.float16),
             "`out` has 64 elements; thread (7, 0, 0)", threads=16, threadgroup=16),
        Case("store_bytes", f"((device uint8_t*)out)[i == 17 ? i + {FAR} : i] = i;", [X],
             np.frombuffer(np.where(I == 17, 7, I).astype(np.uint8).tobytes(), np.uint8),
             "wrote element"),
        Case("add", "atomic_fetch_add_explicit((device atomic_int*)out + (i == 17 ? "
             f"i + {FAR} : i % 8), 1, memory_order_relaxed);", [X],
             zero + np.where(I < 8, 8, 0).astype(np.int32) - (I == 1).astype(np.int32),
             "updated element", init=0),
        Case("add_floats", "atomic_fetch_add_explicit((device atomic_float*)out + (i == 17 ? "
             f"i + {FAR} : i % 8), 1.0f, memory_order_relaxed);", [X],
             (np.where(I < 8, 8, 0) - (I == 1)).astype(np.float32), "updated element", init=0),
        Case("old_value", "out[i] = atomic_fetch_max_explicit((device atomic_int*)out + (i == 17 ? "
             f"i + {FAR} : i + 64), 5, memory_order_relaxed);", [X],
             np.concatenate([np.where(I == 17, 0, 7), np.full(64, 7)]).astype(np.int32),
             "updated element"),
        Case("exchange", "int was = 7; bool done = atomic_compare_exchange_weak_explicit("
             f"(device atomic_int*)out + (i == 17 ? i + {FAR} : i), &was, 9, memory_order_relaxed, "
             "memory_order_relaxed); if (i == 17) out[i] = was + (done ? 100 : 0);", [X],
             np.where(I == 17, 0, 9).astype(np.int32), "updated element"),
        Case("into_threadgroup_memory", "threadgroup float t[64]; "
             "uint k = thread_position_in_threadgroup.x; t[k] = -1; simdgroup_barrier("
             f"mem_flags::mem_threadgroup); t[k == 17 ? k + {FAR} : k] = x[i]; "
             "threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = t[k];", [X],
             np.where(I == 17, -1, X).astype(np.float32), "threadgroup `t` has 64 elements"),
        Case("into_a_private_array", "float own[4] = {1, 2, 3, 4}; int k = x[i]; "
             f"own[i == 17 ? k + {FAR} : k % 4] = 9; out[i] = own[0] + own[1] + own[2] + own[3];",
             [X], np.where(I == 17, 10, 19 - np.array([1, 2, 3, 4])[(I + 1) % 4])
             .astype(np.float32), "private `own` has 4 elements"),
        Case("both", f"out[i == 17 ? i + {FAR} : i] = x[i == 3 ? i + {FAR} : i];", [X],
             np.where(I == 17, 7, np.where(I == 3, 0, X)).astype(np.float32),
             "In all, 1 read and 1 write"),
    ]  # fmt: skip


READS = {case.name: case for case in read_cases()}
WRITES = {case.name: case for case in write_cases()}
for _case in (*READS.values(), *WRITES.values()):
    _case.inputs = [a() if callable(a) else a for a in _case.inputs]


CASES = READS | WRITES


@pytest.fixture
def at_once(monkeypatch):
    """From here on kernels run in the call, without the bridge to MLX."""

    def turn_off() -> None:
        monkeypatch.setattr(loader, "native", lambda: None)
        monkeypatch.setattr(faults, "_told", set())
        kernels._made.cache_clear()  # of the kernel that knows the bridge

    return turn_off


@pytest.mark.parametrize("name", CASES)
def test_reads_give_0_and_writes_do_nothing(name, at_once, monkeypatch, built_bridge):
    case, number = CASES[name], next(_numbers)
    if name in WRITES:
        with pytest.raises(KernelMemoryError) as raised:
            case.run(number)
        assert case.told in str(raised.value)
        monkeypatch.setenv("ANYMETAL_FAULTS", "recover")
    for turn in (lambda: None, at_once):
        turn()
        with pytest.warns(StrayAccessWarning) as told:
            found = case.run(number)
        assert case.told in str(told[0].message) and len(told) == 1
        assert str(told[0].message).startswith(f"kernel `{name}`: ")
        np.testing.assert_array_equal(found, case.expected)


#: It shares the checks with the vectorized build, so a few will do.
SCALAR = ("two_arrays", "from_a_private_array", "behind_a_barrier", "exchange", "both")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in SCALAR else pytest.mark.slow) for n in CASES]
)
def test_the_scalar_build_agrees(name, monkeypatch):
    case = CASES[name]
    monkeypatch.setenv("ANYMETAL_FAULTS", "recover")
    with gang_width(1), pytest.warns(StrayAccessWarning) as told:
        found = case.run(next(_numbers))
    assert case.told in str(told[0].message)
    np.testing.assert_array_equal(found, case.expected)


# ------------------------------------------------------------------------------- what is told


def warned(case: Case, number: int) -> list[str]:
    """The warnings of a launch that comes out right."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        np.testing.assert_array_equal(case.run(number), case.expected)
    return [str(one.message) for one in told if one.category is StrayAccessWarning]


def test_each_line_is_told_once(way):
    number = next(_numbers)
    assert len(warned(READS["above"], number)) == 1
    assert warned(READS["above"], number) == warned(READS["above"], number) == []
    # The same kernel, with a stray access on another line.
    other = Case("above", f"long k = i == 18 ? i + {FAR} : i;\nout[i] = x[k];", [X],
                 np.where(I == 18, 0, X), "")  # fmt: skip
    assert len(warned(other, number)) == 1


def test_a_warning_that_is_an_error_is_one_each_time(way):
    number = next(_numbers)
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("error", StrayAccessWarning)
            with pytest.raises(StrayAccessWarning, match="read element"):
                READS["above"].run(number)
    assert len(warned(READS["above"], number)) == 1


def test_reads_raise_if_that_is_asked_for(way, monkeypatch):
    number = next(_numbers)
    monkeypatch.setenv("ANYMETAL_FAULTS", "raise")
    for _ in range(3):
        with pytest.raises(KernelMemoryError, match="`x` has 64 elements; thread"):
            READS["above"].run(number)
    monkeypatch.delenv("ANYMETAL_FAULTS")
    assert len(warned(READS["above"], number)) == 1


def test_debugging_tells_of_the_second_build(way, monkeypatch, capsys):
    monkeypatch.setenv("ANYMETAL_DEBUG", "1")
    assert len(warned(READS["above"], next(_numbers))) == 1
    lines = capsys.readouterr().err.splitlines()
    assert ["with bounds checks" in line for line in lines] == [False, True]


def test_a_mode_that_does_not_exist(way, monkeypatch):
    monkeypatch.setenv("ANYMETAL_FAULTS", "ignore")
    with pytest.raises(ValueError, match="must be recover or raise, not 'ignore'"):
        READS["above"].run(next(_numbers))


def test_a_write_is_told_before_reads(way):
    case = Case("both", f"out[i == 40 ? i + {FAR} : i] = x[i + {FAR}];", [X], X, "")
    with pytest.raises(
        KernelMemoryError, match=r"`out` .* thread \(40, 0, 0\) .* 64 reads and 1 w"
    ):
        case.run(next(_numbers))


def test_the_thread_with_the_lowest_number_is_told(way):
    """In three dimensions, of many threadgroups on several processors."""
    kernel = anymetal.metal_kernel(
        "many", ["x"], ["out"],
        f"uint3 p = thread_position_in_grid; uint i = (p.z * 30 + p.y) * 50 + p.x; "
        f"out[i] = x[p.y >= 7 && p.x > 3 && p.z > 0 ? i + {FAR} : i]; // {next(_numbers)}",
    )  # fmt: skip
    with pytest.warns(StrayAccessWarning) as told:
        (out,) = kernel(
            inputs=[mx.ones((20, 30, 50))],
            output_shapes=[(20, 30, 50)],
            output_dtypes=[mx.float32],
            grid=(50, 30, 20),
            threadgroup=(8, 4, 2),
        )
        mx.eval(out)
    assert "thread (4, 7, 1) of threadgroup (0, 1, 0)" in str(told[0].message)
    assert "(shape (20, 30, 50))" in str(told[0].message)
    assert f"In all, {19 * 23 * 46} reads" in str(told[0].message)
    assert int((np.array(out) == 0).sum()) == 19 * 23 * 46


def test_a_kernel_that_has_faulted_begins_with_bounds_checks(way, monkeypatch):
    """They find near misses, which would not fault."""
    case = Case("near", "out[i] = x[i + long(y[0])] + 1;", [X, np.full(8, 2.0**43, np.float32)],
                np.ones(64, np.float32), "")  # fmt: skip
    number = next(_numbers)
    assert len(warned(case, number)) == 1
    monkeypatch.setenv("ANYMETAL_FAULTS", "raise")
    case.inputs[1] = np.full(8, 64, np.float32)
    with pytest.raises(KernelMemoryError, match="read element 64 at"):
        case.run(number)
    case.inputs[1] = np.full(8, -1, np.float32)
    with pytest.raises(
        KernelMemoryError, match=r"thread \(0, 0, 0\).* read element -1 at .* 1 read "
    ):
        case.run(number)


def test_a_fault_of_one_launch_leaves_others_alone(way):
    """Inputs decide; good launches stay right, before and behind a bad one."""
    kernel = anymetal.metal_kernel(
        "by_input", ["x", "at"], ["out"],
        f"uint i = thread_position_in_grid.x; out[i] = x[i + at[0]]; // {next(_numbers)}",
    )  # fmt: skip

    def launch(at: int) -> mx.array:
        return kernel(
            inputs=[mx.array(X), mx.array([at] * 8, mx.int64)],
            output_shapes=[(64,)],
            output_dtypes=[mx.float32],
            grid=(64, 1, 1),
            threadgroup=(64, 1, 1),
        )[0]

    with pytest.warns(StrayAccessWarning):
        outputs = [launch(at) for at in (0, 1 << 43, 0, -(1 << 43), 0)]
        mx.eval(outputs)
    for number, out in enumerate(outputs):
        np.testing.assert_array_equal(np.array(out), X if number % 2 == 0 else 0 * X)


def test_a_program_ends_while_a_fault_is_looked_into(built_bridge):
    """However far that has come: the thread that asks Python for it does not keep the program."""
    body = f"out[i] = x[i + {FAR}]; // {next(_numbers)}"
    for pause in (0, 0.01, 0.1, 1):
        text = (
            "import warnings; warnings.simplefilter('ignore')\n"
            f"mx.async_eval(run(kernel('leaver', {body!r}), x))\ntime.sleep({pause})\n"
        )
        assert answer(text) == []


def test_whoever_waits_for_a_fault_and_keeps_python_to_himself(built_bridge, tmp_path):
    """mx.save keeps the GIL as it evaluates: a fault is an error then, nobody waits for ever."""
    kernel = anymetal.metal_kernel(
        "saved", ["x"], ["out"],
        f"uint i = thread_position_in_grid.x; out[i] = x[i + {FAR}] + 1; // {next(_numbers)}",
    )  # fmt: skip
    with pytest.raises(KernelMemoryError, match="`saved` was stopped by a segmentation fault"):
        mx.save(str(tmp_path / "lost.npy"), run(kernel, mx.ones(8))[0])
    with pytest.warns(StrayAccessWarning, match="8 reads"):
        assert run(kernel, mx.ones(8))[0].tolist() == [1] * 8
    # From now on nothing is left to be told, and nobody asks Python.
    mx.save(str(tmp_path / "kept.npy"), run(kernel, mx.ones(8))[0])
    assert np.load(tmp_path / "kept.npy").tolist() == [1] * 8
