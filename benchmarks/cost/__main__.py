"""Measure, fit, draw: see `python -m benchmarks.cost --help`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mlx.core as mx

import anymetal
from anymetal.cli.doctor import findings
from benchmarks.cost.counting import counted
from benchmarks.cost.model import Run, communication, factors, fit, on_one_machine
from benchmarks.cost.routines import ROUTINES

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "docs" / "distributed" / "cost.json"
COMMAND = "python -m benchmarks.cost --write"


def of_one_rank(seconds: float, result: Path) -> None:
    """Times of all routines on this rank, and whether it sends what the model counts."""
    ranks = mx.distributed.init().size()
    found = []
    for name, routine in ROUTINES.items():
        for size in routine.sizes:
            call = routine.prepare(size)
            with counted() as sent:
                mx.eval(call())
            collectives = [each for each in sent if each.operation not in ("send", "recv")]
            if ranks > 1 and collectives != (wanted := routine.sent(size, ranks)):
                raise AssertionError(f"{name} {size} sends {collectives}, not {wanted}")
            found.append(Run(name, size, ranks, _best(call, seconds)))
    if mx.distributed.init().rank() == 0:
        result.write_text(json.dumps([run._asdict() for run in found]))


def _best(call: Any, seconds: float) -> float:
    """The shortest of several calls, all ranks beginning together."""
    best, spent, calls = float("inf"), mx.array(0.0), 0
    while calls < 3 or spent.item() < seconds:
        mx.eval(mx.distributed.all_sum(mx.zeros(1)))
        begin = time.perf_counter()
        mx.eval(call())
        took = time.perf_counter() - begin
        best, calls = min(best, took), calls + 1
        spent = mx.distributed.all_max(spent + took)  # ranks stop together
    return best


def measured(ranks: int, seconds: float) -> list[Run]:
    """By `mlx.launch` on this machine; one rank by itself, which MLX's ring does not launch."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        launcher = str(Path(sys.executable).with_name("mlx.launch"))
        launch = [launcher, "-n", str(ranks), "--backend", "ring", "--starting-port", str(port)]
        program = [sys.executable, __file__, "--rank", str(seconds), str(result)]
        done = subprocess.run(
            [*launch, *program] if ranks > 1 else program,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if not result.exists():
            raise RuntimeError(f"{ranks} ranks have failed:\n{done.stdout}{done.stderr}")
        return [Run(**each) for each in json.loads(result.read_text())]


def load() -> tuple[list[Run], dict[str, Any]]:
    """What is kept: runs, and the circumstances in which they were measured."""
    kept = json.loads(KEPT.read_text())
    return [Run(**each) for each in kept["runs"]], kept["conditions"]


def _conditions() -> dict[str, Any]:
    load_average = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return {
        "processor": next(each.value for each in findings() if each.name == "processor"),
        "processors": os.cpu_count(),
        "AnyMetal": anymetal.__version__,
        "MLX": version("mlx"),
        "Python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
        "load": load_average,
        "command": COMMAND,
    }


def table(runs: list[Run], processors: int) -> str:
    """Measured times beside those of the model, in Markdown."""
    model = fit(runs, processors)
    apart = factors(model, runs, processors)
    lines = [
        f"α = {model.alpha * 1e6:.0f} µs, β = {model.beta * 1e9:.1f} ns, "
        f"τ = {model.tau * 1e3:.1f} ms; half of the times are within a factor of "
        f"{apart[len(apart) // 2]:.2f} of the model's, nine tenths within "
        f"{apart[len(apart) * 9 // 10]:.2f}",
        "",
        "| routine | size | ranks | messages | words | measured | model |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for run in runs:
        messages, words = communication(ROUTINES[run.routine], run.size, run.ranks)
        size = ", ".join(f"{name} = {value:,}" for name, value in run.size.items())
        says = on_one_machine(model, run, processors)
        lines.append(
            f"| `{run.routine}` | {size} | {run.ranks} | {messages:,} | {words:,} | "
            f"{1e3 * run.seconds:.3g} ms | {1e3 * says:.3g} ms |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser("benchmarks.cost", description=__doc__)
    parser.add_argument("--write", action="store_true", help="measure, keep the times, draw")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each size of a routine")
    parser.add_argument("--rank", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.rank:
        of_one_rank(float(given.rank[0]), Path(given.rank[1]))
        return
    if given.write:
        runs = [run for ranks in (1, 2, 4, 8) for run in measured(ranks, given.seconds)]
        kept = {
            "conditions": _conditions(),
            "runs": [{**run._asdict(), "seconds": float(f"{run.seconds:.4g}")} for run in runs],
        }
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    from benchmarks.cost import picture

    runs, about = load()
    print(table(runs, about["processors"]))
    for path in picture.draw(runs, about, KEPT.parent):
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
