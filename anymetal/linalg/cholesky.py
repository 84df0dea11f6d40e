"""Cholesky factors of symmetric positive definite matrices, and their gradients.

Four kinds of kernels for matrices of growing size: a thread per matrix, a SIMD-group, a
threadgroup, and above that blocks of rows in several launches. All compute the rows of U = Lᵀ
from top to bottom, since rows are what a SIMD-group reads and writes at once. Within a block the
sums over finished rows come first (left-looking), blocks update all that is left of the matrix
(right-looking): Golub and Van Loan, Matrix Computations, 4th edition, section 4.2.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

import mlx.core as mx

from anymetal import metal_kernel, targets
from anymetal.custom import CustomFunction, custom_function
from anymetal.errors import DtypeError
from anymetal.kernel import MetalKernel
from anymetal.linalg.gemm import matmul_atb
from anymetal.linalg.registers import sums_at_once
from anymetal.linalg.triangular import solve_lower
from anymetal.metal_files import read
from anymetal.routines import Stream, routine
from anymetal.targets import graph
from anymetal.tune.switch import Question, answer, asked

# The largest matrices of a thread, a SIMD-group and a threadgroup.
_LARGEST = {"thread": 8, "simdgroup": 32, "threadgroup": 512}
# Rows that are factored between two updates of all that is left, and how many times at most: one
# threadgroup factors them while other threads wait, which takes the time of their square.
_BLOCK, _PANELS = 128, 16
_TRACED = frozenset({"cuda"})  #: targets on which ways of many launches are traced
_TILE_THREADS = 128  #: for each tile of a step: its lanes have eight rows
#: Rows of a lane. Half of them are added up at a time if no more fit: sums may fill all registers,
#: as what they need beside them lies in one line of memory.
_ROWS = 8

_NO_OPTIONS = {"UPPER": 0, "SCALED": 0, "FIRST": 0, "LAST": 0}  #: macros of all kernels

Shape = tuple[int, ...]
Extent = tuple[int, int, int]


class _Job(NamedTuple):
    """What a path is asked for."""

    upper: bool
    guard: float | None
    checked: bool  # whether the numbers of bad pivots are wanted, too


class _Request(NamedTuple):
    """What follows from the shape of a matrix and the options of a call."""

    question: Question  # for the switch
    ways: dict[str, CustomFunction]  # by path


Factor = mx.array | tuple[mx.array, mx.array]
"""The triangle; if checked, also for each matrix 0 or 1 + the index of its first bad pivot."""


@routine
def cholesky(
    A: mx.array,
    upper: bool = False,
    *,
    check: bool = False,
    guard: float | None = None,
    path: str | None = None,
    explain: bool = False,
    stream: Stream | None = None,
) -> mx.array:
    """The triangle L with L Lᵀ = A, or U with Uᵀ U = A, of symmetric positive definite matrices.

    As in `mx.linalg.cholesky`, the lower triangle of A is read for L and the upper one for U; the
    other triangle may hold anything, and that of the result is zero. A matrix that is not positive
    definite to working precision, that is, one with a pivot that is not above zero (or is NaN),
    gets NaN in the whole triangle of its result, diagonal included; other matrices of the batch
    are not affected. Rows and columns with a tiny diagonal are scaled by powers of two, so that any
    scale, subnormal numbers included, and several in one matrix, is as good as another; but not
    with a guard, and path "mlx" is as LAPACK has it. Rounding:
    |A - L Lᵀ| ≤ (n + 1) ε |L| |L|ᵀ / (1 - (n + 1) ε) elementwise, as LAPACK's (Higham, Accuracy
    and Stability of Numerical Algorithms, 2nd edition, theorem 10.3).

    The gradient is ½ (S + Sᵀ) with S = L⁻ᵀ Φ(Lᵀ L̄) L⁻¹, where Φ takes the lower triangle and
    halves the diagonal (Murray, Differentiation of the Cholesky decomposition, 2016, section 3.1):
    the symmetric matrix that belongs to symmetric changes of A.

    Args:
        A: Matrices of shape (..., n, n), float32.
        upper: Return U instead of L.
        check: Raise an error if a matrix is not positive definite. This evaluates the result, so
            it does not work inside `mx.compile` and `mx.vmap`.
        guard: Replace pivots (before the root) that are at most this by it, such as 1e-10, instead
            of returning NaN. The result is then the factor of some other matrix.
        path: Name of the path to take, one of `PATHS`, instead of the fastest.
        explain: Print the path and the reason to stderr.
        stream: The stream or device to run on, as in `mx.linalg`; by default the current one.

    Raises:
        DtypeError: Another dtype.
        ValueError: Not square matrices; a path that cannot serve them; with `check`, a matrix that
            is not positive definite, with its index and the pivot's.
    """
    request = _request(A.shape, A.dtype, upper, guard, check)
    if request is None:
        return mx.zeros(A.shape, A.dtype)
    result: Any = request.ways[answer(request.question, path, explain).path](A)
    factor: mx.array = result[0] if check else result
    if check:
        _raise_unless_zero(result[1])
    return factor


# A small matrix takes microseconds, so what follows from the arguments alone is kept.
@functools.lru_cache(maxsize=1024)
def _request(
    shape: Shape, dtype: mx.Dtype, upper: bool, guard: float | None, checked: bool
) -> _Request | None:
    """None for no matrices, or empty ones."""
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ValueError(
            f"[cholesky] The last two dimensions must be those of square matrices, not {shape}."
        )
    if dtype != mx.float32:
        raise DtypeError(
            f"[cholesky] Matrices must be float32, not {dtype}, in which pivots would lose their "
            "digits. Convert with A.astype(mx.float32)."
        )
    if guard is not None and not guard > 0:
        raise ValueError(f"[cholesky] guard must be above zero, such as 1e-10, not {guard}.")
    if 0 in shape:
        return None
    size = shape[-1]
    among = [name for name in _WAYS if size <= _LARGEST.get(name, size)]
    if guard is not None:
        among.remove("mlx")
    # The first that can do it is the fastest.
    sizes = (math.prod(shape[:-2]), size)
    job = _Job(bool(upper), guard, bool(checked))
    return _Request(
        asked("cholesky", sizes, dtype, tuple(among), among[0]),
        {name: _differentiable(name, job) for name in among},
    )


def _raise_unless_zero(pivots: mx.array) -> None:
    numbers: Any = pivots.reshape(-1).tolist()
    index = next((i for i, number in enumerate(numbers) if number > 0), None)
    if index is None:
        return
    pivot = numbers[index] - 1
    place: list[str] = []
    for extent in reversed(pivots.shape):
        index, coordinate = divmod(index, extent)
        place.insert(0, str(coordinate))
    matrix = f"Matrix [{', '.join(place)}]" if place else "The matrix"
    raise ValueError(
        f"[cholesky] {matrix} is not positive definite: pivot {pivot} is not above zero. "
        "Pass guard=1e-10 to replace such pivots."
    )


# The paths


def _as_one(way: Callable[[_Job, mx.array], Factor]) -> Callable[[_Job, mx.array], Factor]:
    """A way of many launches, which a GPU is through with before Python has asked for them all:
    there it is traced once for each shape, and what was traced is launched as a whole."""

    def once(job: _Job, A: mx.array) -> Factor:
        if targets.for_stream(None).name not in _TRACED:
            return way(job, A)
        stream = repr(mx.default_stream(mx.default_device()))
        return cast("Factor", _traced(way, job, graph.epoch, stream)(A))

    return once


@functools.lru_cache(maxsize=64)
def _traced(
    way: Callable[[_Job, mx.array], Factor], job: _Job, epoch: object, stream: str
) -> Callable[[mx.array], Any]:
    """`epoch` and `stream`: what is traced holds for them only."""
    return mx.compile(functools.partial(way, job))


def _in_one_launch(name: str) -> Callable[[_Job, mx.array], Factor]:
    def way(job: _Job, A: mx.array) -> Factor:
        kernel, arguments = _single_launch(name, A.shape, job)
        inputs = [A] if job.guard is None else [A, mx.array(job.guard)]
        return _factor(job, kernel(inputs=inputs, **arguments))

    return way


@functools.lru_cache(maxsize=1024)
def _single_launch(name: str, shape: Shape, job: _Job) -> tuple[MetalKernel, dict[str, Any]]:
    """The kernel and all of its arguments but the inputs."""
    matrices, size = math.prod(shape[:-2]), shape[-1]
    height = _whole_strips(size)
    outputs = _results(shape, job)
    macros = _options(job)
    if name == "thread":
        grid, threadgroup = (matrices, 1, 1), (32, 1, 1)
        macros["N"] = size
    else:
        grid, threadgroup = (height, matrices, 1), (height, 1, 1)
    if name == "simdgroup" and size == height:
        name = "registers"
    if name == "threadgroup":
        outputs["work"] = (matrices, height, height)
    inputs = ("a",) if job.guard is None else ("a", "guard")
    return _kernel(name, inputs, tuple(outputs), **macros), {
        "grid": grid,
        "threadgroup": threadgroup,
        "output_shapes": list(outputs.values()),
        "output_dtypes": _dtypes(outputs),
    }


def _by_blocks(job: _Job, A: mx.array) -> Factor:
    matrices, height = A.size // A.shape[-1] ** 2, _whole_strips(A.shape[-1])
    count = height // 32  # strips of 32 columns
    block = min(max(_BLOCK, _whole_strips(-(-height // _PANELS))), 1024)
    guard = _guard(job)
    lanes = (32, 1, 1)

    strips = _packed(job, A)
    panels = []
    while count > 0:
        done = min(count, block // 32)
        rows, left = 32 * done, count - done
        (panel,) = _run(
            "factor",
            {"strips": strips, **guard},
            {"diagonal": (matrices, done, rows, 32)},
            (rows, matrices, 1),
            (rows, 1, 1),
        )
        if left > 0:
            (panel,) = _run(
                "solve",
                {"strips": strips, "diagonal": panel},
                {"panel": (matrices, count, rows, 32)},
                (32 * count, matrices, 1),
                lanes,
            )
            (strips,) = _run(
                "update",
                {"strips": strips, "panel": panel},
                {"rest": (matrices, left, 32 * left, 32)},
                (32 * left, left, matrices),
                lanes,
            )
        panels.append(panel)
        count = left

    panels += panels[-1:] * (_PANELS - len(panels))  # one kernel for all of these numbers
    return _unpacked(job, A, panels)


def _by_steps(job: _Job, A: mx.array) -> Factor:
    """Steps of 64 rows, a launch each: the fewest launches where threadgroups run side by side."""
    matrices, count, _, _ = shape = _strips(A)
    steps = -(-count // 2)
    results: list[mx.array] = []
    for step in range(steps):
        first, last = step == 0, step == steps - 1
        results = _run(
            "step",
            {
                **({"a": A} if first or last else {}),
                **({} if first else {"strips": results[0]}),
                "at": _number(step),
                **_guard(job),
            },
            _results(A.shape, job) if last else {"rest": shape},
            (_TILE_THREADS * count, count, matrices),
            (_TILE_THREADS, 1, 1),
            FIRST=int(first),
            LAST=int(last),
            **_options(job),
        )
    return _factor(job, results)


@functools.cache
def _number(value: int) -> mx.array:
    """Kept, and too large to be a scalar for MLX, which would leave it in the memory of the CPU."""
    return mx.array([value] * 4, mx.uint32)


def _guard(job: _Job) -> dict[str, float]:
    return {} if job.guard is None else {"guard": job.guard}


def _packed(job: _Job, A: mx.array) -> mx.array:
    """The triangle as strips, scaled."""
    matrices, _, height, _ = shape = _strips(A)
    (strips,) = _run(
        "pack",
        {"a": A},
        {"strips": shape},
        (height, height // 8, matrices),
        (32, 1, 1),
        **_options(job),
    )
    return strips


def _unpacked(job: _Job, A: mx.array, panels: list[mx.array]) -> Factor:
    """The factor out of panels of its rows."""
    matrices, _, height, _ = _strips(A)
    named = {f"panel{p}": panel for p, panel in enumerate(panels)}
    *others, last = named
    choices = [*(f"(p) == {p} ? {name}" for p, name in enumerate(others)), last]
    results = _run(
        "unpack",
        {**named, "a": A},
        _results(A.shape, job),
        (height, height // 8, matrices),
        (32, 1, 1),
        **_options(job),
        **{"PANEL(p)": f"({' : '.join(choices)})"},
    )
    return _factor(job, results)


def _strips(A: mx.array) -> Shape:
    """Of strips of 32 columns, with n to the next multiple of 32: (matrices, n/32, n, 32)."""
    height = _whole_strips(A.shape[-1])
    return math.prod(A.shape[:-2]), height // 32, height, 32


def _options(job: _Job) -> dict[str, int]:
    """Macros of the kernels that read the matrix or write the factor."""
    return {"UPPER": int(job.upper), "SCALED": int(job.guard is None)}


def _factor(job: _Job, results: list[mx.array]) -> Factor:
    return (results[0], results[1]) if job.checked else results[0]


def _by_mlx(job: _Job, A: mx.array) -> Factor:
    factor = mx.linalg.cholesky(A, job.upper, stream=mx.cpu)
    # LAPACK stops at the first pivot that is not positive, and leaves it where it is.
    bad = ~(mx.diagonal(factor, axis1=-2, axis2=-1) > 0)
    failed = mx.any(bad, axis=-1)
    triangle = mx.tri(A.shape[-1], dtype=mx.bool_)
    if job.upper:
        triangle = triangle.T
    factor = mx.where(failed[..., None, None] & triangle, math.nan, factor)
    if not job.checked:
        return factor
    return factor, mx.where(failed, mx.argmax(bad, axis=-1) + 1, 0)


def _whole_strips(size: int) -> int:
    return 32 * -(-size // 32)


def _results(shape: Shape, job: _Job) -> dict[str, Shape]:
    return {"out": shape, "info": shape[:-2]} if job.checked else {"out": shape}


def _dtypes(outputs: Mapping[str, Shape]) -> list[mx.Dtype]:
    return [mx.uint32 if name == "info" else mx.float32 for name in outputs]


def _run(
    name: str,
    inputs: Mapping[str, mx.array | float],
    outputs: Mapping[str, Shape],
    grid: Extent,
    threadgroup: Extent,
    **macros: int | str,
) -> list[mx.array]:
    """Launch a kernel."""
    return _kernel(name, tuple(inputs), tuple(outputs), **macros)(
        inputs=list(inputs.values()),
        grid=grid,
        threadgroup=threadgroup,
        output_shapes=list(outputs.values()),
        output_dtypes=_dtypes(outputs),
    )


@functools.cache
def _kernel(
    name: str, inputs: tuple[str, ...], outputs: tuple[str, ...], **macros: int | str
) -> MetalKernel:
    header = [
        f"#define BOUNDS {'float2(guard)' if 'guard' in inputs else 'float2(0, NAN)'}",
        *(["#define CHECKED"] if "info" in outputs else []),
        f"#define SUMS {min(_ROWS, 2 * sums_at_once())}",
        *(f"#define {macro} {value}" for macro, value in {**_NO_OPTIONS, **macros}.items()),
        read("linalg", "scale_header"),
        read("linalg", "cholesky_header"),
    ]
    return metal_kernel(
        name=f"cholesky_{name}",
        input_names=inputs,
        output_names=outputs,
        source=read("linalg", f"cholesky_{name}"),
        header="\n".join(header),
    )


_WAYS: dict[str, Callable[[_Job, mx.array], Factor]] = {
    "thread": _in_one_launch("thread"),
    "simdgroup": _in_one_launch("simdgroup"),
    "threadgroup": _in_one_launch("threadgroup"),
    "blocks": _as_one(_by_blocks),
    "steps": _as_one(_by_steps),
    "mlx": _by_mlx,
}
PATHS = {name: functools.partial(cholesky, path=name) for name in _WAYS}


# The gradient


@functools.lru_cache(maxsize=256)
def _differentiable(path: str, job: _Job) -> CustomFunction:
    function = custom_function(functools.partial(_WAYS[path], job))

    @function.vjp
    def gradient(primal: mx.array, cotangents: Any, outputs: Any) -> mx.array:
        cotangent, L = (cotangents[0], outputs[0]) if job.checked else (cotangents, outputs)
        if job.upper:
            return _gradient(L.swapaxes(-1, -2), cotangent.swapaxes(-1, -2))
        return _gradient(L, cotangent)

    @function.vmap
    def batch(A: mx.array, axis: int) -> tuple[Factor, int | tuple[int, int]]:
        return function(mx.moveaxis(A, axis, 0)), (0, 0) if job.checked else 0

    return function


def _gradient(L: mx.array, cotangent: mx.array) -> mx.array:
    inner = mx.tril(matmul_atb(L, cotangent))
    inner = inner - 0.5 * mx.eye(L.shape[-1]) * inner  # Φ
    half = solve_lower(inner, L)
    S = solve_lower(half.swapaxes(-1, -2), L)
    return 0.5 * (S + S.swapaxes(-1, -2))
