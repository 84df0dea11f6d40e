"""The table of behaviours: each test in this folder stands for something that MLX documents.

The docstring of a test names the page or function of MLX's documentation, then says what that
promises, in its words where they are quoted. "Evaluation on Metal" is what MLX does beyond its
documentation, where there is a GPU. "AnyMetal" marks what only we promise.

    python -m tests.graph.test_behaviours      prints the table
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from pathlib import Path

SOURCES = {
    "AnyMetal",
    "Compilation",
    "Custom Metal kernels",
    "Custom Metal kernels under shapeless compilation",
    "Evaluation on Metal",
    "Exporting functions",
    "Function transforms",
    "Function transforms of a kernel",
    "Lazy Evaluation",
    "Memory",
    "Streams",
    "async_eval",
    "checkpoint",
    "compile",
    "custom_function",
    "depends",
    "eval",
    "get_active_memory",
    "get_peak_memory",
    "new_stream",
    "stop_gradient",
    "stream",
    "synchronize",
    "vmap",
}
ENOUGH = 60


def behaviours() -> list[tuple[str, str, str]]:
    """Source, behaviour and test of all tests in this folder that run by default."""
    found = []
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
                continue
            if path == Path(__file__) or "slow" in map(ast.unparse, node.decorator_list):
                continue
            text = " ".join(inspect.cleandoc(ast.get_docstring(node) or "").split())
            source, _, behaviour = text.partition(": ")
            found.append((source, behaviour, f"{path.name}::{node.name}"))
    return found


def test_every_test_names_what_it_stands_for():
    unnamed = [test for source, text, test in behaviours() if source not in SOURCES or not text]
    assert unnamed == []


def test_the_table_is_long_enough():
    documented = [test for source, _, test in behaviours() if source != "AnyMetal"]
    assert len(documented) >= ENOUGH
    assert len(set(documented)) == len(documented)


if __name__ == "__main__":
    print("| MLX | behaviour | test |\n|---|---|---|")
    for row in sorted(behaviours()):
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    for source, count in Counter(source for source, _, _ in behaviours()).most_common():
        print(f"{count:4}  {source}")
