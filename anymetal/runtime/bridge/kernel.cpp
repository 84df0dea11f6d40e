// Kernels in MLX's graph: evaluated as tasks of their stream, and transformed.

#include "kernel.h"

#include <stdexcept>

#include "python.h"
#include "task.h"

namespace mx = mlx::core;

namespace anymetal {
namespace {

[[noreturn]] void refuse(const char* what) { throw std::invalid_argument(what); }

// In the place of a transformation that nobody knows how to make.
class Unknown : public mx::Primitive {
 public:
  Unknown(mx::Stream stream, const char* error) : Primitive(stream), error_(error) {}

  void eval_cpu(const std::vector<mx::array>&, std::vector<mx::array>&) override { refuse(error_); }
  void eval_gpu(const std::vector<mx::array>&, std::vector<mx::array>&) override { refuse(error_); }
  const char* name() const override { return "UnknownTransformation"; }

 private:
  const char* error_;
};

}  // namespace

void MetalKernel::eval_cpu(const std::vector<mx::array>& inputs,
                           std::vector<mx::array>& outputs) {
  const Plan* plan;
  try {
    plan = descriptor_->lazy_plan->plan();  // first: what it throws leaves no trace
  } catch (Raised& raised) {
    raised.origin = std::make_shared<const Origin>(
        Origin{descriptor_->lazy_plan->kernel, called_, descriptor_->made});
    throw;
  }
  auto task = std::make_shared<Task>(descriptor_, plan, ignored_interrupts_, called_, stream(),
                                     inputs, outputs);
  mx::cpu::CommandEncoder& encoder = mx::cpu::get_command_encoder(stream());
  for (const mx::array& input : inputs) encoder.set_input_array(input);
  for (mx::array& output : outputs) encoder.set_output_array(output);
  if (plan) task->bind(inputs, outputs, encoder);
  if (task->can_run_here(inputs)) return Task::run_here(std::move(task), encoder);
  if (task->should_be_awaited()) return Task::run_awaited(std::move(task), encoder);
  encoder.dispatch([task = std::move(task)] { (*task)(); });
}

Mapped MetalKernel::vmap(const std::vector<mx::array>& inputs, const std::vector<int>& axes) {
  if (descriptor_->lift && descriptor_->gpu) {  // which has inputs that the call does not have
    const size_t own = inputs.size() - descriptor_->gpu->descriptions.size();
    return descriptor_->lift({inputs.begin(), inputs.begin() + own},
                             {axes.begin(), axes.begin() + own});
  }
  if (descriptor_->lift) return descriptor_->lift(inputs, axes);
  size_t first = 0;
  while (axes[first] < 0) ++first;
  std::vector<mx::Shape> shapes = descriptor_->shapes;
  for (mx::Shape& shape : shapes) shape.insert(shape.begin(), inputs[first].shape(axes[first]));
  auto outputs = unknown(std::move(shapes), inputs,
                         "[Primitive::vmap] Not implemented for CustomKernel.");
  return {std::move(outputs), std::vector<int>(descriptor_->shapes.size(), 0)};
}

std::vector<mx::array> MetalKernel::jvp(const std::vector<mx::array>& primals,
                                        const std::vector<mx::array>&, const std::vector<int>&) {
  return unknown(descriptor_->shapes, primals, "[Primitive::jvp] Not implemented for CustomKernel.");
}

std::vector<mx::array> MetalKernel::unknown(std::vector<mx::Shape> shapes,
                                            const std::vector<mx::array>& inputs,
                                            const char* error) {
  return mx::array::make_arrays(std::move(shapes), descriptor_->dtypes,
                                std::make_shared<Unknown>(stream(), error), inputs);
}

std::vector<mx::array> MetalKernel::vjp(const std::vector<mx::array>&,
                                        const std::vector<mx::array>&, const std::vector<int>&,
                                        const std::vector<mx::array>&) {
  refuse("[Primitive::vjp] Not implemented for CustomKernel.");
}

std::vector<mx::Shape> MetalKernel::output_shapes(const std::vector<mx::array>&) {
  refuse("[Primitive::output_shapes] CustomKernel cannot infer output shapes.");
}

void MetalKernel::eval_gpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  if (descriptor_->gpu) return descriptor_->gpu->eval(stream(), inputs, outputs);
  throw std::runtime_error("This kernel was made for the CPU and cannot run on a GPU's stream.");
}

std::vector<mx::array> node(mx::Stream stream, std::shared_ptr<const LaunchDescriptor> descriptor,
                            int32_t ignored_interrupts, LocationPtr called,
                            std::vector<mx::array> inputs) {
  const LaunchDescriptor& known = *descriptor;
  if (known.gpu) {
    const auto& more = known.gpu->descriptions;
    inputs.insert(inputs.end(), more.begin(), more.end());
  }
  auto primitive = std::make_shared<MetalKernel>(stream, std::move(descriptor), ignored_interrupts,
                                                 std::move(called));
  if (known.shapes.size() != 1) {
    return mx::array::make_arrays(known.shapes, known.dtypes, primitive, inputs);
  }
  std::vector<mx::array> outputs;
  outputs.emplace_back(known.shapes[0], known.dtypes[0], std::move(primitive), std::move(inputs));
  return outputs;
}

}  // namespace anymetal
