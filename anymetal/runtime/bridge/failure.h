// Errors on their way from an evaluation to Python.
//
// While it evaluates, MLX runs C++ that it did not throw from: on the thread that called mx.eval,
// where compiling may raise a Python exception, and on the thread of a stream, where a kernel may
// end badly. Of the second kind MLX keeps only the text, and throws a std::runtime_error with that
// text at a later evaluation: once for each stream that waited for the kernel. So the text holds a
// number under which the failure is kept here.

#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "launch.h"

namespace anymetal {

// A line of the user's program.
struct Location {
  std::string file;
  int line;
  std::string function;
};
using LocationPtr = std::shared_ptr<const Location>;

// Of which kernel an error is, and where that was called and made; null where nobody knows.
struct Origin {
  std::string kernel;
  LocationPtr called, made;
};

// How a launch ended that did not end well; the fields are those of `Call`.
struct Failure {
  Origin origin;
  int32_t status;
  int32_t signal;
  uint64_t address;
  // Throws what to raise instead, if there is more to say. The GIL must be held.
  std::function<void()> refuse;
};

class Failures {
 public:
  // The error to throw on a stream's thread.
  std::runtime_error add(Failure failure) {
    std::map<uint64_t, Failure>::node_type oldest;  // ends without the lock: it may hold Python's
    std::lock_guard lock(mutex_);
    const uint64_t number = next_++;
    if (kept_.size() >= most) oldest = kept_.extract(kept_.begin());
    std::string text = "kernel `" + failure.origin.kernel + "` failed";
    text.append(mark).append(std::to_string(number)).append(")");
    kept_.emplace(number, std::move(failure));
    return std::runtime_error(text);
  }

  // The failure behind the text of an exception; nothing if it is not one of ours.
  std::optional<Failure> find(std::string_view text) {
    const size_t at = text.rfind(mark);
    if (at == std::string_view::npos) return std::nullopt;
    std::lock_guard lock(mutex_);
    auto found = kept_.find(std::strtoull(text.data() + at + mark.size(), nullptr, 10));
    if (found == kept_.end()) return std::nullopt;
    return found->second;
  }

 private:
  static constexpr std::string_view mark = " (AnyMetal failure ";
  static constexpr size_t most = 1024;

  std::mutex mutex_;
  std::map<uint64_t, Failure> kept_;
  uint64_t next_ = 1;
};

inline Failures& failures() {
  static Failures all;
  return all;
}

}  // namespace anymetal
