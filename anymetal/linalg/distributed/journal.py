"""Products with large matrices that outlive the process, so that an interrupted run goes on.

An iteration is the same every time: its products, one after the other, have the same operands. So
a run that starts again need not know where the other one was. It asks for the same products, and
those that are in the journal are read instead of computed; so is the beginning of the one that was
interrupted. From time to time the iteration leaves a checkpoint, from which it can begin as well;
then the products before it are of no use any more, and are deleted. Files are written under another
name and renamed when they are whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

import mlx.core as mx


class Entry(NamedTuple):
    """A product, as far as it has come."""

    value: mx.array
    bands: int  #: that are in it


class Checkpoint(NamedTuple):
    """A step of an iteration, after so many products, and what it goes on with."""

    step: int
    products: int
    factor: float  #: of the matrix
    state: dict[str, mx.array]


class Journal:
    """The products and checkpoints of one rank in a folder.

    Args:
        folder: Made if it is not there.
        identity: What the matrix is, and what is searched for.
        seconds: Between two records of a product that is not whole.

    Raises:
        ValueError: The folder belongs to another matrix or search.
    """

    def __init__(self, folder: Path, identity: dict[str, object], seconds: float = 20.0) -> None:
        self._folder = folder
        self._seconds = seconds
        self._last = time.monotonic()
        folder.mkdir(parents=True, exist_ok=True)
        about = folder / "journal.json"
        if about.exists() and json.loads(about.read_text()) != identity:
            raise ValueError(
                f"[svd_topk] The journal in {folder} belongs to another matrix, to other rows or "
                "bands of it, the file has changed, or k, oversample, path or key were others. "
                "Remove the folder or name another one."
            )
        partial = about.with_suffix(".new")
        partial.write_text(json.dumps(identity))
        os.replace(partial, about)

    def begun(self, number: int, operand: str) -> Entry | None:
        """What there is of a product, if its operand had the same fingerprint."""
        path = self._product(number)
        if not path.exists():
            return None
        arrays, notes = _read(path)
        if notes["operand"] != operand:
            # Nothing that follows can be the same.
            self._remove("product", lambda each: each >= number)
            return None
        return Entry(arrays["value"], int(notes["bands"]))

    def record(self, number: int, operand: str, entry: Entry, whole: bool) -> None:
        """Write a product, unless it is a part and another one was written just before."""
        if not whole and time.monotonic() - self._last < self._seconds:
            return
        notes = {"operand": operand, "bands": str(entry.bands)}
        self._write(self._product(number), {"value": entry.value}, notes)
        self._last = time.monotonic()

    def steps(self) -> list[int]:
        """Steps with a checkpoint: of two, when the process ended between them, both."""
        return self._numbers("step")

    def checkpoint(self, step: int) -> Checkpoint:
        """One of `steps`."""
        state, notes = _read(self._step(step))
        return Checkpoint(step, int(notes["products"]), float(notes["factor"]), state)

    def keep(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint. Nothing is deleted yet: other ranks may not have come so far."""
        notes = {"products": str(checkpoint.products), "factor": repr(checkpoint.factor)}
        self._write(self._step(checkpoint.step), checkpoint.state, notes)

    def forget(self, step: int, products: range) -> None:
        """Delete products, and the checkpoints before a step."""
        self._remove("product", products.__contains__)
        self._remove("step", lambda each: each < step)

    def _write(self, path: Path, arrays: dict[str, mx.array], notes: dict[str, str]) -> None:
        partial = path.with_name("new.safetensors")
        mx.save_safetensors(str(partial), arrays, notes)
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(partial, path)

    def _product(self, number: int) -> Path:
        return self._folder / f"product-{number:04}.safetensors"

    def _step(self, number: int) -> Path:
        return self._folder / f"step-{number:04}.safetensors"

    def _numbers(self, kind: str) -> list[int]:
        return sorted(int(path.stem.split("-")[1]) for path in self._folder.glob(f"{kind}-*"))

    def _remove(self, kind: str, which: Callable[[int], bool]) -> None:
        for number in filter(which, self._numbers(kind)):
            (self._product if kind == "product" else self._step)(number).unlink()


def fingerprint(operand: mx.array) -> str:
    """Of its shape and its bits."""
    numbers: Any = mx.contiguous(operand)
    digest = hashlib.blake2b(memoryview(numbers).cast("B") if operand.size else b"")
    return f"{operand.shape} {digest.hexdigest()}"


def _read(path: Path) -> tuple[dict[str, mx.array], dict[str, str]]:
    arrays, notes = cast(
        "tuple[dict[str, mx.array], dict[str, str]]", mx.load(str(path), return_metadata=True)
    )
    mx.eval(arrays)
    return arrays, notes
