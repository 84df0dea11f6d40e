"""What debuggers and profilers show of a kernel: its name, and the files that have its text."""

from __future__ import annotations

from pathlib import PurePath

from anymetal.frontend.dialect import parts_as_written
from anymetal.frontend.unit import part_name
from anymetal.runtime.texts import Text
from anymetal.simd.code.line_table import LineTable
from anymetal.source import KernelSource, LibrarySource


def texts_of(source: KernelSource) -> dict[str, Text]:
    """What the user wrote, by the name that places in it have (ir/model.py): the body of `exp` in
    exp.metal, its header in exp.header.metal, texts of Metal files under their own names."""
    found = {}
    for part, text in parts_as_written(source).items():
        where = part_name(source, part)
        if isinstance(source, LibrarySource):
            found[where] = Text(PurePath(where).name, text)
        else:
            extension = {"source": ".metal", "header": ".header.metal"}[part]
            found[where] = Text(f"{source.name}{extension}", text)
    return {where: text for where, text in found.items() if text.content.strip()}


def line_table(source: KernelSource, texts: dict[str, Text]) -> LineTable:
    """The line table of its machine code, to be filled."""
    main = part_name(source, "header" if isinstance(source, LibrarySource) else "source")
    files = {where: text.path for where, text in texts.items()}
    return LineTable(source.name, f"{source.name}{source.template_arguments}", files, main)
