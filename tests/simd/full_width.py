"""Kernels as people write them, whose every access must be one vector of 32 lanes."""

from __future__ import annotations

from typing import Any, NamedTuple

import mlx.core as mx

from anymetal.source import KernelSource
from anymetal.targets.cpu.variant import Variant, variant_for
from tests.frontend.kernels import kernel_source

_ID = "uint i = thread_position_in_grid.x;\n"
Extent = tuple[int, int, int]


class Kernel(NamedTuple):
    """One kernel and its launch."""

    inputs: dict[str, mx.array]
    body: str
    grid: Extent
    threadgroup: Extent
    dtype: mx.Dtype = mx.float32
    options: dict[str, Any] = {}  # noqa: RUF012 (never changed)

    def source(self) -> KernelSource:
        return kernel_source(
            self.body, inputs=self.inputs, outputs={"out": self.dtype}, **self.options
        )

    def variant(self, cpu: str) -> Variant:
        return variant_for(self.grid, self.threadgroup)._replace(cpu=cpu)


_X = {"x": mx.zeros(4096)}
_MATRIX = {"a": mx.zeros((64, 64)), "b": mx.zeros((64, 64))}

KERNELS = {
    "exp": Kernel(_X, _ID + "out[i] = exp(x[i]);", (4096, 1, 1), (256, 1, 1)),
    "half": Kernel(
        {"x": mx.zeros(4096, mx.float16)},
        _ID + "out[i] = half(2) * x[i] + half(1);",
        (4096, 1, 1),
        (256, 1, 1),
        mx.float16,
    ),
    "bytes": Kernel(
        {"x": mx.zeros(4096, mx.uint8)},
        _ID + "out[i] = min(uint(x[i]) + 3u, 255u);",
        (4096, 1, 1),
        (256, 1, 1),
        mx.uint8,
    ),
    "saxpy": Kernel(
        {"x": mx.zeros(4096), "y": mx.zeros(4096), "factor": mx.array(2.0)},
        _ID + "out[i] = factor * x[i] + y[i];",
        (4096, 1, 1),
        (256, 1, 1),
    ),
    "guarded": Kernel(
        {"x": mx.zeros(4000), "n": mx.array(4000, mx.uint32)},
        _ID + "if (i >= n) return;\nout[i] = x[i] * x[i];",
        (4096, 1, 1),
        (256, 1, 1),
    ),
    # rows of a matrix whose row length is a shape of the call
    "strided": Kernel(
        {"x": mx.zeros((64, 128))},
        "uint row = thread_position_in_grid.y, column = thread_position_in_grid.x;\n"
        "out[row * x_shape[1] + column] = x[row * x_strides[0] + column] + 1;",
        (128, 64, 1),
        (32, 8, 1),
    ),
    # the coefficients of one vector along the columns of a matrix: a column a thread
    "projection": Kernel(
        {"q": mx.zeros((64, 100)), "v": mx.zeros(64), "size": mx.zeros(2, mx.uint32)},
        "uint column = thread_position_in_grid.x, rows = size[0], columns = size[1];\n"
        "if (column >= columns) return;\n"
        "float sum = 0;\n"
        "for (uint row = 0; row < rows; ++row) sum += q[row * columns + column] * v[row];\n"
        "out[column] = sum;",
        (128, 1, 1),
        (64, 1, 1),
    ),
    # a row a SIMD-group, each lane every 32nd element of it
    "softmax": Kernel(
        {"x": mx.zeros((32, 256))},
        "uint row = threadgroup_position_in_grid.x, lane = thread_index_in_simdgroup;\n"
        "const device float* from = x + row * 256; device float* to = out + row * 256;\n"
        "float top = -INFINITY, total = 0;\n"
        "for (uint k = lane; k < 256; k += 32) top = max(top, from[k]);\n"
        "top = simd_max(top);\n"
        "for (uint k = lane; k < 256; k += 32) total += exp(from[k] - top);\n"
        "total = simd_sum(total);\n"
        "for (uint k = lane; k < 256; k += 32) to[k] = exp(from[k] - top) / total;",
        (1024, 1, 1),
        (32, 1, 1),
    ),
    "stencil": Kernel(
        _X,
        "int i = thread_position_in_grid.x, n = threads_per_grid.x;\n"
        "if (i == 0 || i == n - 1) { out[i] = x[i]; return; }\n"
        "out[i] = 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1];",
        (4096, 1, 1),
        (256, 1, 1),
    ),
    "gelu": Kernel(
        _X,
        _ID + "float v = x[i];\n"
        "out[i] = 0.5f * v * (1 + precise::tanh(0.7978845608f * (v + 0.044715f * v * v * v)));",
        (4096, 1, 1),
        (256, 1, 1),
    ),
    "block sum": Kernel(
        _X,
        _ID + "uint l = thread_index_in_threadgroup;\n"
        "threadgroup float part[256]; part[l] = x[i];\n"
        "for (uint step = 128; step > 0; step /= 2) {\n"
        "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
        "  if (l < step) part[l] += part[l + step];\n"
        "}\n"
        "if (l == 0) out[threadgroup_position_in_grid.x] = part[0];",
        (4096, 1, 1),
        (256, 1, 1),
    ),
    "matmul": Kernel(
        _MATRIX,
        "uint column = thread_position_in_grid.x, row = thread_position_in_grid.y;\n"
        "float sum = 0;\n"
        "for (int k = 0; k < a_shape[1]; ++k)\n"
        "  sum += a[row * a_shape[1] + k] * b[k * b_shape[1] + column];\n"
        "out[row * b_shape[1] + column] = sum;",
        (64, 64, 1),
        (32, 1, 1),
    ),
    "complex numbers": Kernel(
        {"x": mx.zeros((4096, 2))},
        _ID + "float2 z = ((const device float2*)x)[i];\n"
        "((device float2*)out)[i] = float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y);",
        (4096, 1, 1),
        (256, 1, 1),
    ),
}
