// What a stream's thread has to ask of Python.
//
// Whoever holds the GIL may be waiting for that very stream: mx.synchronize does. So the stream's
// thread does not wait for the GIL. Another thread does, and runs the errand when it has the GIL,
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

struct Errand {
  std::mutex mutex;
  std::condition_variable changed;
  bool begun = false, done = false;
  std::exception_ptr error;

  void set(bool Errand::* what) {
    std::lock_guard lock(mutex);
    this->*what = true;
    changed.notify_all();
  }
};

// Whether the work was begun in time; then it is done by now, and what it threw is thrown here. Else
// it will be done; nothing that it refers to may be of the caller's.
inline bool ask_python(std::function<void()> work) {
  const auto errand = std::make_shared<Errand>();
  std::thread([errand, work = std::move(work)]() mutable {
    {
      const Holding gil;
      outliving_python([&] {
        errand->set(&Errand::begun);
        try {
          work();
        } catch (const std::exception&) {
          errand->error = std::current_exception();
        }
        work = nullptr;
      });
    }
    errand->set(&Errand::done);
  }).detach();
  std::unique_lock lock(errand->mutex);
  const auto begun = [&] { return errand->begun; };
  if (!errand->changed.wait_for(lock, longest_wait_for_python, begun)) return false;
  errand->changed.wait(lock, [&] { return errand->done; });
  if (errand->error) std::rethrow_exception(errand->error);
  return true;
}

}  // namespace anymetal
