// The bridge as a Python module. It shares MLX's nanobind domain: an `mlx::core::array` that goes
// in or out here is the same `mlx.core.array` as everywhere else.

#include <nanobind/nanobind.h>

#include "memory.h"

namespace nb = nanobind;

static mlx::core::Shape shape_of(const nb::tuple& extents) {
  mlx::core::Shape shape;
  for (nb::handle extent : extents) {
    mlx::core::ShapeElem number;
    if (!nb::try_cast(extent, number) || number < 0) {
      throw nb::value_error("the extents of an array are whole numbers from 0 to 2147483647");
    }
    shape.push_back(number);
  }
  return shape;
}

NB_MODULE(extension, module) {
  module.def(
      "empty",
      [](const nb::tuple& shape, mlx::core::Dtype dtype) {
        return anymetal::empty(shape_of(shape), dtype);
      },
      nb::arg("shape"), nb::arg("dtype"), "An evaluated array with arbitrary contents.");
}
