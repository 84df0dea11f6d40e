"""Operations of neural networks as Metal kernels with gradients."""

from anymetal.nn.sampling import grid_sample

__all__ = ["grid_sample"]
