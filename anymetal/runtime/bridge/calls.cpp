#include "calls.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "locations.h"
#include "mlx/fast.h"
#include "mlx/utils.h"
#include "python.h"

namespace nb = nanobind;
namespace mx = mlx::core;

namespace anymetal {
namespace {

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
    const Holding gil;
    nb::list named;
    for (int axis : axes) named.append(axis < 0 ? nb::none() : nb::object(nb::int_(axis)));
    return outliving_python([&] {
      try {
        const nb::object made = (*function)(inputs, named);
        return nb::cast<Mapped>(made);
      } catch (nb::python_error& error) {
        throw Raised(std::move(error));
      }
    });
  };
}

DescriptorHandle descriptor(const LazyPlanHandle& handle, const nb::list& shapes,
                      std::vector<mx::Dtype> dtypes, bool contiguous,
                      std::optional<float> init_value, nb::handle lift,
                      std::vector<int> starts, nb::handle made) {
  std::vector<mx::Shape> extents;
  extents.reserve(shapes.size());
  for (nb::handle shape : shapes) extents.push_back(shape_of(shape));
  return {std::make_shared<const LaunchDescriptor>(LaunchDescriptor{
      handle.lazy_plan, std::move(extents), std::move(dtypes), contiguous, init_value,
      lift_of(lift), std::move(starts), location_from(made)})};
}

// The text that Python makes, as bytes, when it is needed.
std::function<std::string()> text_by(nb::callable make) {
  return [function = shared(std::move(make))] {
    const Holding gil;
    return outliving_python([&] {
      return raising([&] {
        const nb::object made = (*function)();
        const auto text = nb::cast<nb::bytes>(made);
        return std::string(text.c_str(), text.size());
      });
    });
  };
}

// Python's function, which gets one that takes a text as bytes.
std::function<void(OnGpu::Taker)> telling(nb::object function) {
  return [function = shared(std::move(function))](OnGpu::Taker taker) {
    const Holding gil;
    outliving_python([&] {
      raising([&] {
        (*function)(nb::cpp_function([taker = std::move(taker)](const nb::bytes& text) {
          taker(std::string(text.c_str(), text.size()));
        }));
      });
    });
  };
}

DescriptorHandle gpu_descriptor(std::string name, const nb::bytes& text,
                                nb::callable text_for_any, std::vector<int> numbers,
                                OnGpu::Extent grid, OnGpu::Extent block,
                                std::vector<size_t> order, std::vector<mx::array> descriptions,
                                const nb::list& shapes, std::vector<mx::Dtype> dtypes,
                                std::optional<float> init_value, nb::handle lift,
                                nb::handle made, nb::object when_hot) {
  auto gpu = std::make_shared<OnGpu>();
  for (nb::handle shape : shapes) gpu->shapes.push_back(shape_of(shape));
  gpu->name = std::move(name);
  gpu->text.assign(text.c_str(), text.size());
  gpu->text_for_any = text_by(std::move(text_for_any));
  gpu->numbers = std::move(numbers);
  gpu->grid = grid;
  gpu->block = block;
  gpu->order = std::move(order);
  gpu->descriptions = std::move(descriptions);
  gpu->dtypes = std::move(dtypes);
  gpu->init_value = init_value;
  if (!when_hot.is_none()) gpu->when_hot = telling(std::move(when_hot));
  LaunchDescriptor made_of{nullptr, gpu->shapes, gpu->dtypes, true, init_value, lift_of(lift),
                           {}, location_from(made)};
  made_of.gpu = std::move(gpu);
  return {std::make_shared<const LaunchDescriptor>(std::move(made_of))};
}

// The arguments of these two are copies already, made while they were converted from Python's.
std::vector<mx::array> call(const DescriptorHandle& handle, std::vector<mx::array> inputs,
                            int32_t ignored_interrupts, nb::handle stream) {
  return node(stream_of(stream, handle.device()), handle.descriptor, ignored_interrupts,
              callers().current(), std::move(inputs));
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
  return std::any_of(arrays.begin(), arrays.end(),
                     [](const mx::array& array) { return array.is_tracer(); });
}

}  // namespace

mx::Stream stream_of(nb::handle given, mx::Device::DeviceType of) {
  if (!given.is_none()) {
    if (nb::isinstance<mx::ThreadLocalStream>(given)) {
      const mx::Stream own =
          mx::stream_from_thread_local_stream(nb::cast<mx::ThreadLocalStream>(given));
      if (own.device == of) return own;
    } else if (nb::isinstance<mx::Stream>(given)) {
      const auto own = nb::cast<mx::Stream>(given);
      if (own.device == of) return own;
    }
  }
  return mx::default_stream(of);
}

bool exported(const std::vector<mx::array>& inputs) {
  return (inputs.empty() || any_tracer(inputs)) && exporting();
}

void define_calls(nb::module_& module) {
  nb::class_<DescriptorHandle>(module, "LaunchDescriptor", "What equal calls have in common.");
  module.def("descriptor", descriptor, nb::arg("plan"), nb::arg("shapes"), nb::arg("dtypes"),
             nb::arg("contiguous"), nb::arg("init_value").none(), nb::arg("lift").none(),
             nb::arg("starts") = std::vector<int>{}, nb::arg("made").none() = nb::none());
  module.def("gpu_descriptor", gpu_descriptor, nb::arg("name"), nb::arg("text"),
             nb::arg("text_for_any"), nb::arg("numbers"), nb::arg("grid"), nb::arg("block"),
             nb::arg("order"), nb::arg("descriptions"), nb::arg("shapes"), nb::arg("dtypes"),
             nb::arg("init_value").none(), nb::arg("lift").none(),
             nb::arg("made").none() = nb::none(), nb::arg("when_hot").none() = nb::none());
  module.def("call", call, nb::arg("descriptor"), nb::arg("inputs"), nb::arg("ignored_interrupts"),
             nb::arg("stream").none(),
             "A node of the graph: arrays that are not evaluated yet.");
  module.def("exporting", exported, nb::arg("arrays"),
             "Whether a kernel of these inputs is part of an exported function.");
  module.def("traced", any_tracer, nb::arg("arrays"),
             "Whether any of the arrays takes part in a transformation.");
}

}  // namespace anymetal
