"""A Mac that is not there: what `sys`, `platform`, `os` and macOS's own programs say of one.

Not everybody is told (callers.py), so `sys.platform` is an attribute that looks who asks.
"""

from __future__ import annotations

import errno
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

from anymetal_start import answers, callers, commands
from anymetal_start.environment import in_front
from anymetal_start.patches import Patches

_patches = Patches()
_REAL_PLATFORM = sys.platform
_PROGRAMS = Path(__file__).with_name("bin")


def apply() -> None:
    """This process believes from now on that it runs on a Mac, as far as it may."""
    if _REAL_PLATFORM == "darwin" or type(sys) is _Sys:
        return
    vars(sys)["platform"] = "darwin"
    sys.__class__ = _Sys
    _patches.replace(os, "uname", _to_some(os.uname, _os_uname))
    for name, answer in _PLATFORM.items():
        if name in vars(platform):  # some are not in all versions of Python
            _patches.replace(platform, name, _to_some(vars(platform)[name], answer))
    _patches.replace(subprocess.Popen, "__init__", _running_ours(subprocess.Popen.__init__))


def undo() -> None:
    """Undo `apply`."""
    if type(sys) is not _Sys:
        return
    sys.__class__ = ModuleType  # type: ignore[assignment]
    vars(sys)["platform"] = _REAL_PLATFORM
    _patches.undo()


def environment() -> dict[str, str]:
    """What the programs of macOS are found by."""
    return {"PATH": in_front(str(_PROGRAMS), "PATH"), "ANYMETAL_PYTHON": sys.executable}


class _Sys(ModuleType):
    """The module `sys` with a `platform` that depends on who asks.

    Its dictionary holds "darwin"; anything else is there because a test has put it there, and
    holds for everybody.
    """

    @property
    def platform(self) -> str:
        value: str = vars(self)["platform"]
        if value == "darwin" and not callers.see_a_mac(sys._getframe(1)):
            return _REAL_PLATFORM
        return value

    @platform.setter
    def platform(self, value: str) -> None:
        vars(self)["platform"] = value


def _to_some(real: Callable[..., Any], answer: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(real)
    def asked(*args: Any, **kwargs: Any) -> Any:
        told = callers.see_a_mac(sys._getframe(1))
        return answer(*args, **kwargs) if told else real(*args, **kwargs)

    return asked


def _node() -> str:
    return os.uname().nodename


def _os_uname() -> os.uname_result:
    return os.uname_result(("Darwin", _node(), answers.DARWIN, answers.KERNEL, "arm64"))


def _uname() -> platform.uname_result:
    # The processor, which no argument gives, would be asked of a program.
    result = platform.uname_result("Darwin", _node(), answers.DARWIN, answers.KERNEL, "arm64")
    result.__dict__["processor"] = "arm"
    return result


def _platform(aliased: bool = False, terse: bool = False) -> str:
    name = f"macOS-{answers.MACOS}"
    if terse:
        return name
    return f"{name}-arm64-arm-64bit" + ("-Mach-O" if sys.version_info >= (3, 13) else "")


def _mac_ver(
    release: str = "", versioninfo: tuple[str, str, str] = ("", "", ""), machine: str = ""
) -> tuple[str, tuple[str, str, str], str]:
    return answers.MACOS, ("", "", ""), "arm64"


def _os_release() -> dict[str, str]:
    raise OSError(errno.ENOENT, "Unable to read files /etc/os-release, /usr/lib/os-release")


_PLATFORM: dict[str, Callable[..., Any]] = {
    "system": lambda: "Darwin",
    "machine": lambda: "arm64",
    "processor": lambda: "arm",
    "release": lambda: answers.DARWIN,
    "version": lambda: answers.KERNEL,
    "uname": _uname,
    "platform": _platform,
    "mac_ver": _mac_ver,
    "architecture": lambda *args, **kwargs: ("64bit", ""),
    "libc_ver": lambda *args, **kwargs: ("", ""),
    "freedesktop_os_release": _os_release,
}


def _running_ours(start: Callable[..., None]) -> Callable[..., None]:
    """`Popen.__init__` that finds programs of macOS also by their full paths."""
    ours = {path: str(_PROGRAMS / name) for name, path in commands.PATHS.items()}

    @wraps(start)
    def started(self: Any, args: Any, *rest: Any, **options: Any) -> None:
        if isinstance(args, (list, tuple)) and args and args[0] in ours:
            args = [ours[args[0]], *args[1:]]
        start(self, args, *rest, **options)

    return started
