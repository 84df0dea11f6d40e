"""Shared fixtures: MLX's own answer to a call, ours, and a target that only takes notes."""

from __future__ import annotations

import os

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
from anymetal import kernel, targets
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


@pytest.fixture(autouse=True)
def no_kernels_of_other_tests() -> Iterator[None]:
    """The same line of a test makes the same kernel, which remembers its calls."""
    yield
    kernel._made.cache_clear()


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
