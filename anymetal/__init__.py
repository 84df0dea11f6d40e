"""AnyMetal runs Metal kernels written for MLX's `mx.fast.metal_kernel` on any machine."""
# ruff: noqa: E402  what is imported needs MLX, which is looked for first

import os
from typing import TYPE_CHECKING, Any

from anymetal_start import back_end as _back_end

_back_end.check()

from anymetal.errors import (
    AnyMetalError,
    AnyMetalWarning,
    CompilerError,
    DtypeError,
    KernelLaunchError,
    KernelLoadError,
    KernelMemoryError,
    KernelRefusedError,
    KernelTimeoutError,
    MetalCompileError,
    RankLostError,
    SanitizerError,
    StrayAccessWarning,
    SuspiciousTextWarning,
    ToolchainError,
    UnsupportedFeatureError,
)
from anymetal.install import inherit as _inherit
from anymetal.install import install, uninstall
from anymetal.kernel import MetalKernel, metal_kernel

if TYPE_CHECKING:
    from anymetal import linalg, nn, tune
    from anymetal.custom import CustomFunction, custom_function
    from anymetal.gradients import Differentiable, differentiable
    from anymetal.imported import import_function
    from anymetal.library import MetalLibrary, metal_library
    from anymetal.profiling import profile
    from anymetal.sanitizer import sanitize
    from anymetal.tracing import trace
    from anymetal.tune.bench import do_bench
    from anymetal.tune.configurations import autotune

__version__ = "0.1.0"

__all__ = [
    "AnyMetalError",
    "AnyMetalWarning",
    "CompilerError",
    "CustomFunction",
    "Differentiable",
    "DtypeError",
    "KernelLaunchError",
    "KernelLoadError",
    "KernelMemoryError",
    "KernelRefusedError",
    "KernelTimeoutError",
    "MetalCompileError",
    "MetalKernel",
    "MetalLibrary",
    "RankLostError",
    "SanitizerError",
    "StrayAccessWarning",
    "SuspiciousTextWarning",
    "ToolchainError",
    "UnsupportedFeatureError",
    "__version__",
    "autotune",
    "custom_function",
    "differentiable",
    "do_bench",
    "import_function",
    "install",
    "linalg",
    "metal_kernel",
    "metal_library",
    "nn",
    "profile",
    "sanitize",
    "trace",
    "tune",
    "uninstall",
]


#: What few programs need and none shall wait for: names and their modules.
_LATER = {
    "CustomFunction": "anymetal.custom",
    "custom_function": "anymetal.custom",
    "Differentiable": "anymetal.gradients",
    "differentiable": "anymetal.gradients",
    "MetalLibrary": "anymetal.library",
    "metal_library": "anymetal.library",
    "import_function": "anymetal.imported",
    "profile": "anymetal.profiling",
    "sanitize": "anymetal.sanitizer",
    "trace": "anymetal.tracing",
    "autotune": "anymetal.tune.configurations",
    "do_bench": "anymetal.tune.bench",
}
_MODULES = ("linalg", "nn", "tune")


def __getattr__(name: str) -> Any:
    import importlib

    if module := _LATER.get(name):
        return getattr(importlib.import_module(module), name)
    if name in _MODULES:
        return importlib.import_module(f"anymetal.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


if os.environ.get("ANYMETAL_SANITIZE", "0") not in ("", "0"):
    from anymetal.sanitizer import process

    process.begin()

_inherit()
