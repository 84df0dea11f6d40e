"""Replay files: one launch of one kernel, with all that it needs and what was found in it.

The file is in the safetensors format: the arrays as they are, and JSON beside them. Reading one
runs no code; `replay` then compiles and runs the kernel in it, in a sanitized build, whose accesses
stay inside of the kernel's arrays.

    arrays     "input.0", "input.1", …; of launches in place "output.0", …
    metadata   "anymetal-replay": "1"; "launch": the kernel's source and how it was launched;
               "findings": as `Session.json()` has them
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, cast

import mlx.core as mx

from anymetal.findings import Finding
from anymetal.findings.records import as_json, from_record
from anymetal.sanitizer.session import Options
from anymetal.source import KernelSource, LibrarySource, Parameter

VERSION = "1"
SUFFIX = ".safetensors"
LARGEST = 1 << 28  #: bytes of arrays; larger launches are not kept

Extent = tuple[int, int, int]


class Job(NamedTuple):
    """One launch, with arrays that exist."""

    source: KernelSource
    inputs: Sequence[Any]
    grid: Extent
    threadgroup: Extent
    contiguous: bool  #: give the kernel row-contiguous copies of what is not
    shapes: Sequence[tuple[int, ...]]  #: of the outputs
    dtypes: Sequence[mx.Dtype]
    init_value: float | None
    in_place: Sequence[Any] | None = None  #: what the outputs hold before; else they are fresh


def save(path: Path, job: Job, options: Options, findings: Sequence[Finding]) -> None:
    """Writes a file. Raises ValueError if the arrays are too large, OSError as the system does."""
    arrays = {f"input.{i}": array for i, array in enumerate(job.inputs)}
    for i, array in enumerate(job.in_place or ()):
        arrays[f"output.{i}"] = array
    size = sum(array.nbytes for array in arrays.values())
    if size > LARGEST:
        raise ValueError(
            f"its arrays have {size >> 20} MiB; files have at most {LARGEST >> 20} MiB"
        )
    plain = {name: mx.contiguous(mx.array(a), stream=mx.cpu) for name, a in arrays.items()}
    strides = {f"input.{i}": _strides(array) for i, array in enumerate(job.inputs)}
    source = {**vars(job.source), "library": isinstance(job.source, LibrarySource)}
    launch = {
        "source": source,
        "grid": job.grid,
        "threadgroup": job.threadgroup,
        "contiguous": job.contiguous,
        "strides": {} if job.contiguous else {k: v for k, v in strides.items() if v is not None},
        "shapes": job.shapes,
        "dtypes": [_dtype_name(dtype) for dtype in job.dtypes],
        "init_value": None if job.init_value is None else float(job.init_value).hex(),
        "in_place": job.in_place is not None,
        "options": {**asdict(options), "replay": None},
    }
    metadata = {
        "anymetal-replay": VERSION,
        "launch": json.dumps(launch),
        "findings": as_json(findings),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    mx.save_safetensors(str(path.with_suffix(SUFFIX)), plain, metadata)
    if path.suffix != SUFFIX:
        path.with_suffix(SUFFIX).replace(path)


def load(path: Path) -> tuple[Job, Options, list[Finding]]:
    """What a file has. Raises ValueError for others, OSError as the system does."""
    path.stat()
    try:
        loaded: Any = mx.load(str(path), "safetensors", return_metadata=True)
        arrays, metadata = loaded
        mx.eval(arrays)
    except (RuntimeError, ValueError) as error:
        raise ValueError(f"{path} is no replay file: {error}") from None
    if metadata.get("anymetal-replay") != VERSION:
        raise ValueError(f"{path} is no replay file of this version of AnyMetal")
    try:
        findings = [from_record(one) for one in json.loads(metadata["findings"])["findings"]]
        return *_job(json.loads(metadata["launch"]), arrays), findings
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path} is damaged: {error!r}") from None


def _job(launch: dict[str, Any], arrays: dict[str, mx.array]) -> tuple[Job, Options]:
    inputs: list[mx.array] = []
    while (name := f"input.{len(inputs)}") in arrays:
        strides = launch["strides"].get(name)
        inputs.append(_strided(arrays[name], strides) if strides else arrays[name])
    outputs = (
        [arrays[f"output.{i}"] for i in range(len(launch["shapes"]))]
        if launch["in_place"]
        else None
    )
    initial = launch["init_value"]
    job = Job(
        _source(launch["source"]),
        inputs,
        _extent(launch["grid"]),
        _extent(launch["threadgroup"]),
        bool(launch["contiguous"]),
        [tuple(map(int, shape)) for shape in launch["shapes"]],
        [_dtype(name) for name in launch["dtypes"]],
        None if initial is None else float.fromhex(initial),
        outputs,
    )
    options = launch["options"]
    return job, Options(**{**options, "checks": tuple(options["checks"])})


def _source(fields: dict[str, Any]) -> KernelSource:
    fields = dict(fields)
    fields["parameters"] = tuple(Parameter(*p) for p in fields["parameters"])
    fields["attributes"] = tuple(fields["attributes"])
    if not fields.pop("library"):
        return KernelSource(**fields)
    fields["included"] = tuple((path, text) for path, text in fields["included"])
    fields["search"] = tuple(fields["search"])
    return LibrarySource(**fields)


def _extent(numbers: Sequence[int]) -> Extent:
    x, y, z = map(int, numbers)
    return (x, y, z)


def _dtype_name(dtype: mx.Dtype) -> str:
    return str(dtype).rpartition(".")[2]


def _dtype(name: str) -> mx.Dtype:
    dtype = getattr(mx, "bool_" if name == "bool" else name)
    if not isinstance(dtype, mx.Dtype):
        raise ValueError(f"{name} is no dtype")
    return dtype


# -- arrays that are not row-contiguous -------------------------------------------------------


def _strides(array: Any) -> list[int] | None:
    """In elements; None for an array that is row-contiguous, or tells no strides."""
    if not isinstance(array, mx.array):  # another library's (runtime/foreign.py)
        return None
    if array.size == 0 or array.dtype == mx.bfloat16:  # which has no place in a memoryview
        return None
    view = memoryview(cast(Any, array))
    if view.c_contiguous or view.strides is None:
        return None
    return [stride // view.itemsize for stride in view.strides]


def _strided(array: mx.array, strides: Sequence[int]) -> mx.array:
    """The same elements with these strides, in memory of their own."""
    at = mx.array(0)
    begin, end = 0, 0
    for axis, (extent, stride) in enumerate(zip(array.shape, strides, strict=True)):
        along = mx.arange(extent) * stride
        at = at + along.reshape([-1 if i == axis else 1 for i in range(array.ndim)])
        begin, end = begin + min(0, (extent - 1) * stride), end + max(0, (extent - 1) * stride)
    memory = mx.zeros(end - begin + 1, array.dtype)
    memory[(at - begin).reshape(-1)] = array.reshape(-1)
    view = mx.as_strided(memory, array.shape, strides, -begin)
    mx.eval(view)
    return view
