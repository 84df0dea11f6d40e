"""The Metal texts of our own kernels: `.metal` files in the package, so that editors know them."""

from __future__ import annotations

import functools
from pathlib import Path

_PACKAGE = Path(__file__).parent


@functools.cache
def read(package: str, name: str) -> str:
    """The text of `<package>/metal/<name>.metal`, for a package of ours such as "linalg"."""
    return (_PACKAGE / package / "metal" / f"{name}.metal").read_text(encoding="utf-8")
