"""Kernels for a machine with an NVIDIA GPU that has neither AnyMetal nor MLX.

    python -m anymetal.testing.gpu_suite.pack --out .gpu    # here: PTX, arguments, results
    python3 anymetal/testing/gpu_suite/drive.py .gpu        # there: NumPy and CuPy

`pack` compiles; `drive`, one file without imports of ours, launches, compares and prints a table.
"""
