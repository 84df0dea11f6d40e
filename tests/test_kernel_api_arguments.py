"""Every argument of `metal_kernel` and of its call, right and wrong, compared with MLX live.

MLX checks arguments on any machine while it traces for an export, so each row asks both and
compares: the exception's type and text, or the kernel and its inputs. Where MLX's binding raises
`TypeError`, only the beginning of our text is the same.
"""

from __future__ import annotations

import decimal
import enum
import fractions
import re

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal import KernelLaunchError

f32 = mx.float32


class Number(enum.IntEnum):
    ONE = 1


class Text(str):
    pass


class Int(int):
    pass


class Options(dict):
    pass


class Index:
    def __index__(self):
        return 3


class Float:
    def __float__(self):
        return 2.5


class Holder:
    """An object that MLX converts through its `__mlx_array__`."""

    def __init__(self, value):
        self.value = value

    def __mlx_array__(self):
        return self.value


def construction(**changes):
    return {
        "name": "k",
        "input_names": ["inp"],
        "output_names": ["out"],
        "source": "out[0] = inp[0];",
        **changes,
    }


def call(**changes):
    arguments = {
        "inputs": [mx.ones((9,))],
        "output_shapes": [(4,)],
        "output_dtypes": [f32],
        "grid": (4, 1, 1),
        "threadgroup": (2, 1, 1),
        **changes,
    }
    return {name: value for name, value in arguments.items() if value is not ABSENT}


ABSENT = object()

CONSTRUCTIONS = {
    "name": ["", "a-b c", Text("sub"), "\u00e9", None, b"k", 3, "\ud800"],
    "input_names": [
        ("inp",), [Text("inp")], np.array(["inp"]), [""], "inp", "i", ["inp", 3], None, 3,
        {"inp": 1}, {"inp"}, iter(["inp"]), [b"inp"], [], ["inp", "b"], ["inp", "inp"],
    ],
    "output_names": [("out",), [], (), "out", ["out", None], None, {"out"}, ["a", "b"]],
    "source": ["", "a\0b", "\u00e9\u2202 x", Text("x"), None, b"", 3, ["x"]],
    "header": ["", "int f();\n", "#define A 1\n", None, 3, b""],
    "ensure_row_contiguous": [True, False, 1, 0, None, np.bool_(True), "x"],
    "atomic_outputs": [True, False, 1, 0, None, np.bool_(True)],
    "compile_options": [
        None, {}, {"math_mode": "safe"}, {"math_mode": "relaxed"}, {"math_mode": "fast"},
        Options(math_mode="fast"), {"math_mode": Text("fast")}, {Text("math_mode"): "fast"},
        [], (), "safe", 3, True, {"math_mode": "x"}, {"math_mode": ""}, {"math_mode": 3},
        {"math_mode": None}, {3: 3}, {b"math_mode": "fast"}, {"foo": 3},
        {"math_mode": "fast", "foo": 3}, {"foo": 1, "math_mode": "bad"},
        {"math_mode": "bad", "foo": 3},
    ],
    "unknown": [1],
}  # fmt: skip

INPUTS = [
    True, np.bool_(True), 5, -5, 0, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, 2**63,
    -(2**63), -(2**63) - 1, Number.ONE, Int(7), 1.5, float("nan"), 1e300, np.float16(1.5),
    np.float32(1.5), np.float64(1.5), 1j, np.complex64(1j), np.complex128(1j), np.int8(3),
    np.int16(3), np.int32(3), np.int64(3), np.uint8(3), np.uint16(3), np.uint32(3),
    np.uint64(2**63), np.ones(3), np.ones(9), np.ones(3, np.float16), np.ones(3, np.int64),
    np.ones(3, np.complex128), np.ones(3, bool), np.array(3.0), np.array(3), np.ones((2, 3)).T,
    np.zeros((0, 2)), np.array(["a"]), np.zeros(3, object), b"a", bytearray(b"abc"),
    memoryview(b"abc"), [], [1.0], (), (1, 2), "a", "", None, {}, set(), range(3), object(), f32,
    Index(), Float(), decimal.Decimal(3), fractions.Fraction(1, 2), Holder(mx.array([1, 2])),
    Holder(np.ones(3)), Holder(3), mx.array(1), mx.ones((7,)), mx.ones((8,)),
    mx.ones((0, 3)), mx.ones((1, 1)), mx.array(1, mx.bfloat16),
]  # fmt: skip

CALLS = {
    "inputs": [
        [], (), [1, 2], (1,), 3, "a", "ab", "", b"a", None, ABSENT, {0: 1}, {1}, range(1),
        np.ones((1, 3), np.float32), iter([1]), [None], [[1], None],
    ],
    "output_shapes": [
        [[4]], ((4,),), [()], [(2, 3, 4)], [(0,)], [(3, 0)], [[True]], [[np.int64(4)]],
        [[Index()]], [[mx.array(3)]], [mx.array([3, 4])], [np.array([4, 2])], np.array([[4, 2]]),
        [range(2, 4)], [[Number.ONE]], [[Int(3)]], [4], 4, None, ABSENT, [None], [[None]], [[4.0]],
        [[np.float32(4)]], [[np.bool_(True)]], [["4"]], ["4"], ["ab"], [b"ab"], [{3}], [{3: 1}],
        [np.array([4.0])], [mx.array([3.0])], [[decimal.Decimal(3)]], [fractions.Fraction(3)],
        [], [(4,), (4,)], iter([(4,)]), [mx.array(3)],
    ],
    "output_dtypes": [
        (f32,), [mx.bool_], [mx.bfloat16], [mx.complex64], [mx.uint64], f32, None, ABSENT, [None],
        [np.float32], [np.dtype("float32")], [float], ["float32"], [mx.floating], [mx.float64], [],
        [f32, f32], "f", {f32},
    ],
    "grid": [
        [4, 1, 1], np.array([4, 1, 1]), mx.array([4, 1, 1]), range(4, 7), (np.int64(4), 1, 1),
        (True, 1, 1), (Index(), 1, 1), (mx.array(4), 1, 1), (np.array(4), 1, 1), (Number.ONE, 1, 1),
        (0, 1, 1), (2**31 - 1, 1, 1), (2**31, 1, 1), (np.uint64(2**40), 1, 1), (4, 1), (4, 1, 1, 1),
        (), 4, None, ABSENT, (4.0, 1, 1), (np.float32(4), 1, 1), (np.float64(4), 1, 1),
        (np.bool_(True), 1, 1), ("4", 1, 1), "411", np.array([4.0, 1, 1]), {4, 1, 2},
        (decimal.Decimal(4), 1, 1), (Float(), 1, 1), (mx.array(4.0), 1, 1), (mx.array([4]), 1, 1),
        (np.array([4]), 1, 1), (None, 1, 1), (4 + 0j, 1, 1),
    ],
    "threadgroup": [[2, 1, 1], (0, 1, 1), (np.int32(8), 4, 2), (2, 1), (2.0, 1, 1), None, 2],
    "template": [
        None, [], (), [("T", f32)], [["T", f32]], (("T", f32),), [(Text("T"), f32)],
        [("N", 1)], [("N", -3)], [("N", 0)], [("N", 2**31 - 1)], [("N", -(2**31))], [("B", True)],
        [("B", False)], [("T", mx.bool_)], [("T", mx.complex64)], [("T", mx.float64)],
        [("T", mx.bfloat16), ("N", -1), ("B", True), ("F", False)], [("", f32)], [("a b", 3)],
        [("T", f32), ("T", f32)], {"T": f32}, [("T", 1.0)], [("T", "float")], [("T", None)],
        [("T", np.int32(3))], [("T", np.bool_(1))], [("T", Number.ONE)], [("T", Int(3))],
        [("T", np.float32)], [("T", mx.floating)], [("T", 2**31)], [("T", -(2**31) - 1)],
        [("T", 2**70)], [("T", mx.array(1))], [("T", Index())], [("T", f32, 1)], [("T",)], ["Tf"],
        [(1, f32)], [(b"T", f32)], [None], "T", 3, iter([("T", f32)]), [{"T", 3}],
    ],
    "init_value": [
        None, 0, 1.5, True, 1e300, 10**30, float("nan"), float("-inf"), np.float32(1), np.int64(1),
        np.bool_(1), np.array(1.0), mx.array(1.0), mx.array([1.0]), Float(), Index(),
        decimal.Decimal(1), 10**400, "1", b"1", 1j, np.array([1.0, 2]), mx.array([1.0, 2]), [],
    ],
    "verbose": [False, 0, 1, None, np.bool_(0), "a"],
    "stream": [
        None, mx.gpu, mx.Device(mx.gpu), mx.DeviceType.gpu, "gpu", 1.0, mx.stream(mx.cpu), [],
    ],
    "unknown": [1],
}  # fmt: skip


def rows(table):
    return [
        pytest.param(name, value, id=f"{name}-{i}-{type(value).__name__}")
        for name, values in table.items()
        for i, value in enumerate(values)
    ]


def assert_same(theirs, ours):
    assert ours.error is None or issubclass(ours.error, theirs.error or ()), ours
    if theirs.error is TypeError:
        start = theirs.message.split(" The following")[0]
        assert start.endswith("incompatible function arguments.")
        assert ours.message.startswith(start)
    elif theirs.error:  # names and values come behind MLX's words
        assert ours.message.startswith(theirs.message)
    else:
        assert ours == theirs


@pytest.mark.parametrize(("name", "value"), rows(CONSTRUCTIONS))
def test_construction(name, value, ask_mlx, ask_us):
    construct = construction(**{name: value})
    outputs = len(value) if name == "output_names" and isinstance(value, (list, tuple)) else 1
    inputs = len(value) if name == "input_names" and isinstance(value, (list, tuple)) else 1
    arguments = call(
        inputs=[mx.ones((9,))] * inputs,
        output_shapes=[(4,)] * outputs,
        output_dtypes=[f32] * outputs,
    )
    assert_same(ask_mlx(construct, arguments), ask_us(construct, arguments))


@pytest.mark.parametrize(("name", "value"), rows(CALLS))
def test_call(name, value, ask_mlx, ask_us):
    arguments = call(**{name: value})
    assert_same(ask_mlx(construction(), arguments), ask_us(construction(), arguments))


def _id(value):
    """A name without addresses: all workers of a parallel run must find the same tests."""
    text = re.sub(r" at 0x[0-9a-f]+", "", str(value))
    return f"{type(value).__name__}-{text:.20}"


@pytest.mark.parametrize("value", INPUTS, ids=_id)
def test_input(value, ask_mlx, ask_us):
    arguments = call(inputs=[value])
    assert_same(ask_mlx(construction(), arguments), ask_us(construction(), arguments))


@pytest.mark.parametrize(
    "changes",
    [
        # Types come first, then the conversion of inputs, then templates, then numbers of things.
        {"inputs": [[]], "grid": (1.0, 1, 1)},
        {"inputs": [[]], "template": [("T", 1.0)]},
        {"inputs": [2**70], "verbose": 1},
        {"inputs": [], "template": [("T", 1.0)]},
        {"inputs": [], "output_shapes": [], "output_dtypes": []},
        {"output_shapes": [], "output_dtypes": []},
        {"inputs": [], "output_dtypes": [mx.float64]},
        {"output_dtypes": [None], "inputs": []},
        {"inputs": ["a"], "output_shapes": [4]},
        {"template": [("T", 1.0)], "init_value": "1"},
        {"inputs": [(), 2**70]},
        {"inputs": [2**70, ()]},
    ],
)
def test_order_of_checks(changes, ask_mlx, ask_us):
    theirs = ask_mlx(construction(), call(**changes))
    assert theirs.error is not None
    assert_same(theirs, ask_us(construction(), call(**changes)))


def test_order_of_construction_checks(ask_mlx, ask_us):
    for changes in (
        {"output_names": [], "compile_options": 3},
        {"output_names": [], "atomic_outputs": 1},
        {"compile_options": 3, "header": None},
    ):
        arguments = construction(**changes)
        assert_same(ask_mlx(arguments, call()), ask_us(arguments, call()))


def test_all_construction_arguments_may_be_positional(target):
    kernel = anymetal.metal_kernel("k", ["a"], ["o"], "x", "h\n", False, True, {})
    assert kernel.definition.header == "h\n"
    assert not kernel.definition.ensure_row_contiguous
    assert kernel.definition.atomic_outputs


@pytest.mark.parametrize("arguments", [(), ("k",), ("k", [], ["o"], "", "", True, True, {}, 1)])
def test_wrong_number_of_construction_arguments(arguments):
    with pytest.raises(TypeError, match=r"^metal_kernel\(\): incompatible function arguments\."):
        anymetal.metal_kernel(*arguments)


def test_call_takes_no_positional_arguments(target):
    kernel = anymetal.metal_kernel(**construction())
    with pytest.raises(TypeError, match=r"^__call__\(\): incompatible function arguments\."):
        kernel([mx.ones(9)])


def test_errors_name_the_wrong_value(target):
    kernel = anymetal.metal_kernel(**construction())
    with pytest.raises(TypeError, match=r"`grid` must hold integers, got 4\.0 \(float\)"):
        kernel(**call(grid=(4.0, 1, 1)))
    with pytest.raises(TypeError, match=r"`output_dtypes\[0\]` .* got str"):
        kernel(**call(output_dtypes=["float32"]))


def test_a_type_error_from_inside_is_not_renamed(target):
    class Broken:
        def __mlx_array__(self):
            raise TypeError("my own")

    with pytest.raises(Exception, match="my own"):
        anymetal.metal_kernel(**construction())(**call(inputs=[Broken()]))


# Where MLX would crash, or could not run anyway, AnyMetal goes its own way.


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((-1,), r"shape \(-1,\): -1 is not between"),
        ((3, -2), r"shape \(3, -2\): -2 is not between"),
        ((2**31,), r"2147483648 is not between"),
        ((2**100,), r"is not between"),
        ((2**31 - 1, 2**31 - 1), r"bytes are more than a process can address"),
        ((2**31 - 1,) * 4, r"bytes are more than a process can address"),
    ],
)
def test_impossible_output_shapes(target, shape, message):
    kernel = anymetal.metal_kernel(**construction())
    with pytest.raises(KernelLaunchError, match=message) as error:
        kernel(**call(output_shapes=[shape]))
    assert "Output `out` of kernel `k`" in str(error.value)


@pytest.mark.parametrize("value", [np.datetime64("2020"), np.timedelta64(3)])
def test_dates_are_refused(target, value):
    with pytest.raises(ValueError, match=r"Invalid type .* received in array initialization"):
        anymetal.metal_kernel(**construction())(**call(inputs=[value]))


@pytest.mark.parametrize(
    "stream",
    [
        mx.cpu,
        mx.gpu,
        mx.Device(mx.cpu),
        mx.default_stream(mx.cpu),
        mx.new_thread_local_stream(mx.cpu),
    ],
)
def test_any_stream_is_accepted(target, stream):
    anymetal.metal_kernel(**construction())(**call(stream=stream))
    assert target.launch.stream is stream


def test_float64_input_is_refused(target):
    with pytest.raises(ValueError, match=r"^float64 is not supported on the GPU: input `inp` of"):
        with mx.stream(mx.cpu):
            value = mx.array(np.ones(3), dtype=mx.float64)
        anymetal.metal_kernel(**construction())(**call(inputs=[value]))
