// Calls of kernels, as Python makes them.

#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "kernel.h"

namespace anymetal {

// What equal calls have in common, as Python holds it.
struct DescriptorHandle {
  std::shared_ptr<const LaunchDescriptor> descriptor;

  mlx::core::Device::DeviceType device() const {
    return descriptor->gpu ? mlx::core::Device::gpu : mlx::core::Device::cpu;
  }
};

// The stream that a kernel runs on which the caller wants to run on this one.
mlx::core::Stream stream_of(nanobind::handle given, mlx::core::Device::DeviceType of);

// Whether a kernel of these inputs is part of a function that `mx.export_function` traces.
bool exported(const std::vector<mlx::core::array>& inputs);

}  // namespace anymetal
