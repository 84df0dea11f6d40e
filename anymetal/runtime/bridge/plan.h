// What a kernel's launches have in common: its machine code and how it wants its buffers.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "launch.h"

namespace anymetal {

// A parameter that describes an input: what it says, of which input, and where it goes.
struct Info {
  enum Kind : int32_t { shape, strides, ndim, size } kind;
  size_t input;
  size_t slot;
};

// A kernel for one grid and threadgroup, compiled. Immutable, shared by launches on all threads.
struct Program {
  Run* run;                   // of the thread pool, as the next
  Watch* watch;
  Call call;                  // without buffers
  size_t buffers;             // how many the kernel takes
  std::vector<size_t> slots;  // where each array goes: inputs, then outputs
  std::vector<Info> infos;
  std::vector<uint64_t> covered;  // bytes of each output that are certain to be stored
};

// A program that is compiled when it is first needed. No Python in here: plans are let go on any
// thread.
class Plan {
 public:
  // `compile` is called once, at the first evaluation, and let go then; it gives nothing for a
  // launch without threads. What it throws reaches that evaluation; the next one tries again.
  using Compile = std::function<std::unique_ptr<const Program>()>;

  Plan(std::string kernel, Compile compile)
      : kernel(std::move(kernel)), compile_(std::move(compile)) {}

  // Null for a launch without threads.
  const Program* program() {
    if (!ready_.load(std::memory_order_acquire)) make();
    return program_.get();
  }

  // How many threads compile a program at this moment.
  static int being_made() { return making().load(std::memory_order_relaxed); }

  // The pool learns how long a threadgroup takes; a lost update does no harm.
  std::atomic<double> group_time{0};
  const std::string kernel;

 private:
  void make() {
    // Python is called, and let go, without the lock: who evaluates may have the GIL or not. So
    // two threads may compile the same kernel, or one does so while it compiles it (in a handler
    // of signals); the first result is kept. `compile` and `made` end behind the lock's end.
    Compile compile;
    {
      std::lock_guard lock(mutex_);
      if (ready_.load(std::memory_order_relaxed)) return;
      compile = compile_;
    }
    const Making while_it_takes;
    std::unique_ptr<const Program> made = compile();
    std::lock_guard lock(mutex_);
    if (ready_.load(std::memory_order_relaxed)) return;
    program_ = std::move(made);
    compile_ = nullptr;
    ready_.store(true, std::memory_order_release);
  }

  static std::atomic<int>& making() {
    static std::atomic<int> count{0};
    return count;
  }

  struct Making {
    Making() { ++making(); }
    ~Making() { --making(); }
  };

  std::mutex mutex_;
  std::atomic<bool> ready_{false};
  std::unique_ptr<const Program> program_;
  Compile compile_;
};

}  // namespace anymetal
