"""NVIDIA's assembler, if it is there: on the PATH, or in the wheel `nvidia-cuda-nvcc`."""

from __future__ import annotations

import functools
import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

_LIMIT = 120  #: seconds
_NUMBERS = {
    "registers": r"Used (\d+) registers",
    "spilled": r"(\d+) bytes spill stores",
    "reloaded": r"(\d+) bytes spill loads",
    "frame": r"(\d+) bytes stack frame",
    "memory": r"(\d+) bytes smem",
}


class Assembled(NamedTuple):
    """What a kernel takes, in the assembler's words: `registers` of a thread, else bytes."""

    registers: int
    spilled: int  #: stored to local memory for want of registers, by a thread
    reloaded: int  #: loaded from there
    frame: int  #: local memory of a thread, spills included
    memory: int  #: threadgroup memory of a block


@functools.cache
def ptxas() -> str | None:
    """The path of the program."""
    found = shutil.which("ptxas")
    spec = importlib.util.find_spec("nvidia") if found is None else None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        found = next((str(path) for path in Path(folder).glob("*/bin/ptxas")), found)
    return found


def assembled(ptx: str, architecture: str) -> Assembled | str:
    """What a PTX text takes when it is assembled; or why that is not known."""
    program = ptxas()
    if program is None:
        return "no ptxas is here, which counts them: pip install nvidia-cuda-nvcc"
    with TemporaryDirectory(prefix="anymetal-") as folder:
        text, code = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        text.write_text(ptx)
        command = [program, "-v", "-arch", architecture, str(text), "-o", str(code)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_LIMIT
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{program} did not run: {error}"
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        return f"{program} refuses {architecture}: {said[0] if said else done.returncode}"
    numbers = {name: re.search(form, done.stderr) for name, form in _NUMBERS.items()}
    return Assembled(**{name: int(found[1]) if found else 0 for name, found in numbers.items()})
