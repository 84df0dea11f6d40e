// A launch as a task of a stream: made on the thread that evaluates, run on that of the stream.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "chores.h"
#include "kernel.h"
#include "mlx/backend/cpu/encoder.h"

namespace anymetal {

// All that one launch needs. MLX keeps its arrays alive meanwhile.
class Task {
 public:
  // Gives the outputs their memory.
  Task(std::shared_ptr<const Outline> outline, const Program* program, int32_t patience,
       const std::vector<mlx::core::array>& inputs, std::vector<mlx::core::array>& outputs);

  // Memory of the arrays, in the order of the kernel's parameters. Copies of inputs live as long as
  // the encoder's task.
  void bind(const std::vector<mlx::core::array>& inputs,
            const std::vector<mlx::core::array>& outputs,
            mlx::core::cpu::CommandEncoder& encoder);

  void operator()();

 private:
  void fill(mlx::core::array& output);
  bool worth_watching() const;
  void* straightened(const mlx::core::array& input, mlx::core::cpu::CommandEncoder& encoder);
  void describe(const std::vector<mlx::core::array>& inputs);
  void expect_ok(int32_t status, int32_t signal = 0, uint64_t address = 0) const;

  const std::shared_ptr<const Outline> outline_;
  const Program* const program_;  // null: there are no threads, only outputs to fill
  const int32_t patience_;
  const bool interruptible_;
  std::vector<Fill> fills_;
  std::vector<Copy> copies_;
  std::vector<void*> buffers_;
  std::vector<int64_t> numbers_;  // what shape, strides, ndim and size point to
};

}  // namespace anymetal
