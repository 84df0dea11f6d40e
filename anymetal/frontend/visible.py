"""The files that a kernel's text can reach: Metal's headers, ours and MLX's, those that a library
includes (frontend/code_base.py), and no others.

Clang works on a file system in which there is nothing else, so `#include`, `#embed`,
`__has_include` and whatever else names a file find nothing of this machine's, in any spelling.
"""

from __future__ import annotations

import json
from pathlib import Path

from anymetal.frontend.shipped import FOLDER, shipped_files
from anymetal.frontend.unit import part_name
from anymetal.runtime import zig
from anymetal.source import KernelSource, LibrarySource

#: Files in the place of those of MLX's that are a part of its prelude.
_REPLACED = Path(__file__).parent / "include_mlx"


def file_system(
    source: KernelSource, text: str, headers: Path, compiled: str, files: zig.Files
) -> list[str]:
    """Arguments that make Clang see nothing but these `headers`, the file in which they are
    `compiled`, and those of MLX or of the library that the text includes.

    `files` gets what Clang is to inherit.
    """
    shipped = shipped_files(text) if source.prelude == "mlx" else {}
    own = source.included if isinstance(source, LibrarySource) else ()
    search = list(source.search) if isinstance(source, LibrarySource) else []
    contents = shipped | {
        path: f'#line 1 "{part_name(source, path)}"\n{content}\n' for path, content in own
    }
    empty = [one.rstrip("/") for one in search if one.startswith("/")]
    folders = [headers]
    if source.prelude == "mlx":
        folders.append(_REPLACED)
        search += ["-I", str(_REPLACED), "-I", FOLDER]
    overlay = {
        "version": 0,
        "redirecting-with": "redirect-only",
        "use-external-names": False,
        "roots": [
            *(
                {"type": "directory-remap", "name": str(one), "external-contents": str(one)}
                for one in folders
            ),
            {"type": "file", "name": compiled, "external-contents": compiled},
            # Clang looks for nothing in folders that are not there, not for `../a.h` either.
            *({"type": "directory", "name": one, "contents": []} for one in empty),
            *(
                {"type": "file", "name": name, "external-contents": files.add(content.encode())}
                for name, content in contents.items()
            ),
        ],
    }
    return [*search, "-ivfsoverlay", files.add(json.dumps(overlay).encode())]
