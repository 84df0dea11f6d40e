"""A small library with Metal kernels, which asks for a Mac before it offers them.

Its questions are those of public libraries of this kind. It knows nothing of AnyMetal.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from sys import platform as imported_platform

if sys.platform != "darwin" or imported_platform != "darwin":
    raise ImportError(f"apple_only needs macOS, not {sys.platform}")
if (platform.system(), platform.machine(), platform.processor()) != ("Darwin", "arm64", "arm"):
    raise ImportError(f"apple_only needs Apple silicon, not {platform.platform()}")
if int(platform.mac_ver()[0].partition(".")[0]) < 14:
    raise ImportError(f"apple_only needs macOS 14, not {platform.mac_ver()[0]}")
if os.uname().sysname != "Darwin" or platform.uname().processor != "arm":
    raise ImportError(f"apple_only needs Darwin, not {os.uname().sysname}")


def sysctl(name: str, program: str = "sysctl") -> str:
    """A value that the system's `sysctl` prints."""
    return subprocess.check_output([program, "-n", name], text=True).strip()


if sysctl("hw.optional.arm64") != "1" or sysctl("sysctl.proc_translated") != "0":
    raise ImportError("apple_only needs a native Python on Apple silicon")

import mlx.core as mx  # noqa: E402

if not mx.metal.is_available() or mx.default_device() != mx.gpu:
    raise ImportError("apple_only needs a GPU")

_square = mx.fast.metal_kernel(
    name="square",
    input_names=["x"],
    output_names=["y"],
    source="uint i = thread_position_in_grid.x; y[i] = x[i] * x[i];",
)


def square(x: mx.array) -> mx.array:
    """x², elementwise."""
    return _square(
        inputs=[x],
        grid=(x.size, 1, 1),
        threadgroup=(32, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[x.dtype],
        stream=mx.gpu,
    )[0]


def report() -> str:
    """What benchmarks print of the machine."""
    chip = sysctl("machdep.cpu.brand_string", "/usr/sbin/sysctl")
    memory = int(sysctl("hw.memsize")) == mx.device_info()["memory_size"]
    system = os.popen("sw_vers -productVersion").read().strip()
    return f"{chip}, macOS {system}, memory as MLX says: {memory}"
