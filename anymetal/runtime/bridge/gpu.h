// Kernels that MLX launches on NVIDIA GPUs: what it is told of launches that are alike.

#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "mlx/fast.h"
#include "mlx/primitives.h"

namespace anymetal {

// Immutable but for the primitives, which are MLX's own and know their stream. A node of ours has
// one evaluate it; so the text is copied once for a stream, not for each launch.
class OnGpu {
 public:
  using Extent = std::tuple<int, int, int>;

  std::string name, text;  // of the function in PTX
  std::vector<int> numbers;  // behind the arrays
  Extent grid, block;
  std::vector<size_t> order;  // of the kernel's buffers: which of the inputs, then `descriptions`
  std::vector<mlx::core::array> descriptions;  // of inputs: shapes, strides and the like
  std::vector<mlx::core::Shape> shapes;  // of the outputs, as the next two
  std::vector<mlx::core::Dtype> dtypes;
  std::optional<float> init_value;

  void eval(mlx::core::Stream stream, const std::vector<mlx::core::array>& inputs,
            std::vector<mlx::core::array>& outputs) const {
    std::vector<mlx::core::array> buffers;
    buffers.reserve(order.size());
    for (size_t place : order) buffers.push_back(inputs[place]);
    primitive(stream, buffers)->eval_gpu(buffers, outputs);
  }

 private:
  std::shared_ptr<mlx::core::Primitive> primitive(
      mlx::core::Stream stream, const std::vector<mlx::core::array>& buffers) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, primitive] : primitives_) {
      if (known == stream) return primitive;
    }
    const std::vector<mlx::core::fast::ScalarArg> scalars(numbers.begin(), numbers.end());
    const auto outputs = mlx::core::fast::precompiled_cuda_kernel(
        name, text, buffers, shapes, dtypes, scalars, grid, block, 0, init_value, true, stream);
    primitives_.emplace_back(stream, outputs[0].primitive_ptr());
    return primitives_.back().second;
  }

  mutable std::mutex mutex_;
  mutable std::vector<std::pair<mlx::core::Stream, std::shared_ptr<mlx::core::Primitive>>>
      primitives_;
};

}  // namespace anymetal
