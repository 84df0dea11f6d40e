"""Kernels in functions that MLX exports."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import pytest

from tests.graph.kernels import Ticks, double, endless, kernel, run

X = mx.arange(8, dtype=mx.float32)


def nodes(function: Any, *arguments: Any, **options: Any) -> list[dict[str, Any]]:
    """The primitives of an exported function."""
    trace: list[dict[str, Any]] = []
    mx.export_function(trace.append, function, *arguments, **options)
    return [node for node in trace if node["type"] == "primitive"]


def test_an_export_records_mlx_own_primitive():
    """Exporting functions: "inside the export trace a call succeeds and records a primitive
    CustomKernel".
    """
    (node,) = nodes(double, X)
    assert node["name"] == "CustomKernel"
    entry, text, *sizes = node["arguments"][:8]
    assert entry == "custom_kernel_double_float_float"
    assert "out[i] = 2 * x[i];" in text
    assert sizes == [8, 1, 1, 64, 1, 1]


def test_an_export_runs_nothing():
    """Exporting functions: "The data doesn't matter, but the shapes and types of the arrays do."""
    ticks = Ticks()
    assert [node["name"] for node in nodes(lambda x: endless(ticks(x)), X)] == ["CustomKernel"] * 2
    assert ticks.count == 0


def test_kernels_among_operations():
    """Exporting functions: kernels stand between the operations that surround them."""
    names = [node["name"] for node in nodes(lambda x: mx.exp(double(x * 2)) + 1, X)]
    assert names.count("CustomKernel") == 1
    assert names.index("Multiply") < names.index("CustomKernel") < names.index("Exp")


def test_a_file(tmp_path):
    """Exporting functions: export_function writes a file."""
    path = tmp_path / "double.mlxfn"
    mx.export_function(str(path), double, X)
    assert b"CustomKernel" in path.read_bytes()


def test_several_traces_in_one_file(tmp_path):
    """Exporting functions: exporter "lets you export multiple traces of the same function"."""
    path = tmp_path / "traces.mlxfn"
    with mx.exporter(str(path), lambda x, y=None: double(x if y is None else x + y)) as exporter:
        exporter(X)
        exporter(X, y=X)
    assert path.read_bytes().count(b"CustomKernel") >= 1


def test_shapeless_exports():
    """Exporting functions: "shapeless=True exports too"."""
    assert [node["name"] for node in nodes(double, X, shapeless=True)] == ["CustomKernel"]


def test_scalars_are_constants():
    """Exporting functions: "Scalars passed as Python numbers show up as constants"."""
    scale = kernel("scale_by", "out[i] = x[i] * factor;", ("x", "factor"))
    trace: list[dict[str, Any]] = []
    mx.export_function(trace.append, lambda x: run(scale, x, 2.5)[0], X)
    constants = next(node for node in trace if node["type"] == "constants")["constants"]
    assert [value.item() for _, value in constants] == [2.5]


def test_a_kernel_of_constants_can_be_exported():
    """Exporting functions: evaluated arrays that a function encloses are saved as data."""
    y = double(X)
    mx.eval(y)
    assert "CustomKernel" not in [node["name"] for node in nodes(lambda x: x + y, X)]


def test_a_compiled_function_can_be_exported():
    """Exporting functions: transformations compose with exports."""
    assert "CustomKernel" in [node["name"] for node in nodes(mx.compile(double), X)]


def test_exporting_custom_functions():
    """Exporting functions: "Unable to get state for primitive CustomTransforms", as in MLX; a
    gradient exports, "because the primitive drops out".
    """
    fun = mx.custom_function(double)
    fun.vjp(lambda x, cotangent, _: double(cotangent))
    with pytest.raises(ValueError, match="for primitive CustomTransforms"):
        nodes(fun, X)
    names = [node["name"] for node in nodes(mx.grad(lambda x: fun(x).sum()), X)]
    assert "CustomKernel" in names


def test_after_an_export_kernels_run_again():
    """Exporting functions: "and only there": other calls are computed here."""
    nodes(double, X)
    assert double(X).tolist() == [2 * i for i in range(8)]
    assert mx.compile(double)(X).tolist() == [2 * i for i in range(8)]


def test_a_drawing_of_the_graph(tmp_path):
    """Exporting functions: export_to_dot shows a kernel as a node, and computes nothing."""
    ticks, path = Ticks(), tmp_path / "graph.dot"
    with path.open("w") as file:
        mx.export_to_dot(file, ticks(X) + 1)
    assert "MetalKernel" in path.read_text() and "Add" in path.read_text()
    assert ticks.count == 0
