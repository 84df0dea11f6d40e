// What is to be done to arrays before a kernel runs: filling outputs, and making row-contiguous
// copies of inputs. Both go through the thread pool, as kernels do, and return how that ended.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "launch.h"

namespace anymetal {

// Runs body(object, first, last) over [0, count) on the pool.
template <typename Object>
int32_t in_parallel(Run* run, const Object& object, uint64_t count,
                 void (*body)(const Object&, uint64_t, uint64_t)) {
  struct Work {
    const Object& object;
    void (*body)(const Object&, uint64_t, uint64_t);
  } work{object, body};
  void* const buffers[] = {&work};
  Call call{};
  call.entry = [](void* const* given, const am_launch*, uint64_t first, uint64_t last,
                  am_worker*) {
    const Work& mine = *static_cast<const Work*>(given[0]);
    if (first < last) mine.body(mine.object, first, last);  // the last call brings no groups
  };
  call.buffers = buffers;
  call.groups = count;
  return run(&call);
}

// An array to be filled with one value.
struct Fill {
  size_t output;  // its number
  uint8_t* memory;
  uint64_t bytes;
  uint32_t itemsize;
  std::array<uint8_t, 16> value;

  // Without a pool all is done here.
  int32_t operator()(Run* run) const {
    const uint64_t chunks = (bytes + chunk - 1) / chunk;
    if (run && chunks > 1) return in_parallel(run, *this, chunks, some);
    some(*this, 0, chunks);
    return OK;
  }

 private:
  static constexpr uint64_t chunk = uint64_t{1} << 18;  // a multiple of every item size

  // No cache holds larger arrays, so they are written past them: lines need not be read first.
  static constexpr uint64_t past_caches = uint64_t{16} << 20;
  static constexpr size_t line = 64;

  static void some(const Fill& fill, uint64_t first, uint64_t last) {
    uint8_t* const start = fill.memory + first * chunk;
    const uint64_t bytes = std::min(fill.bytes, last * chunk) - first * chunk;
    const uint8_t *value = fill.value.data(), *end = value + fill.itemsize;
    if (fill.bytes > past_caches && reinterpret_cast<uintptr_t>(start) % line == 0) {
      stream(start, bytes, fill);
    } else if (std::all_of(value, end, [=](uint8_t b) { return b == *value; })) {
      std::memset(start, value[0], bytes);
    } else {
      repeat(start, bytes, fill);
    }
  }

  // The first item by hand, then twice as much each time, while it stays in the first cache.
  static void repeat(uint8_t* start, uint64_t bytes, const Fill& fill) {
    uint64_t done = std::min<uint64_t>(fill.itemsize, bytes);
    std::memcpy(start, fill.value.data(), done);
    while (done < bytes) {
      const uint64_t more = std::min({done, bytes - done, uint64_t{4096}});
      std::memcpy(start + done, start, more);
      done += more;
    }
  }

  static void stream(uint8_t* start, uint64_t bytes, const Fill& fill) {
    const uint64_t whole = bytes / line * line;
#if defined(__SSE2__)
    alignas(line) uint8_t pattern[line];
    repeat(pattern, line, fill);
    const __m128i items = _mm_load_si128(reinterpret_cast<const __m128i*>(pattern));
    for (uint64_t at = 0; at < whole; at += sizeof items) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(start + at), items);
    }
    _mm_sfence();
#else
    repeat(start, whole, fill);
#endif
    if (whole < bytes) repeat(start + whole, bytes - whole, fill);
  }
};

// A row-contiguous copy of an array with any strides.
struct Copy {
  const uint8_t* from;
  uint8_t* to;
  uint32_t itemsize;
  std::vector<int64_t> shape;    // at least one axis
  std::vector<int64_t> strides;  // in elements

  // Without a pool all is done here.
  int32_t operator()(Run* run) const {
    uint64_t rows = 1;
    for (size_t axis = 0; axis + 1 < shape.size(); ++axis) rows *= shape[axis];
    const uint64_t bytes = rows * shape.back() * itemsize;
    if (run && bytes > worth_sharing) return in_parallel(run, *this, rows, some);
    if (bytes != 0) some(*this, 0, rows);
    return OK;
  }

 private:
  static void some(const Copy& copy, uint64_t first, uint64_t last) {
    switch (copy.itemsize) {
      case 1: return rows<uint8_t>(copy, first, last);
      case 2: return rows<uint16_t>(copy, first, last);
      case 4: return rows<uint32_t>(copy, first, last);
      default: return rows<uint64_t>(copy, first, last);
    }
  }

  static constexpr uint64_t worth_sharing = uint64_t{1} << 14;

  template <typename T>
  static void rows(const Copy& copy, uint64_t first, uint64_t last) {
    const int64_t length = copy.shape.back(), stride = copy.strides.back();
    T* to = reinterpret_cast<T*>(copy.to) + first * length;
    for (uint64_t row = first; row < last; ++row) {
      const T* from = reinterpret_cast<const T*>(copy.from) + copy.start_of(row);
      if (stride == 1) {
        std::memcpy(to, from, length * sizeof(T));
        to += length;
      } else {
        for (int64_t i = 0; i < length; ++i) *to++ = from[i * stride];
      }
    }
  }

  int64_t start_of(uint64_t row) const {
    int64_t offset = 0;
    for (size_t axis = shape.size() - 1; axis-- > 0;) {
      offset += static_cast<int64_t>(row % shape[axis]) * strides[axis];
      row /= shape[axis];
    }
    return offset;
  }
};

}  // namespace anymetal
