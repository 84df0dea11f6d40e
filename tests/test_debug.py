"""`ANYMETAL_DEBUG`: what each level tells."""

from __future__ import annotations

import platform
import re
import time

import mlx.core as mx
import pytest

import anymetal
from anymetal import debug, targets
from anymetal.ir.problem import Problem
from anymetal.targets.cpu import assemble, named_processors


@pytest.fixture(autouse=True)
def this_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one would be named."""
    monkeypatch.delenv("ANYMETAL_CPU", raising=False)


#: What the first line of each text looks like, from the level on which it is shown.
TEXTS = {
    1: r"anymetal: kernel `debugged` on the CPU, full SIMD-groups along x: compiled in \d+ ms "
    r"\(front end \d+, optimiser \d+, passes \d+, vectorizer \d+, "
    r"code generation \d+\)",
    2: r"anymetal: kernel `debugged`, Metal:\n\[\[kernel\]\] void custom_kernel_debugged",
    3: r"anymetal: kernel `debugged`, thread program:\nthread debugged\(",
    4: r"anymetal: kernel `debugged`, vector IR:\n; ModuleID",
    5: r"anymetal: kernel `debugged`, assembly:\n",
    6: r"anymetal: kernel `debugged`, changes: read:\n--- before",
}


def call(size: int = 64) -> None:
    """Of a kernel that no cache knows."""
    kernel = anymetal.metal_kernel(
        name="debugged",
        input_names=["x"],
        output_names=["y"],
        source=f"uint i = thread_position_in_grid.x; y[i] = x[i] + {time.time_ns()};",
    )
    for n in (size, 2 * size):
        outputs = kernel(
            inputs=[mx.zeros(1024)],
            grid=(n, 1, 1),
            threadgroup=(size, 1, 1),
            output_shapes=[(n,)],
            output_dtypes=[mx.float32],
        )
        mx.eval(outputs)


@pytest.mark.parametrize("level", range(7))
def test_levels(level: int, monkeypatch, capfd) -> None:
    monkeypatch.setenv("ANYMETAL_DEBUG", str(level))
    call()
    told = capfd.readouterr()
    shown = [number for number, text in TEXTS.items() if re.search(text, told.err)]
    assert shown == list(range(1, level + 1)), told.err
    assert told.out == ""
    assert ("passes in ms: " in told.err) == (level == 6)
    if level == 1:  # the second call is one of the same class
        assert told.err.splitlines()[1].endswith(": from memory")


def test_silence(monkeypatch, capfd) -> None:
    for value in ("", "0"):
        monkeypatch.setenv("ANYMETAL_DEBUG", value)
        call()
    monkeypatch.delenv("ANYMETAL_DEBUG")
    call()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("value", ["7", "-1", "1.5", "٣", "Version-Bounds", "coarsen,"])
def test_other_values_are_errors(value: str, monkeypatch) -> None:
    monkeypatch.setenv("ANYMETAL_DEBUG", value)
    with pytest.raises(ValueError, match=r"a level from 0 \(silent\) to 6 \(everything\), or"):
        call()


def test_a_call_that_is_at_hand_asks_for_no_level(monkeypatch) -> None:
    kernel = anymetal.metal_kernel(
        name="warm", input_names=[], output_names=["y"], source="y[0] = 1;"
    )

    def run() -> None:
        one = (1, 1, 1)
        kernel(
            inputs=[], grid=one, threadgroup=one, output_shapes=[(1,)], output_dtypes=[mx.float32]
        )

    run()
    monkeypatch.setattr(debug, "wanted", lambda: pytest.fail("asked"))
    run()


@pytest.mark.parametrize("name", ["predicate-loads", "coarsen", "keep-memory-order"])
def test_the_program_behind_a_pass(name: str, monkeypatch, capfd) -> None:
    monkeypatch.setenv("ANYMETAL_DEBUG", name)
    call()
    told = capfd.readouterr().err
    assert told.count(f"kernel `debugged`, behind {name}:\nthread debugged(") == 1
    assert ", changes" not in told and "Metal" not in told
    (times,) = re.findall(r"^anymetal: kernel `debugged`, passes in ms: (.*)$", told, re.MULTILINE)
    passes = [re.fullmatch(r"([a-z-]+) (\d+\.\d)", part) for part in times.split(", ")]
    assert name in [found[1] for found in passes if found]
    assert (longest := [float(found[2]) for found in passes if found])
    assert len(longest) == len(passes) and longest == sorted(longest, reverse=True)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("ANYMETAL_DEBUG", "no-such-pass"), ("ANYMETAL_PASSES", "-no-such-pass")],
)
def test_passes_that_there_are_not(variable: str, value: str, monkeypatch) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(
        ValueError, match=rf"{variable}: there is no pass 'no-such-pass', but .*coarsen"
    ):
        call()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="levels of x86-64")
def test_processors_whose_features_nobody_knows(monkeypatch) -> None:
    monkeypatch.setenv("ANYMETAL_CPU", "znver9")
    with pytest.raises(ValueError, match=r"ANYMETAL_CPU must be one of x86-64-v2, .*not 'znver9'"):
        call()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="levels of x86-64")
def test_processors_that_this_one_is_not(monkeypatch) -> None:
    monkeypatch.setenv("ANYMETAL_CPU", "neoverse-v1")
    with pytest.raises(ValueError, match=r"is 'neoverse-v1', but this processor lacks aarch64: "):
        call()
    monkeypatch.setattr(named_processors, "_LEVELS", {"x86-64-v9": "+cx16,+avx99"})
    with pytest.raises(ValueError, match=r"is 'x86-64-v9', but this processor lacks avx99: "):
        named_processors.expect_here("x86-64-v9")


def test_a_pass_that_is_no_optimisation(monkeypatch) -> None:
    monkeypatch.setenv("ANYMETAL_PASSES", "-scalarize")
    with pytest.raises(ValueError) as raised:
        call()
    start, _, others = str(raised.value).partition(", but without ")
    assert start == "ANYMETAL_PASSES: no kernel runs without 'scalarize'"
    assert "coarsen" in others.split(", ") and "scalarize" not in others


def test_text_that_llvm_refuses_is_shown(monkeypatch, capfd, no_helpers) -> None:
    monkeypatch.setenv("ANYMETAL_DEBUG", "4")

    def refuse(*_: object, **__: object) -> None:
        raise Problem("generated code is invalid")

    monkeypatch.setattr(assemble, "_made", refuse)
    with pytest.raises(anymetal.errors.CompilerError):
        call()
    assert "vector IR that LLVM refuses:\ntarget triple" in capfd.readouterr().err


def test_the_apple_target_tells_too(monkeypatch, capfd, target) -> None:
    from anymetal.targets import apple

    monkeypatch.setenv("ANYMETAL_DEBUG", "2")
    monkeypatch.setattr(apple, "mlx_metal_kernel", lambda **_: lambda **_: [mx.zeros(1)])
    targets.select(apple.AppleTarget())
    call()
    told = capfd.readouterr().err
    assert "kernel `debugged` on the GPU, through MLX" in told
    assert "kernel `debugged`, Metal:" in told
