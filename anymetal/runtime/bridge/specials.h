// Versions of a kernel for launches in which some buffers hold certain bytes: its inputs' shapes, say.
// targets/cpu/specialisation.py says which buffers, and when a version pays.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"

namespace anymetal {

// What a buffer holds.
struct Content {
  size_t slot;  // its position among the buffers
  std::string bytes;

  bool fits(const Bindings& bindings) const {
    return bindings.extent(slot).bytes == bytes.size() &&
           std::memcmp(bindings.address(slot), bytes.data(), bytes.size()) == 0;
  }
};

// A version that relies on contents.
struct Special {
  std::vector<Content> contents;
  Library code;  // of the entry
  Entry* entry;
  std::vector<uint64_t> covered;  // as in Plan

  bool fits(const Bindings& bindings) const {
    for (const Content& content : contents) {
      if (!content.fits(bindings)) return false;
    }
    return true;
  }
};

// The special versions of a plan. Launches ask on all threads, and never wait for one to be made.
class Specials {
 public:
  using Contents = std::vector<Content>;
  // Gives null where no version shall be made.
  using Make = std::function<std::unique_ptr<const Special>(const Contents&)>;

  // `slots`: of buffers whose contents a version may rely on. `hot`: a version pays when launches
  // have taken so many nanoseconds of a processor; 0 makes one before the first launch.
  Specials(std::vector<size_t> slots, double hot, Make make)
      : hot_(hot), make_(std::move(make)), slots_(std::move(slots)) {}

  // The version for a launch; null: the general one.
  const Special* fitting(const Bindings& bindings) const {
    for (const auto& each : made_) {
      const Special* const special = each.load(std::memory_order_acquire);
      if (!special) return nullptr;
      if (special->fits(bindings)) return special;
    }
    return nullptr;
  }

  bool made_at_once() const { return hot_ == 0; }

  // A launch of the general version took so long. Whether it is time to call `make`, on any thread,
  // with what `contents` is set to: the buffers that held the same in all launches since last time.
  bool is_hot(const Bindings& bindings, double nanoseconds, Contents& contents) {
    if (full_.load(std::memory_order_relaxed)) return false;
    std::lock_guard lock(mutex_);
    if (making_) return false;
    keep_what_stays(bindings);
    spent_ += nanoseconds;
    if (++launches_ < enough_launches && !made_at_once()) return false;
    if (spent_ < hot_) return false;
    making_ = true;
    contents = seen_;
    return true;
  }

  void make(const Contents& contents) {
    std::unique_ptr<const Special> special;
    try {
      special = make_(contents);
    } catch (...) {
      done(nullptr);
      throw;
    }
    done(std::move(special));
  }

  ~Specials() {
    for (const auto& each : made_) delete each.load();
  }

 private:
  static constexpr int enough_launches = 4;

  void keep_what_stays(const Bindings& bindings) {
    if (launches_ == 0) {
      seen_.clear();
      for (size_t slot : slots_) {
        seen_.push_back({slot, {static_cast<const char*>(bindings.address(slot)),
                                bindings.extent(slot).bytes}});
      }
      return;
    }
    const auto changed = [&](const Content& content) { return !content.fits(bindings); };
    seen_.erase(std::remove_if(seen_.begin(), seen_.end(), changed), seen_.end());
  }

  // The next version has to be earned by the launches that this one does not fit.
  void done(std::unique_ptr<const Special> special) {
    std::lock_guard lock(mutex_);
    making_ = false;
    launches_ = 0;
    spent_ = 0;
    if (special) made_[count_++].store(special.release(), std::memory_order_release);
    else full_ = true;
    if (count_ == made_.size()) full_ = true;
  }

  const double hot_;
  const Make make_;
  std::array<std::atomic<const Special*>, 4> made_{};
  std::atomic<bool> full_{false};  // there will be no more
  std::mutex mutex_;               // of what follows
  const std::vector<size_t> slots_;
  Contents seen_;
  double spent_ = 0;
  int launches_ = 0;
  bool making_ = false;
  size_t count_ = 0;
};

}  // namespace anymetal
