"""The switch: which path of a routine runs, and why.

The first of these that says something decides:

1. the caller: `path=` of the routine
2. ANYMETAL_SWITCH="cholesky=mlx,dot=limb", a path for each operation that is named
3. what `anymetal tune` measured on this machine (tables.py), at the nearest sizes
4. what was measured on another device of this kind, in tables that AnyMetal ships (shipped/)
5. the rules that AnyMetal ships for this kind of device (policies.py)
6. the routine's own default

ANYMETAL_DEBUG=1 tells each choice once, `explain=True` of a routine that of one call.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import mlx.core as mx

from anymetal import debug
from anymetal.tune import policies, tables
from anymetal.tune.device import kind_of_device
from anymetal.tune.names import OPERATIONS


class Choice(NamedTuple):
    """A path and the reason for it, in words."""

    path: str
    reason: str


class Question(NamedTuple):
    """What a routine asks the switch."""

    operation: str
    sizes: tuple[int, ...]
    dtype: str  #: such as "float32"
    among: tuple[str, ...]
    default: str


class _Tuning(NamedTuple):
    """What `anymetal tune` does to calls on its thread."""

    forced: dict[str, str]  #: paths by operation
    asking: bool  #: for the first choice only, which ends the call


_tuning: ContextVar[_Tuning | None] = ContextVar("tuning", default=None)


class _Asked(BaseException):
    """Ends a call whose choice is all that is wanted; not to be caught by any routine."""

    def __init__(self, question: Question, choice: Choice) -> None:
        self.question, self.choice = question, choice


def choose(
    operation: str,
    *,
    sizes: Sequence[int],
    dtype: mx.Dtype,
    among: Sequence[str],
    default: str,
    forced: str | None = None,
    explain: bool = False,
) -> Choice:
    """The path to take for one call of a routine.

    Args:
        operation: Name of the routine, as tables and ANYMETAL_SWITCH know it.
        sizes: The extents that decide, in the order in which the routine documents them.
        dtype: Of the main input.
        among: Names of the paths that can serve this call.
        default: The path where nothing is known.
        forced: A path that the caller wants, above everything else.
        explain: Print the choice and its reason to stderr.

    Raises:
        ValueError: A forced path that is not among those; a malformed ANYMETAL_SWITCH.
    """
    return answer(asked(operation, tuple(sizes), dtype, tuple(among), default), forced, explain)


def answer(question: Question, forced: str | None = None, explain: bool = False) -> Choice:
    """`choose`, for those who keep their questions: small calls take a few microseconds."""
    if forced is None and _tuning.get() is None:
        choice = _settled(question, kind_of_device())
    else:
        choice = _demanded(question, forced) or _settled(question, kind_of_device())
        _tell(question, choice)
        if (tuning := _tuning.get()) and tuning.asking:
            raise _Asked(question, choice)
    if explain:
        print(_sentence(question, choice), file=sys.stderr)
    return choice


@functools.lru_cache(maxsize=4096)
def asked(
    operation: str, sizes: tuple[int, ...], dtype: mx.Dtype, among: tuple[str, ...], default: str
) -> Question:
    """What a routine asks; the arguments are those of `choose`."""
    return Question(operation, sizes, str(dtype).rpartition(".")[2], among, default)


def _demanded(question: Question, forced: str | None) -> Choice | None:
    """What the caller or `anymetal tune` wants, if they want something."""
    tuning = _tuning.get() or _Tuning({}, False)
    if forced is not None:
        return Choice(_known(question, forced, "path"), "asked for by the caller")
    if (tried := tuning.forced.get(question.operation)) is not None:
        return Choice(_known(question, tried, "anymetal tune"), "being measured")
    return None


@functools.lru_cache(maxsize=4096)
def _settled(question: Question, kind: str) -> Choice:
    """What environment, tables and rules say of a kind of device; all stay as they are while a
    process runs."""
    choice = _of_environment(question) or _looked_up(question, kind)
    _tell(question, choice)
    return choice


def _of_environment(question: Question) -> Choice | None:
    wanted = parsed(os.environ.get("ANYMETAL_SWITCH", "")).get(question.operation)
    if wanted is None:
        return None
    return Choice(_known(question, wanted, "ANYMETAL_SWITCH"), "ANYMETAL_SWITCH")


def _looked_up(question: Question, kind: str) -> Choice:
    operation, sizes, dtype, among, default = question
    for table in filter(None, (tables.of_this_device(), tables.shipped(kind))):
        found = table.nearest(operation, sizes, dtype, among)
        if found is not None:
            return Choice(*found)
    ruled = policies.choose(operation, sizes, dtype, among, kind)
    if ruled is not None:
        return Choice(*ruled)
    return Choice(default, "the default; nothing was measured here")


def forget() -> None:
    """Read tables and the environment anew, after one was written or the device changed."""
    _settled.cache_clear()
    tables.forget()


@contextmanager
def forcing(operation: str, path: str) -> Iterator[None]:
    """Within this context and thread, an operation takes this path unless its caller objects."""
    outside = _tuning.get() or _Tuning({}, False)
    token = _tuning.set(outside._replace(forced={**outside.forced, operation: path}))
    try:
        yield
    finally:
        _tuning.reset(token)


def question_of(
    routine: Callable[..., object], *arguments: Any, **options: Any
) -> tuple[Question, Choice]:
    """What a routine asks first when it is called like this, and the answer; it does nothing else.

    Raises:
        ValueError: It asks nothing; or what the routine itself raises before it asks.
    """
    token = _tuning.set((_tuning.get() or _Tuning({}, False))._replace(asking=True))
    try:
        routine(*arguments, **options)
    except _Asked as end:
        return end.question, end.choice
    finally:
        _tuning.reset(token)
    raise ValueError("This call has no choice of paths.")


def explain(routine: Callable[..., object], *arguments: Any, **options: Any) -> Choice:
    """The path that a call of a routine would take, and why; nothing is computed.

    Only shapes and dtypes of arrays matter: `explain(linalg.cholesky, mx.zeros((64, 512, 512)))`
    allocates nothing either.

    Args:
        routine: One of `anymetal.nn` or `anymetal.linalg`.
        arguments, options: Those of the call.

    Raises:
        ValueError: The call has no choice, since there is nothing to compute for instance.
    """
    return question_of(routine, *arguments, **options)[1]


@functools.lru_cache(maxsize=16)
def parsed(text: str) -> dict[str, str]:
    """ANYMETAL_SWITCH as a dictionary; raises ValueError with what is wrong with it."""
    paths: dict[str, str] = {}
    for pair in filter(None, map(str.strip, text.split(","))):
        operation, equals, path = (part.strip() for part in pair.partition("="))
        if not (operation and equals and path) or "=" in path:
            raise ValueError(
                f"[ANYMETAL_SWITCH] {pair!r} is no pair of an operation and a path; write "
                f'ANYMETAL_SWITCH="cholesky=mlx", and more such pairs with commas between.'
            )
        if operation not in OPERATIONS and "." not in operation:  # others are for other packages
            raise ValueError(
                f"[ANYMETAL_SWITCH] There is no operation {operation!r}; there are: "
                f"{', '.join(OPERATIONS)}."
            )
        if paths.setdefault(operation, path) != path:
            raise ValueError(f"[ANYMETAL_SWITCH] {operation} is given two paths in {text!r}.")
    return paths


def _known(question: Question, path: str, where: str) -> str:
    if path not in question.among:
        raise ValueError(
            f"[{question.operation}] {where} asks for {path!r}; for these inputs there are: "
            f"{', '.join(question.among)}."
        )
    return path


def _sentence(question: Question, choice: Choice) -> str:
    extents = "×".join(map(str, question.sizes))
    return f"{question.operation} {extents} {question.dtype}: {choice.path} ({choice.reason})"


@functools.lru_cache(maxsize=4096)
def _tell(question: Question, choice: Choice) -> None:
    """A line for ANYMETAL_DEBUG, once for every question and answer."""
    if debug.wanted().level >= 1:
        debug.say(_sentence(question, choice))
