// A matrix per thread, for the smallest: N × N, all in registers.
const uint matrix = thread_position_in_grid.x;
auto from = a + ulong(matrix) * (N * N);
device float* to = out + ulong(matrix) * (N * N);
const float2 bounds = BOUNDS;

bool any = false;
#pragma unroll
for (int i = 0; i < N; ++i) {
    any = any || (SCALED && is_tiny(from[i * N + i]));
}
any = metal::simd_any(any);
float l[N][N];
#pragma unroll
for (int i = 0; i < N; ++i) {
    #pragma unroll
    for (int j = 0; j <= i; ++j) {
        float sum = UPPER ? from[j * N + i] : from[i * N + j];
        if (any) {
            sum = scaled(sum, exponent_of(from, N, i) + exponent_of(from, N, j));
        }
        #pragma unroll
        for (int k = 0; k < j; ++k) {
            sum -= l[i][k] * l[j][k];
        }
        l[i][j] = i == j ? metal::sqrt(guarded(sum, bounds)) : sum / l[j][j];
    }
}
if (any) {
    #pragma unroll
    for (int i = 0; i < N; ++i) {
        #pragma unroll
        for (int j = 0; j <= i; ++j) {
            l[i][j] *= power_of_two(-exponent_of(from, N, i));
        }
    }
}
// A pivot that is NaN makes all that follow NaN.
const bool failed = metal::isnan(l[N - 1][N - 1]);
#pragma unroll
for (int i = 0; i < N; ++i) {
    #pragma unroll
    for (int j = 0; j < N; ++j) {
        float value = UPPER ? l[j][i] : l[i][j];
        bool outside = UPPER ? j < i : j > i;
        to[i * N + j] = outside ? 0 : failed ? NAN : value;
    }
}
#ifdef CHECKED
uint pivot = N;
#pragma unroll
for (int i = N - 1; i >= 0; --i) {
    pivot = metal::isnan(l[i][i]) ? i : pivot;
}
info[matrix] = failed ? pivot + 1 : 0;
#endif
