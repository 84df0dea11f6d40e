// What Householder's QR is made of. A matrix is kept in strips: a strip has 32 columns, a lane per
// column, and its rows lie one behind the other; `height` is their number.
//
// Up to 32 reflections together are I - V T transpose(V) (Schreiber and Van Loan). V takes the
// place of the strip they were found in; a block of memory has the rest: T, its transpose, the rows
// of R in the strip itself, and the signs that make the diagonal of R positive.
constant constexpr uint T_TRANSPOSED = 1024, TOP = 2048, SIGNS = 3072, BLOCK_SIZE = 3104;

// Eight rows of transpose(left) * mine, both with `count` rows. Sums of sums of 64 products err
// less than sums of all.
inline void product_rows(
    thread float (&sum)[8], const device float* left, const device float* mine, uint count
) {
    #pragma unroll
    for (uint r = 0; r < 8; ++r) {
        sum[r] = 0;
    }
    for (uint first = 0; first < count; first += 64) {
        float part[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        for (uint k = first; k < metal::min(first + 64, count); ++k) {
            float factor = mine[32 * k];
            #pragma unroll
            for (uint r = 0; r < 8; ++r) {
                part[r] += left[32 * k + r] * factor;
            }
        }
        #pragma unroll
        for (uint r = 0; r < 8; ++r) {
            sum[r] += part[r];
        }
    }
}

// Rows `start` to `height` of this lane's column become (I - V T transpose(V)) times themselves,
// or the inverse of that, with T transposed.
inline void reflect(
    device float* mine, const device float* v, const device float* block, bool inverse, uint start,
    uint height, device float* scratch, uint lane
) {
    device float* inner = scratch + lane;
    device float* outer = scratch + 1024 + lane;
    const device float* t = inverse ? block : block + T_TRANSPOSED;
    float x[8];
    for (uint i = 0; i < 32; i += 8) {
        product_rows(x, v + 32 * start + i, mine + 32 * start, height - start);
        #pragma unroll
        for (uint r = 0; r < 8; ++r) {
            inner[32 * (i + r)] = x[r];
        }
    }
    for (uint i = 0; i < 32; i += 8) {
        product_rows(x, t + i, inner, 32);
        #pragma unroll
        for (uint r = 0; r < 8; ++r) {
            outer[32 * (i + r)] = x[r];
        }
    }
    for (uint row = start; row < height; row += 8) {
        #pragma unroll
        for (uint r = 0; r < 8; ++r) {
            x[r] = 0;
        }
        for (uint k = 0; k < 32; ++k) {
            float factor = outer[32 * k];
            #pragma unroll
            for (uint r = 0; r < 8; ++r) {
                x[r] += v[32 * (row + r) + k] * factor;
            }
        }
        #pragma unroll
        for (uint r = 0; r < 8; ++r) {
            mine[32 * (row + r)] -= x[r];
        }
    }
}

// What the last reflection does to a row, as one lane sees it.
struct Step {
    uint column;   // where it was found; its entries become those of V
    float scale;   // by this
    float factor;  // of V's entry, to be taken from this lane's column; zero in finished ones
};

inline float stepped(float x, Step step, uint lane) {
    float v = metal::simd_shuffle(x, step.column) * step.scale;
    return lane == step.column ? v : x - v * step.factor;
}

// Finds the reflections of a strip whose diagonal begins in row `start`. A pass over the rows
// applies the last one and takes the products of the next column with all others at once: to its
// right they are what the next reflection needs, to its left what T needs.
inline void factor_strip(
    device float* strip, uint start, uint columns, uint height, uint lane, device float* block
) {
    device float* mine = strip + lane;
    float t_row[32];  // row `lane` of T
    Step step = {0, 1, 0};
    for (uint j = 0; j < columns; ++j) {
        const uint diagonal = start + j;
        float on_diagonal = stepped(mine[32 * diagonal], step, lane);
        float products = 0;
        uint row = diagonal + 1;
        for (; row % 4 != 0; ++row) {
            float x = stepped(mine[32 * row], step, lane);
            products += metal::simd_shuffle(x, j) * x;
            mine[32 * row] = x;
        }
        while (row < height) {
            float sums[4] = {0, 0, 0, 0};  // independent, so that additions need not wait
            for (uint end = metal::min(row + 256, height); row < end; row += 4) {
                #pragma unroll
                for (uint r = 0; r < 4; ++r) {
                    float x = stepped(mine[32 * (row + r)], step, lane);
                    sums[r] += metal::simd_shuffle(x, j) * x;
                    mine[32 * (row + r)] = x;
                }
            }
            products += (sums[0] + sums[1]) + (sums[2] + sums[3]);
        }

        const Reflection reflection = reflection_of(
            metal::simd_shuffle(on_diagonal, j), metal::simd_shuffle(products, j)
        );
        const float beta = reflection.beta, tau = reflection.tau, scale = reflection.scale;
        const float inner = on_diagonal + scale * products;

        float combined = 0;
        for (uint i = 0; i < j; ++i) {
            combined += t_row[i] * metal::simd_shuffle(inner, i);
        }
        t_row[j] = lane < j ? -tau * combined : lane == j ? tau : 0;

        step = {j, scale, lane > j ? tau * inner : 0};
        const float sign = beta < 0 ? -1 : 1;
        const float result = lane == j ? beta : on_diagonal - step.factor;
        block[TOP + 32 * j + lane] = lane < j ? 0 : sign * result;
        if (lane == 0) {
            block[SIGNS + j] = sign;
        }
        mine[32 * diagonal] = lane < j ? on_diagonal : lane == j ? 1 : 0;
    }
    for (uint row = start + columns; row < height; ++row) {
        mine[32 * row] = stepped(mine[32 * row], step, lane);
    }
    for (uint j = 0; j < 32; ++j) {
        const float value = j < columns ? t_row[j] : 0;
        block[T_TRANSPOSED + 32 * j + lane] = value;
        block[32 * lane + j] = value;
    }
}
