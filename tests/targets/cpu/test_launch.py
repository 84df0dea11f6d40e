"""The CPU target on kernels written in C++, so that no compiler stands between cause and effect."""

from __future__ import annotations

import threading
from collections import OrderedDict
from weakref import WeakValueDictionary

import mlx.core as mx
import numpy as np
import pytest

from anymetal.errors import KernelLaunchError, KernelMemoryError
from anymetal.runtime import disk_cache, zig
from anymetal.runtime.bridge import loader, recipe
from anymetal.signature import KernelDefinition, SignatureGenerator
from anymetal.targets import cpu
from anymetal.targets.base import Launch
from anymetal.targets.cpu import code_lookup
from tests.counting import function_calls
from tests.runtime.native import object_of, output_of


class CpuTarget(cpu.CpuTarget):
    """The target, and the evaluation after each call."""

    def run(self, launch):
        outputs = super().run(launch)
        mx.eval(outputs)
        return outputs


@pytest.fixture(autouse=True, params=["graph", "at once"])
def way(request, monkeypatch, built_bridge):
    """With and without the bridge to MLX."""
    if request.param == "at once":
        monkeypatch.setattr(loader, "native", lambda: None)
    return request.param


@pytest.fixture(autouse=True)
def compiled(monkeypatch, tmp_path):
    """A compiler that takes the body for the C++ text of one group; records what it compiles."""
    compiled = []

    def shared_library(source, variant, stages):
        compiled.append((source, variant))
        return zig.link_shared(object_of(source.body))

    monkeypatch.setattr(code_lookup, "shared_library", shared_library)
    monkeypatch.setattr(code_lookup, "_loaded", WeakValueDictionary())
    monkeypatch.setattr(code_lookup, "_recent", OrderedDict())
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "cache"))
    return compiled


def make(body, inputs, shapes, dtypes, grid, threadgroup=(1, 1, 1), init=None, contiguous=True):
    """A launch, as the kernel object makes it."""
    names = tuple(f"i{n}" for n in range(len(inputs)))
    outputs = tuple(f"o{n}" for n in range(len(shapes)))
    # The comment says that the kernel can tell its threadgroups: they must stay as asked for.
    definition = KernelDefinition("native", names, outputs, f"// threadgroup\n{body}")
    plan = SignatureGenerator(definition).specialization(inputs, dtypes, ())
    return Launch(
        plan.source,
        inputs,
        shapes,
        dtypes,
        grid,
        threadgroup,
        init,
        contiguous,
        definition,
        (),
        None,
    )


DOUBLE = (
    "static_cast<float*>(buffers[1])[group] = 2 * static_cast<const float*>(buffers[0])[group];"
)


def test_inputs_reach_the_kernel_and_outputs_come_back(compiled):
    target, x = CpuTarget(), mx.arange(1000.0)
    launch = make(DOUBLE, [x], [(10, 100)], [mx.float32], (1000, 1, 1))
    for _ in range(3):
        (y,) = target.run(launch)
        assert y.shape == (10, 100) and mx.array_equal(y.reshape(-1), 2 * x)
    assert len(compiled) == 1


def test_arguments_come_in_signature_order():
    body = """
    // i0_shape i0_strides i0_ndim i1_shape
    auto* out = static_cast<int64_t*>(buffers[6]);
    auto* second = static_cast<uint8_t*>(buffers[7]);
    out[0] = static_cast<const int*>(buffers[0])[0];
    out[1] = static_cast<const int*>(buffers[1])[0];
    out[2] = static_cast<const int*>(buffers[1])[1];
    out[3] = static_cast<const int64_t*>(buffers[2])[0];
    out[4] = static_cast<const int64_t*>(buffers[2])[1];
    out[5] = static_cast<const int*>(buffers[3])[0];
    out[6] = static_cast<const uint16_t*>(buffers[4])[0];
    out[7] = static_cast<const int*>(buffers[5])[0];
    second[0] = 77;
    """
    x, b = mx.arange(12, dtype=mx.int32).reshape(3, 4), mx.ones((9,), mx.bfloat16)
    for given, contiguous, expected in [
        (x, True, [0, 3, 4, 4, 1, 2]),
        (x.T, True, [0, 4, 3, 3, 1, 2]),
        (x.T, False, [0, 4, 3, 1, 4, 2]),
        (x[::-1, ::2], False, [8, 3, 2, -4, 2, 2]),
    ]:
        shapes, dtypes = [(8,), (1,)], [mx.int64, mx.uint8]
        launch = make(body, [given, b], shapes, dtypes, (1, 1, 1), contiguous=contiguous)
        first, second = CpuTarget().run(launch)
        assert first.tolist() == [*expected, 0x3F80, 9], (given, contiguous)
        assert second.item() == 77


def test_the_size_extension():
    body = "static_cast<uint32_t*>(buffers[2])[0] = *static_cast<const uint32_t*>(buffers[1]);"
    definition = KernelDefinition("native", ("i0",), ("o0",), "uint n = *i0_size;")
    x = mx.zeros((7, 9))
    plan = SignatureGenerator(definition).specialization([x], [mx.uint32], ())
    launch = make(body, [x], [(1,)], [mx.uint32], (1, 1, 1))
    assert [p.kind for p in plan.source.parameters] == ["input", "size", "output"]
    launch.source = plan.source.replaced(body=body)
    assert CpuTarget().run(launch)[0].item() == 63


def test_the_launch_is_described(compiled):
    body = """
    auto* out = static_cast<uint32_t*>(buffers[0]);
    __atomic_fetch_add(out + 9, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; ++i) {
      out[i] = launch->grid[i];
      out[3 + i] = launch->group[i];
      out[6 + i] = launch->groups[i];
    }
    """
    for grid, asked, group, groups in [
        ((100, 7, 3), (32, 2, 1), (32, 2, 1), (4, 4, 3)),
        ((5, 1, 1), (1024, 1, 1), (5, 1, 1), (1, 1, 1)),
        ((33, 2, 9), (32, 8, 4), (32, 2, 4), (2, 1, 3)),
    ]:
        launch = make(body, [], [(10,)], [mx.uint32], grid, asked, 0.0)
        expected = [*grid, *group, *groups, groups[0] * groups[1] * groups[2]]
        assert CpuTarget().run(launch)[0].tolist() == expected


@pytest.mark.parametrize("grid", [(0, 1, 1), (4, 0, 4), (1, 1, 0)])
@pytest.mark.parametrize("init", [None, 3.0])
def test_no_threads_no_launch(grid, init, compiled):
    for extents in [(grid, (1, 1, 1)), ((1, 1, 1), grid)]:
        launch = make("__builtin_trap();", [], [(4,)], [mx.float32], *extents, init)
        (y,) = CpuTarget().run(launch)
        assert y.tolist() == [init] * 4 if init else y.shape == (4,)
    assert not compiled


def test_a_launch_without_end_is_refused():
    launch = make(DOUBLE, [mx.ones(8)], [(8,)], [mx.float32], (2**31 - 1,) * 3)
    with pytest.raises(KernelLaunchError, match=r"grid=\(2147483647, 2147483647, 2147483647\)"):
        CpuTarget().run(launch)


def test_initial_values_are_there_when_the_kernel_starts():
    body = "static_cast<uint16_t*>(buffers[0])[group] += 1;"
    for size in (4, 100_000):
        launch = make(body, [], [(size,)], [mx.bfloat16], (size, 1, 1), init=1.0)
        (y,) = CpuTarget().run(launch)
        assert set(np.asarray(y.view(mx.uint16)).tolist()) == {0x3F81}


def test_private_copies_leave_the_input_alone():
    body = "static_cast<float*>(buffers[0])[group] = -1; static_cast<float*>(buffers[1])[0] = 1;"
    x = mx.arange(6.0).reshape(2, 3)
    mx.eval(x)
    CpuTarget().run(make(body, [x.T], [(1,)], [mx.float32], (6, 1, 1)))
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_unevaluated_and_zero_size_inputs():
    x = mx.arange(8.0) + 1
    (y,) = CpuTarget().run(make(DOUBLE, [x * 2], [(8,)], [mx.float32], (8, 1, 1)))
    assert y.tolist() == [4.0 * i for i in range(1, 9)]
    empty = mx.zeros((0, 3))
    body = "static_cast<float*>(buffers[1])[0] = 5;"
    (y,) = CpuTarget().run(make(body, [empty], [(1,)], [mx.float32], (1, 1, 1)))
    assert y.item() == 5
    y, z = CpuTarget().run(make(body, [empty], [(1,), (0,)], [mx.float32] * 2, (1, 1, 1)))
    assert y.item() == 5 and z.shape == (0,)


def test_the_results_are_ordinary_arrays():
    x = mx.arange(64.0)
    launch = make(DOUBLE, [x], [(64,)], [mx.float32], (64, 1, 1))
    target, results = CpuTarget(), []
    for number in range(50):
        (y,) = target.run(launch)
        results.append(y + number)
        del y
    for number, result in enumerate(results):
        assert mx.array_equal(result, 2 * x + number)


def test_another_process_needs_no_compiler(compiled):
    x = mx.arange(8.0)
    launch = make(DOUBLE, [x], [(8,)], [mx.float32], (8, 1, 1))
    CpuTarget().run(launch)
    code_lookup._loaded.clear()
    code_lookup._recent.clear()  # as good as another process
    assert CpuTarget().run(launch)[0].tolist() == (2 * x).tolist()
    assert len(compiled) == 1


FRESH_PROCESS = """
from anymetal.runtime import zig
from anymetal.targets.cpu import code_lookup
def shared_library(source, variant, stages):
    print("compiled", end=" ")
    return zig.link_shared(object_of(source.body))
code_lookup.shared_library = shared_library
for name in ("subprocess", "tempfile", "socket"):  # tests.runtime.native has imported them
    sys.modules.pop(name, None)
STARTS = {"os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "subprocess.Popen"}
import mlx.core as mx
import anymetal
body = "static_cast<float*>(buffers[1])[group] = 2 * static_cast<const float*>(buffers[0])[group];"
kernel = anymetal.metal_kernel("native", ["i"], ["o"], body)
x = mx.arange(8.0)
started = []
sys.addaudithook(lambda event, _: started.append(event) if event in STARTS else None)
(y,) = kernel(inputs=[x], output_shapes=[(8,)], output_dtypes=[mx.float32], grid=(8, 1, 1),
              threadgroup=(1, 1, 1))
print(y[7].item(), bool(started))
print([name for name in ("numpy", "llvmlite", "socket", "subprocess", "tempfile", "rich", "typer")
       if name in sys.modules], end=" ")
"""


def test_a_second_process_imports_and_starts_no_tools(way, built_bridge, monkeypatch):
    if way == "graph":
        disk_cache.put(recipe.recipe().key, ".so", built_bridge.read_bytes())
    else:
        monkeypatch.setenv("ANYMETAL_BRIDGE", "0")
    first, _ = output_of(FRESH_PROCESS).splitlines()
    assert first == "compiled 14.0 True"
    assert output_of(FRESH_PROCESS) == "14.0 False\n[]"


def test_a_warm_call_is_little_work():
    """benchmarks/latency.py measures the time."""
    target, x = CpuTarget(), mx.arange(16.0)
    launch = make(DOUBLE, [x], [(16,)], [mx.float32], (16, 1, 1), (16, 1, 1))
    target.run(launch)
    assert function_calls(lambda: target.run(launch)) < 45


def test_a_damaged_library_is_compiled_again(compiled):
    launch = make(DOUBLE, [mx.arange(8.0)], [(8,)], [mx.float32], (8, 1, 1))
    CpuTarget().run(launch)
    for entry in disk_cache.entries():
        content = entry.path.read_bytes()
        entry.path.unlink()  # what is loaded must not change under our feet
        entry.path.write_bytes(content[:-100])
    code_lookup._loaded.clear()
    code_lookup._recent.clear()
    assert CpuTarget().run(launch)[0][7].item() == 14
    assert len(compiled) == 2


def test_classes_of_launches_are_compiled_apart(compiled):
    launches = [
        make(DOUBLE, [mx.arange(64.0)], [(64,)], [mx.float32], (64, 1, 1), group)
        for group in [(32, 1, 1), (64, 1, 1), (1, 1, 1), (5, 1, 1)]
    ]
    target = CpuTarget()
    for launch in launches * 3:
        target.run(launch)
    assert len(compiled) == len({variant for _, variant in compiled}) > 1


def test_errors_leave_the_plan_usable():
    body = "if (static_cast<float*>(buffers[0])[0] < 0) *(volatile int*)8 = 1;" + DOUBLE
    target = CpuTarget()
    bad, good = mx.full((8,), -1.0), mx.ones((8,))
    launch = make(body, [bad], [(8,)], [mx.float32], (8, 1, 1))
    for _ in range(3):
        launch.inputs = [bad]
        with pytest.raises(KernelMemoryError, match="`native`"):
            target.run(launch)
        launch.inputs = [good]
        assert target.run(launch)[0].tolist() == [2.0] * 8


def test_many_threads_run_one_plan():
    target, wrong = CpuTarget(), []

    def work(number):
        x = mx.full((1000,), float(number))
        launch = make(DOUBLE, [x], [(1000,)], [mx.float32], (1000, 1, 1))
        launch.source = shared
        for _ in range(100):
            (y,) = target.run(launch)
            if not np.all(np.asarray(y) == 2 * number):
                wrong.append(number)

    shared = make(DOUBLE, [mx.ones(1000)], [(1000,)], [mx.float32], (1000, 1, 1)).source
    threads = [threading.Thread(target=work, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_more_kinds_of_launches_than_are_remembered():
    target, x = CpuTarget(), mx.arange(4.0)
    source = make(DOUBLE, [x], [(4,)], [mx.float32], (4, 1, 1)).source
    for grid in range(1, 600):
        launch = make(DOUBLE, [x], [(4,)], [mx.float32], (min(grid, 4), grid, 1), (4, 1024 // 4, 1))
        launch.source = source
        launch.threadgroup = (4, grid % 200 + 1, 1)
    assert target.run(launch)
