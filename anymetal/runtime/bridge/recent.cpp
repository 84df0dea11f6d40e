// Calls like earlier ones: made into nodes of the graph without asking Python anything.
//
// Programs call a kernel with the same shapes, types and grid again and again. What such calls come
// to is kept beside their arguments, and a call whose arguments are the same finds it there.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "calls.h"
#include "python.h"

namespace nb = nanobind;
namespace mx = mlx::core;

namespace anymetal {
namespace {

// ---- Arguments, as values

bool is_sequence(PyObject* object) {
  return PyList_CheckExact(object) || PyTuple_CheckExact(object);
}

template <typename T>
bool is(PyObject* object) {
  static PyTypeObject* const type = reinterpret_cast<PyTypeObject*>(nb::type<T>().ptr());
  return Py_TYPE(object) == type;
}

template <typename T>
const T& in(PyObject* object) {
  return *nb::inst_ptr<T>(object);
}

bool is_immutable(PyObject* object) {
  return object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object) ||
         PyFloat_CheckExact(object) || PyUnicode_CheckExact(object) || is<mx::Dtype>(object) ||
         is<mx::Stream>(object) || is<mx::ThreadLocalStream>(object) || is<mx::Device>(object) ||
         nb::isinstance<mx::Device::DeviceType>(object);
}

// The argument such that nobody can change it: sequences become tuples. Null if it may hold what is
// not as plain as that.
nb::object frozen(nb::handle given) {
  if (is_immutable(given.ptr())) return nb::borrow(given);
  if (!is_sequence(given.ptr())) return {};
  nb::list items;
  bool as_it_is = PyTuple_CheckExact(given.ptr());
  for (nb::handle item : given) {
    const nb::object value = frozen(item);
    if (!value.is_valid()) return {};
    as_it_is = as_it_is && value.is(item);
    items.append(value);
  }
  return as_it_is ? nb::borrow(given) : nb::object(nb::tuple(items));
}

// Whether an argument means what the frozen one means: of equal value and of the same type, so that
// what would be refused is not the same as what was accepted.
bool same(PyObject* given, PyObject* known) {
  if (given == known) return true;
  if (PyTuple_CheckExact(known)) {
    if (!is_sequence(given) || PySequence_Fast_GET_SIZE(given) != PyTuple_GET_SIZE(known)) {
      return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(known); ++i) {
      if (!same(PySequence_Fast_GET_ITEM(given, i), PyTuple_GET_ITEM(known, i))) return false;
    }
    return true;
  }
  if (Py_TYPE(given) != Py_TYPE(known)) return false;
  if (PyLong_CheckExact(known) || PyUnicode_CheckExact(known)) {
    return PyObject_RichCompareBool(given, known, Py_EQ) == 1;
  }
  if (PyFloat_CheckExact(known)) {  // -0 is not 0
    return std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(given)) ==
           std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(known));
  }
  return is<mx::Dtype>(known) && in<mx::Dtype>(given) == in<mx::Dtype>(known);
}

// ---- One call

struct Argument {
  nb::object name, value;
};

struct Input {
  mx::Shape shape;
  mx::Dtype dtype;

  bool fits(PyObject* given) const {
    if (!is<mx::array>(given)) return false;
    const auto& array = in<mx::array>(given);
    return array.dtype() == dtype && array.shape() == shape;
  }
};

class KnownCall {
 public:
  KnownCall(std::vector<Argument> arguments, std::vector<Input> inputs, nb::object stream,
            OutlineHandle outline)
      : arguments_(std::move(arguments)),
        inputs_(std::move(inputs)),
        stream_(std::move(stream)),
        outline_(std::move(outline)) {}

  // `inputs` is one of the arguments.
  bool is_like(PyObject* call, PyObject* inputs, PyObject* defaults) const {
    if (static_cast<size_t>(PySequence_Fast_GET_SIZE(inputs)) != inputs_.size()) return false;
    PyObject** const given = PySequence_Fast_ITEMS(inputs);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].fits(given[i])) return false;
    }
    for (const Argument& known : arguments_) {
      PyObject* const value = PyDict_GetItemWithError(call, known.name.ptr());
      if (!value || !same(value, known.value.ptr())) return false;
    }
    const size_t others = PyDict_GET_SIZE(call) - 1 - arguments_.size();
    return others == 0 || others == count_defaults(call, defaults);
  }

  // The outputs; None if it is up to MLX to record the kernel.
  nb::object outputs(PyObject* inputs, int32_t patience) const {
    std::vector<mx::array> arrays;
    arrays.reserve(inputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      arrays.push_back(in<mx::array>(PySequence_Fast_GET_ITEM(inputs, i)));
    }
    if (exported(arrays)) return nb::none();
    return nb::cast(node(stream_of(stream_), outline_.outline, patience, std::move(arrays)));
  }

 private:
  // How many arguments were given that could have been left out.
  static size_t count_defaults(PyObject* call, PyObject* defaults) {
    size_t count = 0;
    PyObject *name, *value;
    for (Py_ssize_t at = 0; PyDict_Next(call, &at, &name, &value);) {
      count += PyDict_GetItemWithError(defaults, name) == value;
    }
    return count;
  }

  const std::vector<Argument> arguments_;  // without inputs and those that have their defaults
  const std::vector<Input> inputs_;
  const nb::object stream_;
  const OutlineHandle outline_;
};

// ---- All calls of a kernel

class RecentCalls {
 public:
  // `defaults` of arguments that a call may leave out.
  RecentCalls(nb::dict defaults, nb::callable patience)
      : defaults_(std::move(defaults)), patience_(std::move(patience)) {}
  RecentCalls(const RecentCalls&) = delete;

  // The outputs of a call, given as its keyword arguments; None if it is not like one that was kept.
  nb::object outputs(const nb::dict& call) {
    static PyObject* const name = PyUnicode_InternFromString("inputs");
    PyObject* const inputs = PyDict_GetItemWithError(call.ptr(), name);
    if (!inputs || !is_sequence(inputs)) return nb::none();
    const auto found = find(call.ptr(), inputs);
    if (found == known_.end()) return nb::none();
    std::rotate(known_.begin(), found, found + 1);
    const auto patience = outliving_python([&] { return nb::cast<int32_t>(patience_()); });
    return known_.front()->outputs(inputs, patience);
  }

  // Keeps what a call came to, unless there is something about its arguments that must be looked at
  // each time.
  void keep(const nb::dict& call, const OutlineHandle& outline) {
    const nb::object inputs = call["inputs"];
    if (!is_sequence(inputs.ptr())) return;
    std::vector<Input> expected;
    for (nb::handle input : inputs) {
      if (!is<mx::array>(input.ptr())) return;
      const auto& array = in<mx::array>(input.ptr());
      expected.push_back({array.shape(), array.dtype()});
    }
    std::vector<Argument> arguments;
    nb::object stream = nb::none();
    for (const auto& [name, value] : call) {
      if (value.is(inputs) || is_default(name, value)) continue;
      nb::object kept = frozen(value);
      if (!kept.is_valid()) return;
      arguments.push_back({nb::borrow(name), kept});
      if (nb::cast<std::string_view>(name) == "stream") stream = kept;
    }
    const auto known = find(call.ptr(), inputs.ptr());
    if (known != known_.end()) known_.erase(known);
    known_.insert(known_.begin(),
                  std::make_unique<KnownCall>(std::move(arguments), std::move(expected),
                                              std::move(stream), outline));
    if (known_.size() > most) known_.pop_back();
  }

 private:
  bool is_default(nb::handle name, nb::handle value) const {
    return PyDict_GetItemWithError(defaults_.ptr(), name.ptr()) == value.ptr();
  }

  using Known = std::vector<std::unique_ptr<KnownCall>>;
  static constexpr size_t most = 16;

  Known::iterator find(PyObject* call, PyObject* inputs) {
    return std::find_if(known_.begin(), known_.end(),
                        [&](const auto& known) { return known->is_like(call, inputs, defaults_.ptr()); });
  }

  const nb::dict defaults_;
  const nb::callable patience_;
  Known known_;  // the latest first
};

}  // namespace

void define_recent(nb::module_& module) {
  nb::class_<RecentCalls>(module, "RecentCalls", "Calls of a kernel, and what they came to.")
      .def(nb::init<nb::dict, nb::callable>(), nb::arg("defaults"), nb::arg("patience"))
      .def("__call__", &RecentCalls::outputs, nb::arg("call"))
      .def("keep", &RecentCalls::keep, nb::arg("call"), nb::arg("outline"));
}

}  // namespace anymetal
