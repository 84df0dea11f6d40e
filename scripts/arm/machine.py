"""What the emulated Python and its LLVM say of the machine, for native_helper.py."""

from __future__ import annotations

import json
import sys

import llvmlite.binding as llvm

print(
    json.dumps(
        {
            "cpu": llvm.get_host_cpu_name(),
            "features": dict(llvm.get_host_cpu_features()),
            "python": sys.version_info[:3],
            "hexversion": sys.hexversion,
        }
    )
)
