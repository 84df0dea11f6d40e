"""AnyMetal runs Metal kernels written for MLX's `mx.fast.metal_kernel` on any machine."""

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
    "ToolchainError",
    "UnsupportedFeatureError",
    "__version__",
    "install",
    "metal_kernel",
    "uninstall",
]
