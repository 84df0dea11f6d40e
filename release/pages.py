"""The programs on pages of the documentation, and whether they print what the page says.

    python release/pages.py PAGE.md…     runs the blocks of each page in order, as one program

Needs nothing but what the programs import, so it runs where a user's environment is tried.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

_PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
_PRINTED = re.compile(r"\n*prints.*?:?\n\n```\n(.*?)```", re.DOTALL)
_COMMENT = re.compile(r"print\(.*\)(?:  |\n)# (.*)$", re.MULTILINE)
_FILE = re.compile(r"^`([\w./]+)`[^\n]*\n\n```\S*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """One block of Python, and what it prints."""

    code: str
    line: int  #: of the page, where the code begins
    printed: list[str]
    any_order: bool  #: threads print in any order

    def check(self, output: str, errors: str) -> None:
        """Raises AssertionError if it has printed something else."""
        lines, wanted = output.splitlines(), self.printed
        if self.any_order:
            lines, wanted = sorted((output + errors).strip().split("\n")), sorted(wanted)
        assert lines == wanted, f"line {self.line}: printed {lines}, not {wanted}"


def blocks(text: str) -> list[Block]:
    """The blocks of a page. They print what stands in a comment behind `print`, or in the block
    behind "prints"."""
    found = []
    for block in _PYTHON.finditer(text):
        code, line = block[1], text.count("\n", 0, block.start(1)) + 1
        printed = _PRINTED.match(text, block.end())
        lines = printed[1].strip().split("\n") if printed else _COMMENT.findall(code)
        found.append(Block(code, line, lines, any_order=printed is not None))
    return found


def files(text: str) -> dict[str, str]:
    """The files that a page shows, each in a block behind a line that begins with its name."""
    return dict(_FILE.findall(text))


def run(page: Path, told: Callable[[], tuple[str, str]]) -> None:
    """Run the blocks of a page as one program.

    `told` gives what was printed since it was asked last: output and errors.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page.read_text()):
        told()
        exec(compile(block.code, f"{page.name}, from line {block.line} on", "exec"), names)
        block.check(*told())


def _main() -> None:
    for name in sys.argv[1:]:
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            run(Path(name), lambda: (_taken(output), _taken(errors)))  # noqa: B023
        print(f"{name}: {len(blocks(Path(name).read_text()))} programs print what it says")


def _taken(stream: io.StringIO) -> str:
    text = stream.getvalue()
    stream.seek(0)
    stream.truncate()
    return text


if __name__ == "__main__":
    _main()
