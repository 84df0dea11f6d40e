"""Makes rows of kernels in `others/`: who does the same is said by formulas of the inputs' names.

    row("swiglu", "4 M float32", composed="F.silu(gate) * up")

A formula sees the inputs as tensors of PyTorch, and what `formulas.py` has. The oracle is the first
formula, computed with float64 for float32 and float16. In formulas of MLX and of the library the
inputs are arrays of MLX.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType
from typing import Any

import mlx.core as mx
import numpy as np
import torch

from anymetal import linalg, nn
from anymetal.testing import metal_case
from benchmarks.foreign import formulas
from benchmarks.harness import COMPOSED, LIBRARY, MLX, TORCH, Array, Race, Rival, Row
from benchmarks.others import texts

_ON_TORCH = {name: value for name, value in vars(formulas).items() if not name.startswith("_")}
_ON_MLX = {"mx": mx, "linalg": linalg, "nn": nn}

Made = tuple[Callable[[], Any], dict[str, mx.array], int]  #: the launch, its inputs, output bytes
Make = Callable[[np.random.Generator], Made]


def row(name: str, title: str, **more: Any) -> Row:
    """A row of a kernel of `others/*.metal`; `more` is what `row_of` takes."""

    def make(random: np.random.Generator) -> Made:
        case = metal_case.read(Path(name), texts()[name])
        inputs = metal_case.inputs(case, case.dtypes[0], random)
        launch = metal_case.launcher(case, case.dtypes[0], inputs)
        views = (text.partition("=") for text in case.all("view"))
        bound = {n.strip(): eval(text, {"mx": mx, **inputs}) for n, _, text in views}
        written = [
            metal_case.declaration(case, text, case.dtypes[0]) for text in case.all("output")
        ]
        size = sum(math.prod(one.shape) * one.dtype.size for one in written)
        return launch, {**inputs, **bound}, size

    return row_of(name, title, make, **more)


def row_of(
    name: str,
    title: str,
    make: Make,
    *,
    operation: str = "",
    composed: str = "",
    mlx: str = "",
    library: str = "",
    oracle: str = "",
    touched: Mapping[str, int] | None = None,
    flops: int = 0,
    relative: float = 1e-4,
    absolute: float = 1e-4,
    outliers: float = 0,
    moves: bool = False,
    note: str = "",
) -> Row:
    """A row of any launch.

    Args:
        name: Of the row.
        title: Sizes and types, for readers.
        make: The launch, its inputs and the bytes of its outputs.
        operation: The formula of PyTorch, where it has the operation.
        composed: A formula of several of PyTorch's operations, where it has not.
        mlx: MLX's operation, or a few.
        library: The library's routine, `linalg` or `nn`.
        oracle: What is right, if the formula of PyTorch cannot be computed in double precision or
            there is none: a formula of PyTorch, or "mlx" for MLX's own operation as it is.
        touched: Bytes that are read of an input, where that is not all of it.
        flops: Operations that must at least be done.
        relative, absolute, outliers: Tolerances, as in `Race`.
        moves: Whether it only moves memory.
        note: What to know about its figures.
    """

    def prepare(random: np.random.Generator) -> Race:
        ours, inputs, written = make(random)
        mx.eval(list(inputs.values()))
        on_torch = {n: torch.from_numpy(_shared(array)) for n, array in inputs.items()}
        sides = {TORCH: (operation, on_torch), COMPOSED: (composed, on_torch)}
        sides |= {MLX: (mlx, inputs), LIBRARY: (library, inputs)}
        rivals = [
            Rival(who, formula, _computing(formula, arrays))
            for who, (formula, arrays) in sides.items()
            if formula
        ]
        if oracle == "mlx":
            right = _computing(mlx, inputs)()
        else:
            doubles = {n: t.double() if t.is_floating_point() else t for n, t in on_torch.items()}
            right = _computing(oracle or operation or composed, doubles)()
        read = sum((touched or {}).get(n, array.nbytes) for n, array in inputs.items())
        return Race(
            ours,
            rivals,
            [_array(one) for one in (right if isinstance(right, (list, tuple)) else [right])],
            relative,
            absolute,
            outliers,
            read + written,
            flops,
        )

    return Row(name, title, prepare, moves=moves, note=note)


def _shared(array: mx.array) -> Array:
    """The same memory for NumPy; views stay views."""
    return np.asarray(array)


def _array(result: Any) -> Array:
    return np.asarray(result.numpy() if isinstance(result, torch.Tensor) else result)


def _computing(formula: str, arrays: Mapping[str, Any]) -> Callable[[], Any]:
    """A contender that computes the formula of these arrays."""
    code: CodeType = compile(formula, "<formula>", "eval")
    on_mlx = any(isinstance(array, mx.array) for array in arrays.values())
    names = {**(_ON_MLX if on_mlx else _ON_TORCH), **arrays}

    def run() -> Any:
        with torch.no_grad():
            result = eval(code, names)
        if on_mlx:
            mx.eval(result)
        return result

    return run
