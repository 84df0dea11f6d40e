"""Where in the user's program a kernel is called and made, and errors that say so.

An error is of use where the program is at fault, so two things are done to those that leave the
package on purpose. Our frames go out of their tracebacks, except the one that raises. And since a
kernel runs when its outputs are evaluated, which may be far from the line that calls it, they carry
both lines: as the attributes `called` and `made`, and as a note below the message.
`ANYMETAL_TRACEBACK=full` leaves all frames in.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple, ParamSpec, TypeVar

from anymetal.errors import AnyMetalError, AnyMetalWarning, CompilerError

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: The folder of the package's code, which is nobody's program.
PACKAGE = str(Path(__file__).parent) + os.sep

#: What calls raise on purpose. Other exceptions are defects of ours, and keep all their frames.
_DELIBERATE = (AnyMetalError, AnyMetalWarning, TypeError, ValueError, RuntimeError)


#: Lines that were looked at, by code object and instruction, as kernels are often made anew for
#: each call. Holds the code objects, so that no other has the same id.
_seen: dict[tuple[int, int], tuple[CodeType, Location | None]] = {}
_MOST_SEEN = 1024


class Location(NamedTuple):
    """A line of a program."""

    file: str  #: as Python has it in tracebacks
    line: int
    function: str  #: qualified, or `<module>`

    def __str__(self) -> str:
        """As in a traceback: the line's place, and its text if there is one."""
        text = linecache.getline(self.file, self.line).strip()
        where = _cell(self.file) or f'File "{self.file}"'
        where = f"  {where}, line {self.line}, in {self.function}"
        return f"{where}\n    {text}" if text else where


def caller() -> Location | None:
    """The innermost line of the stack that is not the package's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        found = _seen.get((id(frame.f_code), frame.f_lasti)) or _look_at(frame)
        if found[1] is not None:
            return found[1]
        frame = frame.f_back
    return None


def _look_at(frame: FrameType) -> tuple[CodeType, Location | None]:
    code = frame.f_code
    ours = code.co_filename.startswith((PACKAGE, "<frozen"))
    location = None if ours else Location(code.co_filename, frame.f_lineno, _name(code))
    if len(_seen) >= _MOST_SEEN:
        _seen.clear()
    _seen[id(code), frame.f_lasti] = code, location
    return code, location


def lead_home(
    error: BaseException,
    kernel: str,
    called: tuple[str, int, str] | None,
    made: tuple[str, int, str] | None,
) -> None:
    """Tell an error of an evaluation where its kernel was called and made.

    The bridge calls this for all that an evaluation raises; what is no error of a kernel stays as
    it is.
    """
    if not _is_deliberate(error, (AnyMetalError, AnyMetalWarning)):
        return
    error.__traceback__ = _without_ours(error.__traceback__)
    _say(error, kernel, _location(called), _location(made))


def homeward(error: Exception, kernel: str = "", made: Location | None = None) -> Exception:
    """The error of a call, to be raised again by whoever the program called.

    The call itself is in the traceback. `made`: where the kernel was, if it is that of a kernel.
    """
    if not _is_deliberate(error, _DELIBERATE):
        return error
    if made is not None and isinstance(error, AnyMetalError) and error.made is None:
        _say(error, kernel, None, made)
        error.called = caller()
    return error.with_traceback(_without_ours(error.__traceback__))


def leads_home(routine: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorator of a public function: errors that it raises on purpose lead to its caller."""

    @wraps(routine)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return routine(*args, **kwargs)
        except Exception as error:
            raise homeward(error)  # noqa: B904  it is the same one

    return call


def _is_deliberate(error: BaseException, kinds: tuple[type[BaseException], ...]) -> bool:
    if os.environ.get("ANYMETAL_TRACEBACK") == "full":
        return False
    return isinstance(error, kinds) and not isinstance(error, CompilerError)


def _say(
    error: Any,
    kernel: str,
    called: Location | None,
    made: Location | None,
) -> None:
    """The attributes, and the note; only the first time, when the kernel is the innermost one."""
    if getattr(error, "called", None) or getattr(error, "made", None):
        return
    error.called, error.made = called, made
    told = [f"{what}\n{place}" for what, place in (("called", called), ("made", made)) if place]
    if not told:
        return
    note = f"Kernel `{kernel}` was " + "\nand ".join(told)
    if hasattr(error, "add_note"):
        error.add_note(note)
    elif error.args and isinstance(error.args[-1], str):  # Python 3.10 has no notes
        error.args = (*error.args[:-1], f"{error.args[-1].rstrip()}\n{note}")


def _location(given: tuple[str, int, str] | None) -> Location | None:
    return None if given is None else Location(*given)


def _without_ours(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without frames of the package; what the program did in between stays."""
    kept = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(PACKAGE):
            kept.append(traceback)
        traceback = traceback.tb_next
    whole: TracebackType | None = None
    for one in reversed(kept):
        whole = TracebackType(whole, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return whole


def _name(code: CodeType) -> str:
    return getattr(code, "co_qualname", code.co_name)  # qualified from Python 3.11 on


def _cell(file: str) -> str | None:
    """What IPython calls a cell, such as "Cell In[3]"; None for another file."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    name = getattr(getattr(shell, "compile", None), "format_code_name", None)
    told = name(file) if name is not None else None
    return None if told is None else " ".join(told)
