"""Draws measured times beside the model's, and what the model says of clusters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from benchmarks.cost.model import Cluster, Run, fit, on_a_cluster, on_one_machine
from benchmarks.cost.routines import ROUTINES, Size

_COLOURS = ("#2f6fab", "#c1612c", "#3b8f4f")

NODES = (8, 16, 32, 64, 128, 256, 512, 1024)
NETWORKS = (10, 100, 400)  # gigabits in a second
LATENCY = 30e-6  # of a message between two machines over TCP, in seconds
FASTER = 32  # a machine of 64 processors, where two were measured

ROWS = 100_000  # of each machine


def projected(name: str, p: int) -> Size:
    """What a cluster of p machines has to do: as many rows on each; triangles stay the same."""
    m = ROWS * p
    return {
        "norm": {"m": 10_000 * m},
        "gram": {"m": m, "n": 1000},
        "gram in limbs": {"m": m, "n": 100},
        "qr": {"m": m, "n": 1000},
        "svd_topk": {"m": m, "n": 1000, "b": 58},
        "cholesky": {"n": 65_536},
        "solve_triangular": {"n": 65_536, "c": 1024},
    }[name]


def draw(runs: list[Run], conditions: dict[str, Any], folder: Path) -> Iterator[Path]:
    """Two files."""
    yield _measured(runs, conditions, folder / "measured.svg")
    yield _projection(runs, conditions, folder / "projection.svg")


def _measured(runs: list[Run], conditions: dict[str, Any], path: Path) -> Path:
    processors = conditions["processors"]
    model = fit(runs, processors)
    names = list(dict.fromkeys(run.routine for run in runs))
    figure, places = _figure(len(names))
    for name, axes in zip(names, places, strict=False):
        for size, colour in zip(ROUTINES[name].sizes, _COLOURS, strict=False):
            mine = [run for run in runs if (run.routine, run.size) == (name, size)]
            ranks = [run.ranks for run in mine]
            label = ", ".join(f"{key} = {value:,}" for key, value in size.items())
            axes.plot(ranks, [run.seconds for run in mine], "o", color=colour, markersize=4)
            says = [on_one_machine(model, run, processors) for run in mine]
            axes.plot(ranks, says, "-", color=colour, linewidth=1.2, label=label)
        _finish(axes, ROUTINES[name].title, sorted({run.ranks for run in runs}), "ranks")
        axes.axvline(processors, color="#999999", linewidth=0.7, linestyle=":")
    note = (
        f"Points: measured, on loopback. Lines: the model. Right of the dotted line {processors} "
        f"processors are oversubscribed.\n{_said(conditions)}"
    )
    return _saved(figure, note, path)


def _projection(runs: list[Run], conditions: dict[str, Any], path: Path) -> Path:
    model = fit(runs, conditions["processors"])
    names = [name for name in ROUTINES if name != "all_sum"]
    figure, places = _figure(len(names))
    for name, axes in zip(names, places, strict=False):
        for gigabits, colour in zip(NETWORKS, _COLOURS, strict=True):
            cluster = Cluster(gigabits, LATENCY, FASTER)
            times = [on_a_cluster(model, name, projected(name, p), p, cluster) for p in NODES]
            axes.plot(NODES, times, "o-", color=colour, markersize=2.5, label=f"{gigabits} Gbit/s")
        free = Cluster(math.inf, 0.0, FASTER)
        alone = [on_a_cluster(model, name, projected(name, p), p, free) for p in NODES]
        axes.plot(NODES, alone, "--", color="#777777", linewidth=1, label="computation alone")
        size = ", ".join(
            f"{key} = {value:,}" if key != "m" else f"m = {value // 8:,} p"
            for key, value in projected(name, 8).items()
        )
        _finish(axes, f"{ROUTINES[name].title}\n{size}", list(NODES), "machines, p")
    note = (
        f"The model, for machines that are {FASTER} times as fast as the one that was measured, "
        f"and {LATENCY * 1e6:.0f} µs for a message. Not measured.\n{_said(conditions)}"
    )
    return _saved(figure, note, path)


def _said(conditions: dict[str, Any]) -> str:
    return (
        f"{conditions.get('processor', '')}; {conditions['date']}; load {conditions['load']}; "
        f"AnyMetal {conditions['AnyMetal']}; {conditions['command']}"
    )


def _figure(panels: int) -> tuple[Figure, list[Axes]]:
    columns, rows = 4, -(-panels // 4)
    figure = Figure(figsize=(3.1 * columns, 2.7 * rows + 0.5))
    places = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in places[panels:]:
        axes.set_axis_off()
    figure.subplots_adjust(left=0.055, right=0.99, top=0.93, bottom=0.13, hspace=0.55, wspace=0.28)
    return figure, places


def _finish(axes: Axes, title: str, ranks: list[int], what: str) -> None:
    axes.set_title(title, fontsize=8)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(ranks, [str(p) for p in ranks], fontsize=7)
    axes.xaxis.set_minor_formatter(NullFormatter())
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 30 else (1,)))
    if high / low < 10:  # a whole decade, so that small differences look small
        middle = (low * high) ** 0.5
        axes.set_ylim(middle / 10**0.5, middle * 10**0.5)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _duration(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="y", labelsize=7)
    axes.set_xlabel(what, fontsize=7)
    axes.grid(color="#e5e5e5", linewidth=0.6)
    axes.legend(fontsize=6, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def _duration(seconds: float) -> str:
    for scale, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * scale >= 0.999:
            return f"{seconds * scale:g} {unit}"
    return f"{seconds * 1e6:g} µs"


def _saved(figure: Figure, note: str, path: Path) -> Path:
    figure.text(0.01, 0.01, note, fontsize=6.5, color="#555555", va="bottom")
    # Text as text and a fixed salt: the same numbers give the same file.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "anymetal"}):
        figure.savefig(path, metadata={"Date": None, "Creator": None})
    return path
