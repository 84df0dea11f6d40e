"""The Metal headers in MLX's package, for kernels that include them:

    #include "mlx/backend/metal/kernels/steel/gemm/gemm.h"

Clang reads a copy in which the few words that it does not know are replaced (dialect.py); lines
stay the same. Files that are part of MLX's prelude, and those that distinguish address spaces, are
replaced by files of the same name in our include folder, which comes first.

The copy is one entry of the disk cache; Clang sees its files in memory.
"""

from __future__ import annotations

import json
from pathlib import Path

from anymetal.frontend.dialect import shipped_for_clang
from anymetal.frontend.literals import definitions
from anymetal.runtime import disk_cache, locks
from anymetal.runtime.identity import MLX_HEADERS, included, inside, package

#: Where Clang sees them.
FOLDER = "/mlx-for-anymetal"


def shipped_files(text: str) -> dict[str, str]:
    """The headers, by the paths at which Clang finds them, if the text seems to include one."""
    if MLX_HEADERS not in text or not (original := _original()):
        return {}
    copy = _readable_copy(original)
    return {f"{FOLDER}/{MLX_HEADERS}/{name}": content for name, content in copy.items()}


def _original() -> Path | None:
    """The folder of the headers; None if there is no MLX, or one without headers."""
    folder = inside("mlx", "include", MLX_HEADERS)
    return Path(folder) if folder else None


def _readable_copy(original: Path) -> dict[str, str]:
    """Texts by their paths in the folder."""
    key = disk_cache.digest("MLX's headers", package(), included(MLX_HEADERS))
    made = locks.cached(key, ".json", "MLX's Metal headers", lambda: _converted(original))
    copy: dict[str, str] = json.loads(made.content)
    return copy


def _converted(original: Path) -> bytes:
    texts = {
        str(file.relative_to(original)): _readable(file.read_text())
        for file in sorted(original.rglob("*.h"))
    }
    return json.dumps(texts).encode()


def _readable(text: str) -> str:
    text = shipped_for_clang(text)
    return f"{definitions([text])}#line 1\n{text}"
