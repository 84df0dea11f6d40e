"""AnyMetal runs Metal kernels written for MLX's `mx.fast.metal_kernel` on any machine."""

from typing import TYPE_CHECKING, Any

from anymetal.errors import (
    AnyMetalError,
    AnyMetalWarning,
    CompilerError,
    KernelLaunchError,
    KernelLoadError,
    KernelMemoryError,
    KernelTimeoutError,
    MetalCompileError,
    ToolchainError,
    UnsupportedFeatureError,
)
from anymetal.install import install, uninstall
from anymetal.kernel import MetalKernel, metal_kernel

if TYPE_CHECKING:
    from anymetal.library import MetalLibrary, metal_library

__version__ = "0.1.0"

__all__ = [
    "AnyMetalError",
    "AnyMetalWarning",
    "CompilerError",
    "KernelLaunchError",
    "KernelLoadError",
    "KernelMemoryError",
    "KernelTimeoutError",
    "MetalCompileError",
    "MetalKernel",
    "MetalLibrary",
    "ToolchainError",
    "UnsupportedFeatureError",
    "__version__",
    "install",
    "metal_kernel",
    "metal_library",
    "uninstall",
]


def __getattr__(name: str) -> Any:
    """Most programs need no Metal libraries, and shall not wait for their import."""
    if name in ("MetalLibrary", "metal_library"):
        from anymetal import library

        return getattr(library, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
