"""What `make wheel` adds to a wheel: the bridge to MLX, compiled for this Python and this MLX.

A wheel without it works as well: the bridge is then built on the user's machine, if that has a C++
compiler.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: Versions of the system's libraries that MLX's wheels, and so the bridge, may need: those of
#: `manylinux_2_35` (PEP 600).
_SYSTEM = {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13)}


class Bridge(BuildHookInterface[Any]):
    """Compiles the bridge into the package if ANYMETAL_SHIP_BRIDGE is set."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling in front of the build."""
        if self.target_name != "wheel" or version == "editable":
            return
        if not os.environ.get("ANYMETAL_SHIP_BRIDGE"):
            return
        sys.path.insert(0, self.root)
        from anymetal.runtime.bridge.recipe import shipped

        library = shipped()
        subprocess.run(
            [sys.executable, "-m", "anymetal.runtime.bridge.build", str(library)],
            cwd=self.root,
            check=True,
        )
        path = library.relative_to(self.root)
        build_data["force_include"][str(library)] = str(path)
        build_data["pure_python"] = False
        build_data["tag"] = tag(library.read_bytes())


def tag(library: bytes) -> str:
    """The tag of a wheel with this bridge inside: this Python, and the systems that MLX runs on.

    Raises RuntimeError if the bridge needs more than those have: then it was built on too new a
    system.
    """
    for name, most in _SYSTEM.items():
        for version in re.findall(rb"(?<=\0)%b_(\d+(?:\.\d+)+)(?=\0)" % name.encode(), library):
            if tuple(map(int, version.split(b"."))) > most:
                raise RuntimeError(
                    f"the bridge needs {name}_{version.decode()}, but MLX runs where there "
                    f"is {name}_{'.'.join(map(str, most))}; build it on an older system"
                )
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    machine = sysconfig.get_platform().rpartition("-")[2]
    return f"{python}-{python}-manylinux_{'_'.join(map(str, _SYSTEM['GLIBC']))}_{machine}"
