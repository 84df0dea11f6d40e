inline float norm(const device float* row, uint width) {
    float sum = 0;
    for (uint i = 0; i < width; i += 32) {
        sum += row[i] * row[i];
    }
    return metal::sqrt(metal::simd_sum(sum));
}

// Makes the rows of COUNT pairs orthogonal (Rutishauser, "The Jacobi method for real symmetric
// matrices", Numerische Mathematik 9, 1966), several at once lest each step wait for the one before.
// False if all were, up to rounding errors of the largest row.
template <uint COUNT>
inline bool turn(
    device float* rows, uint pair, uint round, uint seats, uint width, float largest
) {
    device float *p[COUNT], *q[COUNT];
    float pp[COUNT] = {}, pq[COUNT] = {}, qq[COUNT] = {};
    #pragma unroll
    for (uint k = 0; k < COUNT; ++k) {
        p[k] = rows + width * (pair + k == 0 ? seats : (round + pair + k) % seats);
        q[k] = rows + width * ((round + seats - pair - k) % seats);
    }
    for (uint i = 0; i < width; i += 32) {
        #pragma unroll
        for (uint k = 0; k < COUNT; ++k) {
            pp[k] += p[k][i] * p[k][i];
            pq[k] += p[k][i] * q[k][i];
            qq[k] += q[k][i] * q[k][i];
        }
    }
    float cosine[COUNT], sine[COUNT];
    bool any = false;
    #pragma unroll
    for (uint k = 0; k < COUNT; ++k) {
        pp[k] = metal::simd_sum(pp[k]);
        pq[k] = metal::simd_sum(pq[k]);
        qq[k] = metal::simd_sum(qq[k]);
        const bool apart =
            metal::abs(pq[k]) <= ROUNDOFF * largest * metal::sqrt(metal::max(pp[k], qq[k]));
        const float zeta = apart ? 0.0f : (qq[k] - pp[k]) / (2 * pq[k]);
        const float tangent =
            metal::copysign(1.0f, zeta) / (metal::abs(zeta) + metal::sqrt(1 + zeta * zeta));
        cosine[k] = apart ? 1.0f : metal::rsqrt(1 + tangent * tangent);
        sine[k] = apart ? 0.0f : cosine[k] * tangent;
        any |= !apart;
    }
    if (!any) return false;
    for (uint i = 0; i < width; i += 32) {
        #pragma unroll
        for (uint k = 0; k < COUNT; ++k) {
            const float from_p = p[k][i], from_q = q[k][i];
            p[k][i] = cosine[k] * from_p - sine[k] * from_q;
            q[k][i] = sine[k] * from_p + cosine[k] * from_q;
        }
    }
    return true;
}
