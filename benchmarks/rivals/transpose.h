// Transposition of W × W floats in registers.

#pragma once

#include "vec.h"

namespace bench {

#if defined(__AVX512F__)

[[gnu::always_inline]] inline void transpose(vf (&rows)[W]) {
  __m512 a[16], b[16];
  for (int i = 0; i < 16; i += 2) {  // pairs of numbers
    a[i] = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
    a[i + 1] = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {  // fours: b[i + k] has column k of each group of four columns
    b[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(__m512d(a[i]), __m512d(a[i + 2])));
    b[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(__m512d(a[i]), __m512d(a[i + 2])));
    b[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(__m512d(a[i + 1]), __m512d(a[i + 3])));
    b[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(__m512d(a[i + 1]), __m512d(a[i + 3])));
  }
  for (int k = 0; k < 4; ++k) {  // blocks of four by four, transposed among each other
    const __m512 low0 = _mm512_shuffle_f32x4(b[k], b[4 + k], 0x88);
    const __m512 high0 = _mm512_shuffle_f32x4(b[k], b[4 + k], 0xdd);
    const __m512 low1 = _mm512_shuffle_f32x4(b[8 + k], b[12 + k], 0x88);
    const __m512 high1 = _mm512_shuffle_f32x4(b[8 + k], b[12 + k], 0xdd);
    rows[k] = _mm512_shuffle_f32x4(low0, low1, 0x88);
    rows[8 + k] = _mm512_shuffle_f32x4(low0, low1, 0xdd);
    rows[4 + k] = _mm512_shuffle_f32x4(high0, high1, 0x88);
    rows[12 + k] = _mm512_shuffle_f32x4(high0, high1, 0xdd);
  }
}

#else

[[gnu::always_inline]] inline void transpose(vf (&rows)[W]) {
  vf turned[W];
  for (int i = 0; i < W; ++i) {
    for (int j = 0; j < W; ++j) turned[i][j] = rows[j][i];
  }
  for (int i = 0; i < W; ++i) rows[i] = turned[i];
}

#endif

}  // namespace bench
