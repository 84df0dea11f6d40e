// What the parts of the bridge share that Python sees.

#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <memory>
#include <utility>

#include "plan.h"

namespace anymetal {

// An exception of Python on its way through MLX, whose own nanobind may not know ours.
struct Raised : std::exception {
  explicit Raised(nanobind::python_error&& error)
      : error(std::make_shared<nanobind::python_error>(std::move(error))) {}
  const char* what() const noexcept override { return "an exception of Python"; }
  std::shared_ptr<nanobind::python_error> error;
};

// A plan as Python holds it. Nodes of the graph share the plan, not this: they end on any thread.
struct PlanHandle {
  std::shared_ptr<Plan> plan;
};

// Python's function as one of C++ that may be let go on any thread.
inline std::shared_ptr<nanobind::object> shared(nanobind::object object) {
  return {new nanobind::object(std::move(object)), [](nanobind::object* held) {
            if (!nanobind::is_alive()) {
              held->release();
            } else {
              nanobind::gil_scoped_acquire gil;
              delete held;
            }
          }};
}

// Kernels as nodes of the graph: calls.cpp, recent.cpp.
void define_calls(nanobind::module_& module);
void define_recent(nanobind::module_& module);

}  // namespace anymetal
