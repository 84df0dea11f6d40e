"""Environment variables, changed and put back."""

from __future__ import annotations

import os
from collections.abc import Mapping


class Environment:
    """The variables of this process; child processes get them, too."""

    def __init__(self) -> None:
        self._before: dict[str, str | None] = {}

    def change(self, values: Mapping[str, str]) -> None:
        """Set variables; what they were at first is kept."""
        for name, value in values.items():
            self._before.setdefault(name, os.environ.get(name))
            os.environ[name] = value

    def undo(self) -> None:
        """Put every variable back."""
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self._before.clear()


def in_front(folder: str, variable: str) -> str:
    """The value of a variable with paths such that this folder comes first."""
    others = os.environ.get(variable, "").split(os.pathsep)
    return os.pathsep.join([folder, *(other for other in others if other and other != folder)])
