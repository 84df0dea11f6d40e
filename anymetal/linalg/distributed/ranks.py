"""What the ranks of a group agree on, how long they wait for each other, and how they end.

A routine over several ranks begins with one small message: each rank says what it was called with.
So a wrong shape on one rank, or another routine, is an error on all of them, and none waits for a
collective that never comes. Whatever is awaited afterwards is awaited for a limited time.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, cast

import mlx.core as mx

from anymetal.errors import DtypeError, RankLostError
from anymetal.routines import no_array

Group = mx.distributed.Group

#: Bytes that each rank sends to agree with the others, whatever it has to say.
AGREEMENT_BYTES = 512

#: Exit status of a process that has waited for too long: EX_TEMPFAIL of sysexits.h.
GIVEN_UP = 75

_patience = 300.0  # seconds


@contextlib.contextmanager
def patience(seconds: float) -> Iterator[None]:
    """How long routines over several ranks wait for the others, inside of a `with`.

    A rank whose process dies is noticed at once: its connections close, MLX's collectives fail and
    the routine raises `RankLostError`. One that hangs, or whose machine is cut off, is noticed by
    this time alone. A collective of MLX that waits cannot be interrupted, so then the process says
    on the standard error stream what it has waited for and ends with status 75.

    Args:
        seconds: From one collective to the next; 300 without this. It must be longer than the
            difference between the fastest and the slowest rank, such as the time to read a band.

    Raises:
        ValueError: Not above zero.
    """
    global _patience
    if not seconds > 0:
        raise ValueError(f"[distributed.patience] seconds must be above zero, not {seconds}.")
    before, _patience = _patience, seconds
    try:
        yield
    finally:
        _patience = before


def of_group(group: Group | None) -> Group:
    """The group itself, or that of all ranks: a single one if nothing was launched."""
    return mx.distributed.init() if group is None else group


def evaluate(routine: str, group: Group, *arrays: mx.array) -> None:
    """`mx.eval`, which ends with an error when a rank is lost.

    Raises:
        RankLostError: The connection to another rank has ended.
    """
    if group.size() == 1:
        mx.eval(*arrays)
        return
    timer = threading.Timer(_patience, _give_up, (routine, group, _patience))
    timer.daemon = True
    timer.start()
    try:
        mx.eval(*arrays)
    except RuntimeError as error:
        if not re.match(r"\[(ring|mpi|nccl|jaccl|distributed)\]", str(error)):
            raise
        raise RankLostError(routine, group.rank(), group.size(), str(error)) from error
    finally:
        timer.cancel()


def awaited(routine: str, group: Group, array: mx.array) -> mx.array:
    """The array, evaluated; inside of transformations, where nothing can be, as it is.

    Ranks must come to their collectives in the same order. MLX decides about the order within one
    evaluation, and not in the same way on a rank that has no rows; so each routine is a separate
    one. It is also the only way to tell that a rank was lost.

    Raises:
        RankLostError: The connection to another rank has ended.
    """
    try:
        evaluate(routine, group, array)
    except ValueError as error:
        if "during function transformations" not in str(error):
            raise
    return array


def all_sum(share: mx.array, group: Group) -> mx.array:
    """The sum over all ranks, a node of the graph."""
    return _of_enough(mx.distributed.all_sum, share, group)


def all_max(share: mx.array, group: Group) -> mx.array:
    """The largest over all ranks, a node of the graph."""
    return _of_enough(mx.distributed.all_max, share, group)


def _of_enough(collective: Callable[..., mx.array], share: mx.array, group: Group) -> mx.array:
    """MLX's ring fills fewer numbers than ranks up in a buffer of 1 KiB, and refuses more ranks."""
    missing = group.size() - share.size
    if missing <= 0 or group.size() * share.itemsize <= 1024:
        return collective(share, group=group)
    filled = mx.pad(share.reshape(-1), (0, missing))
    return collective(filled, group=group)[: share.size].reshape(share.shape)


def _give_up(routine: str, group: Group, seconds: float) -> NoReturn:
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        print(
            f"anymetal.errors.RankLostError: [{routine}] Rank {group.rank()} of {group.size()} has "
            f"waited {seconds:g} s for the others, of which at least one hangs or is far behind. "
            "This process ends. If the others are only slow, "
            "anymetal.linalg.distributed.patience(seconds) waits longer.",
            file=sys.stderr,
            flush=True,
        )
    os._exit(GIVEN_UP)


def agree(
    routine: str,
    group: Group,
    same: Mapping[str, object],
    own: Sequence[int] = (),
    error: Exception | None = None,
) -> list[list[int]]:
    """Make sure that all ranks mean the same, and learn what each has for itself.

    One `all_gather` of `AGREEMENT_BYTES` per rank, awaited.

    Args:
        routine: Which one was called, for errors as well.
        group: The ranks.
        same: What must be equal on all ranks, by names that users know.
        own: Numbers of this rank, such as its rows.
        error: What this rank has found wrong with its arguments. It must not be raised before the
            others know of it.

    Returns:
        `own` of each rank.

    Raises:
        ValueError: Ranks differ in `same`; or another rank has an error, which is told.
        Exception: `error`.
        RankLostError: The connection to another rank has ended.
    """
    if group.size() == 1:
        if error is not None:
            raise error
        return [list(own)]
    facts = {name: str(value) for name, value in sorted(same.items())}
    said = _everyone_says(routine, group, [routine, facts, list(own), str(error or "")])
    if error is not None:
        raise error
    for rank, (_, _, _, trouble) in enumerate(said):
        if trouble:
            raise ValueError(f"[{routine}] Rank {rank} of {group.size()} has an error: {trouble}")
    _compare(routine, "the routine", [each[0] for each in said])
    for name in facts:
        _compare(routine, name, [each[1].get(name, "nothing") for each in said])
    return [each[2] for each in said]


def _everyone_says(routine: str, group: Group, mine: list[Any]) -> list[list[Any]]:
    text = json.dumps(mine).encode()
    while len(text) > AGREEMENT_BYTES:  # only the text of an error can be that long
        mine[-1] = mine[-1][: -(len(text) - AGREEMENT_BYTES)]
        text = json.dumps(mine).encode()
    row = mx.array(list(text.ljust(AGREEMENT_BYTES)), dtype=mx.uint8)
    rows = mx.distributed.all_gather(row[None], group=group)
    evaluate(routine, group, rows)
    return [json.loads(bytes(cast(list[int], each))) for each in cast(list[Any], rows.tolist())]


def _compare(routine: str, name: str, values: list[str]) -> None:
    (usual, _), *others = Counter(values).most_common()
    if not others:
        return
    odd = [f"rank {rank} has {value}" for rank, value in enumerate(values) if value != usual]
    raise ValueError(
        f"[{routine}] All ranks must pass the same, but {name} differs: {', '.join(odd)}; "
        f"{'the others have' if len(values) > 2 else f'rank {values.index(usual)} has'} {usual}."
    )


def agree_on_rows(
    routine: str,
    group: Group,
    arrays: Mapping[str, mx.array],
    options: Mapping[str, object],
    *,
    dtypes: Sequence[mx.Dtype] = (mx.float32,),
    vectors: bool = False,
    error: Exception | None = None,
) -> list[int]:
    """Agree on arrays that are sharded along one axis, and on options of the call.

    Args:
        routine, group: As `agree`.
        arrays: Local shards by the names of their parameters, all equally long: matrices that are
            cut into rows.
        options: Other arguments, which must be equal on all ranks.
        dtypes: Which ones are possible.
        vectors: Arrays of any number of axes, of which the last one is cut.
        error: What this rank has found wrong with its arguments before.

    Returns:
        How many rows each rank has.

    Raises:
        ValueError, RankLostError: As `agree`.
        DtypeError: Another dtype on this rank.
        TypeError: No array on this rank.
    """
    axis = -1 if vectors else 0
    error = error or _trouble(routine, arrays, dtypes, vectors)
    same: dict[str, object] = dict(options)
    rows = 0
    if error is None:
        for name, array in arrays.items():
            shape: list[object] = list(array.shape)
            rows, shape[axis] = array.shape[axis], "rows"
            same[name] = f"({', '.join(map(str, shape))}) {_name(array.dtype)}"
    return [own[0] for own in agree(routine, group, same, [rows], error)]


def _trouble(
    routine: str, arrays: Mapping[str, mx.array], dtypes: Sequence[mx.Dtype], vectors: bool
) -> Exception | None:
    for name, array in arrays.items():
        if not isinstance(array, mx.array):
            return no_array(routine, name, array)
        if array.dtype not in dtypes:
            return DtypeError(
                f"[{routine}] {name} must be {' or '.join(map(_name, dtypes))}, not "
                f"{_name(array.dtype)}. Convert with {name}.astype(mx.float32)."
            )
        if array.ndim == 0 or (not vectors and array.ndim != 2):
            needed = "at least one axis" if vectors else "two axes"
            return ValueError(f"[{routine}] {name} must have {needed}, not shape {array.shape}.")
    rows = {name: array.shape[-1 if vectors else 0] for name, array in arrays.items()}
    if len(set(rows.values())) > 1:
        return ValueError(
            f"[{routine}] The shards of a rank must be equally long, not "
            + ", ".join(f"{count} of {name}" for name, count in rows.items())
            + "."
        )
    return None


def _name(dtype: mx.Dtype) -> str:
    return str(dtype).split(".")[-1]
