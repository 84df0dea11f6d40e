// Evaluating a kernel: memory and addresses on the thread that asks, the work itself as a task of
// the stream. Neither holds the GIL.

#include "kernel.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "chores.h"
#include "failure.h"
#include "memory.h"
#include "mlx/backend/cpu/encoder.h"

namespace mx = mlx::core;

namespace anymetal {
namespace {

// MLX 0.32.4 notices the error of a stream also while it still schedules the graph around it. It then
// never signals the events of what is scheduled already, and who waits for one of those waits for
// ever. So a failure is told when scheduling has had time to end, kernels of the graph that must be
// compiled included; but not later than after two seconds, whatever others do meanwhile.
void let_scheduling_end() {
  for (int turn = 0; turn < 100; ++turn) {
    const bool busy = Plan::being_made() > 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!busy && Plan::being_made() == 0) return;
  }
}

// All that one launch needs, ready for another thread. MLX keeps the arrays alive meanwhile.
struct Launch {
  std::shared_ptr<Plan> plan;
  const Program* program;
  std::vector<Fill> fills;
  std::vector<Copy> copies;
  std::vector<void*> buffers;
  std::vector<std::vector<int64_t>> numbers;  // what shape, strides, ndim and size point to
  int32_t patience;
  bool interruptible;

  void operator()() {
    for (const Fill& fill : fills) expect_ok(fill(program->run));
    for (const Copy& copy : copies) expect_ok(copy(program->run));
    Call call = program->call;
    call.buffers = buffers.data();
    call.group_time = plan->group_time.load(std::memory_order_relaxed);
    call.patience = patience;
    call.interruptible = interruptible;
    const int32_t status = program->run(&call);  // first: it writes what follows
    expect_ok(status, call.signal, call.address);
    plan->group_time.store(call.group_time, std::memory_order_relaxed);
  }

 private:
  void expect_ok(int32_t status, int32_t signal = 0, uint64_t address = 0) const {
    if (status == OK) return;
    let_scheduling_end();
    throw failures().add({plan->kernel, status, signal, address});
  }
};

std::vector<int64_t> packed(const mx::Shape& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t axis = shape.size(); axis-- > 0; step *= shape[axis]) strides[axis] = step;
  return strides;
}

// int32_t values as a kernel reads them, in memory that is made of 64-bit words.
std::vector<int64_t> words(const std::vector<int32_t>& values) {
  std::vector<int64_t> result((values.size() + 2) / 2);
  std::memcpy(result.data(), values.data(), values.size() * sizeof(int32_t));
  return result;
}

// What a parameter says about an input that is bound with these strides.
std::vector<int64_t> describe(Info::Kind kind, const mx::array& input,
                              std::vector<int64_t> strides) {
  switch (kind) {
    case Info::shape: return words({input.shape().begin(), input.shape().end()});
    case Info::ndim: return words({static_cast<int32_t>(input.ndim())});
    case Info::size: return words({static_cast<int32_t>(input.size())});
    default: strides.push_back(0); return strides;  // never empty, so that there is an address
  }
}

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

bool on_main_thread() {
  thread_local const bool main = syscall(SYS_gettid) == getpid();  // also in the child of a fork
  return main;
}

}  // namespace

void MetalKernel::eval_cpu(const std::vector<mx::array>& inputs,
                           std::vector<mx::array>& outputs) {
  const Program* program = plan_->program();  // first: what it throws must leave no trace
  std::vector<Fill> fills;
  for (mx::array& output : outputs) {
    allocate(output);
    if (!options_.init_value || output.nbytes() == 0) continue;
    const mx::array value(*options_.init_value, output.dtype());
    Fill fill{output.data<uint8_t>(), output.nbytes(), static_cast<uint32_t>(output.itemsize()), {}};
    std::memcpy(fill.value.data(), value.data<uint8_t>(), fill.itemsize);
    fills.push_back(fill);
  }
  mx::cpu::CommandEncoder& encoder = mx::cpu::get_command_encoder(stream());
  if (!program) {
    if (!fills.empty()) {
      encoder.dispatch([fills = std::move(fills)] {
        for (const Fill& fill : fills) fill(nullptr);
      });
    }
    return;
  }

  auto launch = std::make_shared<Launch>();
  launch->plan = plan_;
  launch->program = program;
  launch->fills = std::move(fills);
  launch->patience = options_.patience;
  launch->interruptible = on_main_thread();
  if (launch->interruptible) program->watch();
  launch->buffers.resize(std::max<size_t>(program->buffers, 1));

  std::vector<bool> straightened(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const mx::array& input = inputs[i];
    encoder.set_input_array(input);
    const uint8_t* address = input.data<uint8_t>();
    if (options_.contiguous && !input.flags().row_contiguous) {
      mx::array copy(input.shape(), input.dtype(), nullptr, {});
      allocate(copy);
      launch->copies.push_back({address, copy.data<uint8_t>(),
                                static_cast<uint32_t>(input.itemsize()),
                                {input.shape().begin(), input.shape().end()},
                                {input.strides().begin(), input.strides().end()}});
      address = copy.data<uint8_t>();
      encoder.add_temporary(std::move(copy));
      straightened[i] = true;
    }
    launch->buffers[program->slots[i]] = const_cast<uint8_t*>(address);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    encoder.set_output_array(outputs[i]);
    launch->buffers[program->slots[inputs.size() + i]] = outputs[i].data<uint8_t>();
  }
  launch->numbers.reserve(program->infos.size());
  for (const Info& info : program->infos) {
    const mx::array& input = inputs[info.input];
    const bool plain = straightened[info.input] || input.flags().row_contiguous;
    std::vector<int64_t> strides(input.strides().begin(), input.strides().end());
    launch->numbers.push_back(
        describe(info.kind, input, plain ? packed(input.shape()) : std::move(strides)));
    launch->buffers[info.slot] = launch->numbers.back().data();
  }
  encoder.dispatch([launch = std::move(launch)] { (*launch)(); });
}

Mapped MetalKernel::vmap(const std::vector<mx::array>& inputs, const std::vector<int>& axes) {
  if (options_.lift) return options_.lift(inputs, axes);
  size_t first = 0;
  while (axes[first] < 0) ++first;
  std::vector<mx::Shape> shapes = outputs_.shapes;
  for (mx::Shape& shape : shapes) shape.insert(shape.begin(), inputs[first].shape(axes[first]));
  auto outputs = unknown(std::move(shapes), inputs,
                         "[Primitive::vmap] Not implemented for CustomKernel.");
  return {std::move(outputs), std::vector<int>(outputs_.shapes.size(), 0)};
}

std::vector<mx::array> MetalKernel::jvp(const std::vector<mx::array>& primals,
                                        const std::vector<mx::array>&, const std::vector<int>&) {
  return unknown(outputs_.shapes, primals, "[Primitive::jvp] Not implemented for CustomKernel.");
}

std::vector<mx::array> MetalKernel::unknown(std::vector<mx::Shape> shapes,
                                            const std::vector<mx::array>& inputs,
                                            const char* error) {
  return mx::array::make_arrays(std::move(shapes), outputs_.dtypes,
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

void MetalKernel::eval_gpu(const std::vector<mx::array>&, std::vector<mx::array>&) {
  throw std::runtime_error("This kernel was made for the CPU and cannot run on a GPU's stream.");
}

}  // namespace anymetal
