"""Rows of the benchmark on an NVIDIA GPU, beside the same kernels written in CUDA C++."""
