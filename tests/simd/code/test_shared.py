"""What a processor without gathers or scatters does lane by lane: functions, if there is much."""

from __future__ import annotations

import re

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.targets.cpu.assemble import optimised
from anymetal.targets.cpu.llvm_target import machine_for
from tests.simd.full_width import Kernel
from tests.simd.test_full_width import vector_ir_of
from tests.simd.test_inactive_lanes import fresh_target as fresh_target
from tests.simd.test_inactive_lanes import use_level

THREADS = 100  #: so that there are gangs with inactive lanes


def body(gathers: int) -> str:
    """Loads at places that follow from data, of all threads and of some."""
    return (
        "uint i = thread_position_in_grid.x, j = k[i]; float sum = 0;\n"
        + "".join(f"sum += x[j & 1023]; j = j * 5 + {n};\n" for n in range(gathers // 2))
        + "if (k[i] & 1) {\n"
        + "".join(f"sum += x[j & 1023]; j = j * 5 + {n};\n" for n in range(gathers // 2))
        + "}\nout[i] = sum;"
    )


def expected(gathers: int, x: np.ndarray, k: np.ndarray) -> np.ndarray:
    j, total = k.copy(), np.zeros(len(k), np.float32)
    for half in (np.ones(len(k), bool), k & 1 == 1):
        for n in range(gathers // 2):
            total[half] += x[j[half] & 1023]
            j[half] = j[half] * np.uint32(5) + np.uint32(n)
    return total


def optimised_text(gathers: int, cpu: str) -> str:
    """The module that LLVM generates code of."""
    inputs = {"x": mx.zeros(1024), "k": mx.zeros(THREADS, mx.uint32)}
    kernel = Kernel(inputs, body(gathers), (THREADS, 1, 1), (32, 1, 1))
    return optimised(vector_ir_of(kernel, cpu), machine_for(cpu))


def gathers_in(text: str) -> int:
    """By addresses, which become 32 loads when LLVM generates code, or by 32 loads."""
    last = re.findall(r"insertelement <32 x float> .*, i64 31$", text, re.M)
    return len(last) + len(re.findall(r"call .*@llvm\.masked\.gather", text))


@pytest.mark.parametrize("cpu", ["x86-64-v2", "x86-64-v3", "aarch64"])
def test_many_gathers_are_calls_of_a_few_functions(cpu: str) -> None:
    text = optimised_text(80, cpu)
    functions = len(re.findall(r"^define .*@am\.shared\.(?:load|gather)\.", text, re.M))
    assert 0 < functions < 5
    assert gathers_in(text) == functions
    assert len(re.findall(r"call fastcc .*@am\.shared\.", text)) > 80


def test_few_are_where_they_are_needed() -> None:
    text = optimised_text(4, "x86-64-v2")
    assert "am.shared" not in text and gathers_in(text) >= 4


def test_processors_with_gathers_need_none_of_it() -> None:
    text = optimised_text(80, "x86-64-v4")
    assert "am.shared" not in text and gathers_in(text) > 80


@pytest.mark.parametrize(("cpu", "called"), [("x86-64-v3", True), ("x86-64-v4", False)])
def test_many_scatters_are_calls_where_there_are_none(cpu: str, called: bool) -> None:
    stores = "".join(f"out[j & 127] = i; j = j * 5 + {n};\n" for n in range(80))
    kernel = Kernel(
        {"k": mx.zeros(THREADS, mx.uint32)},
        f"uint i = thread_position_in_grid.x, j = k[i];\n{stores}",
        (THREADS, 1, 1),
        (32, 1, 1),
    )
    text = optimised(vector_ir_of(kernel, cpu), machine_for(cpu))
    scatters = len(re.findall(r"call .*@llvm\.masked\.scatter", text))
    functions = len(re.findall(r"^define .*@am\.shared\.store\.", text, re.M))
    assert (0 < scatters == functions < 5) if called else (functions == 0 and scatters >= 80)


@pytest.mark.parametrize("cpu", ["x86-64-v2", "x86-64-v3"])
@pytest.mark.parametrize("stores", [8, 80])
@pytest.mark.usefixtures("fresh_target")
def test_stored(stores: int, cpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each thread fills a row of its own at places that follow from data; half of the threads
    leave every other store out."""
    use_level(cpu, monkeypatch)
    k = np.random.default_rng(stores).integers(0, 1 << 32, THREADS, np.uint32)
    text = "".join(
        f"if ((k[i] & 1) || {n} % 2) row[j & 127] = {n}; j = j * 5 + {n};\n" for n in range(stores)
    )
    kernel = anymetal.metal_kernel(
        name=f"stores{stores}",
        input_names=["k"],
        output_names=["out"],
        source="uint i = thread_position_in_grid.x, j = k[i]; device float* row = out + i * 128;\n"
        + text,
    )
    (out,) = kernel(
        inputs=[mx.array(k)],
        grid=(THREADS, 1, 1),
        threadgroup=(32, 1, 1),
        output_shapes=[(THREADS, 128)],
        output_dtypes=[mx.float32],
        init_value=-1,
    )
    wanted = np.full((THREADS, 128), -1, np.float32)
    j = k.copy()
    for n in range(stores):
        some = (k & 1 == 1) | (n % 2 == 1)
        wanted[np.arange(THREADS)[some], j[some] & 127] = n
        j = j * np.uint32(5) + np.uint32(n)
    np.testing.assert_array_equal(np.array(out), wanted)


@pytest.mark.parametrize("gathers", [8, 80])
@pytest.mark.usefixtures("fresh_target")
def test_results(gathers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    use_level("x86-64-v2", monkeypatch)
    rng = np.random.default_rng(gathers)
    x = rng.integers(-50, 50, 1024).astype(np.float32)
    k = rng.integers(0, 1 << 32, THREADS, np.uint32)
    kernel = anymetal.metal_kernel(
        name=f"gathers{gathers}", input_names=["x", "k"], output_names=["out"], source=body(gathers)
    )
    (out,) = kernel(
        inputs=[mx.array(x), mx.array(k)],
        grid=(THREADS, 1, 1),
        threadgroup=(32, 1, 1),
        output_shapes=[(THREADS,)],
        output_dtypes=[mx.float32],
    )
    np.testing.assert_array_equal(np.array(out), expected(gathers, x, k))
