"""A Metal text with the files that it includes, out of the folders that the caller names.

They are found before Clang runs, by the words `#include`, so that a cache can be asked by their
contents: all files that the text may include, whatever the conditions around it. Clang then sees
these files and no others (frontend/visible.py), at paths that do not tell where on this machine
they are: below the folder that they have in common.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from anymetal.source import INCLUDED, Prelude, with_newlines

_INCLUDE = re.compile(
    r"^[ \t]*\#.*?\b(?:include|import|include_next|__has_include|__has_include_next)[ \t]*\(?[ \t]*"
    r"(?:\"(?P<near>[^\"\n]+)\"|<(?P<far>[^>\n]+)>)",
    re.M,
)
_UNQUOTABLE = re.compile(r'["\\\n\r]')


class CodeBase(NamedTuple):
    """What a library is made of, as it was written."""

    file: str  #: the name of the text in messages
    text: str
    included: tuple[tuple[str, str], ...] = ()  #: paths for Clang, and texts
    search: tuple[str, ...] = ()  #: Clang's arguments that name folders
    defines: tuple[tuple[str, str], ...] = ()  #: macros and what they stand for
    prelude: Prelude = "metal"

    @property
    def macros(self) -> str:
        """The macros from outside, as text in front of the file."""
        return "".join(f"#define {name} {value}\n" for name, value in self.defines)

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts."""
        return (self.text, *(text for _, text in self.included))


def code_base(
    text: str,
    file: str,
    folder: Path | None = None,
    include_dirs: Sequence[Path] = (),
    defines: Mapping[str, str] | None = None,
    prelude: Prelude | None = None,
) -> CodeBase:
    """A text with all that it includes. `folder` is where it lies, if it is a file.

    Without a `prelude`, a text that includes nothing gets MLX's: it says nowhere where its names
    come from.

    Raises OSError if a file that is there cannot be read.
    """
    text = with_newlines(text)  # (reading a file does the same)
    home = os.path.abspath(folder) if folder else None
    folders = list(dict.fromkeys(map(os.path.abspath, include_dirs)))
    found, used, passed = _found(text, home, folders)
    paths, search = {}, []
    if found:
        known = [*map(os.path.dirname, found), *used, *passed, *filter(None, [home])]
        base = os.path.commonpath(known)
        paths = {path: f"{INCLUDED}{_below(base, path)}" for path in found}
        if home:
            search += ["-iquote", f"{INCLUDED}{_below(base, home)}"]
        for one in folders:
            if one in used:
                search += ["-I", f"{INCLUDED}{_below(base, one)}"]
    return CodeBase(
        _UNQUOTABLE.sub("_", file),
        text,
        tuple((paths[path], content) for path, content in found.items()),
        tuple(search),
        tuple((defines or {}).items()),
        prelude or ("metal" if _INCLUDE.search(text) else "mlx"),
    )


def _below(base: str, path: str) -> str:
    return "" if path == base else _UNQUOTABLE.sub("_", os.path.relpath(path, base))


def _found(
    text: str, home: str | None, folders: list[str]
) -> tuple[dict[str, str], set[str], set[str]]:
    """The texts of all files by their paths, the folders in which some were found, and those that
    names with `..` pass on their way."""
    found: dict[str, str] = {}
    used: set[str] = set()
    passed: set[str] = set()
    work = [(text, home)]
    while work:
        text, around = work.pop()
        for name, near in _names(text):
            for one in dict.fromkeys([around, home, *folders] if near else folders):
                path = os.path.normpath(os.path.join(one, name)) if one else ""
                if path in found or os.path.isfile(path):
                    if one in folders:
                        used.add(one)
                    passed.update(_passed(one or "", name))
                    if path not in found:
                        found[path] = Path(path).read_text(encoding="utf-8", errors="replace")
                        work.append((found[path], os.path.dirname(path)))
                    break
    return found, used, passed


def _passed(folder: str, name: str) -> Iterator[str]:
    """The folders to which the `..` of a name lead."""
    for part in name.split("/")[:-1]:
        folder = os.path.normpath(os.path.join(folder, part))
        if part == "..":
            yield folder


def _names(text: str) -> Iterator[tuple[str, bool]]:
    """The names behind `#include`, and whether a file beside the text is meant, too."""
    for match in _INCLUDE.finditer(text):
        yield match["near"] or match["far"], match["near"] is not None
