"""Products with large matrices that outlive the process, so that an interrupted run goes on.

An iteration is the same every time: its products, one after the other, have the same operands. So
a run that starts again need not know where the other one was. It asks for the same products, and
those that are in the journal are read instead of computed; so is the beginning of the one that was
interrupted. Files are written under another name and renamed when they are whole.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import NamedTuple, cast

import mlx.core as mx


class Entry(NamedTuple):
    """A product, as far as it has come."""

    value: mx.array
    bands: int  #: that are in it


class Journal:
    """The products of one rank in a folder.

    Args:
        folder: Made if it is not there.
        identity: What the matrix is.
        seconds: Between two records of a product that is not whole.

    Raises:
        ValueError: The folder has products of another matrix.
    """

    def __init__(self, folder: Path, identity: dict[str, object], seconds: float = 20.0) -> None:
        self._folder = folder
        self._seconds = seconds
        self._last = time.monotonic()
        folder.mkdir(parents=True, exist_ok=True)
        about = folder / "matrix.json"
        if about.exists() and json.loads(about.read_text()) != identity:
            raise ValueError(
                f"[svd_topk] The journal in {folder} belongs to another matrix, to other rows or "
                "bands of it, or the file has changed. Remove the folder or name another one."
            )
        partial = about.with_suffix(".new")
        partial.write_text(json.dumps(identity))
        os.replace(partial, about)

    def begun(self, number: int, operand: mx.array) -> Entry | None:
        """What there is of a product, if its operand had the same bits."""
        path = self._path(number)
        if not path.exists():
            return None
        arrays, notes = cast(
            "tuple[dict[str, mx.array], dict[str, str]]",
            mx.load(str(path), return_metadata=True),
        )
        if notes["operand"] != _fingerprint(operand):
            return None
        value = arrays["value"]
        mx.eval(value)
        return Entry(value, int(notes["bands"]))

    def record(self, number: int, operand: mx.array, entry: Entry, whole: bool) -> None:
        """Write a product, unless it is a part and another one was written just before."""
        if not whole and time.monotonic() - self._last < self._seconds:
            return
        path = self._path(number)
        partial = path.with_name("new.safetensors")
        notes = {"operand": _fingerprint(operand), "bands": str(entry.bands)}
        mx.save_safetensors(str(partial), {"value": entry.value}, notes)
        os.replace(partial, path)
        self._last = time.monotonic()

    def _path(self, number: int) -> Path:
        return self._folder / f"product-{number:04}.safetensors"


def _fingerprint(operand: mx.array) -> str:
    """Two sums of its bits, one with weights that depend on the place."""
    bits = mx.view(operand.reshape(-1), mx.uint32).astype(mx.uint64)
    weights = mx.arange(bits.size, dtype=mx.uint64) * 2 + 1
    return f"{operand.shape} {bits.sum().item()} {(bits * weights).sum().item()}"
