"""LLVM IR out of thread programs, one thread at a time, for all targets without gangs."""
