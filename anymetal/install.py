"""`install`: our `metal_kernel` in the place of MLX's, so that unmodified code runs here.

With `pretend_gpu=True` the questions that libraries ask before they use a Metal kernel are
answered as an Apple GPU would, and everything sent to `mx.gpu` runs on the CPU.
"""

from __future__ import annotations

import mlx.core as mx

from anymetal import indexing, pretend, targets
from anymetal.kernel import metal_kernel
from anymetal.patches import Patches

_patches = Patches()


def install(pretend_gpu: bool = False, clamp_indices: bool = False) -> None:
    """Replace `mx.fast.metal_kernel` where MLX has no Metal; elsewhere do nothing.

    Calling it again changes nothing, except that `pretend_gpu=True` may be added later. Code that
    has taken the function out of its module before (`from mlx.core.fast import metal_kernel`)
    keeps MLX's. `clamp_indices=True` makes out-of-range integer-array indices, which MLX leaves
    undefined, as harmless as they are on an Apple GPU (see indexing.py).
    """
    if targets.HAS_METAL:
        return
    _patches.replace(mx.fast, "metal_kernel", metal_kernel)
    if pretend_gpu:
        pretend.apply(_patches)
    if clamp_indices:
        indexing.apply(_patches)


def uninstall() -> None:
    """Undo `install`."""
    _patches.undo()
