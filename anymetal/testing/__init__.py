"""Tools for testing kernels and AnyMetal itself."""

from anymetal.testing.gradients import check_grads

__all__ = ["check_grads"]
