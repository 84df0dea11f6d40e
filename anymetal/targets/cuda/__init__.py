"""NVIDIA GPUs: kernels as PTX."""
