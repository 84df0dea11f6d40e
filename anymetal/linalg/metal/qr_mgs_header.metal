// A column vector lies in a row of memory, and the lanes of a SIMD-group run along it.

// What is left of a column of length one, where that is nothing but rounding.
constant constexpr float DEPENDENT = 1e-7f;

inline float norm(const device float* v, uint m, uint lane) {
    float total = 0;
    for (uint first = 0; first < m; first += 2048) {
        float sum = 0;
        for (uint i = first + lane; i < metal::min(first + 2048, m); i += 32) {
            sum += v[i] * v[i];
        }
        total += metal::simd_sum(sum);
    }
    return metal::sqrt(total);
}

// v loses its parts along `count` orthonormal vectors, one after the other. They are added to
// coefficients[i * stride], if they are to be kept.
inline void project(
    device float* v, const device float* basis, uint count, uint m, uint lane,
    device float* coefficients, uint stride, bool keep
) {
    for (uint i = 0; i < count; ++i) {
        const device float* q = basis + i * m;
        float total = 0;
        for (uint first = 0; first < m; first += 2048) {
            float sum = 0;
            for (uint at = first + lane; at < metal::min(first + 2048, m); at += 32) {
                sum += q[at] * v[at];
            }
            total += metal::simd_sum(sum);
        }
        for (uint at = lane; at < m; at += 32) {
            v[at] -= total * q[at];
        }
        if (keep && lane == 0) {
            coefficients[i * stride] += total;
        }
    }
}
