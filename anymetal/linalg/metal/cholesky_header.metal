// What the Cholesky kernels share. They work on U = transpose(L) and keep it in strips: a strip has
// 32 columns, and its rows lie one behind the other, so that a SIMD-group reads and writes a row at
// once, a lane per column. Eight rows at a time are in registers.

// The pivot as the caller wants it: one that is not above `bounds.x` becomes `bounds.y`. NaN stays.
inline float guarded(float pivot, float2 bounds) {
    return pivot <= bounds.x ? bounds.y : pivot;
}

// x[r] -= sum over k < count of u[k][r] * mine[k]: `u` are 8 columns, the same for all lanes. The
// count is a multiple of 8; four at a time, so that their loads are under way together. SUMS of the
// sums are in registers at a time.
template <typename Columns, typename Mine>
inline void subtract_products(thread float (&x)[8], Columns u, Mine mine, uint count) {
    #pragma unroll
    for (uint row = 0; row < 8; row += SUMS) {
        float sum[SUMS] = {};
        #pragma clang loop unroll(disable)
        for (uint first = 0; first < count; first += 4) {
            #pragma unroll
            for (uint k = first; k < first + 4; ++k) {
                float factor = mine[32 * k];
                #pragma unroll
                for (uint r = 0; r < SUMS; ++r) sum[r] += u[32 * k + row + r] * factor;
            }
        }
        #pragma unroll
        for (uint r = 0; r < SUMS; ++r) x[row + r] -= sum[r];
    }
}

// 1 / sqrt(x) within one or two units in the last place, by a step of Newton's method.
inline float inverse_root(float x) {
    const float y = metal::fast::rsqrt(x);
    return metal::fma(0.5f * y, metal::fma(-x * y, y, 1.0f), y);
}

// Rows of U that begin on the diagonal, in lanes `first` and up; zero left of the diagonal. They
// are divided by their roots in the end, since the next pivot waits for the updates alone.
template <uint ROWS>
inline void factor_rows(thread float (&x)[ROWS], uint first, uint lane, float2 bounds) {
    float inverses[ROWS];
    #pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
        const float pivot = guarded(metal::simd_shuffle(x[r], first + r), bounds);
        x[r] = lane == first + r ? pivot : x[r];
        inverses[r] = inverse_root(pivot);
        const float factor = x[r] * inverses[r] * inverses[r];
        #pragma unroll
        for (uint i = r + 1; i < ROWS; ++i) {
            x[i] -= metal::simd_shuffle(x[r], first + i) * factor;
        }
    }
    #pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
        x[r] = lane < first + r ? 0 : x[r] * inverses[r];
    }
}

// Eight rows of U right of the diagonal; `u` is the 8 × 8 triangle on it.
template <typename Triangle>
inline void solve_rows(thread float (&x)[8], Triangle u) {
    #pragma unroll
    for (uint r = 0; r < 8; ++r) {
        x[r] *= 1 / u[33 * r];
        #pragma unroll
        for (uint i = r + 1; i < 8; ++i) {
            x[i] -= u[32 * r + i] * x[r];
        }
    }
}

template <uint ROWS, typename From>
inline void load_rows(thread float (&x)[ROWS], From from) {
    #pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
        x[r] = from[32 * r];
    }
}

template <uint ROWS, typename To>
inline void store_rows(thread const float (&x)[ROWS], To to) {
    #pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
        to[32 * r] = x[r];
    }
}

// Rows of a column of U's triangle in A from `first` on, those of the identity beyond its end. For L
// these lie in a row of A.
template <uint ROWS, typename Matrix>
inline void load_triangle(
    thread float (&x)[ROWS], Matrix a, uint n, uint first, uint column, bool upper
) {
    if (first + ROWS <= n && column < n) {
        #pragma unroll
        for (uint r = 0; r < ROWS; ++r) {
            x[r] = upper ? a[(first + r) * n + column] : a[column * n + first + r];
        }
    } else {
        #pragma unroll
        for (uint r = 0; r < ROWS; ++r) {
            uint row = first + r;
            x[r] = row == column ? 1 : 0;
            if (row < n && column < n) {
                x[r] = upper ? a[row * n + column] : a[column * n + row];
            }
        }
    }
}

// The number of a column on the diagonal, of a matrix whose rows are all in registers.
template <uint ROWS>
inline float diagonal_of(thread const float (&x)[ROWS], uint column) {
    float found = 0;
    #pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
        found = column == r ? x[r] : found;
    }
    return found;
}

// Row and column i of A are scaled by 2^e(i), lest small pivots lose digits by products that vanish;
// column i of U is scaled back in the end. e(i) is zero unless the diagonal is tiny, and always with
// a guard, which is about pivots as they are.
template <typename Matrix>
inline int exponent_of(Matrix a, uint n, uint i) {
    return SCALED && i < n ? diagonal_exponent(a[i * n + i]) : 0;
}

// Rows `first` to `first` + 7 of a column whose exponent is given.
template <typename Matrix>
inline void scale_rows(thread float (&x)[8], Matrix a, uint n, uint first, int exponent) {
    int exponents[8];
    bool any = exponent != 0;
    #pragma unroll
    for (uint r = 0; r < 8; ++r) {
        exponents[r] = exponent + exponent_of(a, n, first + r);
        any = any || exponents[r] != 0;
    }
    if (metal::simd_any(any)) {
        #pragma unroll
        for (uint r = 0; r < 8; ++r) {
            x[r] = scaled(x[r], exponents[r]);
        }
    }
}

// Rows `first` to `first` + 7 of a column of U's triangle in A, scaled.
template <typename Matrix>
inline void load_scaled(thread float (&x)[8], Matrix a, uint n, uint first, uint column) {
    load_triangle(x, a, n, first, column, UPPER);
    scale_rows(x, a, n, first, exponent_of(a, n, column));
}

// The same rows of a strip: out of A of `size` rows in the first step, later out of strips of as many.
template <typename From>
inline void load_strip(
    thread float (&x)[8], From from, uint size, uint first, uint strip, uint lane
) {
    if (FIRST) {
        load_scaled(x, from, size, first, 32 * strip + lane);
    } else {
        load_rows(x, from + (strip * size + first) * 32 + lane);
    }
}

// Rows of a column of U from `first` on, in the factor as the caller has it: scaled back, zero below
// the diagonal, NaN if the matrix is not positive definite.
template <uint ROWS>
inline void store_triangle(
    thread const float (&x)[ROWS], device float* out, float scale, uint n, uint first, uint column,
    bool failed
) {
    #pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
        const uint row = first + r;
        if (row < n && column < n) {
            const float value = row > column ? 0 : failed ? NAN : x[r] * scale;
            out[UPPER ? row * n + column : column * n + row] = value;
        }
    }
}

// Factors strips of `height` rows in place, the first 8 * steps rows of them. SIMD-group s of the
// threadgroup has strip s.
inline void factor_strips(
    device float* strips, uint height, uint steps, uint s, uint lane, float2 bounds
) {
    device float* mine = strips + s * height * 32 + lane;
    for (uint step = 0; step < steps; ++step) {
        const uint t = step / 4, first = 8 * step;  // strip t is on the diagonal
        const device float* theirs = strips + t * height * 32 + first % 32;
        float x[8];
        if (s >= t) {
            load_rows(x, mine + 32 * first);
            subtract_products(x, theirs, mine, first);
        }
        if (s == t) {
            factor_rows(x, first % 32, lane, bounds);
            store_rows(x, mine + 32 * first);
        }
        threadgroup_barrier(metal::mem_flags::mem_device);
        if (s > t) {
            solve_rows(x, theirs + 32 * first);
            store_rows(x, mine + 32 * first);
        }
        if (first % 32 == 24) {  // the next strip is about to be read by others
            threadgroup_barrier(metal::mem_flags::mem_device);
        }
    }
}
// Where row k of strip s begins in its panel: panel p has the rows from p * block on, and the strips
// from the one where these meet the diagonal.
inline ulong in_panel(uint k, uint s, uint matrix, uint count, uint block) {
    const uint before = k / block * block;
    const uint rows = metal::min(block, 32 * count - before), strips = count - before / 32;
    return ((ulong(matrix) * strips + s - before / 32) * rows + k - before) * 32;
}

// In a step: the strip whose tile a SIMD-group has in a row, where that tile is, and whether there is
// one.
constant constexpr uint BESIDE = 6;

inline uint strip_of(uint part, uint k, uint row, uint s, uint r) {
    return part == 0 ? k + row : part == 1 ? s : part == 2 ? r : k + 1;
}

inline uint tile_of(uint part, uint row) { return part < 3 ? 3 * row + part : BESIDE; }

inline bool has_tile(uint part, uint strip, uint k, uint row, uint rows) {
    return strip >= k + row && (part < 3 || row + 1 < rows);
}

// A tile of 32 × 32 in threadgroup memory, on the diagonal, becomes one of U. `mine` is the lane's
// column of it. This is `factor_rows` as a loop over the rows: a GPU waits for each pivot anyway, so the
// loop costs no time, and a short text is launched faster, as MLX hashes it each time.
inline void factor_tile(threadgroup float* mine, threadgroup float* u, uint lane, float2 bounds) {
    #pragma clang loop unroll(disable)
    for (uint first = 0; first < 32; first += 8) {
        float x[8];
        load_rows(x, mine + 32 * first);
        subtract_products(x, u + first, mine, first);
        #pragma clang loop unroll(disable)
        for (uint row = first; row < first + 8; ++row) {
            const float top = x[0], pivot = guarded(metal::simd_shuffle(top, row), bounds);
            const float inverse = inverse_root(pivot), factor = top * inverse * inverse;
            mine[32 * row] = lane < row ? 0 : (lane == row ? pivot : top) * inverse;
            #pragma unroll
            for (uint r = 1; r < 8; ++r) {  // the rows below move up
                x[r - 1] = x[r] - metal::simd_shuffle(top, (row + r) % 32) * factor;
            }
        }
        simdgroup_barrier(metal::mem_flags::mem_threadgroup);
    }
}

// The same beside the diagonal, whose tile of U is `u`.
inline void solve_tile(threadgroup float* mine, const threadgroup float* u) {
    #pragma clang loop unroll(disable)
    for (uint first = 0; first < 32; first += 8) {
        float x[8];
        load_rows(x, mine + 32 * first);
        subtract_products(x, u + first, mine, first);
        solve_rows(x, u + 33 * first);
        store_rows(x, mine + 32 * first);
    }
}
