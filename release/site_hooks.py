"""Hooks of MkDocs: files of the project that pages link to become files of the site.

Pages link to kernels, examples and tests beside docs/, as one reads them in the project. The site
has these files as plain text, under source/. A folder has no such file: its link goes, and its
words stay.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
_OUTSIDE = re.compile(r"\[([^\]]*)\]\(\.\./([^)#\s]+)(?:#[^)]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Adds what pages link to outside of docs/."""
    wanted = {
        path
        for page in files.documentation_pages()
        for _, path in _OUTSIDE.findall(page.content_string)
        if (ROOT / path).is_file()
    }
    for path in sorted(wanted):
        text = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, _place(path), content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Has links lead there."""
    return _OUTSIDE.sub(_link, markdown)


def _link(match: re.Match[str]) -> str:
    words, path = match.groups()
    if (ROOT / path).is_file():
        return f"[{words}]({_place(path)})"
    if (ROOT / path).is_dir():
        return words
    raise ValueError(f"there is no {path}, which a page links to")


def _place(path: str) -> str:
    return f"source/{path}.txt"
