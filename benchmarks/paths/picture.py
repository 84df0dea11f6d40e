"""Draws the pictures: a diagram for each panel, a line for each path and rival."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from benchmarks.paths.kept import FOLDER, Picture, Times

COMMAND = "python -m benchmarks.paths --write"

#: What is drawn thin and dashed: not ours.
_RIVALS = ("mlx", "full", "MLX", "PyTorch")
_COLOURS = ("#2f6fab", "#c1612c", "#3b8f4f", "#7d4fa3", "#a08a1e")
_GREYS = ("#555555", "#aa3344")


def draw(picture: Picture) -> Path:
    """Times by size, both in logarithms."""
    figure, axes = _figure(len(picture.panels), picture)
    looks = _looks(picture)
    for panel, place in zip(picture.panels, axes, strict=True):
        _lines(place, panel, looks)
    return _saved(figure, picture.name)


def draw_overview(name: str, pictures: Sequence[Picture]) -> Path:
    """How many times as long MLX's operations take as the fastest path of ours."""
    figure, (axes,) = _figure(1, pictures[0], width=7.0)
    rows = [
        (f"{picture.name}: {panel.title}", _gains(panel))
        for picture in pictures
        for panel in picture.panels
    ]
    rows = [(label, gains) for label, gains in rows if gains]
    for row, (_, gains) in enumerate(rows):
        axes.plot([min(gains), max(gains)], [row, row], color="#bbbbbb", linewidth=1, zorder=1)
        axes.scatter(gains, [row] * len(gains), color=_COLOURS[0], s=14, zorder=2)
    axes.axvline(1, color="black", linewidth=0.7)
    axes.set_yticks(range(len(rows)), [label for label, _ in rows], fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("time of MLX's operations ÷ time of the fastest kernel path", fontsize=8)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.grid(axis="x", color="#e5e5e5", linewidth=0.6)
    return _saved(figure, name)


def _figure(panels: int, picture: Picture, width: float = 4.2) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width * panels, 3.6))
    axes = figure.subplots(1, panels, squeeze=False)[0]
    left, right = (0.62, 0.02) if panels > 1 else (0.9, 0.1)
    whole = width * panels
    figure.subplots_adjust(
        left=(2.8 if width > 5 else left) / whole, right=1 - right / 2, top=0.92, bottom=0.235
    )
    figure.text(0.01, 0.015, _caption(picture), fontsize=6, color="#555555", va="bottom")
    return figure, list(axes)


def _caption(picture: Picture) -> str:
    said = picture.conditions
    versions = f"AnyMetal {said['AnyMetal']}, {said['packages']}"
    return f"{picture.device}; {picture.date}\n{versions}\n{COMMAND}"


def _looks(picture: Picture) -> dict[str, dict[str, Any]]:
    """How each line is drawn, the same in all diagrams of a picture."""
    names = dict.fromkeys(name for panel in picture.panels for name in panel.lines)
    ours = [name for name in names if not name.startswith(_RIVALS)]
    rivals = [name for name in names if name not in ours]
    solid = {"linestyle": "-", "linewidth": 1.6}
    dashed = {"linestyle": "--", "linewidth": 1.1}
    return {
        **{name: {"color": colour, **solid} for name, colour in zip(ours, _COLOURS, strict=False)},
        **{name: {"color": grey, **dashed} for name, grey in zip(rivals, _GREYS, strict=False)},
    }


def _lines(axes: Axes, panel: Times, looks: dict[str, dict[str, Any]]) -> None:
    for name, times in panel.lines.items():
        axes.plot(
            list(times),
            list(times.values()),
            label=name,
            marker="o",
            markersize=2.5,
            **looks[name],
        )
    axes.set_title(panel.title, fontsize=9)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    sizes = sorted({size for times in panel.lines.values() for size in times})
    axes.set_xticks(sizes, [_size(size) for size in sizes], fontsize=7)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _duration(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="y", labelsize=7)
    axes.set_xlabel(panel.axis, fontsize=8)
    axes.grid(color="#e5e5e5", linewidth=0.6)
    axes.legend(fontsize=6.5, frameon=False)


def _gains(panel: Times) -> list[float]:
    """Of each size that MLX's operations and a path of ours were measured for."""
    theirs = next((t for name, t in panel.lines.items() if name.startswith(_RIVALS[:3])), {})
    ours = [t for name, t in panel.lines.items() if not name.startswith(_RIVALS)]
    return [
        seconds / min(times[size] for times in ours if size in times)
        for size, seconds in theirs.items()
    ]


def _size(size: int) -> str:
    exact = size >= 2**13 and size & (size - 1) == 0
    return f"$2^{{{size.bit_length() - 1}}}$" if exact else str(size)


def _duration(seconds: float) -> str:
    for scale, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * scale >= 0.999:
            return f"{seconds * scale:g} {unit}"
    return f"{seconds * 1e6:g} µs"


def _saved(figure: Figure, name: str) -> Path:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    path = FOLDER / f"{name}.svg"
    # Text as text and a fixed salt: the same numbers give the same file.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "anymetal"}):
        figure.savefig(path, metadata={"Date": None, "Creator": None})
    return path
