// Plans: what launches of a kernel with one grid and threadgroup have in common.

#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "launch.h"

namespace anymetal {

class Specials;

// A parameter that describes an input: what it says, of which input, and where it goes.
struct Info {
  enum Kind : int32_t { shape, strides, ndim, size } kind;
  size_t input;
  size_t slot;  // its position among the buffers

  // Of memory that means something; there is more behind it.
  uint64_t bytes(size_t axes) const {
    return kind == shape ? 4 * axes : kind == strides ? 8 * axes : 4;
  }
};

// An array that a launch has: what tells of it wants to know this.
struct Shaped {
  std::vector<int64_t> shape;
  size_t itemsize;
};

// What a launch of a checked build has noted, and what it takes to tell it.
struct Noted {
  am_strays strays;
  std::vector<am_extent> extents;
  std::vector<Shaped> arrays;  // inputs, then outputs

  bool any() const { return strays.reads.count || strays.writes.count; }
};

// Why nothing can be asked of Python for now.
struct PythonIsBusy : std::exception {};

// A library that Python has loaded: it stays until this lets it go, on any thread.
class Library {
 public:
  Library() = default;
  Library(const Library&) = delete;
  ~Library() {
    if (handle_) dlclose(handle_);
  }

  void open(const std::string& path) {
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (!handle_) throw std::runtime_error(path + " is not loaded");
  }

 private:
  void* handle_ = nullptr;
};

// A kernel for one grid and threadgroup, compiled: targets/cpu/plan.py says what is in it. Immutable,
// shared by launches on all threads.
struct Plan {
  Run* run;                   // of the thread pool, as the next
  Watch* watch;
  const Companions* companions;  // null if one thread runs all kernels
  Library code;               // of the call's entry
  Call call;                  // without buffers
  size_t buffers;             // how many the kernel takes
  std::vector<size_t> slots;  // where each array goes: inputs, then outputs
  std::vector<Info> infos;
  std::vector<uint64_t> covered;  // bytes of each output, from its beginning on, that a launch stores
  // Of a checked build (passes/check_bounds.py), else empty. Warns of what strayed; throws if the
  // warning is an error.
  std::function<void(const Noted&)> warn;
  // Throws the error that says what strayed. The GIL must be held.
  std::function<void(const Noted&)> refuse;
  std::shared_ptr<Specials> specials;  // versions for some of the launches; may be null

  bool checked() const { return bool{warn}; }
};

// A plan that is compiled when it is first needed. No Python in here: plans are let go on any
// thread.
class Lazy {
 public:
  // Called once, at the first evaluation, and let go then; it gives nothing for a launch without
  // threads. What it throws reaches that evaluation; the next one tries again.
  using Compile = std::function<std::unique_ptr<const Plan>()>;

  explicit Lazy(Compile compile) : compile_(std::move(compile)) {}

  // Null for a launch without threads.
  const Plan* plan() {
    if (!ready_.load(std::memory_order_acquire)) make();
    return plan_.get();
  }

  // How many threads compile a plan at this moment.
  static int being_made() { return making().load(std::memory_order_relaxed); }

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
    std::unique_ptr<const Plan> made = compile();
    std::lock_guard lock(mutex_);
    if (ready_.load(std::memory_order_relaxed)) return;
    plan_ = std::move(made);
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
  std::unique_ptr<const Plan> plan_;
  Compile compile_;
};

// What nodes of one kernel, grid and threadgroup share: their plan, which is compiled when it is first
// evaluated, its checked build, compiled if it faults, and what launches have learnt.
class LazyPlan {
 public:
  using Compile = Lazy::Compile;

  LazyPlan(std::string kernel, Compile plain, Compile checked)
      : kernel(std::move(kernel)), plain_(std::move(plain)), checked_(std::move(checked)) {}

  // The plan to launch; null for a launch without threads.
  const Plan* plan() { return strayed_.load() ? checked_.plan() : plain_.plan(); }

  // The checked build; throws PythonIsBusy if it is not there and Python cannot be asked for it.
  const Plan* checked() { return checked_.plan(); }

  // Whether the last launch that ended, ended well.
  bool is_proven() const { return proven_.load(std::memory_order_relaxed); }
  void prove(bool good) { proven_.store(good, std::memory_order_relaxed); }

  // From now on no access leaves its array: the plan is the checked build.
  void has_strayed() { strayed_.store(true); }

  // Whether somebody has been told of an access, by its number; it is enough to do so once.
  bool told(uint32_t site) {
    std::lock_guard lock(mutex_);
    return told_.count(site) != 0;
  }
  void tell_no_more(uint32_t site) {
    std::lock_guard lock(mutex_);
    told_.insert(site);
  }

  // The pool learns how long a threadgroup takes; a lost update does no harm.
  std::atomic<double> group_time{0};
  const std::string kernel;

 private:
  Lazy plain_, checked_;
  std::atomic<bool> strayed_{false}, proven_{false};
  std::mutex mutex_;
  std::set<uint32_t> told_;
};

}  // namespace anymetal
