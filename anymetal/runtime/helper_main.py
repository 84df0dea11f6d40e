"""The program of a helper process (helpers.py): it serves requests from the socket on its standard
input.

It runs as a script without a site and without the caller's environment for Python, and is given the
module path. It runs no `__init__` of AnyMetal's packages: those import MLX, which takes time and
memory, and is not needed to compile.

When the other end of the socket is closed, for whatever reason, it ends itself and all processes
that it has started. None outlives the process that it works for.
"""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import select
import signal
import socket
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

#: Kinds of messages from the helper.
TAKEN, NOTE, DONE, RAISED, MISFIT = range(5)

_LENGTH = 8


def send(link: socket.socket, message: object) -> None:
    """One message; a peer that is gone is an OSError and never a signal."""
    data = pickle.dumps(message)
    link.sendall(len(data).to_bytes(_LENGTH, "little") + data, socket.MSG_NOSIGNAL)


def receive(link: socket.socket) -> Any:
    """One message; EOFError if there will be none."""
    return pickle.loads(_read(link, int.from_bytes(_read(link, _LENGTH), "little")))


def _read(link: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = link.recv(min(size - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def version() -> tuple[str, int]:
    """Of this Python: a helper must read the pickles and bytecode of the process that starts it."""
    return sys.implementation.name, sys.hexversion


def function_of(name: str) -> Callable[..., Any]:
    """The function behind "module:name"."""
    module, _, attribute = name.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    return function


def main() -> None:
    """Serves one process until that closes the socket, or has nothing to do for a while."""
    gc.disable()  # nothing is garbage before a request is done, and then all that it made is
    link = _own_link()
    threading.Thread(target=_end_with, args=(link,), daemon=True).start()
    setup = receive(link)
    if setup["version"] != version():
        return send(link, (MISFIT, f"it is {sys.version}"))
    sys.path += setup["path"]
    sys.dont_write_bytecode, sys.pycache_prefix = setup["bytecode"]
    for name, folder in setup["packages"].items():
        package = types.ModuleType(name)
        package.__path__ = [folder]
        sys.modules[name] = package
    idle, most_requests, most_bytes = setup["limits"]
    for _ in range(most_requests):
        link.settimeout(idle)
        try:
            request = receive(link)
        except (TimeoutError, EOFError):
            return
        link.settimeout(None)
        send(link, (TAKEN, None))
        send(link, _outcome(link, *request))
        gc.collect()
        gc.freeze()  # modules, which stay
        if _resident() > most_bytes:
            return


def _own_link() -> socket.socket:
    """The socket, where no tool inherits it; other files of the caller are closed."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.close(int(name))
            except OSError:  # that of the listing itself
                continue
    link = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return link


def _end_with(link: socket.socket) -> None:
    """Waits until the other end is closed, then ends this process group: the helper and its tools.

    Compiling lets other threads run while LLVM or Clang work.
    """
    end = select.poll()
    end.register(link, select.POLLRDHUP)
    end.poll()
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def _outcome(
    link: socket.socket, name: str, arguments: tuple[Any, ...], environment: dict[str, str]
) -> tuple[int, Any]:
    if environment != dict(os.environ):
        os.environ.clear()
        os.environ.update(environment)
    try:
        return DONE, function_of(name)(lambda note: send(link, (NOTE, note)), *arguments)
    except Exception as error:
        import traceback

        return RAISED, (_portable(error), traceback.format_exc())


def _portable(error: Exception) -> tuple[Exception, dict[str, Any]]:
    """An exception and its attributes such that another process can have them."""
    attributes = dict(error.__dict__)
    try:
        if type(pickle.loads(pickle.dumps((error, attributes)))[0]) is type(error):
            return error, attributes
    except Exception:  # it holds what cannot be sent
        pass
    return RuntimeError(f"{type(error).__name__}: {error}"), {}


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
