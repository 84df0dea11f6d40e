// <metal_compute>: barriers, and what they and the atomics say about memory.
#pragma once

// Its operators are in a namespace that only argument-dependent lookup enters (vec_operators.h says
// why no operator may be in scope by name).
namespace __am::flags {

enum class mem_flags : unsigned {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8,
  mem_object_data = 16,
};
constexpr mem_flags operator|(mem_flags a, mem_flags b) {
  return static_cast<mem_flags>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr mem_flags operator&(mem_flags a, mem_flags b) {
  return static_cast<mem_flags>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}

}  // namespace __am::flags

namespace metal {

using __am::flags::mem_flags;

enum memory_order {
  memory_order_relaxed,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst,
};

enum thread_scope {
  thread_scope_thread,
  thread_scope_simdgroup,
  thread_scope_threadgroup,
  thread_scope_device,
};

inline void threadgroup_barrier(mem_flags flags, thread_scope = thread_scope_threadgroup) {
  __am_threadgroup_barrier(static_cast<uint>(flags));
}
inline void simdgroup_barrier(mem_flags flags, thread_scope = thread_scope_simdgroup) {
  __am_simdgroup_barrier(static_cast<uint>(flags));
}

}  // namespace metal

// What the host reads of launches that kernels prepare.
struct MTLDispatchThreadgroupsIndirectArguments {
  metal::uint threadgroupsPerGrid[3];
};
struct MTLStageInRegionIndirectArguments {
  metal::uint stageInOrigin[3];
  metal::uint stageInSize[3];
};
struct MTLDrawPrimitivesIndirectArguments {
  metal::uint vertexCount, instanceCount, vertexStart, baseInstance;
};
struct MTLDrawIndexedPrimitivesIndirectArguments {
  metal::uint indexCount, instanceCount, indexStart;
  int baseVertex;
  metal::uint baseInstance;
};
