"""The targets, and the choice of the one in use."""

from __future__ import annotations

import mlx.core as mx

from anymetal.targets.base import Launch, Target
from anymetal.targets.graph import new_epoch

__all__ = ["HAS_METAL", "Launch", "Target", "active", "select"]

#: Whether MLX itself runs Metal kernels here; asked before anybody may pretend an answer.
HAS_METAL: bool = mx.metal.is_available()

_active: Target | None = None


def active() -> Target:
    """The target in use: the one given to `select`, else the best one of this machine."""
    global _active
    if _active is None:
        _active = _best()
    return _active


def select(target: Target | None) -> None:
    """Use this target from now on; None goes back to the best one of this machine."""
    global _active
    _active = target
    new_epoch()


def _best() -> Target:
    # Imported on the first call only: a target brings its whole compiler along.
    if HAS_METAL:
        from anymetal.targets.apple import AppleTarget

        return AppleTarget()
    from anymetal.targets.cpu import CpuTarget

    return CpuTarget()
