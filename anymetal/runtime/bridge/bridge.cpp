// All of the bridge as one translation unit: the headers of MLX, nanobind and the C++ library take a
// compiler several times as long as what we write, so they are read once.

#include "adopt.cpp"
#include "calls.cpp"
#include "kernel.cpp"
#include "module.cpp"
#include "call_cache.cpp"
#include "recovery.cpp"
#include "task.cpp"
