"""Notebooks that do what they show: cells run in order, in a kernel of Jupyter's.

python release/notebooks.py NOTEBOOK.ipynb…

Needs ipykernel and jupyter_client.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_SECONDS = 300  #: that a cell may take


def run(notebook: Path) -> int:
    """Run a notebook in its folder; the number of its cells with code.

    Raises AssertionError if a cell fails, or prints something else than it shows.
    """
    from jupyter_client.manager import start_new_kernel

    cells = json.loads(notebook.read_text())["cells"]
    programs = [cell for cell in cells if cell["cell_type"] == "code"]
    manager, client = start_new_kernel(cwd=str(notebook.parent), startup_timeout=120)
    try:
        for number, cell in enumerate(programs, 1):
            shown = "".join(text for output in cell["outputs"] for text in output["text"])
            printed = _printed(client, "".join(cell["source"]))
            assert printed == shown, f"{notebook.name}, cell {number}: {printed!r}, not {shown!r}"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return len(programs)


def _printed(client: Any, code: str) -> str:
    printed: list[str] = []

    def hear(message: dict[str, Any]) -> None:
        content = message["content"]
        if message["msg_type"] == "stream" and content["name"] == "stdout":
            printed.append(content["text"])

    reply = client.execute_interactive(code, timeout=_SECONDS, output_hook=hear)["content"]
    assert reply["status"] == "ok", "\n".join(reply.get("traceback", [reply["status"]]))
    return "".join(printed)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: {run(Path(name))} cells print what it shows")
