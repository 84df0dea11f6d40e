// The bridge as a Python module. It shares MLX's nanobind domain: an `mlx::core::array` that goes
// in or out here is the same `mlx.core.array` as everywhere else.

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include "adopt.h"
#include "failure.h"
#include "kernel.h"
#include "mlx/fast.h"
#include "mlx/utils.h"

namespace nb = nanobind;
namespace mx = mlx::core;
using namespace anymetal;

namespace {

// ---- Errors

// An exception of Python on its way through MLX, whose own nanobind may not know ours.
struct Raised : std::exception {
  explicit Raised(nb::python_error&& error)
      : error(std::make_shared<nb::python_error>(std::move(error))) {}
  const char* what() const noexcept override { return "an exception of Python"; }
  std::shared_ptr<nb::python_error> error;
};

// Makes a Python exception of a `Failure`: set by Python once, kept until the process ends.
PyObject* exception_maker = nullptr;

void raise(const Failure& failure) {
  nb::object made = nb::borrow(exception_maker)(failure.kernel, failure.status, failure.signal,
                                                failure.address);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

// Called for whatever C++ throws in MLX or here; what is not handled goes to the next translator.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Raised& raised) {
    raised.error->restore();
  } catch (const std::runtime_error& error) {
    const std::optional<Failure> failure = failures().find(error.what());
    if (!failure) throw;
    try {
      raise(*failure);
    } catch (nb::python_error& instead) {  // Ctrl-C raises where the exception is made
      instead.restore();
    }
  }
}

// ---- Plans

// A plan as Python holds it. Nodes of the graph share the plan, not this: they end on any thread.
struct PlanHandle {
  std::shared_ptr<Plan> plan;
};

// Python's function as one of C++ that may be let go on any thread.
std::shared_ptr<nb::object> shared(nb::object object) {
  return {new nb::object(std::move(object)), [](nb::object* held) {
            if (!nb::is_alive()) {
              held->release();
            } else {
              nb::gil_scoped_acquire gil;
              delete held;
            }
          }};
}

template <size_t N>
void copy_numbers(const nb::handle& numbers, uint32_t (&to)[N]) {
  for (size_t i = 0; i < N; ++i) to[i] = nb::cast<uint32_t>(numbers[i]);
}

// What `Recipe` in targets/cpu/graph.py lists.
std::unique_ptr<const Program> program_of(const nb::object& given) {
  auto program = std::make_unique<Program>();
  program->call = {};
  const auto number = [&](const char* name) { return nb::cast<uint64_t>(given.attr(name)); };
  program->run = reinterpret_cast<Run*>(number("run"));
  program->watch = reinterpret_cast<Watch*>(number("watch"));
  program->call.entry = reinterpret_cast<Entry*>(number("entry"));
  copy_numbers(given.attr("grid"), program->call.launch.grid);
  copy_numbers(given.attr("group"), program->call.launch.group);
  copy_numbers(given.attr("groups"), program->call.launch.groups);
  program->call.groups = number("total_groups");
  program->buffers = number("buffers");
  program->slots = nb::cast<std::vector<size_t>>(given.attr("slots"));
  for (nb::handle info : given.attr("infos")) {
    program->infos.push_back({static_cast<Info::Kind>(nb::cast<int32_t>(info[0])),
                              nb::cast<size_t>(info[1]), nb::cast<size_t>(info[2])});
  }
  return program;
}

// What evaluates on a daemon thread and needs Python. If that has ended it wants such threads to end,
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

PlanHandle make_plan(const std::string& kernel, nb::callable compile) {
  const auto function = shared(std::move(compile));
  return {std::make_shared<Plan>(kernel, [function]() -> std::unique_ptr<const Program> {
    const Holding gil;
    return outliving_python([&]() -> std::unique_ptr<const Program> {
      try {
        const nb::object given = (*function)();
        return given.is_none() ? nullptr : program_of(given);
      } catch (nb::python_error& error) {
        throw Raised(std::move(error));
      }
    });
  })};
}

// ---- Calls

// Kernels run on the CPU, whatever GPU the caller had in mind.
mx::Stream stream_of(nb::handle given) {
  if (!given.is_none()) {
    if (nb::isinstance<mx::ThreadLocalStream>(given)) {
      const mx::Stream own =
          mx::stream_from_thread_local_stream(nb::cast<mx::ThreadLocalStream>(given));
      if (own.device == mx::Device::cpu) return own;
    } else if (nb::isinstance<mx::Stream>(given)) {
      const auto own = nb::cast<mx::Stream>(given);
      if (own.device == mx::Device::cpu) return own;
    }
  }
  return mx::default_stream(mx::Device::cpu);
}

mx::Shape shape_of(nb::handle extents) {
  mx::Shape shape;
  for (nb::handle extent : extents) shape.push_back(nb::cast<mx::ShapeElem>(extent));
  return shape;
}

// Python's rule for mx.vmap: inputs and axes to outputs and axes, where None means no axis.
Lift lift_of(nb::handle given) {
  if (given.is_none()) return {};
  const auto function = shared(nb::borrow(given));
  return [function](const std::vector<mx::array>& inputs, const std::vector<int>& axes) {
    nb::gil_scoped_acquire gil;
    nb::list named;
    for (int axis : axes) named.append(axis < 0 ? nb::none() : nb::object(nb::int_(axis)));
    try {
      const nb::object made = (*function)(inputs, named);
      return nb::cast<Mapped>(made);
    } catch (nb::python_error& error) {
      throw Raised(std::move(error));
    }
  };
}

std::vector<mx::array> call(const PlanHandle& handle, const std::vector<mx::array>& inputs,
                            const nb::list& shapes, const std::vector<mx::Dtype>& dtypes,
                            bool contiguous, std::optional<float> init_value, int32_t patience,
                            nb::handle stream, nb::handle lift) {
  std::vector<mx::Shape> extents;
  extents.reserve(shapes.size());
  for (nb::handle shape : shapes) extents.push_back(shape_of(shape));
  auto primitive = std::make_shared<MetalKernel>(
      stream_of(stream), handle.plan, Outputs{extents, dtypes},
      Options{contiguous, init_value, patience, lift_of(lift)});
  return mx::array::make_arrays(std::move(extents), dtypes, std::move(primitive), inputs);
}

// Whether `mx.export_function` is tracing. MLX says so in one way only: its own kernels, which
// need a GPU, may then be called without one.
bool exporting() {
  static const mx::fast::CustomKernelFunction probe =
      mx::fast::metal_kernel("probe", {}, {"out"}, "", "");
  try {
    probe({}, {{1}}, {mx::float32}, {1, 1, 1}, {1, 1, 1}, {}, std::nullopt, false, {});
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

bool any_tracer(const std::vector<mx::array>& arrays) {
  for (const mx::array& array : arrays) {
    if (array.is_tracer()) return true;
  }
  return false;
}

// `maker` gets the fields of `Recorded` in imported.py.
std::vector<mx::array> adopt_graph(std::vector<mx::array> outputs,
                                   const std::vector<mx::array>& inputs,
                                   const nb::callable& maker) {
  adopt(outputs, inputs, [&](const mx::fast::CustomKernel& kernel, bool large) {
    const auto state = kernel.state();
    const nb::object made =
        maker(std::get<0>(state), std::get<1>(state), std::get<2>(state), std::get<3>(state),
              std::get<4>(state), static_cast<int>(std::get<10>(state)), std::get<8>(state), large);
    return nb::cast<PlanHandle>(made).plan;
  });
  return outputs;
}

}  // namespace

NB_MODULE(extension, module) {
  nb::register_exception_translator(translate);
  nb::class_<PlanHandle>(module, "Plan", "A kernel for one grid and threadgroup.");
  module.def("plan", make_plan, nb::arg("kernel"), nb::arg("compile"));
  module.def("call", call, nb::arg("plan"), nb::arg("inputs"), nb::arg("shapes"),
             nb::arg("dtypes"), nb::arg("contiguous"), nb::arg("init_value").none(),
             nb::arg("patience"), nb::arg("stream").none(), nb::arg("lift").none(),
             "A node of the graph: arrays that are not evaluated yet.");
  module.def(
      "exporting",
      [](const std::vector<mx::array>& arrays) {
        return (arrays.empty() || any_tracer(arrays)) && exporting();
      },
      nb::arg("arrays"), "Whether a kernel of these inputs is part of an exported function.");
  module.def("adopt", adopt_graph, nb::arg("outputs"), nb::arg("inputs"), nb::arg("maker"),
             "Makes a graph with kernels of MLX run on the CPU.");
  module.def("on_failure", [](nb::callable maker) { exception_maker = maker.release().ptr(); },
             nb::arg("maker"), "Who makes exceptions of launches that end badly.");
}
