// A Metal kernel as a node of MLX's graph.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "failure.h"
#include "gpu.h"
#include "mlx/primitives.h"
#include "plan.h"

namespace anymetal {

// Arrays of a vmapped launch and the axes of the batch, -1 for those without.
using Mapped = std::pair<std::vector<mlx::core::array>, std::vector<int>>;

// What runs a kernel for a whole batch.
using Lift = std::function<Mapped(const std::vector<mlx::core::array>&, const std::vector<int>&)>;

// What the nodes of equal calls have in common.
struct LaunchDescriptor {
  std::shared_ptr<LazyPlan> lazy_plan;
  std::vector<mlx::core::Shape> shapes;  // of the outputs, as the next
  std::vector<mlx::core::Dtype> dtypes;
  bool contiguous;  // bind row-contiguous copies of inputs that are not
  std::optional<float> init_value;
  Lift lift;  // empty: there is none
  // Per output: the number of the input whose contents it begins with, -1: none. These inputs come
  // last, and the kernel itself does not have them. Empty: all -1.
  std::vector<int> starts = {};
  LocationPtr made = {};  // where the program made the kernel
  std::shared_ptr<const OnGpu> gpu = {};  // of a kernel for NVIDIA's GPUs, which has no lazy plan

  int start(size_t output) const { return starts.empty() ? -1 : starts[output]; }
};

class MetalKernel : public mlx::core::Primitive {
 public:
  // `ignored_interrupts` as in Call, `called` by which line of the program.
  MetalKernel(mlx::core::Stream stream, std::shared_ptr<const LaunchDescriptor> descriptor,
              int32_t ignored_interrupts, LocationPtr called)
      : Primitive(stream),
        descriptor_(std::move(descriptor)),
        ignored_interrupts_(ignored_interrupts),
        called_(std::move(called)) {}

  void eval_cpu(const std::vector<mlx::core::array>& inputs,
                std::vector<mlx::core::array>& outputs) override;
  void eval_gpu(const std::vector<mlx::core::array>&,
                std::vector<mlx::core::array>&) override;

  // Without a rule they give arrays that cannot be evaluated, rather than an error: what a function
  // with rules of its own (mx.custom_function) wraps is transformed as well, and never looked at.
  Mapped vmap(const std::vector<mlx::core::array>& inputs, const std::vector<int>& axes) override;
  std::vector<mlx::core::array> jvp(const std::vector<mlx::core::array>& primals,
                                    const std::vector<mlx::core::array>& tangents,
                                    const std::vector<int>& argnums) override;

  // MLX would take anything of its own kernels' name, CustomKernel, for one of those and export it.
  // The errors of transformations have that name all the same.
  const char* name() const override { return "MetalKernel"; }

  std::vector<mlx::core::array> vjp(const std::vector<mlx::core::array>& primals,
                                    const std::vector<mlx::core::array>& cotangents,
                                    const std::vector<int>& argnums,
                                    const std::vector<mlx::core::array>& outputs) override;
  std::vector<mlx::core::Shape> output_shapes(
      const std::vector<mlx::core::array>& inputs) override;

 private:
  std::vector<mlx::core::array> unknown(std::vector<mlx::core::Shape> shapes,
                                        const std::vector<mlx::core::array>& inputs,
                                        const char* error);

  const std::shared_ptr<const LaunchDescriptor> descriptor_;
  const int32_t ignored_interrupts_;
  const LocationPtr called_;
};

// The outputs of a call, not evaluated yet.
std::vector<mlx::core::array> node(mlx::core::Stream stream,
                                   std::shared_ptr<const LaunchDescriptor> descriptor,
                                   int32_t ignored_interrupts, LocationPtr called,
                                   std::vector<mlx::core::array> inputs);

}  // namespace anymetal
