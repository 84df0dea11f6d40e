// Memory for the outputs of kernels: from MLX, which counts and frees it, and nobody has touched
// it, so that a kernel's own threads take the page faults.

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

// Gives a row-contiguous array its memory, with arbitrary contents.
inline void allocate(mlx::core::array& result) {
  const size_t bytes = result.nbytes();
  const size_t spare = bytes >= aligned_threshold ? line : 0;
  mlx::core::allocator::Data data = mlx::core::allocator::malloc(bytes + spare);
  void* memory = data.buffer().raw_ptr();
  if (memory == nullptr && bytes != 0) throw std::bad_alloc();
  if (bytes >= huge_page_threshold) prefer_huge_pages(memory, bytes);
  result.set_data(std::move(data));
  const size_t unaligned = reinterpret_cast<uintptr_t>(memory) % line;
  if (spare && unaligned && unaligned % result.itemsize() == 0) {
    const auto offset = static_cast<int64_t>((line - unaligned) / result.itemsize());
    const mlx::core::array whole = result;
    result.copy_shared_buffer(
        whole, whole.strides(), whole.flags(), whole.data_size(), offset);
  }
}

}  // namespace anymetal
