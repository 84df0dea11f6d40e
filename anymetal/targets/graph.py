"""What MLX's graph and the cache of calls ask of a target, beside running kernels."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from anymetal.targets.base import Launch, Target

if TYPE_CHECKING:  # variant.py does without, where kernels are compiled
    import mlx.core as mx


class CallArguments(NamedTuple):
    """The arguments of a call of a kernel: as they were passed, or of equal meaning."""

    positional: tuple[Any, ...]
    given: dict[str, Any]  #: by name
    defaults: dict[str, Any]  #: of those that may be left out


class CallCache(Protocol):
    """Calls of one kernel that were kept (`GraphTarget.keep`)."""

    def __call__(self, positional: tuple[Any, ...], call: dict[str, Any]) -> list[mx.array] | None:
        """The outputs of a call like one of them; None if there is none like it."""


#: What was kept of calls holds as long as this is the same object.
epoch = object()


def new_epoch() -> None:
    """Forget all calls: they would come to something else now."""
    global epoch
    epoch = object()


class GraphTarget(Target):
    """A target whose launches can be nodes of MLX's graph."""

    @property
    @abstractmethod
    def lazy(self) -> bool:
        """Whether `run` only records the work.

        Then arrays under transformation are welcome, and errors surface at evaluation. A target
        that is not lazy never sees an array that cannot be evaluated.
        """

    @abstractmethod
    def become_lazy(self) -> None:
        """Wait until `run` only records; raises ToolchainError with what that takes."""

    def keep(
        self, cache: CallCache | None, launch: Launch, call: CallArguments
    ) -> CallCache | None:
        """Keep what a call came to, beside what was kept before of this kernel.

        None from a target that looks at each call anew.
        """
        return None
