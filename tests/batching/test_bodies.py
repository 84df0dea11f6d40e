"""Batches of a kernel: its body, rewritten, keeps its lines, and errors name them."""

from __future__ import annotations

import mlx.core as mx
import pytest

from anymetal.errors import AnyMetalWarning, KernelLaunchError, MetalCompileError
from tests.batching.harness import INDEX, check, floats, function

# Bodies


@pytest.mark.parametrize(
    "body",
    [
        INDEX + "if (i > 2) return;\nout[i] = x[i];",
        INDEX + "out[i] = x[i]; // no newline follows",
        INDEX + "out[i] = x[i]; /* ... */",
        "// thread_position_in_grid, out_shape, x_strides\n" + INDEX + "out[i] = x[i];\n\n",
        "\n\n" + INDEX + "out[i] = x[i];\\\n",
        INDEX + "#define PUT out[i]\nPUT = x[i];\n#undef PUT",
        INDEX + "#if 1\nout[i] = x[i];\n#else\nnonsense\n#endif",
        "#define GID thread_position_in_grid.x\nout[GID] = x[GID];",
        INDEX.replace("\n", "\r\n") + "out[i] = x[i];\r\n",
    ],
    ids=["return", "comment", "block", "mentions", "backslash", "macro", "if", "alias", "crlf"],
)
def test_bodies(body):
    check(function(body, init_value=0), [floats(3, 5)])


@pytest.mark.parametrize("opening", ["", "\n\n", "#pragma METAL fp contract(off)\n"])
@pytest.mark.parametrize("levels", [1, 2])
def test_errors_name_the_line_of_the_body(opening, levels):
    run = function(opening + INDEX + "float y = x[i];\nout[i] = y + nonsense;\n")
    line = 3 + opening.count("\n")
    for _ in range(levels):
        run = mx.vmap(run)
    with pytest.raises(MetalCompileError) as error:
        mx.eval(run(floats(2, 3, 4)))
    assert f"k: source:{line}:14: error: use of undeclared identifier 'nonsense'" in str(
        error.value
    )
    assert f"{line} | out[i] = y + nonsense;" in str(error.value)


# Errors


def test_a_threadgroup_across_elements():
    run = function(INDEX + "out[i] = x[i];", grid=(4, 1, 6), threadgroup=(4, 1, 4))
    assert run(floats(4)).shape == (4,)
    with pytest.raises(ValueError, match=r"^\[vmap\] Kernel `k` .* 6 threads in z, .* of 4, "):
        mx.vmap(run)(floats(3, 4))


@pytest.mark.filterwarnings(f"ignore::{AnyMetalWarning.__module__}.{AnyMetalWarning.__name__}")
def test_size_of_an_input():
    run = function(INDEX + "out[i] = x[i] * x_size;")
    assert run(mx.ones(4)).tolist() == [4] * 4
    with pytest.raises(ValueError, match=r"^\[vmap\] Kernel `k` .* `<input>_size`\. Pass the"):
        mx.vmap(run)(floats(3, 4))


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        ({"threadgroup": (2048, 1, 1), "grid": (4096, 1, 1)}, "Thread group size"),
        ({"grid": (-4, 1, 1)}, "sizes cannot be negative"),
        ({"grid": (4, 1, -1)}, "sizes cannot be negative"),
        ({"threadgroup": (4, 1, -1)}, r"Thread group size \(-4\)"),
        ({"threadgroup": (-4, 1, -1)}, "sizes cannot be negative"),
    ],
)
def test_impossible_launches(launch, message):
    run = function(INDEX + "out[i] = x[i];", **launch)
    with pytest.raises(KernelLaunchError, match=message):
        mx.eval(mx.vmap(run)(floats(3, 4)))


@pytest.mark.parametrize("value", ["sequential", "", True, 0])
def test_the_option_is_checked(value):
    with pytest.raises(ValueError, match=r'^\[metal_kernel\] `vmap` must be None or "batch", got '):
        function("out[0] = x[0];", vmap=value)


# What the compiler does by line and column


@pytest.mark.parametrize("levels", [1, 2])
def test_repairs_find_their_place(levels):
    """Clang refuses such casts, so that they are rewritten where it says."""
    run = function(INDEX + "\n\nout[i] = bfloat((half)x[i] + (half)(x[i] * x[i]));")
    for _ in range(levels):
        run = mx.vmap(run)
    x = mx.ones((2, 3, 4), mx.bfloat16)
    assert mx.array_equal(run(x), x * 2).item()


@pytest.mark.parametrize("levels", [1, 2])
def test_what_metal_forbids_is_found_in_the_line_of_the_body(levels):
    run = function(INDEX + "\n\n  long long y = x[i];\nout[i] = y;")
    for _ in range(levels):
        run = mx.vmap(run)
    with pytest.raises(MetalCompileError, match=r"k: source:4:3: error: 'long long'"):
        mx.eval(run(floats(2, 3, 4)))
