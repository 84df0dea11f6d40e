"""The thread program: one thread of a kernel as a small, typed, printable model of LLVM IR."""
