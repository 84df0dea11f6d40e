// Kernels that MLX launches on NVIDIA GPUs: what it is told of launches that are alike.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "mlx/fast.h"
#include "mlx/primitives.h"

namespace anymetal {

// Immutable but for the text, of which a better one may come, and the primitives, which are MLX's
// own and know their stream. A node of ours has one evaluate it; so the text is copied once for a
// stream, not for each launch.
class OnGpu : public std::enable_shared_from_this<OnGpu> {
 public:
  using Extent = std::tuple<int, int, int>;
  using Taker = std::function<void(std::string)>;

  std::string name;  // of the function in PTX
  mutable std::string text;  // for buffers at multiples of 16 bytes
  std::function<std::string()> text_for_any;  // the same for all others
  std::vector<int> numbers;  // behind the arrays
  Extent grid, block;
  std::vector<size_t> order;  // of the kernel's buffers: which of the inputs, then `descriptions`
  std::vector<mlx::core::array> descriptions;  // of inputs: shapes, strides and the like
  std::vector<mlx::core::Shape> shapes;  // of the outputs, as the next two
  std::vector<mlx::core::Dtype> dtypes;
  std::optional<float> init_value;
  std::function<void(Taker)> when_hot;  // is told once; takes another `text` when there is one

  void eval(mlx::core::Stream stream, const std::vector<mlx::core::array>& inputs,
            std::vector<mlx::core::array>& outputs) const {
    std::vector<mlx::core::array> buffers;
    buffers.reserve(order.size());
    for (size_t place : order) buffers.push_back(inputs[place]);
    if (when_hot && ++evaluations_ == kHot) when_hot(taker());
    primitive(stream, buffers)->eval_gpu(buffers, outputs);
  }

 private:
  static constexpr int kHot = 16;  // evaluations

  struct Known {
    mlx::core::Stream stream;
    bool aligned;
    std::shared_ptr<mlx::core::Primitive> primitive;
  };

  // Outputs are aligned, as all memory is that MLX allocates for more than 8 bytes. Inputs may be a
  // part of an array, or memory of others. (The address is the first thing in MLX's `CudaBuffer`.)
  static bool is_aligned(const mlx::core::array& input) {
    const auto buffer = static_cast<const uintptr_t*>(input.buffer().ptr());
    return !buffer || (*buffer + input.offset()) % 16 == 0 || input.nbytes() <= 8;
  }

  std::shared_ptr<mlx::core::Primitive> primitive(
      mlx::core::Stream stream, const std::vector<mlx::core::array>& buffers) const {
    const bool aligned = std::all_of(buffers.begin(), buffers.end(), is_aligned);
    // Python may be asked for a text, so not with the lock.
    const std::string other = aligned || find(stream, false) ? std::string() : text_for_any();
    const std::lock_guard lock(mutex_);
    if (const auto known = at(stream, aligned)) return known;
    const std::vector<mlx::core::fast::ScalarArg> scalars(numbers.begin(), numbers.end());
    const auto outputs = mlx::core::fast::precompiled_cuda_kernel(
        name, aligned ? text : other, buffers, shapes, dtypes, scalars, grid, block, 0, init_value,
        true, stream);
    known_.push_back({stream, aligned, outputs[0].primitive_ptr()});
    return known_.back().primitive;
  }

  std::shared_ptr<mlx::core::Primitive> find(mlx::core::Stream stream, bool aligned) const {
    const std::lock_guard lock(mutex_);
    return at(stream, aligned);
  }

  std::shared_ptr<mlx::core::Primitive> at(mlx::core::Stream stream, bool aligned) const {
    for (const Known& one : known_) {
      if (one.stream == stream && one.aligned == aligned) return one.primitive;
    }
    return nullptr;
  }

  Taker taker() const {
    return [held = weak_from_this()](std::string better) {
      const auto here = held.lock();
      if (!here) return;
      const std::lock_guard lock(here->mutex_);
      here->text = std::move(better);
      auto& known = here->known_;
      known.erase(std::remove_if(known.begin(), known.end(),
                                 [](const Known& one) { return one.aligned; }),
                  known.end());
    };
  }

  mutable std::atomic<int> evaluations_{0};
  mutable std::mutex mutex_;
  mutable std::vector<Known> known_;
};

}  // namespace anymetal
