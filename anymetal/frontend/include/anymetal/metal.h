// What every Metal text sees: the Metal standard library. Compiled once, as a precompiled header; the
// headers named in #include <metal_…> are empty.
//
// Every function below is inlined and leaves no trace in debug information, so that an instruction
// belongs to the line of the user's text that called for it.
#pragma once

// Metal has no mathematical functions of bfloat: it goes to float by itself. MLX's prelude has.
#ifdef AM_MLX
#define AM_OF_BFLOAT(...) __VA_ARGS__
#else
#define AM_OF_BFLOAT(...)
#endif

#include "keywords.h"
#include "intrinsics.h"

#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

// Functions that do nothing but return a value: who does not use it is warned.
#define AM_RESULTS_COUNT \
  _Pragma("clang attribute push([[nodiscard]], apply_to = hasType(functionType))")
#define AM_RESULTS_END _Pragma("clang attribute pop")

#include "scalars.h"
#include "traits.h"
#include "limits.h"
#include "swizzle.h"
#include "vec_operators.h"
#include "vec.h"
#include "packed.h"
#include "promote.h"
#include "declared.h"
#include "as_type.h"
AM_RESULTS_COUNT
#include "minmax.h"
AM_RESULTS_END
#include "math_constants.h"
#include "math_bits.h"
#include "math_exp.h"
#include "math_log.h"
#include "math_pow.h"
#include "math_trig.h"
#include "math.h"
AM_RESULTS_COUNT
#include "common.h"
#include "integer.h"
#include "relational.h"
#include "geometric.h"
AM_RESULTS_END
#include "matrix.h"
#include "pack.h"
#include "array.h"
#include "compute.h"
#include "atomic.h"
#include "simdgroup.h"
#include "quadgroup.h"
#include "simdgroup_matrix.h"
#include "logging.h"

#include "internals.h"
#include "global.h"
#include "attributes.h"
#include "language.h"

#pragma clang attribute pop
#pragma clang attribute pop

#undef AM_OF_BFLOAT
