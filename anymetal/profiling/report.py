"""A profile as a table."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from anymetal.profiling.kernels import KernelProfile
from anymetal.timing import duration

_WIDTH = 100  #: of what is no terminal
_WIDE = 76  #: of a terminal that has room for all columns
_MORE = ("read", "written", "GFLOP/s")
_LINES = 8  #: of a kernel
_KERNELS = 5  #: whose lines are shown
_LEAST_SHARE = 0.01


class Report:
    """The results of a profile. `str` of it is the table, 100 characters wide."""

    def __init__(self) -> None:
        self.kernels: list[KernelProfile] = []
        self.seconds = 0.0
        self.threads = 0
        self.lost = 0
        self.bytes_per_second = 0.0
        self.where = ""  #: the GPU; empty: the threads of the pool

    def __str__(self) -> str:
        written = io.StringIO()
        show(self, Console(file=written, width=_WIDTH, highlight=False, color_system=None))
        return written.getvalue().rstrip()

    def to_dict(self) -> dict[str, object]:
        """The profile in values of JSON: what `anymetal profile --json` prints."""
        return {
            "seconds": self.seconds,
            "threads": self.threads,
            "lost": self.lost,
            "bytes_per_second": self.bytes_per_second,
            "kernels": [kernel.to_dict() for kernel in self.kernels],
        }


def show(profile: Report, console: Console) -> None:
    """Print the table, and the slowest lines of the kernels that took the most time."""
    if not profile.kernels:
        console.print("no kernel was launched while the profile was taken")
        return
    in_kernels = sum(kernel.total_seconds for kernel in profile.kernels)
    console.print(
        f"{duration(profile.seconds)} by the clock, {duration(in_kernels)} in kernels on "
        f"{profile.where or f'{profile.threads} thread' + 's' * (profile.threads > 1)}; "
        f"a copy moves {profile.bytes_per_second * 1e-9:.1f} GB/s here",
        soft_wrap=True,
    )
    if profile.lost:
        console.print(f"the record was full: {profile.lost} launches and samples are missing")
    console.print(_table(profile, in_kernels, console.width >= _WIDE))
    for kernel in profile.kernels[:_KERNELS]:
        if kernel.lines and kernel.total_seconds >= _LEAST_SHARE * in_kernels:
            _show_lines(kernel, console)


def _table(profile: Report, in_kernels: float, wide: bool) -> Table:
    """Names come last, where they may be as long as they are."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), collapse_padding=True)
    for name in ("launches", "time", "share", "median", *(_MORE if wide else ()), "floor"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("kernel", overflow="fold")
    for kernel in profile.kernels:
        name = Text(kernel.title, "bold")
        if kernel.variant:
            name.append(f"\n{kernel.variant}", "dim not bold")
        if kernel.failed:
            name.append(f"\n{kernel.failed} ended badly", "red not bold")
        rate = (kernel.flops or 0) / kernel.total_seconds * 1e-9
        bytes_ = _size(kernel.bytes_read), _size(kernel.bytes_written)
        more = (*bytes_, f"{rate:.3g}" if rate else "")
        table.add_row(
            str(kernel.launches),
            duration(kernel.total_seconds),
            f"{kernel.total_seconds / in_kernels:.0%}",
            duration(kernel.median_seconds),
            *(more if wide else ()),
            "" if kernel.floor_share is None else f"{kernel.floor_share:.0%}",
            name,
        )
    return table


def _show_lines(kernel: KernelProfile, console: Console) -> None:
    console.print(f"\n{kernel.title}: {kernel.samples} samples", style="bold", markup=False)
    shown = list(_shown_lines(kernel))
    widest = max(len(place) for _, place, _ in shown)
    for share, place, code in shown:
        console.print(f"  {share:>4.0%}  {place:{widest}}  {code}", markup=False, soft_wrap=True)


def _shown_lines(kernel: KernelProfile) -> Iterator[tuple[float, str, str]]:
    for line in kernel.lines[:_LINES]:
        share = line.samples / kernel.samples
        if share < _LEAST_SHARE:
            return
        place = f"{line.file}:{line.number}" if line.number else line.file
        yield share, place, f"in {line.text}" if line.file and not line.number else line.text


def _size(bytes_: float) -> str:
    if not bytes_:
        return ""
    for unit in ("B", "KB", "MB", "GB"):
        if bytes_ < 999.5:
            return f"{bytes_:.3g} {unit}"
        bytes_ /= 1000
    return f"{bytes_:.3g} TB"
