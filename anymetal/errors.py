"""Every error and warning that AnyMetal raises on purpose, one class each.

Each error is also the built-in type that MLX raises in the same place, so that code written for
MLX catches it: a failed compilation is a `RuntimeError`, an impossible launch a `ValueError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anymetal.findings import Finding
    from anymetal.locations import Location


class AnyMetalError(Exception):
    """Base of all AnyMetal errors.

    `called` and `made` are the lines of the program that called and made the kernel which failed,
    with the fields `file`, `line` and `function`; None where that is not known.
    """

    called: Location | None = None
    made: Location | None = None


class AnyMetalWarning(UserWarning):
    """The kernel runs here, but plain MLX would refuse it or treat it differently."""


class StrayAccessWarning(AnyMetalWarning):
    """A kernel reads outside of its arrays; it got 0 there and went on."""


class SuspiciousTextWarning(AnyMetalWarning):
    """Clang finds a probable mistake in a kernel's text, which Metal accepts as it is."""


class MetalCompileError(AnyMetalError, RuntimeError):
    """The kernel's Metal text does not compile; `diagnostics` names the user's lines."""

    def __init__(self, kernel: str, diagnostics: str) -> None:
        self.kernel = kernel
        self.diagnostics = diagnostics
        super().__init__(
            f"[metal::Device] Unable to build metal library from source\n{diagnostics.rstrip()}\n"
        )

    def __reduce__(self) -> tuple[type[MetalCompileError], tuple[str, str], dict[str, object]]:
        return type(self), (self.kernel, self.diagnostics), self.__dict__


class KernelLoadError(AnyMetalError, RuntimeError):
    """The kernel compiles but no device can take it, e.g. too much threadgroup memory."""

    def __init__(self, kernel: str, reason: str) -> None:
        self.kernel = kernel
        self.reason = reason
        super().__init__(f"[metal::Device] Unable to load kernel {kernel}\n{reason.rstrip()}\n")

    def __reduce__(self) -> tuple[type[KernelLoadError], tuple[str, str], dict[str, object]]:
        return type(self), (self.kernel, self.reason), self.__dict__


class KernelLaunchError(AnyMetalError, ValueError):
    """The shape of a launch is impossible: grid, threadgroup or an output's size."""


class DtypeError(AnyMetalError, ValueError, TypeError):
    """A routine of the library does not take arrays of this dtype.

    A `ValueError`, as MLX's routines raise it, and a `TypeError`, as Python would call it.
    """


class KernelRefusedError(AnyMetalError, PermissionError):
    """A file brings kernels, and whoever imports it does not let them run."""


class KernelMemoryError(AnyMetalError, RuntimeError):
    """A running kernel touched memory that does not exist, or that is not its own."""


class KernelTimeoutError(AnyMetalError, TimeoutError):
    """A kernel ran longer than the time limit and was stopped."""


class RankLostError(AnyMetalError, ConnectionError, RuntimeError):
    """The connection to another rank of a distributed group has ended."""

    def __init__(self, routine: str, rank: int, ranks: int, reason: str) -> None:
        self.routine = routine
        self.rank = rank
        self.ranks = ranks
        self.reason = reason
        super().__init__(
            f"[{routine}] Rank {rank} of {ranks} has lost another rank, whose process has ended or "
            f"cannot be reached: {reason}. Nothing can be computed with this group any more; end "
            "this process, look for the first error of the others, and launch all ranks again."
        )

    def __reduce__(
        self,
    ) -> tuple[type[RankLostError], tuple[str, int, int, str], dict[str, object]]:
        return type(self), (self.routine, self.rank, self.ranks, self.reason), self.__dict__


class SanitizerError(AnyMetalError, RuntimeError):
    """Kernels that ran inside of `anymetal.sanitize()` have errors; `findings` has them."""

    def __init__(self, findings: tuple[Finding, ...], report: str) -> None:
        self.findings = findings
        self.report = report
        super().__init__(f"kernels inside of anymetal.sanitize() have errors\n{report}")

    def __reduce__(
        self,
    ) -> tuple[type[SanitizerError], tuple[tuple[Finding, ...], str], dict[str, object]]:
        return type(self), (self.findings, self.report), self.__dict__


class UnsupportedFeatureError(AnyMetalError, RuntimeError):
    """The kernel is valid Metal but needs something that the target in use lacks."""


class ToolchainError(AnyMetalError, RuntimeError):
    """A part that AnyMetal is built on (Clang, LLVM, MLX) is missing or does not fit."""


class CompilerError(AnyMetalError, RuntimeError):
    """A defect of AnyMetal's own compiler; the text asks for a report."""

    def __init__(self, kernel: str, problem: str) -> None:
        self.kernel = kernel
        self.problem = problem
        super().__init__(
            f"AnyMetal's compiler failed on kernel `{kernel}`: {problem}\n"
            "This is a defect of AnyMetal, not of the kernel. Please report it together with the "
            "kernel's source (call it with verbose=True) and this message."
        )

    def __reduce__(self) -> tuple[type[CompilerError], tuple[str, str], dict[str, object]]:
        return type(self), (self.kernel, self.problem), self.__dict__
