"""`anymetal.sanitize`: context manager and decorator."""

from __future__ import annotations

import functools
import inspect
import os
import random
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar, cast

from anymetal.errors import SanitizerError
from anymetal.findings import text
from anymetal.sanitizer import launches, session
from anymetal.sanitizer.kinds import CHECKS
from anymetal.sanitizer.session import Options, Order, Session

_Function = TypeVar("_Function", bound=Callable[..., Any])
Action = Literal["raise", "report"]


def sanitize(
    action: Action = "raise",
    *,
    order: Order = None,
    seed: int | None = None,
    checks: Iterable[str] | None = None,
    nan: bool = False,
    replay: str | os.PathLike[str] | None = None,
) -> Sanitizing:
    """Run the kernels of a block, or of a function, under observation.

    As a context manager or a decorator, of functions and of coroutine functions. Kernels that are
    launched inside run at once, on the CPU, in builds that check every access; that takes some
    times as long. What they do wrong is told at the end of the block, once per place.
    docs/sanitizer.md describes the kinds of findings.

    A launch belongs to the innermost block of its thread or asyncio task; that of a thread without
    one, to the block that another thread has opened last. `mx.compile` compiles nothing inside of
    a block. Launches from before, which are evaluated inside, are not observed.

    Args:
        action: "raise" raises SanitizerError at the end if there are errors; warnings alone go to
            stderr. "report" does neither: ask `findings` of what `with` gives.
        order: "shuffle" runs each launch again, with its threadgroups and SIMD-groups in other
            orders, and compares the outputs bit by bit.
        seed: What the orders are drawn from, for doing it again. Drawn anew by default; reports
            have it.
        checks: Which groups to report: some of "bounds", "races", "undefined", "convergence" and
            "portability"; by default all.
        nan: Also report where NaN and infinity come out of finite inputs.
        replay: A file for the first launch with findings, or (a name without suffix) a folder for
            up to 16: `anymetal replay FILE` does it again. ANYMETAL_SANITIZE_REPLAY by default.

    Returns:
        A context manager that gives a `Session`, with `findings`, `text()`, `json()` and
        `sarif()`. As a decorator it opens a new session for each call.

    Raises:
        SanitizerError: At the end of the block, unless `action="report"`; `findings` has what was
            found. If the block ends in another exception, that gets a note with the report.
        ValueError: An argument has a value that it may not have.
        TypeError: The decorated function is a generator, which other code runs between its steps.

    Example:
        >>> import mlx.core as mx
        >>> import anymetal
        >>> shift = anymetal.metal_kernel(
        ...     name="shift",
        ...     input_names=["x"],
        ...     output_names=["y"],
        ...     source="uint i = thread_position_in_grid.x; y[i] = x[i + 1];",
        ... )
        >>> x = mx.arange(8.0)
        >>> with anymetal.sanitize(action="report") as found:
        ...     y = shift(
        ...         inputs=[x],
        ...         grid=(8, 1, 1),
        ...         threadgroup=(8, 1, 1),
        ...         output_shapes=[x.shape],
        ...         output_dtypes=[x.dtype],
        ...     )
        >>> for finding in found.findings:
        ...     print(finding.code, finding.place.line, finding.details["index"])
        bounds-read 1 (8,)
    """
    if action not in ("raise", "report"):
        raise ValueError(f'[sanitize] `action` must be "raise" or "report", got {action!r}.')
    if order not in (None, "shuffle"):
        raise ValueError(f'[sanitize] `order` must be None or "shuffle", got {order!r}.')
    if isinstance(checks, str):
        checks = [checks]
    wanted = CHECKS if checks is None else tuple(checks)
    if unknown := [one for one in wanted if one not in CHECKS]:
        raise ValueError(f"[sanitize] `checks` knows {', '.join(CHECKS)}, got {unknown[0]!r}.")
    if seed is not None and (type(seed) is not int or not 0 <= seed < 2**64):
        raise ValueError(f"[sanitize] `seed` must be an integer from 0 to 2**64 - 1, got {seed!r}.")
    where = replay if replay is not None else os.environ.get("ANYMETAL_SANITIZE_REPLAY") or None
    options = Options(wanted, order, 0, nan, None if where is None else Path(where))
    return Sanitizing(action, options, seed)


class Sanitizing:
    """What `sanitize` returns: opens sessions and closes them. Can be entered again and again."""

    def __init__(self, action: Action, options: Options, seed: int | None) -> None:
        self._action = action
        self._options = options
        self._seed = seed
        self._entered: list[tuple[Session, Session | None]] = []

    def __enter__(self) -> Session:
        seed = random.SystemRandom().randrange(2**32) if self._seed is None else self._seed
        options = Options(**{**vars(self._options), "seed": seed})
        self._entered.append(session.start(options))
        return self._entered[-1][0]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # One object may be entered in several threads: each leaves its own session.
        mine = session.entered()
        at = next((i for i, (one, _) in enumerate(self._entered) if one is mine), -1)
        found, before = self._entered.pop(at)
        session.stop(found, before)
        if self._action == "report" or not found.findings:
            return
        if raised is not None:
            _note(raised, found.text())
        elif found.errors:
            raise SanitizerError(found.findings, found.text())
        else:
            tell(found)

    def __call__(self, function: _Function) -> _Function:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(
                f"[sanitize] {function.__name__} is a generator: other code runs between its "
                "steps. Use `with anymetal.sanitize():` around its use, or between its yields."
            )
        action, options, seed = self._action, self._options, self._seed
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def wait(*args: Any, **kwargs: Any) -> Any:
                with Sanitizing(action, options, seed):
                    return await function(*args, **kwargs)

            return cast(_Function, wait)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with Sanitizing(action, options, seed):
                return function(*args, **kwargs)

        return cast(_Function, call)


def tell(found: Session) -> None:
    """Writes a report to stderr, in colours if that is a terminal."""
    text.write(found.findings, sys.stderr)
    for line in (*found.notes, found.conclusion()):
        print(line, file=sys.stderr)


def _note(error: BaseException, report: str) -> None:
    """Adds a report to an exception that is on its way, which it must not replace."""
    if hasattr(error, "add_note"):  # from Python 3.11 on
        error.add_note(report)
    else:
        print(report, file=sys.stderr)


session.when_needed(launches.switch)
