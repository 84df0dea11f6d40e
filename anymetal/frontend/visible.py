"""The files that a kernel's text can reach: Metal's headers, ours and MLX's, and no others.

Clang works on a file system in which there is nothing else, so `#include`, `#embed`,
`__has_include` and whatever else names a file find nothing of this machine's, in any spelling.
"""

from __future__ import annotations

import json
from pathlib import Path

from anymetal.frontend.shipped import FOLDER, shipped_files
from anymetal.runtime import zig


def file_system(text: str, headers: Path, compiled: str, files: zig.Files) -> list[str]:
    """Arguments that make Clang see nothing but these `headers`, the file in which they are
    `compiled`, and those of MLX that the text includes.

    `files` gets what Clang is to inherit.
    """
    shipped = shipped_files(text)
    overlay = {
        "version": 0,
        "redirecting-with": "redirect-only",
        "use-external-names": False,
        "roots": [
            {"type": "directory-remap", "name": str(headers), "external-contents": str(headers)},
            {"type": "file", "name": compiled, "external-contents": compiled},
            *(
                {"type": "file", "name": name, "external-contents": files.add(content.encode())}
                for name, content in shipped.items()
            ),
        ],
    }
    folder = ["-I", FOLDER] if shipped else []
    return ["-ivfsoverlay", files.add(json.dumps(overlay).encode()), *folder]
