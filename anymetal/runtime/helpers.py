"""Helper processes: work for LLVM and other tools is done beside the program, not in it.

* LLVM may abort, or overflow the stack: then that is an error of one kernel.
* Ctrl-C and a time limit end the work at once, with the processes that it has started (Clang, the
  linker).
* LLVM keeps memory of each module, and has options that hold for a whole process: both belong to
  the helper, which is replaced now and then.
* Several can work side by side; llvmlite lets one thread at a time into LLVM.

A helper is started when the cache lacks something, and works for one process. It ends when that
closes its end of the socket between them, so also when that is killed; and after a minute without
work. A forked child closes its copies of sockets and starts helpers of its own.

If Python is part of an application and there is no interpreter to start (interpreter.py), the work
is done in the process itself.

    ANYMETAL_COMPILE_LIMIT   seconds that a helper may take for a kernel (default: none)
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import importlib.util
import os
import select
import signal
import socket
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anymetal.errors import AnyMetalError, AnyMetalWarning, CompilerError, KernelTimeoutError
from anymetal.runtime import cache_folder, helper_main, locks, processors
from anymetal.runtime.helper_main import DONE, MISFIT, NOTE, RAISED, TAKEN, receive, send
from anymetal.runtime.interpreter import interpreter, search_path
from anymetal.runtime.limits import seconds_in

_PACKAGE = Path(__file__).parents[1]
#: Packages whose `__init__` imports MLX, and what is imported from elsewhere.
_OURS = {"anymetal": ".", "anymetal.targets": "targets", "anymetal.targets.cpu": "targets/cpu"}
_NEEDED = ("llvmlite", "ziglang", "mlx")

#: A helper ends after so many seconds without a request, after so many requests, and when it has
#: grown to so many bytes: LLVM keeps some 200 KB of every module that it has optimised.
_IDLE, _MOST_REQUESTS, _MOST_BYTES = 60.0, 1000, 512 << 20
#: Seconds within which a helper must accept a request.
_START = 120.0
#: So many helpers may fail to do so; then this process does without.
_ATTEMPTS = 3
#: Seconds that a dead process may take to be seen as such.
_PARTING = 1.0


class Ended(Exception):
    """A helper ended while it worked."""


class TookTooLong(Exception):
    """The work was given up."""


class _Unavailable(Exception):
    """There are no helpers here."""


class _Remote(Exception):
    """Where an exception was raised, in the words of the helper."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def _ignore(note: Any) -> None:
    pass


def compile(kernel: str, name: str, *arguments: Any, note: Callable[[Any], None] = _ignore) -> Any:
    """What `do` returns; whatever goes wrong is an error of this kernel (or of this file)."""
    limit = seconds_in("ANYMETAL_COMPILE_LIMIT")
    try:
        return do(name, *arguments, note=note, limit=limit)
    except TookTooLong:
        raise KernelTimeoutError(
            f"kernel `{kernel}` took longer than {limit} s (ANYMETAL_COMPILE_LIMIT) to compile "
            "and was given up"
        ) from None
    except Ended as end:
        raise CompilerError(kernel, f"the process that compiled it was lost: {end}") from None


def do(
    name: str,
    *arguments: Any,
    note: Callable[[Any], None] = _ignore,
    limit: float | None = None,
) -> Any:
    """What the function "module:name" returns, or raises; a helper calls it.

    It is called with a function that sends something to `note`, and with these arguments.

    Raises Ended if the helper dies of it, and TookTooLong after `limit` seconds.
    """
    try:
        return _in_helper(name, arguments, note, limit)
    except _Unavailable:
        return helper_main.function_of(name)(note, *arguments)


def unavailable() -> str:
    """Why work is done in this process; empty if helpers do it."""
    return _crew.unavailable


def _in_helper(
    name: str, arguments: tuple[Any, ...], note: Callable[[Any], None], limit: float | None
) -> Any:
    environment = {**os.environ, **cache_folder.environment()}
    request = (name, arguments, environment)
    reason = ""
    for _ in range(_ATTEMPTS):
        with _crew.member() as helper:
            if helper.takes(request):
                return helper.outcome(note, limit)
            reason = helper.last_words()
    warnings.warn(
        f"Kernels are compiled in this process: no helper process starts; {reason}",
        AnyMetalWarning,
        stacklevel=2,
    )
    raise _crew.give_up(reason)


class _Helper:
    """One helper process, as its caller sees it."""

    def __init__(self, program: str) -> None:
        self.idle = False
        self._fresh = True
        self._printed = ""
        # No child may be forked meanwhile: it would keep the helper's end of the socket.
        with locks.starting:
            self._messages = _above_streams(os.memfd_create("anymetal helper"))
            ours, theirs = map(_moved_up, socket.socketpair())
            with theirs:
                self._process = _spawn(program, theirs.fileno(), self._messages)
            self._link = ours
            _alive.add(self)

    def takes(self, request: tuple[Any, ...]) -> bool:
        """Asks for something; False if the helper is gone, which says nothing about the request."""
        self.idle = False
        self._link.settimeout(_START)
        try:
            if self._fresh:
                send(self._link, _setup())
            self._fresh = False
            send(self._link, request)
            kind, text = receive(self._link)
        except (OSError, EOFError):  # a timeout is an OSError, too
            return False
        if kind == MISFIT:
            raise _crew.give_up(f"{interpreter()} is another Python than this one: {text}")
        return bool(kind == TAKEN)

    def outcome(self, note: Callable[[Any], None], limit: float | None) -> Any:
        """What becomes of a request that was taken."""
        end = None if limit is None else time.monotonic() + limit
        while True:
            self._link.settimeout(None if end is None else max(end - time.monotonic(), 1e-3))
            try:
                kind, value = receive(self._link)
            except TimeoutError as error:
                raise TookTooLong from error
            except (OSError, EOFError) as error:
                raise Ended(self.last_words()) from error
            if kind == NOTE:
                note(value)
                continue
            self.idle = True
            if kind == DONE:
                return value
            assert kind == RAISED
            raise _raised(*value)

    def gone(self) -> bool:
        """Whether it has ended of itself."""
        end = select.poll()
        end.register(self._link, select.POLLRDHUP)
        return bool(end.poll(0))

    def last_words(self) -> str:
        """How the process ended, and what it has printed."""
        status = self.end(_PARTING)
        if status < 0:
            with contextlib.suppress(ValueError):
                return f"it ended with {signal.Signals(-status).name}\n{self._printed}".rstrip()
        return f"it ended with status {status}\n{self._printed}".rstrip()

    def end(self, patience: float = 0) -> int:
        """Ends the process and all that it has started; returns its exit status, 0 if it is
        unknown.

        `patience`: seconds in which it may end by itself.
        """
        process, self._process = self._process, 0
        if not process:
            return 0
        status, latest = 0, time.monotonic() + patience
        # As long as it is not reaped nobody else has its number.
        with contextlib.suppress(OSError):
            how = os.WEXITED | os.WNOHANG | os.WNOWAIT
            while os.waitid(os.P_PID, process, how) is None and time.monotonic() < latest:
                time.sleep(0.001)
            os.killpg(process, signal.SIGKILL)
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        self._printed = os.pread(self._messages, 4096, 0).decode(errors="replace")
        self._close()
        _alive.discard(self)
        return status

    def leave(self) -> None:
        """In a forked child, to which the helper does not belong."""
        if self._process:
            self._process = 0
            self._close()

    def _close(self) -> None:
        self._link.close()
        os.close(self._messages)

    def __del__(self) -> None:
        if "_link" in self.__dict__:  # Ctrl-C may have come between any two steps
            self.end()


#: All helpers that have a process.
_alive: weakref.WeakSet[_Helper] = weakref.WeakSet()


class _Crew:
    """The helpers of this process: as many as processors, at most."""

    def __init__(self, most: int) -> None:
        self.unavailable = ""
        self._changed = threading.Condition()
        self._idle: list[_Helper] = []
        self._most = most

    @contextmanager
    def member(self) -> Iterator[_Helper]:
        """A helper for one request; waits for one if all are at work."""
        helper = self._take()
        try:
            yield helper
        finally:
            if not helper.idle:
                helper.end()
            with self._changed:
                if helper.idle:
                    self._idle.append(helper)
                self._changed.notify()

    def _take(self) -> _Helper:
        with self._changed:
            while True:
                if self.unavailable:
                    raise _Unavailable
                while self._idle:
                    helper = self._idle.pop()
                    if not helper.gone():
                        return helper
                    helper.end()
                if len(_alive) < self._most:
                    return self._start()
                self._changed.wait(1)  # Ctrl-C may have lost one that is only collected later

    def _start(self) -> _Helper:
        program = interpreter()
        if program is None:
            raise self.give_up("there is no Python interpreter to start")
        try:
            return _Helper(program)
        except OSError as error:  # no more processes, say: then Clang does not start, and tells
            raise _Unavailable from error

    def give_up(self, reason: str) -> _Unavailable:
        """No helpers from now on."""
        self.unavailable = reason
        return _Unavailable()

    def rest(self) -> None:
        """Ends those without work, at the end of the process; others end when it has ended."""
        with self._changed:
            for helper in self._idle:
                helper.end()
            self._idle.clear()


_crew = _Crew(processors.count())
atexit.register(lambda: _crew.rest())


def _in_child() -> None:
    global _crew
    for helper in list(_alive):
        helper.leave()
    _alive.clear()
    _crew = _Crew(_crew._most)


os.register_at_fork(after_in_child=_in_child)


def _spawn(program: str, link: int, messages: int) -> int:
    """Starts a helper in a group of its own: Ctrl-C is for the program alone."""
    return os.posix_spawn(
        program,
        [program, "-I", "-S", "-X", "utf8", helper_main.__file__],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, link, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, messages, 2),
        ],
        setpgroup=0,
        setsigmask=[],
        # Who ignores SIGCHLD does not learn how Clang ended.
        setsigdef=[signal.SIGCHLD, signal.SIGPIPE, signal.SIGTERM, signal.SIGHUP],
    )


def _setup() -> dict[str, Any]:
    path = search_path()
    for name in _NEEDED:  # also where an import hook finds them
        spec = importlib.util.find_spec(name)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            if (parent := os.path.dirname(folder)) not in path:
                path.append(parent)
    return {
        "version": helper_main.version(),
        "path": path,
        "limits": (_IDLE, _MOST_REQUESTS, _MOST_BYTES),
        "bytecode": (sys.dont_write_bytecode, sys.pycache_prefix),
        "packages": {name: os.path.join(_PACKAGE, folder) for name, folder in _OURS.items()},
    }


def _raised(sent: tuple[Exception, dict[str, Any]], trace: str) -> Exception:
    error, attributes = sent
    error.__dict__.update(attributes)
    if isinstance(error, CompilerError) or not isinstance(error, AnyMetalError):
        error.__cause__ = _Remote(trace)
    return error


def _above_streams(file: int) -> int:
    """The file with a number that no standard stream has, even if those are closed."""
    if file > 2:
        return file
    moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(file)
    return int(moved)


def _moved_up(end: socket.socket) -> socket.socket:
    return end if end.fileno() > 2 else socket.socket(fileno=_above_streams(end.detach()))
