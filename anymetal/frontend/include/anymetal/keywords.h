// What the Metal language adds to C++ as keywords and predefined macros.
//
// Address spaces carry no meaning on a CPU, so they vanish, with two exceptions: `constant` data is
// never written, and telling the optimiser so turns program-scope tables into folded constants;
// `threadgroup` variables must be found again in the IR, so they carry an annotation (which Clang
// drops wherever it does not stand on a variable).
#pragma once

#define __METAL__ 1
#define __METAL_VERSION__ 320
#define __METAL_MACOS__ 1
#define __HAVE_BFLOAT__ 1

#define kernel
#define device
#define thread
#define constant const
#define __am_static static
#define __am_tgroup
#define __am_con
#define threadgroup __attribute__((annotate("threadgroup")))
#define coherent(...)

#define METAL_FUNC inline __attribute__((always_inline))
