"""Shared fixtures: MLX's own answer to a call, ours, and a target that only takes notes."""

from __future__ import annotations

import os
import zlib

# Before NumPy, SciPy or MLX loads its OpenBLAS: that has a thread for each processor, which waits
# in a loop for its part of the work. Beside the other pytest worker and our own threads, references
# by LAPACK take ten times as long so.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

import anymetal
from anymetal import targets
from anymetal.errors import ToolchainError
from anymetal.runtime import helpers
from anymetal.runtime.bridge import loader, recipe
from anymetal.signature import metal_text
from anymetal.targets import Launch
from anymetal.targets.graph import GraphTarget

# Kernels are nodes of MLX's graph in all tests, from the first one on, and in programs they start.
os.environ.setdefault("ANYMETAL_BRIDGE", "wait")
# Which of a kernel's versions runs must not depend on how long a test has launched it. Tests of
# versions for launches ask for them.
os.environ.setdefault("ANYMETAL_SPECIALISE", "0")

#: Tables whose rows are kernels that take long to compile: one of so many rows, drawn by its name,
#: runs by default, the others with the long tests. `--rows SEED` draws others.
_LARGE_TABLES = {
    "batching/test_kernels.py": 2,
    "frontend/test_convergence.py": 2,
    "frontend/test_undefined.py": 2,
    "graph/test_bindings.py": 2,
    "linalg/distributed/test_files.py": 2,
    "linalg/test_checked_dots.py": 2,
    "linalg/test_cholesky.py": 2,
    "linalg/test_gemm.py": 2,
    "linalg/test_qr.py": 2,
    "linalg/test_svd.py": 2,
    "linalg/test_svd_gradient.py": 2,
    "nn/test_grid_sample.py": 2,
    "nn/test_grid_sample_edges.py": 2,
    "numerics/test_conversions.py": 2,
    "numerics/test_integer_functions.py": 2,
    "numerics/test_pack.py": 2,
    "runtime/test_code.py": 2,
    "runtime/test_pool_process.py": 2,
    "sanitize/test_cases.py": 2,
    "simd/lanes/test_matrices.py": 2,
    "simd/test_features.py": 2,
    "simd/test_inactive_lanes.py": 2,
    "simd/test_scalar_build.py": 2,
    "targets/cpu/test_faults.py": 2,
    "targets/cpu/test_passes_off.py": 2,
    "targets/cpu/test_private_memory.py": 2,
    "targets/cpu/test_special_cases.py": 2,
    "targets/cpu/test_specialisation.py": 2,
    "targets/cpu/test_stray_loads.py": 2,
    "test_imported.py": 2,
    "test_kernel_cases.py": 4,
    "test_library_parameters.py": 2,
    "test_logging.py": 2,
    "testing/test_mutants.py": 2,
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rows", metavar="SEED", default="", help="draw other rows of the large tables of kernels"
    )


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("rows")
    for item in items:
        file, _, row = item.nodeid.removeprefix("tests/").partition("::")
        quick = "[" not in row or "[errors/" in row  # those are not compiled to the end
        rows = _LARGE_TABLES.get(file, 1)
        if not quick and zlib.crc32(f"{seed}{row}".encode()) % rows:
            item.add_marker(pytest.mark.slow)


# MLX's function, whatever a test installs in its place.
_mlx_metal_kernel = mx.fast.metal_kernel

Arguments = dict[str, Any]


@dataclass
class Answer:
    """What came of a call: an error, or everything that MLX's exporter tells about a kernel."""

    error: type | None = None
    message: str = ""
    entry: str = ""
    text: str = ""
    grid: tuple[int, ...] = ()
    threadgroup: tuple[int, ...] = ()
    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    row_contiguous: bool = True
    math_mode: int = 0


@dataclass
class RecordingTarget(GraphTarget):
    """Runs nothing, keeps the last launch, and returns zeros."""

    name: str = "recording"
    lazy: bool = False
    launch: Launch | None = None

    def run(self, launch: Launch) -> list[mx.array]:
        self.launch = launch
        pairs = zip(launch.output_shapes, launch.output_dtypes, strict=True)
        return [mx.zeros(shape, dtype) for shape, dtype in pairs]

    def become_lazy(self) -> None:
        raise ToolchainError("no compiler; install one")


@pytest.fixture
def no_helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are compiled in this process, as where there is no interpreter to start."""
    monkeypatch.setattr(helpers, "interpreter", lambda: None)
    monkeypatch.setattr(helpers, "_crew", helpers._Crew(1000))


@pytest.fixture
def target() -> Iterator[RecordingTarget]:
    """A recording target in use for one test."""
    recording = RecordingTarget()
    targets.select(recording)
    yield recording
    targets.select(None)


@pytest.fixture(scope="session")
def built_bridge() -> Path:
    """The finished bridge, which this process then has; built once if the cache has none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANYMETAL_BRIDGE", "wait")
        loader.native()
        try:
            found = recipe.recipe().library()
        except recipe.Missing as error:
            pytest.skip(f"{error}; {error.remedy}")
    assert found is not None, loader.status()
    return found.path


@pytest.fixture(scope="session")
def ask_mlx() -> Callable[[Arguments, Arguments], Answer]:
    """MLX's answer: it describes kernels on any machine while it traces for an export."""

    def ask(construction: Arguments, call: Arguments) -> Answer:
        answer, trace = Answer(), []
        if isinstance(call.get("inputs"), list):  # what has a value shows up as a constant
            mx.eval([value for value in call["inputs"] if isinstance(value, mx.array)])

        def traced() -> Any:
            try:
                return _mlx_metal_kernel(**construction)(**call)
            except Exception as error:
                answer.error, answer.message = type(error), str(error)
                return mx.array(0)

        mx.export_function(trace.append, traced)
        values = {}
        for node in trace:
            if node["type"] == "constants":
                values = dict(node["constants"])
            if node["type"] == "primitive" and node["name"] == "CustomKernel":
                entry, text, *sizes = node["arguments"][:8]
                answer.entry, answer.text = entry, text
                answer.grid, answer.threadgroup = tuple(sizes[:3]), tuple(sizes[3:])
                answer.inputs = [
                    (shape, dtype, str(values[key])) for key, shape, dtype in node["inputs"]
                ]
                answer.outputs = [(shape, dtype) for _, shape, dtype in node["outputs"]]
                answer.row_contiguous = node["arguments"][9]
                answer.math_mode = node["arguments"][13]
        return answer

    return ask


@pytest.fixture
def ask_us(target: RecordingTarget) -> Callable[[Arguments, Arguments], Answer]:
    """AnyMetal's answer to the same."""

    def ask(construction: Arguments, call: Arguments) -> Answer:
        try:
            anymetal.metal_kernel(**construction)(**call)
        except Exception as error:
            return Answer(type(error), str(error))
        launch = target.launch
        assert launch is not None
        return Answer(
            entry=launch.source.entry,
            text=metal_text(launch.source),
            grid=launch.grid,
            threadgroup=launch.threadgroup,
            inputs=[(array.shape, array.dtype, str(array)) for array in launch.inputs],
            outputs=list(zip(launch.output_shapes, launch.output_dtypes, strict=True)),
            row_contiguous=launch.ensure_row_contiguous,
            math_mode=["safe", "relaxed", "fast"].index(launch.source.math_mode),
        )

    return ask
