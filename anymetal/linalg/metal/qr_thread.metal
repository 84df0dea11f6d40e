// A matrix per thread, for the smallest: M × N, of which K = min(M, N), all in registers.
const uint matrix = thread_position_in_grid.x;
auto from = a + ulong(matrix) * (M * N);
device float* to_q = q + ulong(matrix) * (M * K);
device float* to_r = r + ulong(matrix) * (K * N);

float x[M][N], tau[K], sign[K];
#pragma unroll
for (int i = 0; i < M; ++i) {
    #pragma unroll
    for (int j = 0; j < N; ++j) {
        x[i][j] = from[i * N + j];
    }
}
int exponent[N];  // by which each column is scaled
bool any = false;
#pragma unroll
for (int j = 0; j < N; ++j) {
    uint largest = 0;
    #pragma unroll
    for (int i = 0; i < M; ++i) {
        largest = metal::max(largest, magnitude_bits(x[i][j]));
    }
    exponent[j] = scaling_exponent(largest);
    any = any || exponent[j] != 0;
}
any = metal::simd_any(any);
if (any) {
    #pragma unroll
    for (int j = 0; j < N; ++j) {
        #pragma unroll
        for (int i = 0; i < M; ++i) {
            x[i][j] = scaled(x[i][j], exponent[j]);
        }
    }
}
// The reflections as LAPACK's geqr2 leaves them: below the diagonal of x, with a one on it.
#pragma unroll
for (int j = 0; j < K; ++j) {
    float below = 0;
    #pragma unroll
    for (int i = j + 1; i < M; ++i) {
        below += x[i][j] * x[i][j];
    }
    const Reflection reflection = reflection_of(x[j][j], below);
    const float beta = reflection.beta, scale = reflection.scale;
    tau[j] = reflection.tau;
    sign[j] = beta < 0 ? -1 : 1;
    x[j][j] = beta;
    #pragma unroll
    for (int i = j + 1; i < M; ++i) {
        x[i][j] *= scale;
    }
    #pragma unroll
    for (int c = j + 1; c < N; ++c) {
        float product = x[j][c];
        #pragma unroll
        for (int i = j + 1; i < M; ++i) {
            product += x[i][j] * x[i][c];
        }
        product *= tau[j];
        x[j][c] -= product;
        #pragma unroll
        for (int i = j + 1; i < M; ++i) {
            x[i][c] -= x[i][j] * product;
        }
    }
}
#pragma unroll
for (int i = 0; i < K; ++i) {
    #pragma unroll
    for (int j = 0; j < N; ++j) {
        const float value = j < i ? 0 : sign[i] * x[i][j];
        to_r[i * N + j] = any ? scaled_back(value, exponent[j]) : value;
    }
}
// Q: all of them, from the last to the first, of each column of the identity.
#pragma unroll
for (int c = 0; c < K; ++c) {
    float column[M];
    #pragma unroll
    for (int i = 0; i < M; ++i) {
        column[i] = i == c ? sign[c] : 0;
    }
    #pragma unroll
    for (int j = K - 1; j >= 0; --j) {
        float product = column[j];
        #pragma unroll
        for (int i = j + 1; i < M; ++i) {
            product += x[i][j] * column[i];
        }
        product *= tau[j];
        column[j] -= product;
        #pragma unroll
        for (int i = j + 1; i < M; ++i) {
            column[i] -= x[i][j] * product;
        }
    }
    #pragma unroll
    for (int i = 0; i < M; ++i) {
        to_q[i * K + c] = column[i];
    }
}
