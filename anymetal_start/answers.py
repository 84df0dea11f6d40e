"""What a Mac says of itself: a Mac mini with an M1, and the memory and processors of this machine.

The chip is that of `mx.device_info` under `install(pretend_gpu=True)`.
"""

from __future__ import annotations

import json
import os
import socket

MACOS = "15.5"
BUILD = "24F74"
DARWIN = "24.5.0"
KERNEL = (
    f"Darwin Kernel Version {DARWIN}: Tue Apr 22 19:54:25 PDT 2025; "
    "root:xnu-11417.121.6~2/RELEASE_ARM64_T8103"
)
MODEL = "Macmini9,1"
CHIP = "Apple M1"
GPU_CORES = 8


def memory() -> int:
    """Bytes of memory that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def sysctl() -> dict[str, str]:
    """The names that `sysctl` knows, and their values."""
    processors = str(os.cpu_count() or 1)
    counts = ("physicalcpu", "physicalcpu_max", "logicalcpu", "logicalcpu_max")
    return {
        "hw.activecpu": processors,
        "hw.byteorder": "1234",
        "hw.cachelinesize": "128",
        "hw.cpu64bit_capable": "1",
        "hw.cpufamily": "458787763",
        "hw.cpusubtype": "2",
        "hw.cputype": "16777228",
        "hw.l1dcachesize": "65536",
        "hw.l1icachesize": "131072",
        "hw.l2cachesize": "4194304",
        "hw.machine": "arm64",
        "hw.memsize": str(memory()),
        "hw.memsize_usable": str(memory()),
        "hw.model": MODEL,
        "hw.ncpu": processors,
        "hw.nperflevels": "1",
        **{f"hw.{count}": processors for count in counts},
        **{f"hw.perflevel0.{count}": processors for count in counts},
        "hw.perflevel0.name": "Performance",
        "hw.optional.AdvSIMD": "1",
        "hw.optional.AdvSIMD_HPFPCvt": "1",
        "hw.optional.arm.AdvSIMD": "1",
        "hw.optional.arm.FEAT_BF16": "0",
        "hw.optional.arm.FEAT_DotProd": "1",
        "hw.optional.arm.FEAT_FP16": "1",
        "hw.optional.arm.FEAT_I8MM": "0",
        "hw.optional.arm.FEAT_SME": "0",
        "hw.optional.arm64": "1",
        "hw.optional.floatingpoint": "1",
        "hw.optional.neon": "1",
        "hw.optional.neon_fp16": "1",
        "hw.packages": "1",
        "hw.pagesize": "16384",
        "hw.tbfrequency": "24000000",
        "iogpu.wired_limit_mb": "0",
        "kern.hostname": socket.gethostname(),
        "kern.osproductversion": MACOS,
        "kern.osrelease": DARWIN,
        "kern.ostype": "Darwin",
        "kern.osversion": BUILD,
        "kern.version": KERNEL,
        "machdep.cpu.brand_string": CHIP,
        "machdep.cpu.core_count": processors,
        "machdep.cpu.cores_per_package": processors,
        "machdep.cpu.logical_per_package": processors,
        "machdep.cpu.thread_count": processors,
        "sysctl.proc_translated": "0",
    }


def sw_vers() -> dict[str, str]:
    """What `sw_vers` prints."""
    return {"ProductName": "macOS", "ProductVersion": MACOS, "BuildVersion": BUILD}


def system_profiler(kinds: list[str], as_json: bool) -> str:
    """What `system_profiler` prints of hardware and displays; nothing of other things."""
    processors, size = os.cpu_count() or 1, f"{round(memory() / 2**30)} GB"
    data = {
        "SPHardwareDataType": {
            "_name": "hardware_overview",
            "chip_type": CHIP,
            "machine_model": MODEL,
            "machine_name": "Mac mini",
            "number_processors": f"proc {processors}:{processors}:0",
            "physical_memory": size,
        },
        "SPDisplaysDataType": {
            "_name": CHIP,
            "spdisplays_mtlgpufamilysupport": "spdisplays_metal3",
            "spdisplays_vendor": "sppci_vendor_Apple",
            "sppci_bus": "spdisplays_builtin",
            "sppci_cores": str(GPU_CORES),
            "sppci_device_type": "spdisplays_gpu",
            "sppci_model": CHIP,
        },
    }
    if as_json:
        known = {kind: [data[kind]] if kind in data else [] for kind in kinds or data}
        return json.dumps(known, indent=2)
    texts = {
        "SPHardwareDataType": f"""\
Hardware:

    Hardware Overview:

      Model Name: Mac mini
      Model Identifier: {MODEL}
      Chip: {CHIP}
      Total Number of Cores: {processors} ({processors} performance and 0 efficiency)
      Memory: {size}
""",
        "SPDisplaysDataType": f"""\
Graphics/Displays:

    {CHIP}:

      Chipset Model: {CHIP}
      Type: GPU
      Bus: Built-In
      Total Number of Cores: {GPU_CORES}
      Vendor: Apple (0x106b)
      Metal Support: Metal 3
""",
    }
    return "\n".join(texts[kind] for kind in kinds or texts if kind in texts)
