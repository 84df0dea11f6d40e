// What the parts of the bridge share that Python sees.
//
// Which thread may have the GIL, and when. Calls come from Python with it. MLX gives it back while it
// evaluates or waits for a stream, so there C++ takes it where it calls Python: to compile (`LazyPlan`),
// for a rule of mx.vmap (`lift_of`), and to let go of what is Python's (`shared`), which may happen
// on the thread of a stream. Nobody who has the GIL waits for a stream, nor for a lock that somebody
// holds while he takes the GIL: no lock of the bridge is held while Python is called or let go.

#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <exception>
#include <memory>
#include <utility>

#include "failure.h"
#include "plan.h"

namespace anymetal {

// An exception of Python on its way through MLX, whose own nanobind may not know ours.
struct Raised : std::exception {
  explicit Raised(nanobind::python_error&& error)
      : error(std::make_shared<nanobind::python_error>(std::move(error))) {}
  const char* what() const noexcept override { return "an exception of Python"; }
  std::shared_ptr<nanobind::python_error> error;
  std::shared_ptr<const Origin> origin;  // of which kernel, if it is known
};

// What calls Python, with its exceptions as ours.
template <typename Work>
auto raising(Work work) {
  try {
    return work();
  } catch (nanobind::python_error& error) {
    throw Raised(std::move(error));
  }
}

// A plan as Python holds it. Nodes of the graph share the plan, not this: they end on any thread.
struct LazyPlanHandle {
  std::shared_ptr<LazyPlan> lazy_plan;
};

// What may run on a daemon thread and needs Python. If that has ended it wants such threads to end,
// too; on its way out this one would meet functions that let nothing pass, which ends the process
// badly. So it stays here, as it does by itself from Python 3.14 on.
template <typename Work>
auto outliving_python(Work work) {
  try {
    return work();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
}

// The GIL, for such a thread; nanobind's own guard lets nothing pass either.
class Holding {
 public:
  Holding() : state_(outliving_python(PyGILState_Ensure)) {}
  ~Holding() { PyGILState_Release(state_); }
  Holding(const Holding&) = delete;

 private:
  const PyGILState_STATE state_;
};

// Python's function as one of C++ that may be let go on any thread, also while Python ends.
inline std::shared_ptr<nanobind::object> shared(nanobind::object object) {
  return {new nanobind::object(std::move(object)), [](nanobind::object* held) {
            PyObject* const function = held->release().ptr();
            delete held;
            if (!nanobind::is_alive()) return;
            const Holding gil;
            outliving_python([=] { Py_DECREF(function); });
          }};
}

// Kernels as nodes of the graph: calls.cpp, call_cache.cpp.
void define_calls(nanobind::module_& module);
void define_call_cache(nanobind::module_& module);

// Graphs that were recorded elsewhere: adopt.cpp.
void define_adopt(nanobind::module_& module);

}  // namespace anymetal
