"""LLVM IR of one thread from a thread program, for targets without gangs and the scalar build."""
