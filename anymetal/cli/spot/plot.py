"""The picture of `anymetal spot --plot`: a bar for each way, in units of the first of its pair."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from anymetal.cli.spot.pairs import Pair
from anymetal.timing import Timing


def formats() -> list[str]:
    """Endings of the files that can be drawn."""
    return sorted(Figure().canvas.get_supported_filetypes())


def save(results: Sequence[tuple[Pair, Sequence[Timing]]], device: str, file: Path) -> None:
    """Draw the ratios of all pairs into a file, whose suffix says the format."""
    bars: list[tuple[float, float, str]] = []  # height on the axis, ratio, label
    place = 0.0
    for pair, timings in results:
        for timing in timings:
            bars.append((place, timing.over(timings[0]), f"{pair.name}: {timing.name}"))
            place += 1
        place += 0.6
    figure = Figure(figsize=(8, 0.6 + 0.28 * max(1.0, place)), layout="constrained")
    axes = figure.subplots()
    heights = [height for height, _, _ in bars]
    ratios = [ratio for _, ratio, _ in bars]
    axes.barh(heights, ratios, color=["#8a8a8a" if ratio == 1 else "#2f6fab" for ratio in ratios])
    axes.set_yticks(heights, [label for _, _, label in bars], fontsize=8)
    for height, ratio in zip(heights, ratios, strict=True):
        axes.text(max(1, ratio), height, f" {ratio:.2f}", va="center", fontsize=8)
    axes.axvline(1, color="black", linewidth=0.6)
    axes.invert_yaxis()
    axes.margins(x=0.08)
    axes.set_xlabel(f"time, in units of the first way of each pair\n{device}", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(file, dpi=150)
