"""Programs with several ranks on this machine, over MLX's ring, or over NCCL with a GPU for each.

`scripts/nccl-suite` sets `TEST_BACKEND`; without it, it is the ring.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
BACKEND = os.environ.get("TEST_BACKEND", "ring")


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def start(ranks: int, program: Path, folder: Path, *arguments: str) -> list[subprocess.Popen[str]]:
    """A process for each rank, as `mlx.launch` starts them, but which end one by one."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    about = {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "ANYMETAL_BRIDGE": "wait"}
    of_ranks = (_over_nccl if BACKEND == "nccl" else _over_the_ring)(ranks, folder)
    return [
        subprocess.Popen(
            [sys.executable, str(program), *arguments],
            env={**os.environ, **about, **of_rank, "MLX_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, of_rank in enumerate(of_ranks)
    ]


def _over_the_ring(ranks: int, folder: Path) -> list[dict[str, str]]:
    if ranks == 1:
        return [{}]
    hosts = folder / f"hosts-{ranks}.json"
    hosts.write_text(json.dumps([[f"127.0.0.1:{port}"] for port in free_ports(ranks)]))
    return [{"MLX_HOSTFILE": str(hosts)}] * ranks


def _over_nccl(ranks: int, folder: Path) -> list[dict[str, str]]:
    if ranks == 1:
        return [{}]
    where = {"NCCL_HOST_IP": "127.0.0.1", "NCCL_PORT": str(free_ports(1)[0])}
    common = {**where, "MLX_WORLD_SIZE": str(ranks)}
    return [{**common, "CUDA_VISIBLE_DEVICES": str(rank)} for rank in range(ranks)]


def run(ranks: int, program: Path, folder: Path, *arguments: str, seconds: float) -> list[str]:
    """What each rank has printed. All must end well."""
    processes = start(ranks, program, folder, *arguments)
    try:
        outputs = [process.communicate(timeout=seconds) for process in processes]
    finally:
        for process in processes:
            process.kill()
    trouble = [
        f"--- rank {rank}: {process.returncode}\n{out}{err[-3000:]}"
        for rank, (process, (out, err)) in enumerate(zip(processes, outputs, strict=True))
        if process.returncode
    ]
    assert not trouble, "\n".join(trouble)
    return [out for out, _ in outputs]
