// Graphs that were recorded elsewhere, made to run here.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "kernel.h"
#include "mlx/fast_primitives.h"
#include "mlx/stream.h"
#include "python.h"

namespace nb = nanobind;
namespace mx = mlx::core;

namespace anymetal {
namespace {

using Metal = mx::fast::CustomKernel;

// Streams of a primitive cannot be set, but they are no constants either: MLX hands out the member
// of an object that is not const.
void move(mx::Primitive& primitive, const mx::Stream& stream) {
  const_cast<mx::Stream&>(primitive.stream()) = stream;
}

uint64_t largest(const std::vector<mx::array>& arrays) {
  uint64_t bytes = 0;
  for (const mx::array& array : arrays) bytes = std::max<uint64_t>(bytes, array.nbytes());
  return bytes;
}

// The plan of a kernel that `maker` gets the fields of: `Recorded` in imported.py lists them. `large`:
// how many times 2³¹ bytes the largest of its arrays has.
template <typename State>
std::shared_ptr<LazyPlan> lazy_plan_of(const State& state, uint64_t large, nb::handle maker) {
  const nb::object made =
      maker(std::get<0>(state), std::get<1>(state), std::get<2>(state), std::get<3>(state),
            std::get<4>(state), static_cast<int>(std::get<10>(state)), std::get<8>(state), large);
  return nb::cast<LazyPlanHandle>(made).lazy_plan;
}

void replace(const mx::array& node, const mx::Stream& stream, nb::handle maker) {
  const auto state = static_cast<const Metal&>(node.primitive()).state();
  const bool contiguous = std::get<5>(state);
  const std::optional<float> init_value = std::get<6>(state);
  const std::vector<mx::array> outputs = node.outputs();
  const uint64_t large = std::max(largest(node.inputs()), largest(outputs)) >> 31;
  LaunchDescriptor descriptor{
      lazy_plan_of(state, large, maker), {}, {}, contiguous, init_value, {}};
  for (const mx::array& output : outputs) {
    descriptor.shapes.push_back(output.shape());
    descriptor.dtypes.push_back(output.dtype());
  }
  const auto ours = std::make_shared<MetalKernel>(
      stream, std::make_shared<const LaunchDescriptor>(std::move(descriptor)), 0, nullptr);
  for (const mx::array& output : outputs) output.primitive_ptr() = ours;
}

bool is_metal(const mx::array& node) {
  return std::string_view(node.primitive().name()) == "CustomKernel";
}

// Moves all that these outputs are computed by, up to the inputs, to the CPU's default stream, and
// puts kernels that run there in the place of MLX's. Runs Python amid the change of a graph, which is
// nobody else's yet: MLX has just made it for this function.
std::vector<mx::array> adopt(std::vector<mx::array> outputs, const std::vector<mx::array>& inputs,
                             const nb::callable& maker) {
  const mx::Stream stream = mx::default_stream(mx::Device::cpu);
  std::unordered_set<uintptr_t> seen;
  for (const mx::array& input : inputs) seen.insert(input.id());
  std::vector<mx::array> pending = outputs;
  while (!pending.empty()) {
    const mx::array node = std::move(pending.back());
    pending.pop_back();
    if (!node.has_primitive() || !seen.insert(node.id()).second) continue;
    if (is_metal(node)) {
      replace(node, stream, maker);
    } else if (node.primitive().device() == mx::Device::gpu) {
      move(node.primitive(), stream);
    }
    pending.insert(pending.end(), node.inputs().begin(), node.inputs().end());
  }
  return outputs;
}

}  // namespace

void define_adopt(nb::module_& module) {
  module.def("adopt", adopt, nb::arg("outputs"), nb::arg("inputs"), nb::arg("maker"),
             "Makes a graph with kernels of MLX run on the CPU.");
}

}  // namespace anymetal
