"""A target in as few lines as one takes: host threads, one after the other, out of LLVM's JIT.

To add a target, write these files:

1. its lowering table, a class of `anymetal.emission.lowering.Lowering` (here lowering.py): what
   positions, barriers, cross-lane functions, address spaces, buffers and threadgroup memory are in
   its code;
2. its target class, one of `anymetal.targets.base.Target` (this file): it turns a `KernelSource`
   into code, with `thread_program` for the processor that it names and `emit_module`, and launches
   that.

And a line in `anymetal/targets/__init__.py` says when it is the best one of a machine; until then
`anymetal.targets.select` takes it.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import itertools
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import llvmlite.binding as llvm
import mlx.core as mx
import numpy as np

from anymetal.emission.emitter import emit_module
from anymetal.frontend.profile import Profile
from anymetal.ir.model import Program
from anymetal.ir.sizes import SIMD_GROUP
from anymetal.pipeline.program import thread_program
from anymetal.runtime.arrays import new_output
from anymetal.source import KernelSource, Parameter
from anymetal.targets.base import Extent, Launch, Target, check_extents
from tests.targets.second.lowering import PLACES, HostThread

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


class HostTarget(Target):
    """Compiles a kernel for one thread, and runs threads in loops."""

    name = "host"

    def __init__(self) -> None:
        self._compiled: dict[KernelSource, _Compiled] = {}
        self._profile = Profile(llvm.get_process_triple())

    def run(self, launch: Launch) -> list[mx.array]:
        """Run all threads, now."""
        check_extents(launch.source.name, launch.grid, launch.threadgroup)
        inputs = [_bytes_of(array) for array in launch.inputs]
        shapes = list(zip(launch.output_shapes, launch.output_dtypes, strict=True))
        outputs = [_bytes_of(new_output(*shape, launch.init_value)) for shape in shapes]
        source = launch.source
        buffers = [_buffer(p, launch, inputs, outputs) for p in source.parameters]
        if 0 not in (*launch.grid, *launch.threadgroup):
            if source not in self._compiled:
                self._compiled[source] = _Compiled(thread_program(source, profile=self._profile))
            self._compiled[source].run(buffers, launch.grid, launch.threadgroup)
        return [
            mx.array(data).view(dtype).reshape(shape)
            for data, (shape, dtype) in zip(outputs, shapes, strict=True)
        ]


class _Compiled:
    """Machine code of a kernel."""

    def __init__(self, program: Program) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.load_library_permanently(ctypes.util.find_library("m"))
        module = llvm.parse_assembly(emit_module(program, "thread", HostThread(program)))
        module.verify()
        machine = llvm.Target.from_default_triple().create_target_machine()
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        signature = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)
        address = self._engine.get_function_address("thread")
        self._thread: Callable[[Any, Any, Any], None] = signature(address)
        self._threadgroup_bytes = program.threadgroup_bytes

    def run(self, buffers: list[Bytes], grid: Extent, threadgroup: Extent) -> None:
        """All threads of a launch; x first."""
        full = [min(g, t) for g, t in zip(grid, threadgroup, strict=True)]
        addresses = (ctypes.c_void_p * len(buffers))(*[b.ctypes.data for b in buffers])
        shared = (ctypes.c_uint64 * (self._threadgroup_bytes // 8 + 1))()
        groups = [range(-(-g // f)) for g, f in zip(grid, full, strict=True)]
        for group in _walk(groups):
            left = [g - at * f for g, at, f in zip(grid, group, full, strict=True)]
            size = [min(f, rest) for f, rest in zip(full, left, strict=True)]
            for number, thread in enumerate(_walk([range(s) for s in size])):
                lane = [number % SIMD_GROUP, number // SIMD_GROUP]
                place = [*lane, *thread, *group, *size, *full, *grid]
                numbers = (ctypes.c_uint32 * len(PLACES))(*place)
                self._thread(addresses, numbers, shared)


def _walk(axes: Sequence[range]) -> list[tuple[int, ...]]:
    """Places in three dimensions, x fastest."""
    return [place[::-1] for place in itertools.product(*axes[::-1])]


def _bytes_of(array: mx.array) -> Bytes:
    """A copy of an array's bytes, row by row."""
    return np.array(mx.contiguous(array).reshape(-1).view(mx.uint8))


def _buffer(
    parameter: Parameter, launch: Launch, inputs: list[Bytes], outputs: list[Bytes]
) -> Bytes:
    """What a parameter points to."""
    if parameter.kind == "output":
        return outputs[parameter.argument]
    shape = launch.inputs[parameter.argument].shape
    steps = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    match parameter.kind:
        case "shape":
            return np.array(shape, np.int32).view(np.uint8)
        case "strides":
            return np.array(steps, np.int64).view(np.uint8)
        case "ndim":
            return np.array([len(shape)], np.int32).view(np.uint8)
        case "size":
            return np.array([prod(shape)], np.uint32).view(np.uint8)
    return inputs[parameter.argument]
