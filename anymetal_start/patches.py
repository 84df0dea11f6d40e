"""Attributes of modules and classes, replaced and put back."""

from __future__ import annotations


class Patches:
    """A set of replaced attributes. Replacing one again is ignored until `undo`."""

    def __init__(self) -> None:
        self._originals: dict[tuple[object, str], object] = {}

    def replace(self, owner: object, name: str, value: object) -> None:
        """Set an attribute that the owner has."""
        if (owner, name) not in self._originals:
            self._originals[owner, name] = vars(owner)[name]
            setattr(owner, name, value)

    def undo(self) -> None:
        """Put every original back."""
        while self._originals:
            (owner, name), original = self._originals.popitem()
            setattr(owner, name, original)
