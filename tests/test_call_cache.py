"""Calls like earlier ones: they are made without checks, and come to the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal import arguments, targets
from anymetal import kernel as kernels
from anymetal.errors import AnyMetalWarning
from anymetal.runtime.bridge import loader
from anymetal.targets import graph
from anymetal.targets.apple import AppleTarget
from anymetal.targets.cpu import plan
from anymetal.targets.cpu.variant import Variant, gang_width
from tests.graph.kernels import answer, kernel

TWICE = "out[i] = T(2) * x[i] + K * T(i);"


def made(body: str = TWICE, **options: Any) -> anymetal.MetalKernel:
    """A kernel that knows of no call yet."""
    kernels._made.cache_clear()
    return kernel("recent", body, **options)


def call(size: int = 16, **changes: Any) -> dict[str, Any]:
    """Arguments of a call, made anew."""
    return {
        "inputs": [mx.arange(size).astype(mx.float32)],
        "output_shapes": [(size,)],
        "output_dtypes": [mx.float32],
        "grid": (size, 1, 1),
        "threadgroup": (16, 1, 1),
        "template": [("T", mx.float32), ("K", 1)],
        **changes,
    }


@pytest.fixture
def checks(monkeypatch) -> list[object]:
    """Fills with an entry for each call that is checked."""
    checked: list[object] = []
    original = arguments.shapes

    def shapes(value: object) -> list[tuple[int, ...]]:
        checked.append(value)
        return original(value)

    monkeypatch.setattr(arguments, "shapes", shapes)
    return checked


def test_a_call_like_an_earlier_one_is_not_checked(checks):
    twice = made()
    for factor in range(4):
        x = mx.arange(16).astype(mx.float32) * factor
        (out,) = twice(**call(inputs=[x]))
        assert out.tolist() == [2 * factor * i + i for i in range(16)]
    assert len(checks) == 1


NUMBERS = "out[i] = x[i] + float(n);"


def plus(number: object) -> dict[str, Any]:
    """Arguments of a call with a number among its inputs."""
    return {**call(inputs=[mx.arange(16).astype(mx.float32), number]), "template": None}


@pytest.mark.parametrize(
    "numbers",
    [(1.5, -0.0, 1e-30, float("nan")), (3, -7, 2**31 - 1), (True, False), (2**31, -(2**40))],
)
def test_numbers_among_the_inputs_may_differ(checks, numbers):
    kernels._made.cache_clear()
    added = kernel("added", NUMBERS, ["x", "n"])
    for number in numbers:
        (out,) = added(**plus(number))
        np.testing.assert_array_equal(out, np.arange(16, dtype=np.float32) + np.float32(number))
    assert len(checks) == 1


def test_numbers_of_other_types_are_other_calls(checks):
    kernels._made.cache_clear()
    added = kernel("added", NUMBERS, ["x", "n"])
    for number in (1.0, 1, True, 2**40):
        for _ in range(2):
            (out,) = added(**plus(number))
            assert out.tolist() == [float(np.float32(i) + np.float32(number)) for i in range(16)]
    assert len(checks) == 4
    with pytest.raises(RuntimeError, match="does not fit in 64 bits"):
        added(**plus(2**63))


@pytest.mark.parametrize(
    "changes",
    [
        {"output_shapes": ([16],)},
        {"output_dtypes": (mx.float32,)},
        {"grid": [16, 1, 1], "threadgroup": [16, 1, 1]},
        {"template": (["T", mx.float32], ["K", 1])},
        {"inputs": (mx.ones(16),)},
        {"init_value": None, "stream": None, "verbose": False, "ensure_row_contiguous": None},
    ],
)
def test_other_words_for_the_same_call(checks, changes):
    twice = made()
    expected = twice(**call(**changes))[0].tolist()
    assert twice(**call(inputs=changes.get("inputs", call()["inputs"])))[0].tolist() == expected
    assert twice(**call(**changes))[0].tolist() == expected
    assert len(checks) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"inputs": [mx.ones((4, 4))]},
        {"inputs": [mx.ones(16, mx.float16)]},
        {"output_shapes": [(4, 4)]},
        {"output_dtypes": [mx.int32]},
        {"grid": (15, 1, 1)},
        {"threadgroup": (8, 1, 1)},
        {"template": [("T", mx.float32), ("K", True)]},
        {"template": [("T", mx.int32), ("K", 1)]},
        {"init_value": 3.0},
        {"stream": mx.cpu},
    ],
)
def test_another_call(checks, changes):
    twice = made()
    mx.eval(twice(**call()))
    assert len(checks) == 1
    (out,) = twice(**call(**changes))
    (anew,) = made()(**call(**changes))
    used = changes.get("grid", (16,))[0]
    assert (out.shape, out.dtype) == (anew.shape, anew.dtype)
    assert out.flatten()[:used].tolist() == anew.flatten()[:used].tolist()
    assert len(checks) == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grid": (16.0, 1, 1)}, "`grid` must hold integers, got 16.0"),
        ({"threadgroup": (16, 1)}, "`threadgroup` must be three integers"),
        ({"output_shapes": [(16.0,)]}, "must hold integers"),
        ({"output_shapes": {(16,): 0}}, "`output_shapes` must be a list or tuple"),
        ({"inputs": mx.ones(16)}, None),
        ({"inputs": [None]}, r"`inputs\[0\]` is None"),
        ({"inputs": None}, "`inputs` must be a list or tuple"),
        ({"verbose": None}, "`verbose` must be True or False"),
        ({"color": None}, "unexpected keyword argument 'color'"),
    ],
)
def test_what_is_wrong_stays_wrong(changes, message):
    """Numbers of another type are equal, and still not the same."""
    twice = made()
    mx.eval(twice(**call()))
    errors = (TypeError,) if message else (TypeError, ValueError)
    with pytest.raises(errors, match=message):
        twice(**call(**changes))


def test_nothing_may_be_left_out_or_added():
    twice = made()
    mx.eval(twice(**call()))
    for name in ("inputs", "output_shapes", "output_dtypes", "grid", "threadgroup"):
        arguments_but_one = {key: value for key, value in call().items() if key != name}
        with pytest.raises(TypeError, match=name):
            twice(**arguments_but_one)
    with pytest.raises(TypeError, match="positional"):
        twice(1, **call())


def test_arguments_that_change_afterwards():
    twice, mutable = made(), call(grid=[16, 1, 1], output_shapes=[[16]])
    mx.eval(twice(**mutable))
    mutable["grid"][0], mutable["output_shapes"][0][0] = 8, 8
    assert twice(**mutable)[0].tolist() == [3 * i for i in range(8)]
    assert twice(**call(grid=[16, 1, 1]))[0].tolist() == [3 * i for i in range(16)]


def test_values_that_are_equal_in_python_only():
    """0 and -0, and the default, are three things to fill an output with."""
    nothing = made("if (i > 99) out[i] = x[i];")
    for value, expected in ((0.0, 1.0), (-0.0, -1.0), (0.0, 1.0), (False, 1.0), (-0.0, -1.0)):
        (out,) = nothing(**call(template=None, init_value=value))
        assert np.copysign(1.0, np.array(out)).tolist() == [expected] * 16


def test_inputs_that_are_no_arrays(checks):
    twice = made("out[i] = 2 * x;")
    for value in (3, 4.0, np.float32(5)):
        for _ in range(2):
            (out,) = twice(**call(1, inputs=[value], template=None))
            assert out.item() == 2 * value
    assert len(checks) == 4  # NumPy's are looked at each time


def test_many_kinds_of_calls(checks):
    """The latest few are kept."""
    twice = made()
    for _ in range(2):
        for size in range(1, 40):
            assert twice(**call(size))[0].tolist() == [3 * i for i in range(size)]
    assert len(checks) == 78
    for size in range(30, 40):
        mx.eval(twice(**call(size)))
    assert len(checks) == 78


def test_verbose_prints_each_time(capfd):
    twice = made()
    mx.eval(twice(**call()))
    for _ in range(2):
        mx.eval(twice(**call(verbose=True)))
        assert "Generated source code for `recent`" in capfd.readouterr().out


def test_a_warning_in_each_call():
    twice = made()
    for _ in range(2):
        with pytest.warns(AnyMetalWarning, match="ensure_row_contiguous"):
            twice(**call(ensure_row_contiguous=True))


def test_strided_inputs():
    twice = made()
    for x in (mx.arange(16), mx.arange(32)[::2], mx.arange(16)[::-1], mx.array(3)):
        x = mx.broadcast_to(x, (16,)).astype(mx.float32) if x.ndim == 0 else x.astype(mx.float32)
        (out,) = twice(**call(inputs=[x]))
        assert out.tolist() == [2 * value + i for i, value in enumerate(x.tolist())]


def test_streams(checks):
    twice, stream = made(), mx.new_stream(mx.cpu)
    for _ in range(2):
        assert twice(**call(stream=stream))[0].tolist() == [3 * i for i in range(16)]
    assert len(checks) == 1
    assert twice(**call(stream=mx.new_stream(mx.cpu)))[0].tolist() == [3 * i for i in range(16)]
    assert len(checks) == 2


def test_compiled_and_differentiated():
    twice, lifted = made(), made(vmap="batch")
    x = mx.ones(16)

    def run(x: mx.array, of: anymetal.MetalKernel = twice) -> mx.array:
        return of(**call(inputs=[x]))[0]

    for _ in range(2):
        expected = run(x).tolist()
        assert mx.compile(run)(x).tolist() == expected
        with pytest.raises(ValueError, match=r"\[Primitive::vjp\] Not implemented"):
            mx.grad(lambda x: run(x).sum())(x)
        with pytest.raises(ValueError, match=r"\[Primitive::vmap\] Not implemented"):
            mx.eval(mx.vmap(run)(mx.ones((3, 16))))
        assert mx.vmap(lambda x: run(x, lifted))(mx.ones((3, 16))).tolist() == [expected] * 3
        assert run(x, lifted).tolist() == expected


def test_exported_after_a_call(tmp_path):
    twice, x = made(), mx.ones(16)
    mx.eval(twice(**call(inputs=[x])))
    path = str(tmp_path / "twice.mlxfn")
    mx.export_function(path, lambda x: twice(**call(inputs=[x]))[0], x)
    assert b"CustomKernel" in (tmp_path / "twice.mlxfn").read_bytes()
    (out,) = anymetal.import_function(path)(x)
    assert out.tolist() == twice(**call(inputs=[x]))[0].tolist()


def test_another_target_or_gang_width(target, checks):
    """The recording target answers with zeros."""
    targets.select(None)
    twice = made()
    expected = [3 * i for i in range(16)]
    assert twice(**call())[0].tolist() == expected
    targets.select(target)
    assert twice(**call())[0].tolist() == [0] * 16
    targets.select(None)
    assert twice(**call())[0].tolist() == expected
    with gang_width(1):
        assert twice(**call())[0].tolist() == expected
    assert twice(**call())[0].tolist() == expected
    assert len(checks) == 5
    assert AppleTarget().keep(None, target.launch, ((), call(), {})) is None


@pytest.fixture
def while_it_is_called(monkeypatch):
    """Has something done each time that a call of a new kernel, found among those that were kept,
    runs Python: what a signal handler or another thread may do there."""
    actions: list[Callable[[], object]] = []

    def ignored_interrupts() -> int:
        if actions:
            actions.pop()()
        return 0

    monkeypatch.setattr("anymetal.targets.cpu.launch.ignored_interrupts", ignored_interrupts)
    return actions.append


def test_another_call_of_the_kernel_in_the_midst_of_a_call(while_it_is_called):
    twice, expected = made(), {k: [2 * i + k * i for i in range(16)] for k in range(3)}
    calls = {k: call(template=[("T", mx.float32), ("K", k)]) for k in range(3)}
    for k in (0, 1, 2):
        mx.eval(twice(**calls[k]))
    inner: list[list[mx.array]] = []
    while_it_is_called(lambda: inner.append(twice(**calls[0])))
    assert twice(**calls[1])[0].tolist() == expected[1]
    assert inner[0][0].tolist() == expected[0]


def test_all_that_was_kept_is_replaced_in_the_midst_of_a_call(while_it_is_called):
    twice = made()
    mx.eval(twice(**call()))
    while_it_is_called(lambda: [twice(**call(size)) for size in range(100, 150)])
    assert twice(**call())[0].tolist() == [3 * i for i in range(16)]


def test_a_list_of_inputs_that_changes_in_the_midst_of_a_call(while_it_is_called):
    twice, inputs = made(), call()["inputs"]
    mx.eval(twice(**call()))
    while_it_is_called(lambda: inputs.__setitem__(0, "no array"))
    assert twice(**call(inputs=inputs))[0].tolist() == [3 * i for i in range(16)]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("grid", 8),
        ("output_shapes", (32,)),
        ("output_dtypes", mx.float16),
        ("template", ("K", 2)),
        ("inputs", mx.ones(32)),
    ],
)
def test_arguments_that_change_while_they_are_checked(monkeypatch, name, other):
    """What is kept is what the launch was made of, not what a list holds a moment later."""
    original = arguments.check_output
    plain = {**call(), "grid": [16, 1, 1]}
    changing = plain[name]

    def check_output(*given: Any) -> None:
        original(*given)
        changing[-1 if name == "template" else 0] = other

    twice = made()
    with monkeypatch.context() as patch:
        patch.setattr(arguments, "check_output", check_output)
        first = twice(**plain)[0]
    assert first.tolist() == [3 * i for i in range(16)]
    used = 8 if name == "grid" else 16
    (ours,), (anew,) = twice(**plain), made()(**plain)
    assert (ours.shape, ours.dtype) == (anew.shape, anew.dtype)
    assert ours.tolist()[:used] == anew.tolist()[:used]


def test_a_new_epoch_that_begins_while_a_call_is_checked(monkeypatch, checks):
    """What was decided about the call before that is not kept for the time after it."""
    original, twice = arguments.check_output, made()

    def check_output(*given: Any) -> None:
        original(*given)
        graph.new_epoch()

    with monkeypatch.context() as patch:
        patch.setattr(arguments, "check_output", check_output)
        mx.eval(twice(**call()))
    for checked in (2, 2):
        mx.eval(twice(**call()))
        assert len(checks) == checked


def test_a_gang_width_that_is_set_while_a_kernel_is_not_compiled_yet(monkeypatch):
    """A call comes to the gang width that was in use when it was made."""
    widths = []
    original = plan.launch_variant

    def launch_variant(*given: Any, **facts: Any) -> Variant:
        variant = original(*given, **facts)
        widths.append(variant.width)
        return variant

    monkeypatch.setattr(plan, "launch_variant", launch_variant)
    twice = made("out[i] = x[i] + 1234;")
    with gang_width(1):
        (narrow,) = twice(**call(template=None))
    (wide,) = twice(**call(template=None))
    assert narrow.tolist() == wide.tolist()
    assert widths == [1, 32]


@pytest.mark.parametrize("comparison", range(8))
def test_names_that_run_python_when_they_are_compared(comparison):
    """A string may be of a class of its own, with an opinion on what it is equal to."""
    twice, comparisons = made(), []

    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            comparisons.append(other)
            if len(comparisons) == comparison + 1:
                for size in range(100, 150):
                    twice(**call(size))
            return str.__eq__(self, other)

    mx.eval(twice(**call()))
    strange = {Name(key): value for key, value in call().items()}
    assert twice(**strange)[0].tolist() == [3 * i for i in range(16)]


def test_calls_that_run_python_when_they_are_forgotten(built_bridge):
    """The rule for mx.vmap may be anything, and the last reference to it may be the cache's."""
    native = loader.native()
    assert native is not None
    calls, forgotten = native.CallCache({}, lambda: 0), []

    def keep(size: int, rule: object) -> None:
        plan = native.lazy_plan("forgotten", lambda: None)
        descriptor = native.descriptor(plan, [(size,)], [mx.int32], True, float(size), rule)
        calls.keep((), {"inputs": [mx.ones(size)], "grid": (size, 1, 1)}, descriptor, [])

    class Rule:
        def __init__(self, size: int) -> None:
            self.size = size

        def __call__(self) -> None: ...

        def __del__(self) -> None:
            forgotten.append(self.size)
            if len(forgotten) % 3 == 0:
                keep(1000 + len(forgotten), None)
                calls((), {"inputs": [mx.ones(20)], "grid": (20, 1, 1)})

    for size in range(1, 200):
        keep(size, Rule(size))
        keep(size, Rule(size))  # in the place of the one before
        made_of = calls((), {"inputs": [mx.ones(size)], "grid": (size, 1, 1)})
        assert made_of is not None
        assert made_of[0].tolist() == [size] * size
    assert len(forgotten) >= 2 * 199 - 17


def test_errors_come_with_each_evaluation():
    broken = made("out[i] = nonsense;")
    for _ in range(2):
        (out,) = broken(**call(template=None))
        with pytest.raises(anymetal.MetalCompileError, match="nonsense"):
            mx.eval(out)


def test_without_the_bridge():
    text = """
twice = kernel("twice", "out[i] = 2 * x[i];")
for _ in range(2):
    print(run(twice, x)[0].tolist())
print(twice.calls.kept[0])
"""
    assert answer(text, ANYMETAL_BRIDGE="0") == [str([2.0] * 8)] * 2 + ["None"]


def test_a_kernel_that_is_made_anew_for_each_call_is_the_same(checks):
    """As in MLX's documentation: within the function that calls it, with NumPy's integers."""

    def twice(x: mx.array) -> mx.array:
        grid = (np.prod(x.shape), 1, 1)
        return made_here()(**call(inputs=[x], grid=grid))[0]

    def made_here() -> anymetal.MetalKernel:
        return kernel("recent", TWICE)

    for factor in range(3):
        x = mx.arange(16).astype(mx.float32) * factor
        assert twice(x).tolist() == (2 * x + mx.arange(16)).tolist()
    assert len(checks) == 1
