"""What a target is given, and what happens around it."""

from __future__ import annotations

import copy
import math
import pickle
import threading

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal import AnyMetalWarning, KernelLaunchError, targets
from anymetal.dtypes import metal_name
from anymetal.errors import CompilerError, KernelLoadError, MetalCompileError
from anymetal.transforms import is_transformed
from tests.counting import function_calls


def kernel(**changes):
    arguments = {
        "name": "k",
        "input_names": ["inp"],
        "output_names": ["out"],
        "source": "out[0] = inp[thread_position_in_grid.x];",
        **changes,
    }
    return anymetal.metal_kernel(**arguments)


def call(kernel, *inputs, **changes):
    arguments = {
        "inputs": list(inputs) or [mx.ones((9,))],
        "output_shapes": [(4,)],
        "output_dtypes": [mx.float32],
        "grid": (4, 1, 1),
        "threadgroup": (2, 1, 1),
        **changes,
    }
    return kernel(**arguments)


def test_launch(target):
    array = mx.ones((9,))
    out = call(kernel(), array, template=[("T", mx.float16)], init_value=0.1)
    assert isinstance(out, list)
    assert out[0].shape == (4,)
    launch = target.launch
    assert launch.inputs[0] is array
    assert launch.output_shapes == [(4,)]
    assert list(launch.output_dtypes) == [mx.float32]
    assert launch.grid == (4, 1, 1)
    assert launch.threadgroup == (2, 1, 1)
    assert launch.init_value == np.float32(0.1)
    assert launch.ensure_row_contiguous
    assert launch.template == [("T", mx.float16)]
    assert launch.source.template_parameters == "typename T"
    assert launch.source.template_arguments == "<float16_t>"
    assert [p.kind for p in launch.source.parameters] == ["input", "output"]
    assert launch.source.attributes == ("thread_position_in_grid",)


def test_equal_calls_have_equal_sources(target):
    sources = []
    for _ in range(2):
        call(kernel())
        sources.append(target.launch.source)
    assert sources[0] is sources[1]  # kernels built anew share what is known about them
    call(kernel(header="int f();"))
    assert target.launch.source != sources[0]


def test_arguments_of_an_equal_shape_but_another_type(target):
    call(kernel(), mx.ones((9,)), output_shapes=[np.array([2, 3])], grid=np.array([1, 2, 3]))
    assert target.launch.output_shapes == [(2, 3)]
    assert all(type(dim) is int for dim in (*target.launch.output_shapes[0], *target.launch.grid))


def test_repr():
    names = {"input_names": ["a", "b"], "output_names": ["o"]}
    assert repr(kernel(**names)) == "<metal_kernel k(a, b) -> (o)>"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0.0), (True, 1.0), (16777217, 16777216.0), (1e300, math.inf), (-1e300, -math.inf)],
)
def test_init_value_goes_through_float32(target, value, expected):
    call(kernel(), init_value=value)
    assert target.launch.init_value == expected


def test_a_dtype_without_metal_name():
    with pytest.raises(RuntimeError, match=r"^Unsupported compilation type"):
        metal_name("float8")


# Limits of a launch.


@pytest.mark.parametrize(
    ("threadgroup", "threads"),
    [
        ((2048, 1, 1), 2048),
        ((1025, 1, 1), 1025),
        ((32, 32, 2), 2048),
        ((-1, 1, 1), -1),
        ((-2, 3, 4), -24),
        ((2**20, 2**20, 1), 2**40),
    ],
)
def test_threadgroup_limit(target, threadgroup, threads):
    with pytest.raises(ValueError) as error:
        call(kernel(), threadgroup=threadgroup)
    assert str(error.value) == (
        f"Thread group size ({threads}) is greater than  the maximum allowed threads per "
        f"threadgroup (1024). Kernel `k` was launched with threadgroup={threadgroup}."
    )
    assert isinstance(error.value, KernelLaunchError)
    assert target.launch is None


@pytest.mark.parametrize("threadgroup", [(1024, 1, 1), (32, 32, 1), (0, 5, 5), (4, 4, 64)])
@pytest.mark.parametrize("grid", [(1, 1, 1), (0, 1, 1), (0, 0, 0), (2**31 - 1, 1, 1)])
def test_possible_extents(target, threadgroup, grid):
    call(kernel(), threadgroup=threadgroup, grid=grid)
    assert (target.launch.threadgroup, target.launch.grid) == (threadgroup, grid)


@pytest.mark.parametrize(
    "extents",
    [{"grid": (-1, 1, 1)}, {"grid": (-1, -1, 1)}, {"threadgroup": (-1, -1, 1)}],
)
def test_negative_extents(target, extents):
    with pytest.raises(KernelLaunchError, match="sizes cannot be negative"):
        call(kernel(), **extents)


def test_zero_size_outputs(target):
    out = call(kernel(), output_shapes=[(3, 0)])
    assert out[0].size == 0


# verbose


def test_verbose_prints_what_mlx_prints(target, capfd):
    arguments = {
        "name": "a-b",
        "input_names": ["inp"],
        "output_names": ["out"],
        "source": "inp_shape",
        "header": "int f();\n",
    }
    theirs = mx.fast.metal_kernel(**arguments)
    mx.export_function(lambda _: None, lambda a: call(theirs, a, verbose=True), mx.ones((3, 3)))
    expected = capfd.readouterr().out
    assert expected.startswith("Generated source code for `a-b`:\n```\nint f();\n")
    for _ in range(2):  # on every call
        call(anymetal.metal_kernel(**arguments), mx.ones((3, 3)), verbose=True)
        assert capfd.readouterr().out == expected


def test_verbose_comes_before_the_float64_error(target, capfd):
    with pytest.raises(
        ValueError,
        match=r"^float64 is not supported on the GPU: output `out` of kernel `k`\. Use mx",
    ):
        call(kernel(), verbose=True, output_dtypes=[mx.float64])
    assert "device double* out" in capfd.readouterr().out


# The old edition of the documentation


def test_ensure_row_contiguous_in_the_call(target):
    with pytest.warns(AnyMetalWarning, match=r"`ensure_row_contiguous` .* kernel `k`") as caught:
        call(kernel(), ensure_row_contiguous=False)
    assert caught[0].filename == __file__
    assert not target.launch.ensure_row_contiguous
    with pytest.warns(AnyMetalWarning):
        call(kernel(ensure_row_contiguous=False), ensure_row_contiguous=True)
    assert target.launch.ensure_row_contiguous
    with pytest.raises(TypeError, match=r"^__call__"):
        call(kernel(), ensure_row_contiguous=1)


# Transformations


def loss(array):
    return call(kernel(), array)[0].sum()


def test_gradient_of_a_kernel_is_an_error(target):
    array = mx.ones((9,))
    for transformation in (mx.grad, mx.value_and_grad):
        with pytest.raises(ValueError, match=r"^\[Primitive::vjp\] Not implemented for CustomK"):
            transformation(loss)(array)
    with pytest.raises(ValueError, match=r"^\[Primitive::vjp\] Not implemented for CustomKernel"):
        mx.vjp(loss, [array], [mx.array(1.0)])
    with pytest.raises(ValueError, match=r"^\[Primitive::jvp\] Not implemented for CustomKernel"):
        mx.jvp(loss, [array], [array])
    with pytest.raises(ValueError, match=r"^\[Primitive::vjp\] Not implemented for CustomKernel"):
        mx.grad(lambda a: loss(a * 2) + a.sum())(array)


def test_gradient_beside_a_kernel(target):
    array = mx.ones((9,))
    constant = mx.ones((9,)) * 3
    assert mx.grad(lambda a: (loss(a), a.sum())[1])(array).tolist() == [1] * 9
    assert mx.grad(lambda a: a.sum() * mx.stop_gradient(loss(a)))(array).tolist() == [0] * 9
    assert mx.grad(lambda a: a.sum() + loss(constant))(array).tolist() == [1] * 9


def test_custom_function_with_a_rule(target):
    @mx.custom_function
    def doubled(a):
        return call(kernel(), a, output_shapes=[a.shape])[0]

    @doubled.vjp
    def rule(primals, cotangent, output):
        return call(kernel(), cotangent, output_shapes=[(9,)])[0] + 5

    gradient = mx.grad(lambda a: doubled(a * 2).sum())(mx.ones((9,)))
    assert gradient.tolist() == [10] * 9
    assert doubled(mx.ones((9,))).tolist() == [0] * 9
    checkpointed = mx.grad(lambda a: mx.checkpoint(doubled)(a).sum())(mx.ones((9,)))
    assert checkpointed.tolist() == [5] * 9


@pytest.mark.parametrize("transformation", [mx.compile, mx.vmap], ids=["compile", "vmap"])
def test_where_arrays_have_no_values(target, transformation):
    with pytest.raises(
        ValueError,
        match=r"^\[eval\] Attempting to eval an array during.*Kernel `k`.*no compiler; install one",
    ):
        transformation(lambda a: call(kernel(), a)[0])(mx.ones((9, 9)))


def test_kernel_of_constants_inside_compile(target):
    constant = mx.ones((9,))
    assert mx.compile(lambda a: a + call(kernel(), constant)[0])(mx.ones((4,))).tolist() == [1] * 4


def test_export(target):
    """An export records MLX's own kernel, for machines that can run it."""
    trace = []
    mx.export_function(trace.append, lambda a: call(kernel(), a, stream=mx.cpu), mx.ones((9,)))
    (node,) = [node for node in trace if node.get("name") == "CustomKernel"]
    assert node["arguments"][0] == "custom_kernel_k_float_float"


def test_with_compilation_disabled(target):
    """Then every call looks like one under transformation."""
    mx.disable_compile()
    try:
        assert call(kernel())[0].tolist() == [0] * 4
    finally:
        mx.enable_compile()
    assert not is_transformed([mx.ones((9,))])


def test_detecting_transformations():
    array = mx.ones((3, 4))
    seen = []

    def look(a):
        seen.append((is_transformed([a]), is_transformed([array]), is_transformed([array, a * 2])))
        return a.sum()

    mx.grad(look)(array)
    mx.jvp(look, [array], [array])
    mx.vmap(look)(array)
    mx.compile(look)(array)
    assert seen == [(True, False, True)] * 4
    look(array)
    assert seen[-1] == (False, False, False)
    lazy = array * 2
    assert not is_transformed([lazy])
    results = []
    thread = threading.Thread(target=lambda: results.append(is_transformed([array])))
    thread.start()
    thread.join()
    assert results == [False]


# Targets


def test_a_lazy_target_is_left_to_itself(target):
    target.lazy = True
    call(kernel(), threadgroup=(2048, 1, 1), grid=(-1, 1, 1))
    assert target.launch.threadgroup == (2048, 1, 1)
    out = mx.compile(lambda a: call(kernel(), a)[0])(mx.ones((9,)))
    assert out.tolist() == [0] * 4


def test_select(target):
    assert targets.active() is target
    targets.select(None)
    targets.select(target)
    assert targets.active() is target


# Errors


def test_errors_start_like_those_of_mlx():
    error = MetalCompileError("k", "k: source:1:2: error: no")
    assert isinstance(error, RuntimeError)
    assert str(error) == (
        "[metal::Device] Unable to build metal library from source\nk: source:1:2: error: no\n"
    )
    load = KernelLoadError("k", "too big")
    assert str(load) == "[metal::Device] Unable to load kernel k\ntoo big\n"
    assert "report" in str(CompilerError("k", "bad IR"))
    for one in (error, load, CompilerError("k", "bad IR")):
        for again in (copy.copy(one), pickle.loads(pickle.dumps(one))):
            assert (type(again), str(again), vars(again)) == (type(one), str(one), vars(one))


def test_overhead_of_a_warm_call(target):
    """All functions around a kernel with two inputs; benchmarks/latency.py measures the time."""
    k = kernel(input_names=["a", "b"])
    arrays = mx.ones((100,)), mx.ones((3,))
    target.run = lambda launch: []
    call(k, *arrays, template=[("T", mx.float32)])
    work = function_calls(lambda: call(k, *arrays, template=[("T", mx.float32)]))
    assert work < 65
