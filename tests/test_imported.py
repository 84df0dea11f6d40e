"""`anymetal.import_function`: what `mx.export_function` wrote, kernels included, run here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.errors import AnyMetalWarning, MetalCompileError, UnsupportedFeatureError

INDEX = "uint i = thread_position_in_grid.x;\n"
X = mx.array(np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32))

#: Who makes the kernel: MLX itself, as on a machine without AnyMetal, or we.
MAKERS = {"mlx": mx.fast.metal_kernel, "anymetal": anymetal.metal_kernel}

Fun = Callable[..., Any]


def function(
    maker: str,
    body: str,
    inputs: tuple[str, ...] = ("x",),
    outputs: tuple[str, ...] = ("out",),
    construction: dict[str, Any] | None = None,
    **call: Any,
) -> Fun:
    """Arrays to the outputs of a kernel: like the first input, unless the call says otherwise."""
    kernel = MAKERS[maker](
        name="k",
        input_names=list(inputs),
        output_names=list(outputs),
        source=body,
        **(construction or {}),
    )

    def run(*arrays: mx.array) -> list[mx.array]:
        like = arrays[0] if arrays else mx.array(0)
        return kernel(
            inputs=list(arrays),
            **{
                "output_shapes": [like.shape] * len(outputs),
                "output_dtypes": [like.dtype] * len(outputs),
                "grid": (like.size, 1, 1),
                "threadgroup": (32, 1, 1),
                **call,
            },
        )

    return run


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "function.mlxfn")


def imported(file: str, run: Fun, *arrays: mx.array) -> Fun:
    """A function on its way through a file."""
    mx.export_function(file, run, *arrays)
    return anymetal.import_function(file)


def same(found: list[mx.array], expected: list[mx.array]) -> bool:
    pairs = list(zip(found, expected, strict=True))
    return all(a.dtype == b.dtype and mx.array_equal(a, b).item() for a, b in pairs)


def as_on_a_mac(data: bytes) -> bytes:
    """The file as a Mac writes it: every node on the first stream of the GPU.

    A node is the index of its stream, type (1 is a GPU) and index of the device, then its name.
    """
    node = re.compile(rb"(?:.{4})[\x00\x01]\x00{7}(?P<name>(?P<length>.)\x00{7}[A-Z]\w+)", re.S)

    def moved(match: re.Match[bytes]) -> bytes:
        length = match["length"][0]
        name = match["name"][8:][:length]
        # A short name may be an address by chance.
        if length < 3 or len(name) < length or not name.isalpha():
            return match[0]
        return b"\0\0\0\0" + b"\1" + b"\0" * 7 + match["name"]

    changed, count = node.subn(moved, data)
    assert count > 0
    return changed


# Kernels of all kinds

SHAPES = """
uint i = thread_position_in_grid.x;
uint rest = i;
long at = 0;
for (int k = x_ndim - 1; k >= 0; --k) {
  at += (rest % x_shape[k]) * x_strides[k];
  rest /= x_shape[k];
}
out[i] = x[at];
"""
GENERIC = "template <typename U>\nU g(U x) { return x - U(1); }\n"
FAKE = """
// [[kernel]] void custom_kernel_k_float_float(
//   float* x [[buffer(0)]]) {
constant char text[] = "}\\n[[kernel]] void f(\\n) {\\n";
"""
ADD_UP = "atomic_fetch_add_explicit(&out[0], x[thread_position_in_grid.x], memory_order_relaxed);"
TEMPLATE = [("T", mx.float16), ("N", -3), ("B", True)]
KERNELS: dict[str, dict[str, Any]] = {
    "plain": {"body": INDEX + "out[i] = x[i] * 2;"},
    "template": {"body": INDEX + "out[i] = B ? T(x[i] * N) : T(0);", "template": TEMPLATE},
    "template and shapes": {"body": INDEX + "T y = x[i * N]; out[i] = y + x_shape[0] * x_ndim;",
                            "template": [("T", mx.bfloat16), ("N", 1)]},
    "header": {"body": INDEX + "out[i] = f(x[i]);",
               "construction": {"header": "float f(float x) { return x + 1; }\n"}},
    "header without newline": {"body": INDEX + "out[i] = g<float>(x[i]);",
                               "construction": {"header": GENERIC.rstrip("\n")}},
    "header with template": {"body": INDEX + "out[i] = g(T(x[i]));",
                             "template": [("T", mx.float16)],
                             "construction": {"header": GENERIC}},
    "shapes": {"body": SHAPES},
    "one shape": {"body": INDEX + "out[i] = x_shape[1];"},
    "strided": {"body": SHAPES, "construction": {"ensure_row_contiguous": False}, "arrays": [X.T]},
    "copied": {"body": SHAPES, "arrays": [X.T[:, ::2]]},
    "scalars": {"body": INDEX + "out[i] = x[i] * s + n;", "inputs": ("x", "s", "n"),
                "arrays": [X, mx.array(2.5), mx.array(3)]},
    "small": {"body": INDEX + "out[i] = x[i] * s[1] + s_shape[0];", "inputs": ("x", "s"),
              "arrays": [X, mx.array([1.0, 2.0])]},
    "atomic": {"body": ADD_UP, "construction": {"atomic_outputs": True}, "init_value": 5,
               "arrays": [mx.arange(100, dtype=mx.int32)], "output_shapes": [(1,)]},
    "init value": {"body": INDEX + "if (i % 2) out[i] = x[i];", "init_value": -1.5},
    "outputs": {"body": INDEX + "a[i] = x[i]; b[i] = i; c[0] = 7;", "outputs": ("a", "b", "c"),
                "output_shapes": [(3, 4), (12,), ()],
                "output_dtypes": [mx.float32, mx.uint8, mx.bfloat16]},
    "attributes": {"body": "uint3 p = thread_position_in_grid, g = threadgroup_position_in_grid;\n"
                           "out[p.x + 4 * p.y] = g.x + 10 * thread_index_in_threadgroup"
                           " + 100 * threads_per_threadgroup.x + simdgroup_index_in_threadgroup;",
                   "grid": (4, 3, 1), "threadgroup": (2, 2, 1)},
    "threadgroup memory": {"body": "threadgroup float s[12];\n"
                                   "uint i = thread_position_in_threadgroup.x;\n"
                                   "s[i] = x[i]; threadgroup_barrier(mem_flags::mem_threadgroup);\n"
                                   "out[i] = s[11 - i];"},
    "no threads": {"body": INDEX + "out[i] = 1;", "grid": (0, 1, 1), "init_value": 3},
    "fast": {"body": INDEX + "out[i] = exp(x[i]) / 3;",
             "construction": {"compile_options": {"math_mode": "fast"}}},
    "relaxed": {"body": INDEX + "out[i] = exp(x[i]) / 3;",
                "construction": {"compile_options": {"math_mode": "relaxed"}}},
    # MLX closes the list of parameters of these too early.
    "glitch": {"body": "int n = x_shape[0] * x_shape[1];\n"
                       "for (int k = 0; k < n; ++k) { a[k] = x[k]; b[k] = -x[k]; }",
               "outputs": ("a", "b"), "grid": (1, 1, 1)},
    "glitch with all infos": {"body": "a[0] = x_shape[0]; b[0] = x_strides[0];"
                                      "c[0] = x_ndim; d[0] = x[0];",
                              "outputs": ("a", "b", "c", "d"), "grid": (1, 1, 1), "init_value": 0},
    "glitch with template": {"body": "a[0] = x_shape[0]; b[0] = N;", "template": [("N", 3)],
                             "outputs": ("a", "b"), "grid": (1, 1, 1), "init_value": 0},
    # Text that looks like what the parser looks for.
    "markers in comments": {"body": "// [[kernel]] void custom_kernel_k_float_float(\n"
                                    "//  int x) {\n" + INDEX + "out[i] = x[i]; /*\n}\n\n"
                                    "template [[host_name(\"k\")]] */ // [[buffer(7)]]"},
    "markers in the header": {"body": INDEX + "out[i] = x[i] + sizeof(text);",
                              "construction": {"header": FAKE}},
    "braces": {"body": "{\n" + INDEX + "if (true) {\nout[i] = x[i];\n}\n}\n\n"},
    "template in a comment": {"body": INDEX + "out[i] = x[i];\n// template <typename T>\n{\n}\n",
                              "construction": {"header": "// template <typename T>\n"}},
    "comment at the end": {"body": INDEX + "out[i] = x[i]; // }"},
    "carriage returns": {"body": (INDEX + "out[i] = x[i];\n").replace("\n", "\r\n")},
    "nothing": {"body": "", "init_value": 1},
}  # fmt: skip


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("case", KERNELS.values(), ids=KERNELS.keys())
def test_kernels(case, maker, file):
    case = {**case}
    arrays = case.pop("arrays", [X])
    run = imported(file, function(maker, **case), *arrays)
    assert same(run(*arrays), function("anymetal", **case)(*arrays))


def test_a_kernel_without_inputs(file):
    kernel = function(
        "mlx",
        INDEX + "out[i] = i;",
        (),
        grid=(5, 1, 1),
        threadgroup=(5, 1, 1),
        output_shapes=[(5,)],
        output_dtypes=[mx.int32],
    )
    assert same(
        imported(file, lambda x: x + kernel()[0], X[0, 0])(X[0, 0]), [X[0, 0] + mx.arange(5)]
    )


@pytest.mark.parametrize("case", ["plain", "template", "outputs", "glitch", "atomic"])
def test_files_of_a_mac(case, file):
    """There the nodes have a stream of the GPU; here MLX writes a placeholder."""
    case = {**KERNELS[case]}
    arrays = case.pop("arrays", [X])
    kernel = function("mlx", **case)
    mx.export_function(file, lambda *a: [mx.sin(y) * 2 for y in kernel(*a)], *arrays)
    Path(file).write_bytes(as_on_a_mac(Path(file).read_bytes()))
    found = anymetal.import_function(file)(*arrays)
    assert same(found, [mx.sin(y) * 2 for y in function("anymetal", **case)(*arrays)])


@pytest.mark.filterwarnings(f"ignore::{AnyMetalWarning.__module__}.{AnyMetalWarning.__name__}")
def test_the_size_of_an_input(file):
    run = function("anymetal", INDEX + "out[i] = x[i] * x_size;")
    assert same(imported(file, run, X)(X), run(X))


def test_every_math_mode_is_kept(file):
    body = "out[0] = 0;\n#ifdef __FAST_MATH__\nout[0] = 1;\n#endif"
    for mode, expected in (("fast", 1), ("safe", 0)):
        options = {"compile_options": {"math_mode": mode}}
        run = imported(file, function("mlx", body, construction=options, grid=(1, 1, 1)), X[0, :1])
        assert run(X[0, :1])[0].item() == expected


@pytest.mark.parametrize(
    "dtype", [mx.bool_, mx.uint8, mx.int64, mx.float16, mx.bfloat16, mx.complex64]
)
def test_dtypes(dtype, file):
    x = mx.array([0, 1, 2, 3, 4, 5, 6, 7, 8]).astype(dtype)
    run = function("mlx", INDEX + "out[i] = x[8 - i];")
    assert same(imported(file, run, x)(x), [x[::-1]])


# Among other nodes


def test_several_kernels_among_operations(file):
    double = function("mlx", INDEX + "out[i] = 2 * x[i];")
    both = function(
        "mlx", INDEX + "a[i] = x[i] + y[i]; b[i] = x[i] - y[i];", ("x", "y"), ("a", "b")
    )

    def network(double: Fun, both: Fun) -> Fun:
        def run(x: mx.array, w: mx.array) -> list[mx.array]:
            h = mx.softmax(double(x @ w)[0], -1)
            a, b = both(h, mx.fast.layer_norm(x @ w, None, None, 1e-5))
            c = mx.fast.rms_norm(double(a)[0], mx.ones((4,)), 1e-5)
            return [c.sum(1), mx.concatenate([double(double(b)[0])[0], h], 1), mx.argmax(a)]

        return run

    w = mx.ones((4, 4)) * 0.25 + mx.eye(4)
    ours = network(
        function("anymetal", INDEX + "out[i] = 2 * x[i];"),
        function(
            "anymetal", INDEX + "a[i] = x[i] + y[i]; b[i] = x[i] - y[i];", ("x", "y"), ("a", "b")
        ),
    )
    found, expected = imported(file, network(double, both), X, w)(X, w), ours(X, w)
    assert all(mx.allclose(a, b, atol=1e-6).item() for a, b in zip(found, expected, strict=True))


def test_a_function_without_kernels(file):
    run = imported(file, lambda x: mx.exp(x) @ x.T, X)
    assert mx.allclose(run(X)[0], mx.exp(X) @ X.T).item()


def test_an_input_that_is_an_output(file):
    run = imported(file, lambda x: [x, function("mlx", INDEX + "out[i] = x[i];")(x)[0]], X)
    assert same(run(X), [X, X])


def test_inputs_that_are_not_evaluated_stay_untouched(file):
    run = imported(file, function("mlx", INDEX + "out[i] = x[i] + 1;"), X)
    x = mx.sin(X)
    assert mx.allclose(run(x)[0], mx.sin(X) + 1).item()
    assert mx.allclose(x, mx.sin(X)).item()


def test_constants(file):
    table = mx.arange(12, dtype=mx.float32)
    kernel = function("mlx", INDEX + "out[i] = x[i] + t[i];", ("x", "t"))
    run = imported(file, lambda x: kernel(x, table), X)
    assert same(run(X), [X + table.reshape(3, 4)])


def test_keywords(file):
    kernel = function("mlx", INDEX + "out[i] = x[i] - y[i];", ("x", "y"))
    mx.export_function(file, lambda x, *, y: kernel(x, y), X, y=X + 1)
    run = anymetal.import_function(file)
    assert mx.allclose(run(X, y=X * 3)[0], -2 * X).item()
    with pytest.raises(ValueError, match="import"):
        run(X, X)


def test_lists_and_dictionaries_as_arguments(file):
    kernel = function("mlx", INDEX + "out[i] = x[i] - y[i];", ("x", "y"))
    mx.export_function(file, lambda x, y: kernel(x, y), (X, X))
    assert same(anymetal.import_function(file)([X, X * 0]), [X])


def test_several_traces(file):
    kernel = function("mlx", INDEX + "out[i] = x[i] * x_shape[0];")
    with mx.exporter(file, kernel) as export:
        export(X)
        export(X[:2])
        export(X.astype(mx.float16))
    run = anymetal.import_function(file)
    for x in (X, X[:2], X.astype(mx.float16)):
        assert same(run(x), [x * x.shape[0]])
    with pytest.raises(ValueError):
        run(X[:1])


def test_called_again_and_again(file):
    run = imported(file, function("mlx", INDEX + "out[i] = x[i] * 2;"), X)
    for number in range(3):
        assert same(run(X + number), [(X + number) * 2])


def test_two_functions_of_one_file(file):
    first = imported(file, function("mlx", INDEX + "out[i] = x[i] * 2;"), X)
    second = anymetal.import_function(Path(file))
    assert same(first(second(X)[0]), [X * 4])


# Transformations around it


def test_lazy(file):
    run = imported(file, function("mlx", INDEX + "out[i] = nonsense;"), X)
    (result,) = run(X)
    with pytest.raises(
        MetalCompileError, match=r"source:2:10: error: use of undeclared identifier"
    ):
        mx.eval(result)


def test_in_a_compiled_function(file):
    run = imported(file, lambda x: [mx.exp(function("mlx", INDEX + "out[i] = x[i] * 2;")(x)[0])], X)
    compiled = mx.compile(lambda x: mx.sin(run(mx.abs(x))[0]) + 1)
    for x in (X, X + 1):
        assert mx.allclose(compiled(x), mx.sin(mx.exp(2 * mx.abs(x))) + 1, atol=1e-5).item()


def test_gradients_around_it(file):
    run = imported(file, function("mlx", INDEX + "out[i] = x[i] * 2;"), X)
    function_ = mx.custom_function(lambda x: run(x)[0])
    function_.vjp(lambda x, cotangent, _: run(cotangent)[0])
    found = mx.grad(lambda x: mx.sin(function_(mx.square(x))).sum())(X)
    expected = mx.grad(lambda x: mx.sin(2 * mx.square(x)).sum())(X)
    assert mx.allclose(found, expected, atol=1e-5).item()
    with pytest.raises(ValueError, match=r"^\[Primitive::vjp\] Not implemented for CustomKernel"):
        mx.grad(lambda x: run(x)[0].sum())(X)


def test_gradients_of_operations_in_it(file):
    run = imported(file, lambda x: mx.sin(x) * 2, X)
    assert mx.allclose(
        mx.grad(lambda x: run(mx.exp(x))[0].sum())(X), 2 * mx.cos(mx.exp(X)) * mx.exp(X)
    ).item()


# Errors


def test_missing_and_damaged_files(file):
    for name in (file, file + "x"):
        with pytest.raises((RuntimeError, ValueError)) as ours:
            anymetal.import_function(name)
        with pytest.raises((RuntimeError, ValueError)) as theirs:
            mx.import_function(name)
        assert str(ours.value) == str(theirs.value)
    Path(file).write_bytes(b"this is no such file, whatever its name may say")
    with pytest.raises((RuntimeError, ValueError, MemoryError)):
        anymetal.import_function(file)


def test_wrong_arguments(file):
    run = imported(file, function("mlx", INDEX + "out[i] = x[i] * 2;"), X)
    for wrong in ((), (X, X), (X.astype(mx.int32),), (X[:2],)):
        with pytest.raises(ValueError, match="import"):
            run(*wrong)
    with pytest.raises(TypeError):
        anymetal.import_function(3)


def test_kernels_of_cuda(file):
    try:
        kernel = mx.fast.cuda_kernel(
            name="c", input_names=["x"], output_names=["out"], source="out[0] = x[0];"
        )
        mx.export_function(
            file,
            lambda x: kernel(
                inputs=[x],
                output_shapes=[(1,)],
                output_dtypes=[mx.float32],
                grid=(1, 1, 1),
                threadgroup=(1, 1, 1),
            ),
            X,
        )
    except RuntimeError:  # this MLX writes none, so a Metal kernel is made to look like one
        run = function("mlx", INDEX + "out[i] = x[i];")
        mx.export_function(file, run, X)
        data = Path(file).read_bytes()
        assert data.count(b"[[kernel]] void") == 1
        Path(file).write_bytes(data.replace(b"[[kernel]] void", b"__global__ void"))
    with pytest.raises(UnsupportedFeatureError, match=r"is not one of mx\.fast\.metal_kernel"):
        anymetal.import_function(file)(X)


def python(program: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parent.parent)
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": root, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


PLAIN_MLX = """
import sys, mlx.core as mx
kernel = mx.fast.metal_kernel(name="k", input_names=["x"], output_names=["out"],
                              source="out[thread_position_in_grid.x] = x_shape[0] * 2;")
call = dict(output_shapes=[(3, 4)], output_dtypes=[mx.float32], grid=(12, 1, 1),
            threadgroup=(4, 1, 1))
mx.export_function(sys.argv[1], lambda x: kernel(inputs=[x], **call)[0] + x, mx.zeros((3, 4)))
assert "anymetal" not in sys.modules
"""
FIRST_IMPORT = """
import sys, mlx.core as mx, anymetal
print(anymetal.import_function(sys.argv[1])(mx.ones((3, 4)))[0].tolist())
"""


def test_a_file_of_plain_mlx_in_a_fresh_process(file):
    """There the first import fails in MLX, since the file names a GPU's stream."""
    written = python(PLAIN_MLX, file)
    assert written.returncode == 0, written.stderr
    for _ in range(2):
        read = python(FIRST_IMPORT, file)
        assert (read.stdout, read.stderr) == (f"{[[7.0] * 4] * 3}\n", "")
    Path(file).write_bytes(as_on_a_mac(Path(file).read_bytes()))
    read = python(FIRST_IMPORT, file)
    assert (read.stdout, read.stderr) == (f"{[[7.0] * 4] * 3}\n", "")


def test_without_a_bridge(file):
    mx.export_function(file, function("mlx", INDEX + "out[i] = x[i];"), X)
    done = python(FIRST_IMPORT, file, ANYMETAL_BRIDGE="0")
    assert "ToolchainError: turned off; unset ANYMETAL_BRIDGE" in done.stderr
