// A launch as a task of a stream: made on the thread that evaluates, run on that of the stream.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bindings.h"
#include "fill_copy.h"
#include "failure.h"
#include "kernel.h"
#include "mlx/backend/cpu/encoder.h"
#include "poisoned.h"
#include "specials.h"

namespace anymetal {

// All that one launch needs. MLX keeps its arrays alive meanwhile.
class Task {
 public:
  // Gives the outputs their memory.
  Task(std::shared_ptr<const LaunchDescriptor> descriptor, const Plan* plan,
       int32_t ignored_interrupts, LocationPtr called, mlx::core::Stream stream,
       const std::vector<mlx::core::array>& inputs, std::vector<mlx::core::array>& outputs);

  // Memory of the arrays, in the order of the kernel's parameters. Copies of inputs live as long as
  // the encoder's task.
  void bind(const std::vector<mlx::core::array>& inputs,
            const std::vector<mlx::core::array>& outputs,
            mlx::core::cpu::CommandEncoder& encoder);

  void operator()();

  // The same on the thread that evaluates, accompanied by the stream's, which only runs it if it has
  // something else to do first.
  bool can_run_here(const std::vector<mlx::core::array>& inputs);
  static void run_here(std::shared_ptr<Task> task, mlx::core::cpu::CommandEncoder& encoder);

  // The same, while the thread that evaluates waits. In both cases what goes wrong is thrown here,
  // before anything behind it is scheduled.
  bool should_be_awaited() const;
  static void run_awaited(std::shared_ptr<Task> task, mlx::core::cpu::CommandEncoder& encoder);

 private:
  Fill fill_of(size_t output, uint8_t* memory, uint64_t bytes) const;
  bool worth_watching() const;
  double known_time() const;  // nanoseconds of one thread; 0 = nothing is known
  bool comes();
  void meet(uint32_t number);
  void* contiguous_copy(const mlx::core::array& input, mlx::core::cpu::CommandEncoder& encoder);
  void copy(const mlx::core::array& input, uint8_t* memory);
  void make_copies() const;
  void fill_outputs(const std::vector<uint64_t>& covered) const;
  void describe(const std::vector<mlx::core::array>& inputs);
  int32_t launch(const Plan& plan, Call& call, const Special* special = nullptr);
  const Special* special_version();
  void learn(const Call& call, const Special* special);
  void run_checked(const Call& fault);
  void tell(const Plan& checked);
  Noted noted();
  void expect_ok(int32_t status, int32_t signal = 0, uint64_t address = 0) const;
  [[noreturn]] void fail(Failure failure) const;
  Origin origin() const;
  void expect_inputs() const;

  const std::shared_ptr<const LaunchDescriptor> descriptor_;
  const Plan* const plan_;  // null: there are no threads, only outputs to fill
  const int32_t ignored_interrupts_;
  const LocationPtr called_;
  const bool interruptible_;  // the main thread evaluates
  const mlx::core::Stream stream_;
  const bool waited_for_;  // by whoever evaluates
  bool awaited_ = false;   // even before more is scheduled
  bool available_ = false;  // all that is to be computed before
  Companion* companion_ = nullptr;  // of a launch that the evaluating thread runs
  enum Meeting { expected, here, unwanted };  // of the evaluating thread and the stream's
  std::atomic<Meeting> meeting_{expected};
  std::vector<Output> outputs_;
  std::vector<Fill> fills_;
  std::vector<Copy> copies_;
  std::optional<Bindings> bindings_;  // none if there are no threads
  std::vector<int64_t> numbers_;  // what shape, strides, ndim and size point to
  am_strays strays_;              // what a checked build has noted
};

}  // namespace anymetal
