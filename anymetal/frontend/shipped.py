"""The Metal headers that MLX's package carries, for kernels that include them:

    #include "mlx/backend/metal/kernels/steel/gemm/gemm.h"

Few words in them are beyond Clang. A copy in the cache does without them (see dialect.py); its
lines stay the same. Files that MLX's prelude has already, and those that tell address spaces
apart, have a namesake in our own include folder, which comes first.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

from anymetal.frontend.dialect import shipped_for_clang
from anymetal.runtime.cache import cache_directory, digest
from anymetal.runtime.identity import MLX_HEADERS


def include_flags(text: str) -> list[str]:
    """Arguments that let Clang find MLX's headers, if the text seems to include one."""
    if MLX_HEADERS not in text:
        return []
    folder = _readable_copy()
    return ["-I", str(folder)] if folder else []


def _readable_copy() -> Path | None:
    """The folder to include from; None if there is no MLX, or one without headers."""
    spec = importlib.util.find_spec("mlx")
    packages = spec.submodule_search_locations if spec else None
    original = Path(next(iter(packages or ()), "")) / "include" / MLX_HEADERS
    if not packages or not original.is_dir():
        return None
    texts = {
        str(file.relative_to(original)): shipped_for_clang(file.read_text())
        for file in sorted(original.rglob("*.h"))
    }
    parent = cache_directory() / "headers"
    target = parent / f"mlx-{digest(*(part for item in texts.items() for part in item))[:32]}"
    if not target.exists():
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(texts, target)
    return target


def _write(texts: dict[str, str], target: Path) -> None:
    """All files or none: other processes may be doing the same."""
    made = Path(tempfile.mkdtemp(dir=target.parent))
    try:
        for name, text in texts.items():
            file = made / MLX_HEADERS / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        os.rename(made, target)
    except OSError:
        if not target.is_dir():
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
