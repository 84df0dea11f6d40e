// Where in the user's program a kernel is called and made. Errors of an evaluation say so: they come
// later than the call, and elsewhere.
//
// A call has to be fast, and most come from few lines. So a line is looked up once and kept under its
// code object and instruction. The table holds the code objects, so that no other has their address.

#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "python.h"

namespace anymetal {

inline nanobind::object location_object(const LocationPtr& location) {
  if (!location) return nanobind::none();
  const auto decoded = [](const std::string& text) {
    PyObject* const made = PyUnicode_DecodeFSDefaultAndSize(
        text.data(), static_cast<Py_ssize_t>(text.size()));
    if (made == nullptr) throw nanobind::python_error();
    return nanobind::steal(made);
  };
  return nanobind::make_tuple(decoded(location->file), location->line,
                              decoded(location->function));
}

// As the file system has it: not all names are UTF-8.
inline std::string location_text(nanobind::handle text) {
  PyObject* const bytes = PyUnicode_EncodeFSDefault(text.ptr());
  if (bytes == nullptr) {
    PyErr_Clear();
    return "?";
  }
  const auto held = nanobind::steal<nanobind::bytes>(bytes);
  return {held.c_str(), held.size()};
}

// A `Location` of locations.py, or None.
inline LocationPtr location_from(nanobind::handle given) {
  if (given.is_none()) return nullptr;
  return std::make_shared<const Location>(Location{
      location_text(given[0]), nanobind::cast<int>(given[1]), location_text(given[2])});
}

// The lines that call kernels. The GIL must be held.
class Callers {
 public:
  // Code in files below this folder is never what called.
  void set_package(std::string folder) { package_ = std::move(folder); }

  // The innermost line of Python that is not the package's; null if there is none.
  LocationPtr current() {
    nanobind::object frame =
        nanobind::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
    while (frame.is_valid()) {
      auto* const raw = reinterpret_cast<PyFrameObject*>(frame.ptr());
      Kept replaced;  // ends behind the return, as that may run Python
      const Kept& kept = look_up(raw, replaced);
      if (!kept.ours) return kept.location;
      frame = nanobind::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(raw)));
    }
    return nullptr;
  }

 private:
  struct Kept {
    nanobind::object code;
    int instruction = 0;
    bool ours = false;
    LocationPtr location;
  };
  static constexpr size_t most = 256;

  const Kept& look_up(PyFrameObject* frame, Kept& replaced) {
    nanobind::object code =
        nanobind::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
    const int instruction = instruction_of(frame);
    const auto hash = (reinterpret_cast<uintptr_t>(code.ptr()) >> 4) + 31u * instruction;
    Kept& kept = kept_[hash % most];
    if (kept.code.is(code) && kept.instruction == instruction) return kept;
    replaced = find(code, instruction, PyFrame_GetLineNumber(frame));
    std::swap(kept, replaced);
    return kept;
  }

  static int instruction_of(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
    return PyFrame_GetLasti(frame);
#else
    return PyFrame_GetLineNumber(frame);
#endif
  }

  Kept find(const nanobind::object& code, int instruction, int line) const {
    std::string file = location_text(code.attr("co_filename"));
    if (file.compare(0, package_.size(), package_) == 0) return {code, instruction, true, nullptr};
#if PY_VERSION_HEX >= 0x030B0000
    const nanobind::object function = code.attr("co_qualname");
#else
    const nanobind::object function = code.attr("co_name");
#endif
    return {code, instruction, false,
            std::make_shared<const Location>(
                Location{std::move(file), line, location_text(function)})};
  }

  std::string package_ = "\n";  // begins no file's name
  std::array<Kept, most> kept_;
};

// Kept until the process ends, when there may be no Python to let code objects go.
inline Callers& callers() {
  static auto* const all = new Callers;
  return *all;
}

}  // namespace anymetal
