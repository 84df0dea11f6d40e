// The reflection H = 1 - tau v vᵀ that turns a column into (beta, 0, …), as LAPACK's larfg has it: v is
// one on the diagonal and `scale` times the column below it.
struct Reflection {
    float beta, tau, scale;
};

// Of the column's element on the diagonal, and the sum of the squares of those below. A sum so small
// that squares below 2^-126, which are flushed, may have spoilt it counts as zero: a reflection made
// of it would not be orthogonal. Columns begin with elements of 2^-10 and more, so this is far less
// than what rounding has left of them.
inline Reflection reflection_of(float alpha, float squares) {
    const float below = squares < 0x1p-96f ? 0 : squares;
    const float norm = metal::sqrt(alpha * alpha + below);
    const float beta = below == 0 ? alpha : alpha > 0 ? -norm : norm;
    return {beta, below == 0 ? 0 : (beta - alpha) / beta, below == 0 ? 0 : 1 / (alpha - beta)};
}
