// The reflection H = 1 - tau v vᵀ that turns a column into (beta, 0, …), as LAPACK's larfg has it: v is
// one on the diagonal and `scale` times the column below it.
struct Reflection {
    float beta, tau, scale;
};

// Of the column's element on the diagonal, and the sum of the squares of those below. A sum so small
// that rounding to denormal numbers, or to zero, has spoilt it counts as zero: a reflection made of it
// would not be orthogonal. Such columns are what rounding has left of others; to drop that is an error
// far below those of the other columns.
inline Reflection reflection_of(float alpha, float squares) {
    const float below = squares < 0x1p-120f ? 0 : squares;
    const float norm = metal::sqrt(alpha * alpha + below);
    const float beta = below == 0 ? alpha : alpha > 0 ? -norm : norm;
    return {beta, below == 0 ? 0 : (beta - alpha) / beta, below == 0 ? 0 : 1 / (alpha - beta)};
}
