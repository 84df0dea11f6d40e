// The bridge as a Python module. It shares MLX's nanobind domain: an `mlx::core::array` that goes
// in or out here is the same `mlx.core.array` as everywhere else.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "adopt.h"
#include "errand.h"
#include "failure.h"
#include "spoiled.h"
#include "python.h"

namespace nb = nanobind;
namespace mx = mlx::core;
using namespace anymetal;

namespace {

// ---- Errors

// Makes a Python exception of a `Failure`: set by Python once, kept until the process ends.
PyObject* exception_maker = nullptr;

void raise(const Failure& failure) {
  nb::object made = nb::borrow(exception_maker)(failure.kernel, failure.status, failure.signal,
                                                failure.address);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

// Called for whatever C++ throws in MLX or here; what is not handled goes to the next translator.
// Runs Python, on copies of what belongs to all: `failures` is unlocked by then.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Raised& raised) {
    raised.error->restore();
  } catch (const std::runtime_error& error) {
    const std::optional<Failure> failure = failures().find(error.what());
    if (!failure) throw;
    spoiled().mark();
    try {
      if (failure->refuse) failure->refuse();
      raise(*failure);
    } catch (const Raised& raised) {  // perhaps not for the last time
      PyErr_SetObject(raised.error->type().ptr(), raised.error->value().ptr());
    } catch (nb::python_error& instead) {  // Ctrl-C raises where the exception is made
      instead.restore();
    }
  }
}

// ---- Plans

template <size_t N>
void copy_numbers(const nb::handle& numbers, uint32_t (&to)[N]) {
  for (size_t i = 0; i < N; ++i) to[i] = nb::cast<uint32_t>(numbers[i]);
}

// Calls the `report` of a `Recipe` (targets/cpu/faults.py), which raises what is `refused`.
void tell(const nb::object& report, const Noted& noted, bool refused) {
  nb::list arrays;
  for (const Shaped& array : noted.arrays) {
    nb::list shape;
    for (int64_t extent : array.shape) shape.append(extent);
    arrays.append(nb::make_tuple(nb::tuple(shape), array.itemsize));
  }
  raising([&] {
    report(reinterpret_cast<uintptr_t>(&noted.strays),
           reinterpret_cast<uintptr_t>(noted.extents.data()), arrays, refused);
  });
}

// What `Recipe` in targets/cpu/graph.py lists.
std::unique_ptr<const Program> program_of(const nb::object& given) {
  auto program = std::make_unique<Program>();
  program->call = {};
  const auto number = [&](const char* name) { return nb::cast<uint64_t>(given.attr(name)); };
  program->run = reinterpret_cast<Run*>(number("run"));
  program->watch = reinterpret_cast<Watch*>(number("watch"));
  const nb::object code = given.attr("code");
  program->code.open(nb::cast<std::string>(code.attr("path")));
  program->call.entry = reinterpret_cast<Entry*>(nb::cast<uint64_t>(code.attr("entry")));
  copy_numbers(given.attr("grid"), program->call.launch.grid);
  copy_numbers(given.attr("group"), program->call.launch.group);
  copy_numbers(given.attr("groups"), program->call.launch.groups);
  program->call.groups = number("total_groups");
  program->call.ordered = nb::cast<bool>(given.attr("ordered"));
  program->buffers = number("buffers");
  program->slots = nb::cast<std::vector<size_t>>(given.attr("slots"));
  program->covered = nb::cast<std::vector<uint64_t>>(given.attr("covered"));
  for (nb::handle info : given.attr("infos")) {
    program->infos.push_back({static_cast<Info::Kind>(nb::cast<int32_t>(info[0])),
                              nb::cast<size_t>(info[1]), nb::cast<size_t>(info[2])});
  }
  if (const nb::object report = given.attr("report"); !report.is_none()) {
    const auto function = shared(report);
    program->warn = [function](const Noted& noted) {
      const auto copy = std::make_shared<const Noted>(noted);  // it may be told late
      ask_python([=] { tell(*function, *copy, false); });
    };
    program->refuse = [function](const Noted& noted) { tell(*function, noted, true); };
  }
  return program;
}

Plan::Compile compile_by(std::shared_ptr<nb::object> function) {
  return [function]() -> std::unique_ptr<const Program> {
    const Holding gil;
    return outliving_python([&]() -> std::unique_ptr<const Program> {
      return raising([&]() -> std::unique_ptr<const Program> {
        const auto given = shared((*function)());  // whose end may run code of Python
        return given->is_none() ? nullptr : program_of(*given);
      });
    });
  };
}

// `check` makes the checked build, for a stream's thread.
PlanHandle make_plan(const std::string& kernel, nb::callable compile, nb::object check) {
  const Plan::Compile checked = compile_by(shared(std::move(check)));
  return {std::make_shared<Plan>(kernel, compile_by(shared(std::move(compile))), [checked] {
    const auto made = std::make_shared<std::unique_ptr<const Program>>();
    if (!ask_python([=] { *made = checked(); })) throw PythonIsBusy();
    return std::move(*made);
  })};
}

// ---- Graphs that were recorded elsewhere

// `maker` gets the fields of `Recorded` in imported.py. It runs Python amid the change of a graph,
// which is nobody else's yet: MLX has just made it for this function.
std::vector<mx::array> adopt_graph(std::vector<mx::array> outputs,
                                   const std::vector<mx::array>& inputs,
                                   const nb::callable& maker) {
  adopt(outputs, inputs, [&](const mx::fast::CustomKernel& kernel, uint64_t large) {
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
  module.def("plan", make_plan, nb::arg("kernel"), nb::arg("compile"),
             nb::arg("check").none() = nb::none());
  define_calls(module);
  define_recent(module);
  module.def("adopt", adopt_graph, nb::arg("outputs"), nb::arg("inputs"), nb::arg("maker"),
             "Makes a graph with kernels of MLX run on the CPU.");
  module.def("on_failure", [](nb::callable maker) { exception_maker = maker.release().ptr(); },
             nb::arg("maker"), "Who makes exceptions of launches that end badly.");
}
