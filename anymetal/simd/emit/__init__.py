"""Emission: the LLVM IR of the function that runs one gang."""
