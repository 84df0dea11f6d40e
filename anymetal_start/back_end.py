"""MLX: whether it is there, with a back end, in a version that AnyMetal was tried with.

ANYMETAL_MLX=any   take an MLX of any version
"""

from __future__ import annotations

import os
import re
import sys

#: The first version of MLX that was tried, and the first that was not. The bridge uses MLX's C++
#: classes, which change from one version to the next. pyproject.toml says the same to installers.
FIRST, BEYOND = (0, 32, 4), (0, 33)


class BackEndError(ImportError):
    """There is no MLX to run on."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}. {remedy}", name="mlx.core")
        self.problem = problem
        self.remedy = remedy


def check() -> None:
    """Raise BackEndError unless `import mlx.core` will do."""
    try:
        import mlx.core as mx
    except ImportError as error:
        raise BackEndError(_problem(error), _remedy()) from None
    if mx.metal.is_available() or os.environ.get("ANYMETAL_MLX") == "any":
        return
    version = str(getattr(mx, "__version__", ""))
    if not FIRST <= _numbers(version) < BEYOND:
        first, beyond = (".".join(map(str, numbers)) for numbers in (FIRST, BEYOND))
        raise BackEndError(
            f"this AnyMetal was tried with MLX {first} and later, before {beyond}, and this Python "
            f"has MLX {version or '(of no known version)'}",
            f"Install one that fits: python -m pip install 'mlx>={first},<{beyond}'; or set "
            "ANYMETAL_MLX=any to try this one",
        )


def _problem(error: ImportError) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name in ("mlx", "mlx.core"):
        return "AnyMetal runs on MLX, which this Python does not have"
    if "libmlx" in str(error):
        return f"AnyMetal runs on MLX, which this Python has without a back end ({error})"
    return f"AnyMetal runs on MLX, whose back end does not load here: {error}"


def _remedy() -> str:
    if sys.platform == "darwin":
        return "Install it: python -m pip install mlx"
    return (
        "Install one: python -m pip install 'anymetal[cpu]'; with an NVIDIA GPU 'anymetal[cuda13]' "
        "or 'anymetal[cuda12]'"
    )


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()
