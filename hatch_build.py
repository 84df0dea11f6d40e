"""What `make wheel` adds to a wheel: the bridge to MLX, compiled for this Python and this MLX.

A wheel without it works as well: the bridge is then built on the user's machine, if that has a C++
compiler.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


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
        build_data["infer_tag"] = True
