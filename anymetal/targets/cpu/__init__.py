"""The CPU target: compiled kernels on the thread pool."""

from anymetal.targets.cpu.launch import CpuTarget

__all__ = ["CpuTarget"]
