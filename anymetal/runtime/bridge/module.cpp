// The bridge as a Python module. It shares MLX's nanobind domain: an `mlx::core::array` that goes
// in or out here is the same `mlx.core.array` as everywhere else.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string_view>

#include "callback.h"
#include "failure.h"
#include "locations.h"
#include "poisoned.h"
#include "python.h"
#include "specials.h"

namespace nb = nanobind;
namespace mx = mlx::core;
using namespace anymetal;

namespace {

// ---- Errors

// Makes a Python exception of a `Failure`: set by Python once, kept until the process ends.
PyObject* exception_maker = nullptr;

// Tells an exception where its kernel comes from (`lead_home` of locations.py), set as the one above.
PyObject* guide = nullptr;

// Sets Python's error; another one if Ctrl-C raises meanwhile.
void raise(nb::handle error, const Origin& origin) {
  try {
    nb::borrow(guide)(error, origin.kernel, location_object(origin.called),
                      location_object(origin.made));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  } catch (nb::python_error& instead) {
    instead.restore();
  }
}

nb::object exception_of(const Failure& failure) {
  return nb::borrow(exception_maker)(failure.origin.kernel, failure.status, failure.signal,
                                     failure.address);
}

// Called for whatever C++ throws in MLX or here; what is not handled goes to the next translator.
// Runs Python, on copies of what belongs to all: `failures` is unlocked by then.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Raised& raised) {
    if (!raised.origin) return raised.error->restore();
    raise(raised.error->value(), *raised.origin);
  } catch (const std::runtime_error& error) {
    const std::optional<Failure> failure = failures().find(error.what());
    if (!failure) throw;
    poisoned().mark();
    try {
      if (failure->refuse) failure->refuse();
      raise(exception_of(*failure), failure->origin);
    } catch (const Raised& raised) {  // perhaps not for the last time
      raise(raised.error->value(), failure->origin);
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

// Calls `Report.at` of targets/cpu/faults.py, which raises what is `refused`.
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

Info::Kind info_kind(std::string_view name) {
  if (name == "shape") return Info::shape;
  if (name == "strides") return Info::strides;
  if (name == "ndim") return Info::ndim;
  if (name == "size") return Info::size;
  throw std::logic_error("no kind of parameter: " + std::string(name));
}

void open_code(const nb::handle& code, Library& library, Entry*& entry) {
  // As the file system has it: not all names are UTF-8, and not all locales know that.
  PyObject* path = PyUnicode_EncodeFSDefault(nb::object(code.attr("path")).ptr());
  if (path == nullptr) throw nb::python_error();
  library.open(nb::steal<nb::bytes>(path).c_str());
  entry = reinterpret_cast<Entry*>(nb::cast<uint64_t>(code.attr("entry")));
}

// Special versions, which a method of targets/cpu/specialisation.py makes of (slot, bytes).
std::shared_ptr<Specials> specials_of(const nb::object& plan) {
  const nb::object given = plan.attr("specialisation");
  if (given.is_none()) return nullptr;
  const auto make = shared(given.attr("code_for")), covered = shared(given.attr("covered"));
  return std::make_shared<Specials>(
      nb::cast<std::vector<size_t>>(given.attr("slots")), nb::cast<double>(given.attr("hot")),
      [make, covered](const Specials::Contents& contents) -> std::unique_ptr<const Special> {
        return raising([&]() -> std::unique_ptr<const Special> {
          nb::list list;
          for (const Content& each : contents) {
            list.append(nb::make_tuple(each.slot, nb::bytes(each.bytes.data(), each.bytes.size())));
          }
          const nb::object code = (*make)(list);
          if (code.is_none()) return nullptr;
          auto special = std::make_unique<Special>();
          special->contents = contents;
          open_code(code, special->code, special->entry);
          special->covered = nb::cast<std::vector<uint64_t>>((*covered)(code));
          return special;
        });
      });
}

// A `Plan` of targets/cpu/plan.py as C++ has it.
std::unique_ptr<const Plan> plan_from(const nb::object& given) {
  auto plan = std::make_unique<Plan>();
  plan->call = {};
  const auto number = [&](const char* name) { return nb::cast<uint64_t>(given.attr(name)); };
  const nb::object pool = given.attr("pool").attr("native");
  plan->run = reinterpret_cast<Run*>(nb::cast<uint64_t>(pool[0]));
  plan->watch = reinterpret_cast<Watch*>(nb::cast<uint64_t>(pool[1]));
  plan->companions = reinterpret_cast<const Companions*>(nb::cast<uint64_t>(pool[2]));
  open_code(given.attr("code"), plan->code, plan->call.entry);
  copy_numbers(given.attr("grid"), plan->call.launch.grid);
  copy_numbers(given.attr("group"), plan->call.launch.group);
  copy_numbers(given.attr("groups"), plan->call.launch.groups);
  plan->call.groups = number("total_groups");
  plan->call.ordered = nb::cast<bool>(given.attr("ordered"));
  plan->buffers = plan->call.arrays = number("buffers");
  plan->slots = nb::cast<std::vector<size_t>>(given.attr("slots"));
  plan->covered = nb::cast<std::vector<uint64_t>>(given.attr("covered"));
  for (nb::handle info : given.attr("infos")) {
    const nb::object parameter = info[1];
    plan->infos.push_back({info_kind(nb::cast<std::string>(parameter.attr("kind"))),
                           nb::cast<size_t>(parameter.attr("argument")),
                           nb::cast<size_t>(info[0])});
  }
  if (const nb::object report = given.attr("report"); !report.is_none()) {
    const auto function = shared(report.attr("at"));
    plan->warn = [function](const Noted& noted) {
      const auto copy = std::make_shared<const Noted>(noted);  // it may be told late
      ask_python([=] { tell(*function, *copy, false); });
    };
    plan->refuse = [function](const Noted& noted) { tell(*function, noted, true); };
  }
  plan->specials = specials_of(given);
  return plan;
}

LazyPlan::Compile compile_by(std::shared_ptr<nb::object> function) {
  return [function]() -> std::unique_ptr<const Plan> {
    const Holding gil;
    return outliving_python([&]() -> std::unique_ptr<const Plan> {
      return raising([&]() -> std::unique_ptr<const Plan> {
        const auto given = shared((*function)());  // whose end may run code of Python
        return given->is_none() ? nullptr : plan_from(*given);
      });
    });
  };
}

// `check` makes the checked build, for a stream's thread.
LazyPlanHandle make_lazy_plan(const std::string& kernel, nb::callable compile, nb::object check) {
  const LazyPlan::Compile checked = compile_by(shared(std::move(check)));
  return {std::make_shared<LazyPlan>(kernel, compile_by(shared(std::move(compile))), [checked] {
    const auto made = std::make_shared<std::unique_ptr<const Plan>>();
    if (!ask_python([=] { *made = checked(); })) throw PythonIsBusy();
    return std::move(*made);
  })};
}

}  // namespace

NB_MODULE(extension, module) {
  nb::register_exception_translator(translate);
  nb::class_<LazyPlanHandle>(module, "LazyPlan", "A kernel for one grid and threadgroup.");
  module.def("lazy_plan", make_lazy_plan, nb::arg("kernel"), nb::arg("compile"),
             nb::arg("check").none() = nb::none());
  define_adopt(module);
  define_calls(module);
  define_call_cache(module);
  module.def("on_failure", [](nb::callable maker) { exception_maker = maker.release().ptr(); },
             nb::arg("maker"), "Who makes exceptions of launches that end badly.");
  module.def("on_error",
             [](nb::callable new_guide, nb::object package) {
               guide = new_guide.release().ptr();
               callers().set_package(location_text(package));
             },
             nb::arg("guide"), nb::arg("package"),
             "Who tells exceptions where kernels come from: from lines outside of this folder.");
}
