"""A helper process of an emulated AnyMetal that is a process of the host: it compiles for the
emulated processor at the speed of this one.

    python -I native_helper.py MACHINE …/anymetal/runtime/helper_main.py

It serves the socket that helper_main.py serves, with that module's own code; only what it would ask
the machine about itself is answered as the emulated processor answers: MACHINE is a JSON file with
what machine.py has found there.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def _module(path: str) -> ModuleType:
    """helper_main.py without the package around it, which would import MLX."""
    spec = importlib.util.spec_from_file_location("helper_main", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _pretend(machine: dict[str, Any], helper_main: ModuleType) -> None:
    """This process takes itself for one on the emulated machine."""
    import llvmlite.binding as llvm
    from llvmlite.binding.targets import FeatureMap

    here = os.uname()
    there = os.uname_result((*here[:4], "aarch64"))
    os.uname = lambda: there
    llvm.get_host_cpu_name = lambda: machine["cpu"]
    llvm.get_host_cpu_features = lambda: FeatureMap(machine["features"])
    # Two Pythons of the same minor version read each other's pickles.
    assert tuple(machine["python"][:2]) == sys.version_info[:2]
    helper_main.version = lambda: (sys.implementation.name, machine["hexversion"])


def main() -> None:
    machine, path = sys.argv[1:]
    helper_main = _module(path)
    _pretend(json.loads(Path(machine).read_text()), helper_main)
    helper_main.main()


if __name__ == "__main__":
    main()
