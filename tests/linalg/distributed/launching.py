"""Programs with several ranks on this machine, over MLX's ring."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def start(ranks: int, program: Path, folder: Path, *arguments: str) -> list[subprocess.Popen[str]]:
    """A process for each rank, as `mlx.launch` starts them, but which end one by one."""
    hosts = folder / f"hosts-{ranks}.json"
    hosts.write_text(json.dumps([[f"127.0.0.1:{port}"] for port in free_ports(ranks)]))
    about = {
        **({"MLX_HOSTFILE": str(hosts)} if ranks > 1 else {}),
        "PYTHONPATH": str(ROOT),
        "OPENBLAS_NUM_THREADS": "1",
        "ANYMETAL_BRIDGE": "wait",
    }
    return [
        subprocess.Popen(
            [sys.executable, str(program), *arguments],
            env={**os.environ, **about, "MLX_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]


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
