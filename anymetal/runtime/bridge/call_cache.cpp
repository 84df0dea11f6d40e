// The cache of calls: those like earlier ones become nodes of the graph without asking Python anything.
//
// Programs call a kernel with the same shapes, types and grid again and again. What such calls come
// to is kept beside their arguments, and a call whose arguments are the same finds it there.
//
// Other threads, signal handlers and destructors may call the same kernel whenever Python code runs
// or might run: where a function of Python is called, an object of Python is made, or the last
// reference to one is dropped. So there are two rules. What is looked up is compared without running
// Python: names by identity, values only where both are of the same exact type of Python's or MLX's
// own, whose comparison is C. And whoever has found something holds it, with the inputs that it was
// found for, before Python may run again. (A Python without a
// GIL takes one for us, since this module does not say it needs none.)

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "calls.h"
#include "locations.h"
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
         PyFloat_CheckExact(object) || PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) ||
         is<mx::Dtype>(object) || is<mx::Stream>(object) || is<mx::ThreadLocalStream>(object) || is<mx::Device>(object) ||
         nb::isinstance<mx::Device::DeviceType>(object);
}

nb::object frozen(nb::handle given);

// Nobody else has the copy. Keys are names or numbers.
nb::object frozen_dictionary(nb::handle given) {
  nb::dict items;
  for (const auto& [key, item] : nb::borrow<nb::dict>(given)) {
    const nb::object value = frozen(item);
    if (!is_immutable(key.ptr()) || !value.is_valid()) return {};
    items[key] = value;
  }
  return items;
}

// The argument such that nobody can change it: sequences become tuples. Null if it may hold what is
// not as plain as that.
nb::object frozen(nb::handle given) {
  if (is_immutable(given.ptr())) return nb::borrow(given);
  if (PyDict_CheckExact(given.ptr())) return frozen_dictionary(given);
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

bool same(PyObject* given, PyObject* known);

// Their items in the same order.
bool same_dictionary(PyObject* given, PyObject* known) {
  if (!PyDict_CheckExact(given) || PyDict_GET_SIZE(given) != PyDict_GET_SIZE(known)) return false;
  PyObject *key, *value, *known_key, *known_value;
  for (Py_ssize_t at = 0, known_at = 0; PyDict_Next(known, &known_at, &known_key, &known_value);) {
    if (!PyDict_Next(given, &at, &key, &value)) return false;
    if (!same(key, known_key) || !same(value, known_value)) return false;
  }
  return true;
}

// Whether an argument means what the frozen one means: of equal value and of the same type, so that
// what would be refused is not the same as what was accepted. Runs no Python: a list may be changed
// by others later, but not meanwhile.
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
  if (PyDict_CheckExact(known)) return same_dictionary(given, known);
  if (Py_TYPE(given) != Py_TYPE(known)) return false;
  if (PyLong_CheckExact(known) || PyUnicode_CheckExact(known) || PyBytes_CheckExact(known)) {
    return PyObject_RichCompareBool(given, known, Py_EQ) == 1;
  }
  if (PyFloat_CheckExact(known)) {  // -0 is not 0
    return std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(given)) ==
           std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(known));
  }
  return is<mx::Dtype>(known) && in<mx::Dtype>(given) == in<mx::Dtype>(known);
}

// What MLX makes of a plain number; nothing if it is none, or too large.
std::optional<mx::array> array_of(PyObject* number) {
  if (PyBool_Check(number)) return mx::array(number == Py_True);
  if (PyFloat_CheckExact(number)) return mx::array(static_cast<float>(PyFloat_AS_DOUBLE(number)));
  if (!PyLong_CheckExact(number)) return std::nullopt;
  int overflow;
  const int64_t value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow) return std::nullopt;
  if (value == static_cast<int32_t>(value)) return mx::array(static_cast<int32_t>(value));
  return mx::array(value);
}

// A call that is looked up, as it is now: a list of inputs may have others in a moment. All but the
// inputs is borrowed, for as long as no Python runs.
class Lookup {
 public:
  struct Given {
    PyObject *name, *value;
  };

  // Arrays among the positional arguments are inputs; others have their positions for names. Nothing
  // if the inputs are not plainly arrays and numbers, or there are more arguments than any call has.
  static std::optional<Lookup> of(PyObject* positional, PyObject* call) {
    static PyObject* const inputs = PyUnicode_InternFromString("inputs");
    std::optional<Lookup> found{std::in_place};  // where it is returned: it is large
    Lookup& made = *found;
    Given given;
    bool complete = PyTuple_GET_SIZE(positional) != 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(positional); ++i) {
      PyObject* const value = PyTuple_GET_ITEM(positional, i);
      if (is<mx::array>(value)) {
        made.inputs.push_back(in<mx::array>(value));
      } else if (made.count_ < most) {
        made.given_[made.count_++] = {position(i), value};
      } else {
        found.reset();
        return found;
      }
    }
    for (Py_ssize_t at = 0; PyDict_Next(call, &at, &given.name, &given.value);) {
      if (given.name == inputs) {
        complete = made.take_inputs(given.value);
      } else if (made.count_ < most) {
        made.given_[made.count_++] = given;
      } else {
        found.reset();
        return found;
      }
    }
    if (!complete) found.reset();
    return found;
  }

  const Given* begin() const { return given_; }
  const Given* end() const { return given_ + count_; }

  std::vector<mx::array> inputs;

  Lookup() {}  // leaves `given_` as it is

 private:
  bool take_inputs(PyObject* sequence) {
    if (!is_sequence(sequence)) return false;
    PyObject** const items = PySequence_Fast_ITEMS(sequence);
    inputs.reserve(PySequence_Fast_GET_SIZE(sequence));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); ++i) {
      if (is<mx::array>(items[i])) {
        inputs.push_back(in<mx::array>(items[i]));
      } else if (auto number = array_of(items[i])) {
        inputs.push_back(std::move(*number));
      } else {
        return false;
      }
    }
    return true;
  }

  // Python has one object for each small number, as it has for each name in a program.
  static PyObject* position(Py_ssize_t number) {
    PyObject* const object = PyLong_FromSsize_t(number);
    Py_DECREF(object);
    return object;
  }

  static constexpr size_t most = 36;  // a kernel of a library has up to 31 buffers
  Given given_[most];
  size_t count_ = 0;
};

// ---- One call

struct Argument {
  nb::object name, value;
};

// Whether an argument could have been left out.
bool is_default(PyObject* name, PyObject* value, PyObject* defaults) {
  return PyUnicode_CheckExact(name) && PyDict_GetItemWithError(defaults, name) == value;
}

struct Input {
  mx::Shape shape;
  mx::Dtype dtype;

  bool fits(const mx::array& given) const {
    return given.dtype() == dtype && given.shape() == shape;
  }
};

// What a launch has for an input: one of the call's, or what a number of the call became.
struct Bound {
  size_t given;
  std::optional<mx::array> constant;
};

// Where a launch has its inputs from; nothing if an array was given twice, which one call does and
// the next may not.
std::optional<std::vector<Bound>> bound_of(const std::vector<mx::array>& given,
                                           const std::vector<mx::array>& bound) {
  std::vector<Bound> all;
  for (const mx::array& one : bound) {
    const auto is_it = [&](const mx::array& other) { return other.id() == one.id(); };
    const auto found = std::find_if(given.begin(), given.end(), is_it);
    if (found == given.end()) {
      all.push_back({0, one});
    } else if (std::count_if(found, given.end(), is_it) == 1) {
      all.push_back({static_cast<size_t>(found - given.begin()), std::nullopt});
    } else {
      return std::nullopt;
    }
  }
  return all;
}

class KnownCall {
 public:
  // `bound` is empty if a launch has the inputs of the call as they are.
  KnownCall(std::vector<Argument> arguments, std::vector<Input> inputs, std::vector<Bound> bound,
            nb::object stream, DescriptorHandle descriptor)
      : arguments_(std::move(arguments)),
        inputs_(std::move(inputs)),
        bound_(std::move(bound)),
        stream_(std::move(stream)),
        descriptor_(std::move(descriptor)) {}

  // Names are compared by identity, since those in a program's text are interned.
  bool is_like(const Lookup& call, PyObject* defaults) const {
    if (call.inputs.size() != inputs_.size()) return false;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].fits(call.inputs[i])) return false;
    }
    size_t found = 0;
    for (const auto& [name, value] : call) {
      if (const Argument* known = argument(name, found)) {
        if (!same(value, known->value.ptr())) return false;
        ++found;
      } else if (!is_default(name, value, defaults)) {
        return false;
      }
    }
    return found == arguments_.size();
  }

  // The outputs; None if it is up to MLX to record the kernel.
  nb::object outputs(std::vector<mx::array> inputs, int32_t ignored_interrupts) const {
    if (exported(inputs)) return nb::none();
    const auto device = descriptor_.device();
    if (device == mx::Device::gpu && stream_.is_none() && mx::default_device() != device) {
      return nb::none();
    }
    if (!bound_.empty()) {
      std::vector<mx::array> arrays;
      arrays.reserve(bound_.size());
      for (const auto& [given, constant] : bound_) {
        arrays.push_back(constant ? *constant : inputs[given]);
      }
      inputs = std::move(arrays);
    }
    return nb::cast(
        node(stream_of(stream_, device), descriptor_.descriptor, ignored_interrupts,
             callers().current(), std::move(inputs)));
  }

 private:
  // The argument of this name, which is `guess` if calls name them in the same order.
  const Argument* argument(PyObject* name, size_t guess) const {
    if (guess < arguments_.size() && arguments_[guess].name.is(name)) return &arguments_[guess];
    for (const Argument& argument : arguments_) {
      if (argument.name.is(name)) return &argument;
    }
    return nullptr;
  }

  const std::vector<Argument> arguments_;  // without inputs and those that have their defaults
  const std::vector<Input> inputs_;
  const std::vector<Bound> bound_;
  const nb::object stream_;
  const DescriptorHandle descriptor_;
};

// ---- All calls of a kernel

class CallCache {
 public:
  // `defaults` of arguments that a call may leave out.
  CallCache(nb::dict defaults, nb::callable ignored_interrupts)
      : defaults_(std::move(defaults)), ignored_interrupts_(std::move(ignored_interrupts)) {}
  CallCache(const CallCache&) = delete;

  // The outputs of a call, given as its arguments; None if it is not like one that was kept.
  nb::object outputs(const nb::tuple& positional, const nb::dict& call) {
    auto wanted = Lookup::of(positional.ptr(), call.ptr());
    if (!wanted) return nb::none();
    const auto found = find(*wanted);
    if (found == known_.end()) return nb::none();
    std::rotate(known_.begin(), found, found + 1);
    const Known known = known_.front();
    // From here on Python may run, and `known_` and the list of inputs may be others.
    const auto ignored = outliving_python([&] { return nb::cast<int32_t>(ignored_interrupts_()); });
    return known->outputs(std::move(wanted->inputs), ignored);
  }

  // Keeps what a call came to, unless there is something about its arguments that must be looked at
  // each time. Nobody else may have what is in these: it is what the descriptor was made of. `inputs`
  // are those of the launch, which are others than the call's if it has positional arguments.
  void keep(const nb::tuple& positional, const nb::dict& call, const DescriptorHandle& descriptor,
            const std::vector<mx::array>& inputs) {
    const auto wanted = Lookup::of(positional.ptr(), call.ptr());
    if (!wanted) return;
    std::vector<Bound> bound;
    if (positional.size() != 0) {
      auto all = bound_of(wanted->inputs, inputs);
      if (!all) return;
      bound = std::move(*all);
    }
    std::vector<Input> expected;
    for (const mx::array& input : wanted->inputs) expected.push_back({input.shape(), input.dtype()});
    std::vector<Argument> arguments;
    nb::object stream = nb::none();
    for (const auto& [name, value] : *wanted) {  // all of it lives in `call`, which is the caller's
      if (is_default(name, value, defaults_.ptr())) continue;
      nb::object kept = frozen(value);
      if (!kept.is_valid()) return;
      arguments.push_back({nb::borrow(name), kept});
      if (PyUnicode_CheckExact(name) && nb::cast<std::string_view>(nb::handle(name)) == "stream") {
        stream = kept;
      }
    }
    Known known =
        std::make_shared<const KnownCall>(std::move(arguments), std::move(expected),
                                          std::move(bound), std::move(stream), descriptor);
    // What has to go does so at the end of this function, since that may run Python.
    Known like_it, oldest;
    const auto found = find(*wanted);
    if (found != known_.end()) {
      like_it = std::move(*found);
      known_.erase(found);
    } else if (known_.size() == most) {
      oldest = std::move(known_.back());
      known_.pop_back();
    }
    known_.insert(known_.begin(), std::move(known));
  }

 private:
  using Known = std::shared_ptr<const KnownCall>;
  static constexpr size_t most = 16;

  // Runs no Python, so that what it returns holds until the caller does.
  std::vector<Known>::iterator find(const Lookup& call) {
    return std::find_if(known_.begin(), known_.end(),
                        [&](const Known& known) { return known->is_like(call, defaults_.ptr()); });
  }

  const nb::dict defaults_;
  const nb::callable ignored_interrupts_;
  std::vector<Known> known_;  // the latest first
};

}  // namespace

void define_call_cache(nb::module_& module) {
  nb::class_<CallCache>(module, "CallCache", "Calls of a kernel, and what they came to.")
      .def(nb::init<nb::dict, nb::callable>(), nb::arg("defaults"), nb::arg("ignored_interrupts"))
      .def("__call__", &CallCache::outputs, nb::arg("positional"), nb::arg("call"))
      .def("keep", &CallCache::keep, nb::arg("positional"), nb::arg("call"), nb::arg("descriptor"),
           nb::arg("inputs"));
}

}  // namespace anymetal
