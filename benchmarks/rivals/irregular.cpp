// Addresses that are data.

#include "vec.h"

using namespace bench;

namespace {

constexpr int kMostParts = 64;

// Counts in tables of each part, `kCopies` of them in turn, so that equal neighbours do not wait for
// each other's increment.
template <class T, int kBins, int kCopies>
void histogram(const T* x, uint32_t* out, int64_t count) {
  static uint32_t tables[kMostParts][kCopies][kBins];
  const int parts = threads();
  parallel(parts, 1, [=](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      auto& table = tables[part];
      std::memset(table, 0, sizeof(table));
      constexpr int kPerWord = 8 / sizeof(T);
      const int64_t from = count / kPerWord * part / parts, to = count / kPerWord * (part + 1) / parts;
      for (int64_t i = from; i < to; ++i) {
        const uint64_t word = load<uint64_t>(x + i * kPerWord);
#pragma clang loop unroll(full)
        for (int k = 0; k < kPerWord; ++k) ++table[k % kCopies][T(word >> (8 * sizeof(T) * k))];
      }
    }
  });
  parallel(kBins, 4096, [=](int64_t first, int64_t last) {
    for (int64_t bin = first; bin < last; bin += W) {
      vu total = vu(0u);
      for (int part = 0; part < parts; ++part) {
        for (int copy = 0; copy < kCopies; ++copy) total += load<vu>(&tables[part][copy][bin]);
      }
      store(out + bin, total);
    }
  });
}

}  // namespace

extern "C" void bench_histogram_uint8(const uint8_t* x, uint32_t* out, int64_t count) {
  histogram<uint8_t, 256, 8>(x, out, count);
}

extern "C" void bench_histogram_uint16(const uint16_t* x, uint32_t* out, int64_t count) {
  histogram<uint16_t, 65536, 1>(x, out, count);
}

// Load after load: gather instructions take longer on most processors, and never less.
extern "C" void bench_gather(const float* x, const uint32_t* places, float* out, int64_t count) {
  parallel(count, 1 << 14, [=](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i += W) {
      alignas(64) float values[W];
#pragma clang loop vectorize(disable) unroll(full)
      for (int k = 0; k < W; ++k) values[k] = x[places[i + k]];
      stream(out + i, load(values));
    }
    fence();
  });
}

extern "C" void bench_scatter(const float* x, const uint32_t* places, float* out, int64_t count) {
  parallel(count, 1 << 14, [=](int64_t first, int64_t last) {
#pragma clang loop unroll_count(8)
    for (int64_t i = first; i < last; ++i) out[places[i]] = x[i];
  });
}

// Each part counts, then moves its keys by way of one cache line per digit.
extern "C" void bench_radix(const uint32_t* keys, uint32_t* out, int64_t count) {
  constexpr int kDigits = 256, kLine = 16;
  static uint32_t counts[kMostParts][kDigits];
  const int parts = threads();
  const auto digit_of = [](uint32_t key) { return key >> 8 & 255; };
  parallel(parts, 1, [=](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      uint32_t copies[4][kDigits] = {};
      const int64_t from = count / 4 * part / parts * 4, to = count / 4 * (part + 1) / parts * 4;
      for (int64_t i = from; i < to; i += 4) {
        for (int k = 0; k < 4; ++k) ++copies[k][digit_of(keys[i + k])];
      }
      for (int d = 0; d < kDigits; ++d) {
        counts[part][d] = copies[0][d] + copies[1][d] + copies[2][d] + copies[3][d];
      }
    }
  });
  uint32_t start = 0;
  for (int d = 0; d < kDigits; ++d) {
    for (int part = 0; part < parts; ++part) {
      const uint32_t here = counts[part][d];
      counts[part][d] = start;
      start += here;
    }
  }
  parallel(parts, 1, [=](int64_t first, int64_t last) {
    alignas(64) uint32_t lines[kDigits][kLine];
    for (int64_t part = first; part < last; ++part) {
      const int64_t from = count / 4 * part / parts * 4, to = count / 4 * (part + 1) / parts * 4;
      uint32_t *next = counts[part], begin[kDigits];
      std::memcpy(begin, next, sizeof(begin));
      for (int64_t i = from; i < to; ++i) {
        const uint32_t key = keys[i], d = digit_of(key), place = next[d]++;
        lines[d][place % kLine] = key;
        if (place % kLine != kLine - 1) continue;
        const uint32_t line = place - (kLine - 1);
        if (line >= begin[d]) {
          for (int k = 0; k < kLine; k += W) stream(out + line + k, load<vu>(&lines[d][k]));
        } else {
          for (uint32_t p = begin[d]; p <= place; ++p) out[p] = lines[d][p % kLine];
        }
      }
      fence();
      for (int d = 0; d < kDigits; ++d) {
        uint32_t p = next[d] / kLine * kLine;
        if (p < begin[d]) p = begin[d];
        for (; p < next[d]; ++p) out[p] = lines[d][p % kLine];
      }
    }
  });
}
