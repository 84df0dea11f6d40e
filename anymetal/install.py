"""`install`: our `metal_kernel` in the place of MLX's, so that unmodified code runs here.

With `pretend_gpu=True` the questions that libraries ask before they use a Metal kernel are
answered as an Apple GPU would, and everything sent to `mx.gpu` runs on the CPU. With
`pretend_mac=True` those about the machine are answered as a Mac would.
"""

from __future__ import annotations

import mlx.core as mx

from anymetal import indexing, targets
from anymetal.kernel import metal_kernel
from anymetal.targets.graph import new_epoch
from anymetal_start import children
from anymetal_start.environment import Environment
from anymetal_start.patches import Patches

_patches = Patches()
_environment = Environment()


def install(
    pretend_gpu: bool = False,
    clamp_indices: bool = False,
    pretend_mac: bool = False,
    children_too: bool = False,
) -> None:
    """Replace `mx.fast.metal_kernel` where MLX has no Metal; elsewhere do nothing.

    Calling it again changes nothing, except that any argument may be added later. Code that
    has taken the function out of its module before (`from mlx.core.fast import metal_kernel`)
    keeps MLX's.

    Args:
        pretend_gpu: Also answer as an Apple GPU would where libraries ask for one before they use
            a Metal kernel, and run on the CPU what they send to `mx.gpu`.
        clamp_indices: Also make integer-array indices that are out of range, which MLX leaves
            undefined, as harmless as they are on an Apple GPU.
        pretend_mac: Also answer as a Mac would where the program, or a package that needs MLX, asks
            `sys.platform`, `platform`, `os.uname` or the program `sysctl`. Includes `pretend_gpu`.
        children_too: Also do all this in the Python processes that this one starts. Forked ones
            have it anyway.

    Example:
        >>> import mlx.core as mx
        >>> import anymetal
        >>> anymetal.install()
        >>> kernel = mx.fast.metal_kernel(
        ...     name="squares",
        ...     input_names=[],
        ...     output_names=["y"],
        ...     source="uint i = thread_position_in_grid.x; y[i] = i * i;",
        ... )
        >>> kernel(
        ...     inputs=[],
        ...     grid=(5, 1, 1),
        ...     threadgroup=(5, 1, 1),
        ...     output_shapes=[(5,)],
        ...     output_dtypes=[mx.int32],
        ... )
        [array([0, 1, 4, 9, 16], dtype=int32)]
        >>> anymetal.uninstall()
    """
    if targets.HAS_METAL:
        return
    _patches.replace(mx.fast, "metal_kernel", metal_kernel)
    if pretend_gpu or pretend_mac:
        from anymetal import pretend  # brings along what imports functions

        pretend.apply(_patches)
    if clamp_indices:
        indexing.apply(_patches)
    if pretend_mac:
        from anymetal_start import mac  # brings along what talks to other processes

        mac.apply()
        _environment.change(mac.environment())
    if children_too:
        asked = {
            "pretend_gpu": pretend_gpu,
            "clamp_indices": clamp_indices,
            "pretend_mac": pretend_mac,
        }
        _environment.change(children.environment([name for name, yes in asked.items() if yes]))


def inherit() -> None:
    """Do what `install(children_too=True)` of a parent process asks for; else nothing."""
    arguments = children.inherited()
    if arguments is None:
        return
    try:
        install(**arguments)
    except TypeError as error:
        raise ValueError(f"{children.VARIABLE} holds arguments of install: {error}") from None


def uninstall() -> None:
    """Undo `install`, whatever it was asked for; without it do nothing.

    Example:
        >>> import mlx.core as mx
        >>> import anymetal
        >>> before = mx.fast.metal_kernel
        >>> anymetal.install()
        >>> anymetal.uninstall()
        >>> mx.fast.metal_kernel is before
        True
    """
    from anymetal_start import mac

    _patches.undo()
    mac.undo()
    _environment.undo()
    new_epoch()
