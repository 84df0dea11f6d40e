// Memory for the outputs of kernels: from MLX, which counts and frees it, and nobody has touched
// it, so that a kernel's own threads take the page faults.

#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

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

// Where loads and stores differ by a multiple of so many bytes, a processor takes a load for one of
// what an earlier store has not written yet, and lets it wait ("4K aliasing"). Kernels read and write
// arrays at the same pace, and allocators put large arrays at much the same place in a page, so it
// happens all the time if an output begins a little behind an input.
constexpr size_t alias = 4096;
constexpr size_t far_ahead = alias - 8 * line;  // reads that lie so far ahead come long after

// MLX gives freed memory to who asks for as many bytes, or for up to two of its pages less. Results
// that are so much longer do not lie where one of its operations has just written: a store past the
// caches to a line that a cache has changed is slow.
constexpr size_t unlike_others = 2 * 4096;
static_assert(unlike_others >= alias);  // there is room for every offset

// How many bytes from `memory` on a result is best off: at the beginning of a line, and nowhere near
// behind the place in a page at which a large input begins.
inline size_t apart(uintptr_t memory, const std::vector<mlx::core::array>& inputs) {
  const size_t first = (line - memory % line) % line;
  size_t best = first, widest = 0;
  for (size_t offset = first; offset < alias && widest < far_ahead; offset += line) {
    size_t ahead = far_ahead;
    for (const mlx::core::array& input : inputs) {
      if (input.nbytes() < aligned_threshold) continue;
      const auto start = reinterpret_cast<uintptr_t>(input.data<uint8_t>());
      ahead = std::min<size_t>(ahead, (memory + offset - start) % alias);
    }
    if (ahead > widest || offset == first) {
      best = offset;
      widest = ahead;
    }
  }
  return best;
}

// Gives a row-contiguous array its memory, with arbitrary contents; `inputs` are read meanwhile.
inline void allocate(mlx::core::array& result, const std::vector<mlx::core::array>& inputs = {}) {
  const size_t bytes = result.nbytes();
  const size_t spare = bytes < aligned_threshold ? 0 : unlike_others;
  mlx::core::allocator::Data data = mlx::core::allocator::malloc(bytes + spare);
  void* memory = data.buffer().raw_ptr();
  if (memory == nullptr && bytes != 0) throw std::bad_alloc();
  if (bytes >= huge_page_threshold) prefer_huge_pages(memory, bytes);
  result.set_data(std::move(data));
  const size_t offset = spare ? apart(reinterpret_cast<uintptr_t>(memory), inputs) : 0;
  if (offset && offset % result.itemsize() == 0) {
    const mlx::core::array whole = result;
    result.copy_shared_buffer(whole, whole.strides(), whole.flags(), whole.data_size(),
                              static_cast<int64_t>(offset / result.itemsize()));
  }
}

}  // namespace anymetal
