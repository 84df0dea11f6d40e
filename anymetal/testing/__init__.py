"""Tools for testing kernels and AnyMetal itself."""

from typing import TYPE_CHECKING, Any

from anymetal.testing.gradients import check_grads

if TYPE_CHECKING:
    from anymetal.testing.closeness import assert_kernel_close

__all__ = ["assert_kernel_close", "check_grads"]


def __getattr__(name: str) -> Any:
    if name == "assert_kernel_close":  # which needs NumPy
        from anymetal.testing.closeness import assert_kernel_close

        return assert_kernel_close
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
