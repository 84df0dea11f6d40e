// Arrays whose memory nobody has touched yet, which MLX's Python interface cannot make.

#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "mlx/allocator.h"
#include "mlx/array.h"

namespace anymetal {

// Smaller buffers hold too few whole huge pages to be worth a system call.
constexpr size_t huge_page_threshold = size_t{4} << 20;

// Fresh memory costs a page fault per page: 16,000 for 64 MiB, or 32 with huge pages. Only advice,
// so that a refusal changes nothing but the time.
inline void prefer_huge_pages(void* memory, size_t bytes) {
  static const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (address + page - 1) / page * page;
  const uintptr_t last = (address + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

// Arrays so large begin a cache line: generated code can then write whole lines past the caches.
constexpr size_t aligned_threshold = size_t{1} << 20;
constexpr size_t line = 64;

// An evaluated array with arbitrary contents, in memory that MLX counts and frees.
inline mlx::core::array empty(mlx::core::Shape shape, mlx::core::Dtype dtype) {
  size_t bytes = dtype.size();
  for (auto extent : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(extent), &bytes)) throw std::bad_alloc();
  }
  const size_t spare = bytes >= aligned_threshold ? line : 0;
  mlx::core::allocator::Data data = mlx::core::allocator::malloc(bytes + spare);
  void* memory = data.buffer().raw_ptr();
  if (memory == nullptr && bytes != 0) throw std::bad_alloc();
  if (bytes >= huge_page_threshold) prefer_huge_pages(memory, bytes);
  mlx::core::array result(std::move(data), std::move(shape), dtype);
  const size_t unaligned = reinterpret_cast<uintptr_t>(memory) % line;
  if (spare && unaligned && unaligned % dtype.size() == 0) {
    const auto offset = static_cast<int64_t>((line - unaligned) / dtype.size());
    result.copy_shared_buffer(
        result, result.strides(), result.flags(), result.data_size(), offset);
  }
  return result;
}

}  // namespace anymetal
