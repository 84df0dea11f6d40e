// Outputs of launches that failed.
//
// MLX tells of the error of a stream once. All that was scheduled until then counts as evaluated:
// results that nobody has computed, and what was computed from them. So outputs of a launch that has
// failed become arrays whose evaluation raises the error, again and again, and launches that were
// scheduled behind it fail as well if they read one. What MLX itself computes behind a failed launch
// cannot be found any more; therefore it reads no numbers there but NaN, or zeros of integers.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "failure.h"
#include "mlx/primitives.h"

namespace anymetal {

// What copies of an array share, to which MLX offers no weak reference; a strong one would keep it
// from giving the memory of an array that nobody else has to the next result. (Templates may name
// private members where they are instantiated explicitly.)
struct InArray {};
auto shared_part(InArray);
template <auto Member>
struct Reach {
  friend auto shared_part(InArray) { return Member; }
};
template struct Reach<&mlx::core::array::array_desc_>;

using Shared = std::remove_reference_t<decltype(std::declval<mlx::core::array&>().*
                                                shared_part(InArray{}))>;

// In the place of a launch that has failed.
class Failed : public mlx::core::Primitive {
 public:
  Failed(mlx::core::Stream stream, std::shared_ptr<const Failure> failure)
      : Primitive(stream), failure_(std::move(failure)) {}

  void eval_cpu(const std::vector<mlx::core::array>&, std::vector<mlx::core::array>&) override {
    throw failures().add(*failure_);
  }
  void eval_gpu(const std::vector<mlx::core::array>&, std::vector<mlx::core::array>&) override {
    throw failures().add(*failure_);
  }
  const char* name() const override { return "FailedMetalKernel"; }

 private:
  const std::shared_ptr<const Failure> failure_;
};

// An output of a launch that is under way; it keeps nothing alive.
class Output {
 public:
  explicit Output(const mlx::core::array& array)
      : shared_(array.*shared_part(InArray{})),
        data_(array.data_shared_ptr()),
        memory_(const_cast<uint8_t*>(array.data<uint8_t>())),
        bytes_(array.nbytes()),
        is_number_(mlx::core::issubdtype(array.dtype(), mlx::core::inexact)) {}

  // All bits set are NaN in every floating type, and no index into anything as an integer.
  void poison() const {
    if (const auto alive = data_.lock()) std::memset(memory_, is_number_ ? 0xff : 0, bytes_);
  }

  bool alive() const { return !data_.expired(); }
  bool has(const void* address) const {
    const auto* at = static_cast<const uint8_t*>(address);
    return memory_ <= at && at < memory_ + std::max<size_t>(bytes_, 1) && alive();
  }

  // From now on the array raises what has failed. Only when nobody else can be looking at it.
  void mark(mlx::core::Stream stream, const std::shared_ptr<const Failure>& failure) const {
    const Shared alive = shared_.lock();
    if (!alive) return;
    mlx::core::array array(0);
    array.*shared_part(InArray{}) = alive;
    array.attach_event({});
    array.set_status(mlx::core::array::unscheduled);
    // One that takes part in a transformation still knows what it is computed by.
    if (!array.has_primitive()) array.primitive_ptr() = std::make_shared<Failed>(stream, failure);
  }

 private:
  Shared::weak_type shared_;
  std::weak_ptr<mlx::core::array::Data> data_;
  uint8_t* memory_;
  size_t bytes_;
  bool is_number_;
};

class Poisoned {
 public:
  // On a stream's thread. If the program waits for this very evaluation, its arrays are marked at
  // once; others may be in use, as input of the next one, until an error reaches Python.
  void add(mlx::core::Stream stream, Failure failure, const std::vector<Output>& outputs,
           bool waited_for) {
    const auto shared = std::make_shared<const Failure>(std::move(failure));
    if (waited_for) {
      for (const Output& output : outputs) output.mark(stream, shared);
    }
    std::vector<Entry> gone;  // ends without the lock: a failure may hold Python's
    std::lock_guard lock(mutex_);
    const auto dead = std::partition(entries_.begin(), entries_.end(), [](const Entry& entry) {
      return !entry.marked || entry.output.alive();
    });
    gone.assign(std::make_move_iterator(dead), std::make_move_iterator(entries_.end()));
    entries_.erase(dead, entries_.end());
    for (const Output& output : outputs) entries_.push_back({output, stream, shared, waited_for});
    any_.store(true, std::memory_order_release);
  }

  // Makes the outputs of all launches that have failed by now raise it. On a thread of Python's.
  void mark() {
    std::vector<Entry> pending;
    {
      std::lock_guard lock(mutex_);
      for (Entry& entry : entries_) {
        if (!std::exchange(entry.marked, true)) pending.push_back(entry);
      }
    }
    for (const Entry& entry : pending) entry.output.mark(entry.stream, entry.failure);
  }

  // What failed that should have written to this address; null if nothing did.
  std::shared_ptr<const Failure> behind(const void* address) {
    if (!any_.load(std::memory_order_acquire)) return nullptr;
    std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.output.has(address)) return entry.failure;
    }
    return nullptr;
  }

 private:
  struct Entry {
    Output output;
    mlx::core::Stream stream;
    std::shared_ptr<const Failure> failure;
    bool marked;
  };

  std::atomic<bool> any_{false};  // whether anything has failed ever
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

inline Poisoned& poisoned() {
  static Poisoned all;
  return all;
}

}  // namespace anymetal
