"""From the Metal text of a kernel to the optimised LLVM IR of one thread."""
