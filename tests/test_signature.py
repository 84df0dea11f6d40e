"""The generated source, character for character: a table, and random kernels, against MLX live."""

from __future__ import annotations

import random

import mlx.core as mx
import pytest

from anymetal.source import ATTRIBUTES

DTYPES = [
    mx.bool_, mx.int8, mx.int16, mx.int32, mx.int64, mx.uint8, mx.uint16, mx.uint32, mx.uint64,
    mx.float16, mx.bfloat16, mx.float32, mx.complex64,
]  # fmt: skip

SHAPES = [(), (1,), (7,), (8,), (0,), (0, 3), (1, 1), (2, 4), (3, 2), (2, 0, 9), (1,) * 8, (300,)]


def compare(ask_mlx, ask_us, construction, call):
    """Ask both; returns MLX's text, whose signature is closed in the right place."""
    construction = {"name": "k", "input_names": [], "output_names": ["out"], **construction}
    outputs = len(construction["output_names"])
    call = {
        "inputs": [],
        "output_shapes": [(4,)] * outputs,
        "output_dtypes": [mx.float32] * outputs,
        "grid": (4, 1, 1),
        "threadgroup": (1, 1, 1),
        **call,
    }
    theirs, ours = ask_mlx(construction, call), ask_us(construction, call)
    assert theirs.error is None
    theirs.text = close_once(theirs.text)
    assert ours.text == theirs.text
    assert ours == theirs
    return theirs.text


def close_once(text):
    """MLX may close the signature after every output: keep the last time only."""
    return text.replace("]]) {\n", "]],\n", text.count("]]) {\n") - 1)


def zeros(shape, dtype):
    array = mx.zeros(shape, dtype)
    mx.eval(array)
    return array


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (7,), (8,)], ids=str)
def test_dtypes_and_spaces(dtype, shape, ask_mlx, ask_us):
    construction = {"input_names": ["a"], "source": "a_shape a_strides a_ndim"}
    call = {
        "inputs": [zeros(shape, dtype)],
        "output_dtypes": [dtype],
        "template": [("T", dtype)],
    }
    text = compare(ask_mlx, ask_us, construction, call)
    assert ("const constant" if shape != (8,) else "const device") in text


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(shape, ask_mlx, ask_us):
    construction = {"input_names": ["a"], "source": "a_shape a_ndim"}
    compare(ask_mlx, ask_us, construction, {"inputs": [zeros(shape, mx.float32)]})


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(name, ask_mlx, ask_us):
    text = compare(
        ask_mlx, ask_us, {"source": f"uint a = {name}{'.x' * ('3' in ATTRIBUTES[name])};"}, {}
    )
    assert f"{ATTRIBUTES[name]} {name} [[{name}]]" in text


def test_all_attributes_come_alphabetically(ask_mlx, ask_us):
    source = " ".join(reversed(ATTRIBUTES))
    text = compare(ask_mlx, ask_us, {"source": source}, {})
    assert text.count("[[") == 1 + 1 + len(ATTRIBUTES)
    assert list(ATTRIBUTES) == sorted(ATTRIBUTES)


@pytest.mark.parametrize(
    ("inputs", "source"),
    [
        (["x"], "max_shape"),  # any substring counts
        (["x"], "// x_shape in a comment"),
        (["x"], "x_shape_of"),
        (["x"], "X_shape"),
        (["x"], "x_ndims xx_strides"),
        (["x", "xx"], "xx_shape"),
        (["x", "x"], "x_shape"),
        (["a", "b", "c"], "b_strides c_ndim a_shape a_strides"),
        (["", "a"], "_shape"),
        (["a_shape"], "a_shape"),
        (["grid"], "grid_size"),  # an attribute of MLX
        (["a"], "thread_position_in_grid.x"),
        (["a"], "my_thread_position_in_grid_copy"),
        (["a"], ""),
        (["a"], "\n\n"),
        (["a"], 'const char* s = "a_shape";'),
        (["a"], "// \u00e9\u2202"),
    ],
)
@pytest.mark.parametrize("shape", [(), (3,), (9, 1)], ids=str)
def test_substrings(inputs, source, shape, ask_mlx, ask_us):
    construction = {"input_names": inputs, "source": source}
    compare(ask_mlx, ask_us, construction, {"inputs": [zeros(shape, mx.float32)] * len(inputs)})


def test_header_is_not_searched(ask_mlx, ask_us):
    header = "// a_shape thread_position_in_grid\n"
    construction = {"input_names": ["a"], "source": "x", "header": header}
    text = compare(ask_mlx, ask_us, construction, {"inputs": [zeros((9,), mx.float32)]})
    assert text.startswith(header + "[[kernel]] void")
    assert text.count("[[") == 3


@pytest.mark.parametrize("name", ["", "a-b c", "k\u00e9", "9", "custom_kernel_k"])
def test_names(name, ask_mlx, ask_us):
    compare(ask_mlx, ask_us, {"name": name, "source": "x"}, {"template": [("N", -1)]})


@pytest.mark.parametrize(
    "template",
    [
        [("T", mx.float32)],
        [("N", -3)],
        [("N", 0), ("M", 1)],
        [("B", True)],
        [("B", False)],
        [("N", 1)],
        [("T", mx.float64)],
        [("T", mx.bool_), ("U", mx.complex64)],
        [("T", mx.float32), ("N", -3), ("B", True), ("F", False)],
        [("T", mx.float32)] * 2,
        [("", 3)],
        [("a b", -(2**31))],
        [],
        None,
    ],
)
def test_templates(template, ask_mlx, ask_us):
    compare(ask_mlx, ask_us, {"source": "x"}, {"template": template})


def test_true_is_not_one(ask_mlx, ask_us):
    """Equal as Python values and as dictionary keys, but different template parameters."""
    for value in (1, True, 1, 0, False, True):
        text = compare(ask_mlx, ask_us, {"source": "x"}, {"template": [("V", value)]})
        assert text.startswith(f"template <{type(value).__name__} V>\n")


def test_the_same_kernel_with_other_types(ask_mlx, ask_us):
    """One kernel object's cache tells apart everything that decides the text."""
    construction = {"input_names": ["a"], "source": "a_shape"}
    for shape in SHAPES * 2:
        for dtype in (mx.float32, mx.int32):
            call = {"inputs": [zeros(shape, dtype)], "output_dtypes": [mx.float16]}
            compare(ask_mlx, ask_us, construction, call)


@pytest.mark.parametrize("outputs", [1, 2, 3])
@pytest.mark.parametrize("atomic", [False, True])
@pytest.mark.parametrize("mode", ["safe", "relaxed", "fast"])
def test_outputs(outputs, atomic, mode, ask_mlx, ask_us):
    construction = {
        "output_names": [f"o{i}" for i in range(outputs)],
        "source": "o0_shape",
        "atomic_outputs": atomic,
        "compile_options": {"math_mode": mode},
        "ensure_row_contiguous": atomic,
    }
    call = {
        "output_shapes": [(), (3, 4), (0,)][:outputs],
        "output_dtypes": [mx.float32, mx.bfloat16, mx.bool_][:outputs],
    }
    compare(ask_mlx, ask_us, construction, call)


# What MLX gets wrong, and AnyMetal corrects.


def test_signature_is_not_closed_too_early(ask_mlx, ask_us):
    construction = {
        "name": "k",
        "input_names": ["a"],
        "output_names": ["o", "p", "q"],
        "source": "a_shape a_strides",
    }
    call = {
        "inputs": [zeros((9,), mx.float32)],
        "output_shapes": [(4,)] * 3,
        "output_dtypes": [mx.float32] * 3,
        "grid": (4, 1, 1),
        "threadgroup": (1, 1, 1),
    }
    assert ask_mlx(construction, call).text.count(") {\n") == 3
    assert ask_us(construction, call).text == (
        "[[kernel]] void custom_kernel_k_float_float_float_float(\n"
        "  const device float* a [[buffer(0)]],\n"
        "  const constant int* a_shape [[buffer(1)]],\n"
        "  const constant int64_t* a_strides [[buffer(2)]],\n"
        "  device float* o [[buffer(3)]],\n"
        "  device float* p [[buffer(4)]],\n"
        "  device float* q [[buffer(5)]]) {\n"
        "a_shape a_strides\n"
        "}\n"
    )


@pytest.mark.parametrize("header", ["#define X 1", "// comment", "int f();", "\n#include <a>"])
def test_header_without_final_newline(header, ask_mlx, ask_us):
    construction = {
        "name": "k",
        "input_names": [],
        "output_names": ["o"],
        "source": "",
        "header": header,
    }
    call = {
        "inputs": [],
        "output_shapes": [(4,)],
        "output_dtypes": [mx.float32],
        "grid": (4, 1, 1),
        "threadgroup": (1, 1, 1),
    }
    theirs, ours = ask_mlx(construction, call).text, ask_us(construction, call).text
    assert theirs.startswith(header + "[[kernel]]")
    assert ours == header + "\n" + theirs.removeprefix(header)


# Random kernels.

NAMES = ["x", "xx", "in", "inp", "a", "A", "shape", "grid", "w_x", "ndim", "_", "thread"]
WORDS = [
    "max_shape", "//", "strides", "_ndim", "\n", "{ }", "float y = 1;", "shape", "%s_shape",
    "%s_strides", "%s_ndim", "%s[0]", "%s_shape[1]", "my%s_ndim", "\\", '"', "\u00e9",
]  # fmt: skip


def random_case(seed):
    choose = random.Random(seed)
    inputs = choose.sample(NAMES, choose.randrange(5))
    outputs = [f"{name}{i}" for i, name in enumerate(choose.choices(["out", "o", "x_shape"], k=3))]
    outputs = outputs[: choose.randint(1, 3)]
    words = []
    for _ in range(choose.randrange(9)):
        word = choose.choice(WORDS) if choose.random() < 0.7 else choose.choice(list(ATTRIBUTES))
        words.append(word % choose.choice(inputs or ["q"]) if "%s" in word else word)
    template = [
        (choose.choice("TUNB"), choose.choice([*DTYPES, True, False, 0, 1, -1, 31, -(2**31)]))
        for _ in range(choose.randrange(4))
    ]
    construction = {
        "name": choose.choice(["k", "my_kernel", "a-b", "K2"]),
        "input_names": inputs,
        "output_names": outputs,
        "source": choose.choice([" ", "\n", ""]).join(words),
        "header": choose.choice(
            ["", "", "#include <metal_stdlib>\n", "struct S { int x_shape; };\n"]
        ),
        "ensure_row_contiguous": choose.random() < 0.5,
        "atomic_outputs": choose.random() < 0.3,
        "compile_options": choose.choice([None, {}, {"math_mode": "fast"}]),
    }
    call = {
        "inputs": [
            choose.choice([True, 3, -(2**40), 1.5, 2j])
            if choose.random() < 0.2
            else zeros(choose.choice(SHAPES), choose.choice(DTYPES))
            for _ in inputs
        ],
        "output_shapes": [choose.choice(SHAPES) for _ in outputs],
        "output_dtypes": [choose.choice(DTYPES) for _ in outputs],
        "grid": tuple(choose.randrange(100) for _ in range(3)),
        "threadgroup": tuple(choose.randrange(10) for _ in range(3)),
        "template": template,
    }
    return construction, call


@pytest.mark.parametrize("block", range(10))
def test_random_kernels(block, ask_mlx, ask_us):
    for seed in range(block * 50, block * 50 + 50):
        compare(ask_mlx, ask_us, *random_case(seed))
