// What a stream's thread has to ask of Python.
//
// Whoever holds the GIL may be waiting for that very stream: mx.synchronize does. So the stream's
// thread does not wait for the GIL. Another thread does, and runs the callback when it has the GIL,
// perhaps after the stream's thread has stopped waiting for that.

#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "python.h"

namespace anymetal {

constexpr auto longest_wait_for_python = std::chrono::seconds(2);

struct PythonCallback {
  std::mutex mutex;
  std::condition_variable changed;
  bool begun = false, done = false;
  std::exception_ptr error;

  void set(bool PythonCallback::* what) {
    std::lock_guard lock(mutex);
    this->*what = true;
    changed.notify_all();
  }
};

// Whether the work was begun in time; then it is done by now, and what it threw is thrown here. Else
// it will be done; nothing that it refers to may be of the caller's.
inline bool ask_python(std::function<void()> work) {
  const auto callback = std::make_shared<PythonCallback>();
  std::thread([callback, work = std::move(work)]() mutable {
    {
      const Holding gil;
      outliving_python([&] {
        callback->set(&PythonCallback::begun);
        try {
          work();
        } catch (const std::exception&) {
          callback->error = std::current_exception();
        }
        work = nullptr;
      });
    }
    callback->set(&PythonCallback::done);
  }).detach();
  std::unique_lock lock(callback->mutex);
  const auto begun = [&] { return callback->begun; };
  if (!callback->changed.wait_for(lock, longest_wait_for_python, begun)) return false;
  callback->changed.wait(lock, [&] { return callback->done; });
  if (callback->error) std::rethrow_exception(callback->error);
  return true;
}

// The same, when there is time for it; nobody waits, or learns how it ended.
inline void tell_python(std::function<void()> work) {
  std::thread([work = std::move(work)]() mutable {
    const Holding gil;
    outliving_python([&] {
      try {
        work();
      } catch (const std::exception&) {
      }
      work = nullptr;
    });
  }).detach();
}

}  // namespace anymetal
