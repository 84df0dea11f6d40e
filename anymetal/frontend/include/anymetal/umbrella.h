// What a kernel of `metal_kernel` sees: the Metal standard library, and what MLX puts in front of
// such kernels. Compiled once, as a precompiled header.
#pragma once

#define AM_MLX
#include "metal.h"

using namespace metal;

#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

#include "mlx/utility.h"
#include "mlx/complex.h"
#include "mlx/functions.h"
#include "mlx/indexing.h"
#include "mlx/simd.h"
#include "mlx/tiles.h"

#pragma clang attribute pop
#pragma clang attribute pop
