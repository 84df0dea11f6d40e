"""The kernels of the library, as its routines launch them, and those of `benchmarks/others`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import mlx.core as mx

from anymetal import linalg, nn
from anymetal.findings import Finding
from anymetal.lint.checker import Report, check_kernel
from anymetal.lint.guess import Compiled, made_of
from anymetal.lint.kernels import Kernel
from anymetal.lint.text import File, Text
from anymetal.source import KernelSource
from anymetal.targets.cpu.code_lookup import follow
from anymetal.testing import metal_case
from tests.lint.cases import check_case

_OTHERS = Path(__file__).parents[2] / "benchmarks" / "others"
_KERNEL = re.compile(r"^// kernel: (\w+)$", re.M)


def library_kernels() -> list[KernelSource]:
    """Runs the routines of the library, each with all paths that small arrays may take."""
    sources = follow()
    x, points = mx.random.normal((2, 9, 8, 40)), mx.random.uniform(-1, 1, (2, 5, 4, 2))
    for mode in ("nearest", "bilinear", "bicubic"):
        mx.eval(nn.grid_sample(x, points, mode=mode))

    def loss(x: mx.array, points: mx.array) -> mx.array:
        return nn.grid_sample(x, points).sum()

    mx.eval(mx.grad(loss, argnums=(0, 1))(x, points))
    a = mx.random.normal((3, 40, 40))
    spd = a @ a.transpose(0, 2, 1) + 40 * mx.eye(40)
    mx.eval(linalg.cholesky(spd), *linalg.qr(a), linalg.cholesky(spd[:, :4, :4]))
    mx.eval(*linalg.qr(a[:, :4, :4]), linalg.dot(a[0, 0], a[0, 1]))
    return list(dict.fromkeys(source for source, _ in sources))


def check_source(source: KernelSource) -> tuple[list[Finding], Report]:
    """What is found in a kernel that is known as a whole."""
    file = File(source.name, source.body)
    header, body = (Text(text, range(len(text))) for text in (source.header, source.body))
    kernel = Kernel(source.name, file, body, header)
    report = Report(file)
    return check_kernel(kernel, Compiled([made_of(source)]), report), report


def others() -> Iterator[tuple[str, list[Finding], Report]]:
    """What is found in each of the kernels in the style of other projects."""
    for path in sorted(_OTHERS.glob("*.metal")):
        _, *parts = _KERNEL.split(path.read_text())
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            case = metal_case.read(path, text)
            yield (name, *check_case(case))
