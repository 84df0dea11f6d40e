"""`install` and `uninstall`, and the GPU that is not there."""

from __future__ import annotations

import ast
import subprocess
import sys
import threading

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal import pretend, targets

pytestmark = pytest.mark.skipif(targets.HAS_METAL, reason="with Metal, install does nothing")

REAL_GPU = mx.DeviceType.gpu
OWNERS = [mx, mx.fast, mx.metal, mx.Device, mx.DeviceType, mx.Stream, mx.ThreadLocalStream]


@pytest.fixture(autouse=True)
def restored():
    before = [dict(vars(module)) for module in OWNERS]
    device = mx.default_device()
    yield
    anymetal.uninstall()
    assert [dict(vars(module)) for module in OWNERS] == before
    assert all(
        vars(module)[name] is value
        for module, names in zip(OWNERS, before, strict=True)
        for name, value in names.items()
    )
    assert mx.default_device() == device


@pytest.fixture
def gpu():
    anymetal.install(pretend_gpu=True)


def run_kernel(**changes):
    kernel = mx.fast.metal_kernel("k", ["inp"], ["out"], "out[0] = inp[0];")
    arguments = {
        "inputs": [mx.ones((9,))],
        "output_shapes": [(4,)],
        "output_dtypes": [mx.float32],
        "grid": (4, 1, 1),
        "threadgroup": (2, 1, 1),
    }
    return kernel(**{**arguments, **changes})


def test_without_install_mlx_has_no_kernels():
    with pytest.raises(RuntimeError, match="No Metal back-end"):
        run_kernel()


def test_install(target):
    anymetal.install()
    assert mx.fast.metal_kernel is anymetal.metal_kernel
    from mlx.core.fast import metal_kernel

    assert metal_kernel is anymetal.metal_kernel
    assert run_kernel()[0].shape == (4,)
    assert not mx.metal.is_available()


def test_install_twice_and_uninstall_once():
    original = mx.fast.metal_kernel
    anymetal.install()
    anymetal.install()
    anymetal.install(pretend_gpu=True)
    anymetal.install()
    assert mx.metal.is_available()
    anymetal.uninstall()
    assert mx.fast.metal_kernel is original
    assert not mx.metal.is_available()
    anymetal.uninstall()
    assert mx.fast.metal_kernel is original


def test_with_metal_nothing_is_replaced(monkeypatch):
    monkeypatch.setattr(targets, "HAS_METAL", True)
    original = mx.fast.metal_kernel
    anymetal.install(pretend_gpu=True)
    assert mx.fast.metal_kernel is original
    assert mx.gpu is REAL_GPU


def test_what_libraries_ask_first(gpu):
    assert mx.metal.is_available()
    assert mx.default_device() == mx.gpu
    assert mx.default_device() == REAL_GPU
    assert mx.default_device() == mx.Device(mx.gpu)
    assert mx.default_device() == mx.Device(mx.gpu, 0)
    assert mx.default_device().type == mx.gpu
    assert mx.default_device().type == mx.DeviceType.gpu
    assert mx.gpu == mx.default_device().type
    assert mx.default_device() != mx.cpu
    assert not mx.default_device().__ne__(mx.gpu)
    assert mx.default_device() != mx.Device(mx.cpu)
    assert mx.gpu != mx.cpu
    assert mx.cpu != mx.default_device()
    assert mx.DeviceType.gpu == mx.default_device()
    assert mx.DeviceType.cpu == mx.Device(mx.cpu)
    assert mx.cpu != 0
    assert str(mx.default_device()) == "Device(gpu, 0)"
    assert isinstance(mx.default_device(), mx.Device)
    assert mx.default_device() in {mx.Device(mx.gpu)}
    assert mx.is_available(mx.gpu)
    assert mx.is_available(REAL_GPU)
    assert mx.device_count(mx.gpu) == 1
    assert mx.default_device() is not None
    assert mx.gpu != "gpu"


def test_device_info(gpu):
    info = mx.device_info()
    assert info == mx.metal.device_info() == mx.device_info(mx.gpu) == mx.device_info(REAL_GPU)
    assert info["architecture"].startswith("applegpu_")
    assert info["device_name"].startswith("Apple ")
    assert 0 < info["max_recommended_working_set_size"] < info["memory_size"]
    assert 0 < info["max_buffer_length"] < info["memory_size"]
    assert "applegpu" not in mx.device_info(mx.cpu)["architecture"]
    assert mx.set_wired_limit(0) >= 0


@pytest.mark.parametrize("device", ["mx.gpu", "mx.Device(mx.gpu)", "mx.DeviceType.gpu"])
def test_devices_and_streams(gpu, device):
    device = eval(device)
    mx.set_default_device(device)
    assert mx.default_device() == mx.gpu
    array = mx.ones((3,))
    streams = [mx.default_stream(device), mx.new_stream(device), mx.new_thread_local_stream(device)]
    for stream in streams:
        assert stream.device == mx.gpu
        with mx.stream(stream):
            assert mx.default_device() == mx.gpu
            assert (array + 1).tolist() == [2] * 3
        assert mx.add(array, array, stream=stream).tolist() == [2] * 3
        mx.synchronize(stream)
    with mx.stream(device):
        assert (array + 1).tolist() == [2] * 3
    mx.synchronize(device)
    mx.eval(array)


def test_operations_on_the_gpu_run_here(gpu):
    array = mx.ones((3,))
    assert mx.add(array, array, stream=mx.gpu).tolist() == [2] * 3
    assert mx.exp(array * 0, stream=mx.default_device()).tolist() == [1] * 3
    assert mx.matmul(mx.eye(2), mx.eye(2), stream=mx.Device(mx.gpu)).tolist() == [[1, 0], [0, 1]]
    assert array.sum(stream=mx.gpu).item() == 3
    assert mx.random.normal((3,), stream=mx.gpu).shape == (3,)
    assert mx.linalg.inv(mx.eye(2), stream=mx.cpu).tolist() == [[1, 0], [0, 1]]
    assert mx.compile(lambda a: mx.exp(a, stream=mx.gpu))(array * 0).tolist() == [1] * 3


def test_default_device_follows_what_code_sets(gpu):
    mx.set_default_device(mx.cpu)
    assert mx.default_device() == mx.cpu
    assert mx.default_device() != mx.gpu
    assert "applegpu" not in mx.device_info()["architecture"]
    with mx.stream(mx.gpu):
        assert mx.default_device() == mx.gpu
        with mx.stream(mx.Device(mx.cpu)):
            assert mx.default_device() == mx.cpu
        assert mx.default_device() == mx.gpu
    assert mx.default_device() == mx.cpu
    mx.set_default_device(mx.gpu)
    with pytest.raises(KeyError), mx.stream(mx.cpu):
        raise KeyError
    assert mx.default_device() == mx.gpu
    cpu_stream, gpu_stream = mx.new_stream(mx.cpu), mx.new_stream(mx.gpu)
    assert (cpu_stream.device, gpu_stream.device) == (mx.cpu, mx.gpu)
    with mx.stream(cpu_stream):
        assert mx.default_device() == mx.cpu
        with mx.stream(gpu_stream):
            assert mx.default_device() == mx.gpu


def test_wrong_arguments_are_still_refused(gpu):
    for wrong in (lambda: mx.stream("gpu"), lambda: mx.new_stream("gpu"), lambda: mx.Device("gpu")):
        with pytest.raises((TypeError, AttributeError)):
            wrong()
    with pytest.raises(TypeError):
        mx.set_default_device("gpu")


@pytest.mark.parametrize("stream", ["mx.gpu", "mx.default_device()", "mx.new_stream(mx.gpu)"])
def test_kernels_take_any_stream_of_the_gpu(gpu, target, stream):
    assert run_kernel(stream=eval(stream))[0].shape == (4,)


CPU_STREAMS = ["mx.cpu", "mx.DeviceType.cpu", "mx.Device(mx.cpu)", "mx.new_stream(mx.cpu)"]


@pytest.mark.parametrize("stream", CPU_STREAMS)
def test_kernels_refuse_the_cpu_in_the_words_of_mlx(gpu, target, stream):
    with pytest.raises(ValueError, match=r"^\[metal_kernel\] Only supports the GPU\.$"):
        run_kernel(stream=eval(stream))
    with pytest.raises(ValueError, match="Expected `inputs` to have size 1"):
        run_kernel(stream=eval(stream), inputs=[])
    with mx.stream(mx.cpu):  # without a stream of its own a kernel runs on the GPU all the same
        assert run_kernel()[0].shape == (4,)


def test_a_call_that_is_known_is_refused_once_there_is_a_gpu():
    x = mx.ones((9,))
    call = {"inputs": [x], "grid": (4, 1, 1), "threadgroup": (2, 1, 1), "stream": mx.cpu}
    call |= {"output_shapes": [(4,)], "output_dtypes": [mx.float32]}
    kernel = anymetal.metal_kernel("k", ["inp"], ["out"], "out[thread_position_in_grid.x] = 1;")
    for _ in range(3):
        assert kernel(**call)[0].tolist() == [1] * 4
    anymetal.install(pretend_gpu=True)
    with pytest.raises(ValueError, match="Only supports the GPU"):
        kernel(**call)
    anymetal.uninstall()
    assert kernel(**call)[0].tolist() == [1] * 4


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_products_of_16_bits_that_the_cpu_of_mlx_lacks(gpu, dtype):
    """As a GPU computes them: sums in float32, rounded once."""
    random = np.random.default_rng(0)
    a, b = (mx.array(random.normal(size=(3, 64, 64))).astype(dtype) for _ in range(2))
    wide = [np.array(matrix.astype(mx.float32), np.float64) for matrix in (a, b)]
    left, right = [2, 0], [1, 1]
    mask = mx.array([[True, False], [True, True]])
    tiles = np.kron(np.array(mask), np.ones((32, 32)))
    cases = [
        (mx.gather_mm(a, b, mx.array(left), mx.array(right)), wide[0][left] @ wide[1][right]),
        (mx.gather_mm(a, b, rhs_indices=mx.array([1, 1, 0])), wide[0] @ wide[1][[1, 1, 0]]),
        (mx.block_masked_mm(a, b, 32, mask_lhs=mask), (wide[0] * tiles) @ wide[1]),
    ]
    for found, expected in cases:
        assert found.dtype == dtype
        error = np.abs(np.array(found.astype(mx.float32)) - expected)
        step = 2.0**-11 if dtype == mx.float16 else 2.0**-8
        assert (error <= step * np.abs(expected) + 1e-4).all()
    gradient = mx.grad(lambda a: mx.gather_mm(a, b, rhs_indices=mx.array([0, 1, 2])).sum())(a)
    assert gradient.dtype == dtype
    with pytest.raises(ValueError, match=r"\[gather_mm\]"):
        mx.gather_mm(a, b[:, :5], rhs_indices=mx.array([0]))


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
@pytest.mark.parametrize("mode", ["affine", "mxfp4"])
def test_quantized_products_of_16_bits_are_those_of_a_gpu(gpu, dtype, mode):
    """MLX's CPU back end adds up in 16 bits: with 4096 terms it is off by half of a typical sum."""
    random = np.random.default_rng(0)
    weights = mx.array(random.normal(size=(3, 8, 4096))).astype(dtype)
    x = mx.array(random.normal(size=(1, 4, 4096))).astype(dtype)
    packed = mx.quantize(weights, mode=mode)
    exact = mx.dequantize(*_widened(packed), mode=mode)[2].astype(mx.float32)
    expected = np.array(x.astype(mx.float32), np.float64) @ np.array(exact, np.float64).T
    for found in (
        mx.gather_qmm(x, *packed, rhs_indices=mx.array([2]), mode=mode),
        mx.quantized_matmul(x, *(part[2] for part in packed), mode=mode),
    ):
        assert found.dtype == dtype
        error = np.abs(np.array(found.astype(mx.float32)) - expected)
        step = 2.0**-11 if dtype == mx.float16 else 2.0**-8
        assert (error <= step * np.abs(expected) + 1e-3).all()
    if mode == "affine":  # float32 and 16 bits make float32
        assert mx.quantized_matmul(x, *_widened(packed)).dtype == mx.float32


def _widened(arrays: tuple[mx.array, ...]) -> list[mx.array]:
    return [a if mx.issubdtype(a.dtype, mx.integer) else a.astype(mx.float32) for a in arrays]


def test_imported_functions_have_their_kernels(gpu, tmp_path):
    file = str(tmp_path / "double.mlxfn")
    kernel = mx.fast.metal_kernel("k", ["x"], ["y"], "uint i = thread_position_in_grid.x; "
                                  "y[i] = 2 * x[i];")  # fmt: skip
    call = {"grid": (3, 1, 1), "threadgroup": (3, 1, 1), "output_dtypes": [mx.float32]}
    mx.export_function(
        file, lambda x: kernel(inputs=[x], output_shapes=[x.shape], **call)[0] + 1, mx.ones((3,))
    )
    function = mx.import_function(file)
    (result,) = function(mx.array([1.0, 2.0, 3.0]))
    assert result.tolist() == [3, 5, 7]
    function, metadata = mx.import_function(file=file, return_metadata=True)
    assert isinstance(function(mx.ones((3,))), tuple)
    anymetal.uninstall()
    assert mx.import_function(file, return_metadata=True)[1] == metadata
    with pytest.raises(RuntimeError):
        mx.eval(mx.import_function(file)(mx.ones((3,))))


def test_kernels_in_threads(gpu, target):
    results = []
    thread = threading.Thread(target=lambda: results.append(run_kernel()[0].tolist()))
    thread.start()
    thread.join()
    assert results == [[0] * 4]


def test_installing_again_starts_anew(gpu):
    mx.set_default_device(mx.cpu)
    anymetal.uninstall()
    anymetal.install(pretend_gpu=True)
    assert mx.default_device() == mx.gpu


def test_device_equals_only_devices():
    device = pretend.Device(REAL_GPU)
    assert device == mx.Device(REAL_GPU)
    assert mx.Device(REAL_GPU) == device
    assert device != mx.Device(mx.cpu)
    assert mx.Device(mx.cpu) != device
    assert mx.Device(mx.cpu) == pretend.CPU
    assert hash(device) == hash(pretend.GPU)


def test_import_is_light():
    script = (
        "import sys, mlx.core as mx; real = mx.fast.metal_kernel; before = set(sys.modules)\n"
        "import anymetal\n"
        "assert mx.fast.metal_kernel is real\n"
        "print(sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy = {"numpy", "llvmlite", "rich", "typer", "ziglang", "torch", "scipy", "asyncio"}
    assert heavy.isdisjoint(ast.literal_eval(run.stdout))
