// Which pixels of an axis a sample is made of, and with which weights. MODE, PADDING and CORNERS
// are known when the kernel is compiled: the arrays below become registers.

constant constexpr int BILINEAR = 0, NEAREST = 1, BICUBIC = 2;   // mode
constant constexpr int ZEROS = 0, BORDER = 1, REFLECTION = 2;    // padding
constant constexpr int OUTSIDE = -1;                             // a pixel that counts as zero

constexpr int taps_of(int mode) { return mode == NEAREST ? 1 : mode == BILINEAR ? 2 : 4; }

template <int TAPS>
struct Axis {
    int pixel[TAPS];     // OUTSIDE, or an index that is safe to read
    float weight[TAPS];
    float slope[TAPS];   // derivative of the weight by the coordinate from -1 to 1
};

// A position in pixels, and its derivative by the position before it was brought into the image.
struct Folded {
    float at;
    float slope;
};

// fmax and fmin return the other argument for a NaN, so the result is within the bounds for any
// position at all.
inline Folded clipped(float at, float slope, int size) {
    float last = float(size - 1);
    return {metal::fmin(metal::fmax(at, 0.0f), last), at > 0.0f && at < last ? slope : 0.0f};
}

// Mirrored at the centres of the outer pixels (CORNERS) or at their outer edges, as often as it
// takes, then clipped: for a huge position what is left of it by rounding may be anywhere.
template <bool CORNERS>
inline Folded reflected(float at, int size) {
    float low = CORNERS ? 0.0f : -0.5f, span = float(CORNERS ? size - 1 : size);
    if (span == 0.0f) return {0.0f, 0.0f};
    float distance = metal::fabs(at - low), flips = metal::floor(distance / span);
    float rest = distance - flips * span;
    bool odd = flips - 2.0f * metal::floor(0.5f * flips) != 0.0f;
    bool negative = (at < low) != odd;
    return clipped((odd ? span - rest : rest) + low, negative ? -1.0f : 1.0f, size);
}

template <int PADDING, bool CORNERS>
inline Folded folded(float at, int size) {
    if (PADDING == BORDER) return clipped(at, 1.0f, size);
    if (PADDING == REFLECTION) return reflected<CORNERS>(at, size);
    return {at, 1.0f};
}

inline int pixel_of(float at, int size) {
    return at >= 0.0f && at < float(size) ? metal::min(int(at), size - 1) : OUTSIDE;
}

// Keys' cubic convolution with a = -3/4 and its derivative, for a distance below 1 and from 1 to 2.
inline float cubic_near(float d) { return (1.25f * d - 2.25f) * d * d + 1.0f; }
inline float cubic_far(float d) { return ((-0.75f * d + 3.75f) * d - 6.0f) * d + 3.0f; }
inline float cubic_near_slope(float d) { return (3.75f * d - 4.5f) * d; }
inline float cubic_far_slope(float d) { return (-2.25f * d + 7.5f) * d - 6.0f; }

template <int MODE, int PADDING, bool CORNERS>
inline Axis<taps_of(MODE)> axis_of(float coordinate, int size) {
    Axis<taps_of(MODE)> axis;
    float scale = 0.5f * float(CORNERS ? size - 1 : size);
    float at = CORNERS ? (coordinate + 1.0f) * scale
                       : ((coordinate + 1.0f) * float(size) - 1.0f) * 0.5f;
    if (MODE == BICUBIC) {
        // Each pixel is padded by itself. Beyond the bounds the result does not depend on `at`,
        // except by reflection, where floats of this size have no fraction any more.
        float bound = PADDING == REFLECTION ? 1e9f : float(size) + 4.0f;
        at = metal::fmin(metal::fmax(at, -bound), bound);
        float first = metal::floor(at), t = at - first;
        for (int k = 0; k < 4; ++k) {
            axis.pixel[k] = pixel_of(folded<PADDING, CORNERS>(first + float(k - 1), size).at, size);
        }
        axis.weight[0] = cubic_far(1.0f + t);
        axis.weight[1] = cubic_near(t);
        axis.weight[2] = cubic_near(1.0f - t);
        axis.weight[3] = cubic_far(2.0f - t);
        axis.slope[0] = cubic_far_slope(1.0f + t) * scale;
        axis.slope[1] = cubic_near_slope(t) * scale;
        axis.slope[2] = -cubic_near_slope(1.0f - t) * scale;
        axis.slope[3] = -cubic_far_slope(2.0f - t) * scale;
        return axis;
    }
    Folded place = folded<PADDING, CORNERS>(at, size);
    if (MODE == NEAREST) {
        axis.pixel[0] = pixel_of(metal::rint(place.at), size);
        axis.weight[0] = 1.0f;
        axis.slope[0] = 0.0f;
        return axis;
    }
    float first = metal::floor(place.at), t = place.at - first;
    for (int k = 0; k < 2; ++k) {
        axis.pixel[k] = pixel_of(first + float(k), size);
        axis.weight[k] = k ? t : 1.0f - t;
        axis.slope[k] = (k ? scale : -scale) * place.slope;
    }
    return axis;
}

// The sample that a thread works on, and its channels: `first`, then every STEP-th, CHUNK of them at
// a time in registers.
//
// WIDE: a SIMD-group per sample, whose lanes are channels. What is known about the point is then
// computed once for all of them, and every access is a run of neighbours.
// Otherwise a thread per sample, which goes through its few channels by itself.
struct Work {
    uint image;
    size_t sample;
    int first;
};

template <bool WIDE>
inline Work work_of(uint3 at, uint3 extent) {
    uint samples = WIDE ? extent.y : extent.x, sample = WIDE ? at.y : at.x;
    return {at.z, size_t(at.z) * samples + sample, WIDE ? int(at.x) : 0};
}
