// Threads that the hand-written rivals share: parked between calls, fed with chunks of a range.

#pragma once

#include <cstdint>

namespace bench {

using Body = void (*)(void* context, int64_t first, int64_t last);

void run(int64_t count, int64_t chunk, Body body, void* context);

// Calls work(first, last) for pieces of 0..count of at most `chunk` each, on all threads.
template <class Work>
void parallel(int64_t count, int64_t chunk, Work&& work) {
  run(
      count, chunk,
      [](void* context, int64_t first, int64_t last) {
        (*static_cast<Work*>(context))(first, last);
      },
      &work);
}

int threads();

}  // namespace bench
