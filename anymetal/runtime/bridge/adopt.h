// Graphs that were recorded elsewhere, made to run here.

#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "mlx/array.h"
#include "mlx/fast_primitives.h"
#include "plan.h"

namespace anymetal {

// `large`: how many times 2³¹ bytes the largest of its arrays has.
using LazyPlanOf =
    std::function<std::shared_ptr<LazyPlan>(const mlx::core::fast::CustomKernel&, uint64_t large)>;

// Moves all that these outputs are computed by, up to the inputs, to the CPU's default stream, and
// puts kernels that run there in the place of MLX's.
void adopt(const std::vector<mlx::core::array>& outputs,
           const std::vector<mlx::core::array>& inputs, const LazyPlanOf& lazy_plan_of);

}  // namespace anymetal
