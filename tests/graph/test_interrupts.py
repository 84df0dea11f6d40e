"""Ctrl-C once a kernel is known to be short and others have set a handler: in a notebook, too.

The kernel runs as long as its data says. After 200 short launches nobody looks whether a launch can
be interrupted before it starts; then comes one that never ends.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.graph.kernels import answer
from tests.runtime.native import ROOT

# The programs say nothing about a build.
pytestmark = pytest.mark.usefixtures("built_bridge")

WARM = """
short, gate = Gate(), Gate()
short.open()
for _ in range(200):
    mx.eval(short(x))
"""

HANDLERS = {
    "as it was": "",
    "python's own, again": "signal.signal(signal.SIGINT, signal.default_int_handler)",
    "another and back": "signal.signal(signal.SIGINT, signal.signal(signal.SIGINT, print))",
    "faulthandler": "faulthandler.enable(); signal.signal(signal.SIGINT, signal.getsignal(2))",
    "asyncio and back": """
import asyncio
async def nothing():
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    loop.remove_signal_handler(signal.SIGINT)
asyncio.run(nothing())
""",
    "while another thread launches": """
signal.signal(signal.SIGINT, signal.default_int_handler)
def launch():
    while True:
        mx.eval(double(mx.ones(8)))
threading.Thread(target=launch, daemon=True).start()
""",
}


#: Launches of one threadgroup run on the stream's thread, those of many on the main thread, too.
SIZES = pytest.mark.parametrize("size", [8, 100_000])


@SIZES
@pytest.mark.parametrize("handler", HANDLERS.values(), ids=HANDLERS)
def test_ctrl_c_after_many_short_launches(handler, size):
    """AnyMetal: Ctrl-C stops a kernel however short it was before and whoever handles SIGINT."""
    text = f"""
x = mx.array([1.0] * {size})
{WARM}
{handler}
ctrl_c(gate)
try:
    mx.eval(gate(x))
except KeyboardInterrupt:
    print("stopped")
print(double(x).tolist() == [2] * {size}, flush=True)
os._exit(0)
"""
    assert answer(text) == ["stopped", "True"]


@SIZES
def test_ctrl_c_after_a_pause(size):
    """AnyMetal: it does so too when nothing was launched for a while before."""
    text = f"""
x = mx.array([1.0] * {size})
{WARM}
time.sleep(2.5)
signal.signal(signal.SIGINT, signal.default_int_handler)
ctrl_c(gate)
try:
    mx.eval(gate(x))
except KeyboardInterrupt:
    print("stopped")
"""
    assert answer(text) == ["stopped"]


def test_asyncio_handles_ctrl_c_itself():
    """AnyMetal: a loop's handler is called and the kernel goes on, until the second Ctrl-C."""
    text = f"""
import asyncio
{WARM}
handled = []
async def work():
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: handled.append(1))
    def press():
        while not gate.reached:
            time.sleep(0.01)
        for _ in range(2):
            time.sleep(0.3)
            os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=press, daemon=True).start()
    try:
        mx.eval(gate(x))
    except KeyboardInterrupt:
        print("stopped")
    await asyncio.sleep(0.1)
    print(bool(handled))
asyncio.run(work())
"""
    assert answer(text) == ["stopped", "True"]


class Notebook:
    """A kernel of Jupyter's, as a notebook uses it."""

    def __init__(self) -> None:
        from jupyter_client.manager import start_new_kernel

        self._manager, self._client = start_new_kernel(
            kernel_name="python3", cwd=str(ROOT), startup_timeout=120
        )

    def start(self, cell: str) -> str:
        """Run a cell; returns the message's name at once."""
        name: str = self._client.execute(cell, stop_on_error=False)
        return name

    def finish(self, name: str, timeout: float = 60) -> dict[str, Any]:
        """The cell's reply. Raises queue.Empty if there is none in time."""
        end = time.monotonic() + timeout
        while True:
            reply = self._client.get_shell_msg(timeout=max(end - time.monotonic(), 0.01))
            if reply["parent_header"].get("msg_id") == name:
                content: dict[str, Any] = reply["content"]
                return content

    def run(self, cell: str) -> None:
        content = self.finish(self.start(cell))
        assert content["status"] == "ok", content

    def interrupt(self) -> None:
        self._manager.interrupt_kernel()

    def end(self) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    pytest.importorskip("ipykernel")
    pytest.importorskip("jupyter_client")
    notebook = Notebook()
    yield notebook
    notebook.end()


def test_interrupting_a_cell_of_a_notebook(notebook, tmp_path):
    """AnyMetal: a notebook's button stops a kernel that never ends, cell after cell."""
    notebook.run(
        f"from pathlib import Path\nfrom tests.graph.kernels import *\nx = mx.ones(8)\n{WARM}"
    )
    for number in range(3):
        mark = tmp_path / f"{number}"
        cell = f"Path({str(mark)!r}).touch()\nmx.eval(Gate()(x))"
        name = notebook.start(cell)
        while not mark.exists():
            time.sleep(0.05)
        time.sleep(0.5)
        notebook.interrupt()
        try:
            content = notebook.finish(name, timeout=10)
        except queue.Empty:
            pytest.fail(f"the interrupt of cell {number} was ignored")
        assert content["status"] == "error"
        assert content["ename"] == "KeyboardInterrupt"
        notebook.run("assert double(x).tolist() == [2] * 8")
