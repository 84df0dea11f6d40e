"""Machine code for AArch64 of our kernels and of the C++, as LLVM's listings."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from anymetal.frontend.known import Content, Known
from anymetal.runtime import zig
from anymetal.targets.base import Launch
from anymetal.targets.cpu.compiler import compile_kernel
from anymetal.targets.cpu.reporting import GangStages
from anymetal.targets.cpu.specialisation import Specialisation
from anymetal.targets.cpu.variant import fitting_groups, launch_variant
from anymetal.targets.cuda.arguments import buffers
from anymetal.testing.gpu_suite.pack import bytes_of
from benchmarks.rivals import SOURCES

#: As the benchmark's C++, for this system and with comments on loops and spills.
_FLAGS = (
    "-std=c++20 -O3 -ffp-contract=fast -fno-math-errno -fno-exceptions -fno-rtti -fPIC -g0 "
    "-fno-sanitize=all -S -fverbose-asm"
).split()
_TARGET = "aarch64-linux-gnu.2.36"


def of_kernel(launch: Launch, cpu: str) -> str:
    """The code of a launch's kernel with its sizes compiled in, as the benchmark runs it."""
    source, grid = launch.source, launch.grid
    x, y, z = map(min, launch.threadgroup, grid)
    groups = fitting_groups(source, grid, (x, y, z))
    variant, general = launch_variant(grid, groups)._replace(cpu=cpu), _Listing()
    if variant.instead:
        compile_kernel(source, variant, general)
    group = groups[general.declined]
    variant = variant.taken(general.declined)._replace(cpu=cpu)
    held = buffers(launch)
    slots = Specialisation(source, variant, grid, group, 0).slots
    contents = [
        Content(slot, source.parameters[slot].name, bytes_of(held[slot]).tobytes())
        for slot in slots
    ]
    stages = _Listing()
    known = Known(grid, group, tuple(contents))
    compile_kernel(source, variant._replace(known=known), stages)
    return stages.text


def of_rival(file: str, cpu: str, options: tuple[str, ...] = ()) -> str:
    """The code of a file of the C++."""
    command: list[str | Path] = [zig.zig_path(), "c++", "-target", _TARGET, *_FLAGS, *options]
    with tempfile.TemporaryDirectory(prefix="anymetal-arm-") as folder:
        listing = Path(folder) / "listing.s"
        command += [f"-mcpu={cpu.replace('-', '_')}", SOURCES / f"{file}.cpp", "-o", listing]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{file}.cpp does not compile for {cpu}:\n{done.stderr}")
        return listing.read_text()


class _Listing(GangStages):
    """Keeps the assembly."""

    text = ""

    def made(self, what: str, text: Callable[[], str]) -> None:
        if what == "assembly":
            self.text = text()
