// A library of templates, as kernels of a large project would share it, and one kernel that uses
// all of it: quantised products, attention, sorting, hashing, filters. The largest case there is.
// input: x = float32[256] normal
// input: words = uint32[512] random
// input: scales = float16[128] uniform(0.05, 0.3)
// input: biases = float16[128] uniform(-0.5, 0.5)
// input: keys = float16[24,8] normal
// input: vals = float16[24,8] normal
// input: numbers_in = int32[256] random
// input: text = uint8[272] np.frombuffer(b"for i in 1 x9 9x a_b .. 42 end ", np.uint8)[np.arange(272) ** 2 * 7 % 97 % 31]
// input: a = float16[64,32] normal
// input: b = float16[32,16] normal
// output: gemv = float32[3,256]
// output: attended = float32[256,8]
// output: soft = float32[256]
// output: sorted = int32[256]
// output: top = int32[256,5]
// output: hashed = uint32[256,4]
// output: counts = int32[256,4]
// output: nums = float32[256,8]
// output: ints = int32[256,8]
// output: small = int32[256,8]
// output: waves = float32[256,4]
// output: product = float32[64,16]
// grid: 256
// threadgroup: 64
// close: 2e-4 2e-5
// where:
//     U, L = np.uint32, np.uint64
//     def u(v): return int(v) & 0xFFFFFFFF
//     def i32(v): return (int(v) & 0xFFFFFFFF) - ((int(v) & 0x80000000) << 1)
//     groups = x.reshape(4, 64).astype(np.float64)
//
//     # quantised products
//     rows = words.reshape(64, 8)
//     def codes(bits): return (rows[:, :, None] >> (bits * np.arange(32 // bits, dtype=U))
//                              & U(2 ** bits - 1)).reshape(64, -1)[:, :32]
//     sc, bi = (np.repeat(v.reshape(64, 2), 16, axis=1).astype(np.float64) for v in (scales, biases))
//     gemv = np.array([[(sc * codes(bits) + bi) @ g[:32] for g in groups] for bits in (2, 4, 8)])
//
//     # attention
//     freq = np.exp2(-np.arange(4.0))
//     def rope(v, p):
//         c, s = np.cos(p * freq), np.sin(p * freq)
//         return np.concatenate([v[:4] * c - v[4:] * s, v[:4] * s + v[4:] * c])
//     roped = np.array([rope(k, p) for p, k in enumerate(keys.astype(np.float64))])
//     place = np.arange(24)
//     def attend(t):
//         p = t % 24
//         query = rope(x.astype(np.float64)[np.arange(8) * 3 + t % 200], p)
//         score = roped @ query / np.sqrt(8)
//         if t % 2:
//             score = np.where(abs(place - p) <= 4, score - 0.125 * abs(place - p), -np.inf)
//         else:
//             score = np.where(place <= p, score, -np.inf)
//         weight = np.exp(score - score.max())
//         return weight @ vals.astype(np.float64) / weight.sum()
//     attended = np.array([attend(t) for t in range(256)])
//
//     # activations and softmax of each threadgroup
//     xd = x.astype(np.float64)
//     silu = lambda v: v / (1 + np.exp(-v))
//     gelu = lambda v: 0.5 * v * (1 + np.tanh(0.7978845608 * (v + 0.044715 * v ** 3)))
//     plus = lambda v: np.log1p(np.exp(v))
//     acts = np.choose(tid % 4, [np.maximum(xd, 0), silu(xd), gelu(xd), plus(xd)])
//     acts += silu(np.where(xd >= 0, xd, xd * 0.125)) + np.maximum(xd, 0) + plus(xd)
//     soft = np.exp(acts.reshape(4, 64))
//     soft = (soft / soft.sum(1, keepdims=True)).reshape(-1)
//
//     # sorting
//     nums_in = numbers_in.astype(np.int64)
//     ordered = np.sort(nums_in.reshape(4, 64), axis=1)
//     ordered[1::2] = ordered[1::2, ::-1]
//     window = nums_in[(tid[:, None] * 7 + np.arange(16)) % 256]
//     rank = np.argsort(-window, axis=1, kind="stable")
//     low = np.sort(window, axis=1)
//     eight = np.sort(window[:, :8], axis=1)
//     up = np.sort(nums_in.reshape(4, 64), axis=1)
//     bound = [int((up[2 * (t // 128)] < nums_in[t]).sum()) if t // 64 % 2 == 0 else
//              int((up[t // 64] > nums_in[t]).sum()) for t in range(256)]
//     top = np.stack([np.take_along_axis(window, rank, 1)[:, 0], rank[:, 2], eight[:, 3],
//                     low[:, 2], bound], axis=1)
//
//     # hashes
//     def crc(v):
//         import zlib
//         return zlib.crc32(u(v).to_bytes(4, "little"))
//     def murmur(h):
//         h ^= h >> 16; h = u(h * 0x85EBCA6B); h ^= h >> 13; h = u(h * 0xC2B2AE35)
//         return h ^ h >> 16
//     def fnv(v):
//         h = 2166136261
//         for byte in u(v).to_bytes(4, "little"): h = u((h ^ byte) * 16777619)
//         return h
//     def xx(v):
//         h = u(374761393 + 4 + v * 3266489917)
//         h = u((u(h << 17) | h >> 15) * 668265263)
//         h = u((h ^ h >> 15) * 2246822519); h = u((h ^ h >> 13) * 3266489917)
//         return h ^ h >> 16
//     def pcg(v):
//         s = u(v * 747796405 + 2891336453); m = u(((s >> ((s >> 28) + 4)) ^ s) * 277803737)
//         return m >> 22 ^ m
//     def splitmix(v):
//         M = 2 ** 64 - 1; z = (v + 0x9E3779B97F4A7C15) & M
//         z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M; z = (z ^ z >> 27) * 0x94D049BB133111EB & M
//         z ^= z >> 31
//         return u(z ^ z >> 32)
//     def philox(c, k):
//         c, k = list(c), list(k)
//         for _ in range(10):
//             p, q = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
//             c = [q >> 32 ^ c[1] ^ k[0], u(q), p >> 32 ^ c[3] ^ k[1], u(p)]
//             k = [u(k[0] + 0x9E3779B9), u(k[1] + 0xBB67AE85)]
//         return c
//     def xorshift(s):
//         s ^= u(s << 13); s ^= s >> 17
//         return s ^ u(s << 5)
//     def hash_row(t):
//         n = u(numbers_in[t])
//         mixed = crc(n) ^ murmur(n) ^ fnv(n) ^ xx(n) ^ pcg(n) ^ splitmix(n)
//         first, second = philox((n, t, 1, 2), (3, 4)), philox((u(n + 1), t, 1, 2), (3, 4))
//         walk = n | 1
//         for _ in range(3): walk = xorshift(walk)
//         distinct = len({u(v) % 12 for v in window[t]})
//         return mixed, xx(pcg(murmur(n))), first[0] ^ second[3], walk + distinct
//     hashed = np.array([hash_row(t) for t in range(256)], L).astype(U)
//
//     # what threadgroups count
//     low4 = (nums_in & 15).reshape(4, 64)
//     odd = (nums_in & 1).reshape(4, 64)
//     bins = np.array([np.bincount(g, minlength=16) for g in low4])
//     counts = np.stack([np.cumsum(low4, 1).ravel(), bins[group, lid % 16],
//                        np.where(odd, np.cumsum(odd, 1) - 1, -odd.sum(1, keepdims=True)).ravel(),
//                        groups.argmax(1)[group]], axis=1)
//
//     # numbers
//     def number_row(t):
//         v = xd[(t + np.arange(16)) % 256]
//         m = v[:9].reshape(3, 3) + 4 * np.eye(3)
//         spd = m @ m.T
//         quat_angle, axis = v[3], np.array([1.0, 2.0, 2.0]) / 3
//         p = v[4:7]
//         turned = (p * np.cos(quat_angle) + np.cross(axis, p) * np.sin(quat_angle)
//                   + axis * (axis @ p) * (1 - np.cos(quat_angle)))
//         s = v[0]
//         f = np.sin(s) * np.exp(s) / (2 + s * s)
//         slope = ((np.cos(s) + np.sin(s)) * np.exp(s) * (2 + s * s)
//                  - np.sin(s) * np.exp(s) * 2 * s) / (2 + s * s) ** 2
//         poly = 1 - 0.5 * s + 0.25 * s ** 2 + 2 * s ** 3
//         return (np.linalg.solve(m, v[:3])[1], np.linalg.det(m) / 64,
//                 np.trace(np.linalg.cholesky(spd)), slope, turned[0], poly,
//                 np.sqrt(2 + abs(s)), (v.sum() + 1e4) - 1e4)
//     nums = np.array([number_row(t) for t in range(256)])
//
//     # integers
//     import math
//     def int_row(t):
//         n = int(numbers_in[t]); k = abs(n) % 1000 + 1
//         quotient = ((k << 12) << 12) // (7 << 12)
//         fixed = ((quotient * (3 << 12)) >> 12) - (5 << 12)
//         r, g, b = k % 32, k % 64, k % 16
//         return (fixed >> 4, math.isqrt((k << 12) << 12), pow(k, 13, 998244353),
//                 math.gcd(k * 12, 360), (k % 256) * 3 + k // 4, len(format(k * 9, "b")) // 7.0001,
//                 i32(u(n) ^ u(n) >> 1), 2 * r + 3 * g // 2 + b + bin(u(n)).count("1"))
//     ints = np.array([int_row(t) for t in range(256)]).astype(np.int64)
//
//     # small programs
//     def tokens(s):
//         state, found = "b", {"w": 0, "n": 0, "e": 0}
//         for c in s:
//             digit, letter = 48 <= c <= 57, 97 <= c <= 122 or c == 95
//             now = {"b": "n" if digit else "w" if letter else "e", "w": "w" if digit or letter else "e",
//                    "n": "n" if digit else "e", "e": "e"}[state] if c != 32 else "b"
//             if now != state and now != "b": found[now] += 1
//             state = now
//         return found["w"] * 100 + found["n"] * 10 + found["e"]
//     def edits(p, q):
//         row = list(range(len(q) + 1))
//         for i, c in enumerate(p, 1):
//             last, row[0] = row[0], i
//             for j, d in enumerate(q, 1):
//                 last, row[j] = row[j], min(last + (c != d), row[j] + 1, row[j - 1] + 1)
//         return row[-1]
//     def packed(items):
//         best = [0] * 25
//         for item in map(int, items):
//             for c in range(24, item % 7, -1):
//                 best[c] = max(best[c], best[c - 1 - item % 7] + item // 7)
//         return best[24]
//     def escapes(t):
//         z, c, n = np.complex64(0), np.complex64(complex(t % 16 / 8 - 1.5, t // 16 / 8 - 1)), 0
//         while n < 30 and z.real * z.real + z.imag * z.imag <= 4: z = z * z + c; n += 1
//         return n
//     def cells(n):
//         s = [(n * 0x9E3779B97F4A7C15 >> i) & 1 for i in range(64)]
//         for _ in range(5): s = [110 >> (4 * s[i - 1] + 2 * s[i] + s[(i + 1) % 64]) & 1 for i in range(64)]
//         return sum(s)
//     def curve(d, order=4):
//         px = py = 0; s = 1
//         while s < 2 ** order:
//             rx = 1 & (d // 2); ry = 1 & (d ^ rx)
//             if ry == 0:
//                 if rx == 1: px, py = s - 1 - px, s - 1 - py
//                 px, py = py, px
//             px += s * rx; py += s * ry; d //= 4; s *= 2
//         return px + 64 * py
//     def run_lengths(s):
//         lengths = [1]
//         for p, q in zip(s, s[1:]): lengths = lengths[:-1] + [lengths[-1] + 1] if p == q else lengths + [1]
//         return len(lengths) * 100 + max(lengths)
//     def small_row(t):
//         s = text[t:t + 16].astype(np.int64); k = t - 100
//         return (tokens(s), edits(list(s[:7]), list(s[5:14])), packed(s[:6]), escapes(t),
//                 cells(u(numbers_in[t])), k * k - 3 * k + 7 + k + 2, curve(t), run_lengths(list(s // 32)))
//     small = np.array([small_row(t) for t in range(256)])
//
//     # filters
//     def wave_row(t):
//         v = xd[(t + np.arange(8)) % 256]
//         taps = [0.1, 0.2, 0.4, 0.2, 0.1]
//         near = xd[np.clip(t + np.arange(5) - 2, 0, 255)]
//         m1 = m2 = y = 0
//         for s in v:
//             y = 0.3 * s + m1
//             m1, m2 = 0.2 * s + 0.5 * y + m2, 0.1 * s - 0.25 * y
//         return abs(np.fft.fft(v)[1]) ** 2, np.dot(taps, near), v.mean(), y
//     waves = np.array([wave_row(t) for t in range(256)])
// expect: gemv = gemv
// expect: attended = attended
// expect: soft = soft
// expect: sorted = ordered
// expect: top = top
// expect: hashed = hashed
// expect: counts = counts
// expect: nums = nums
// expect: ints = ints
// expect: small = small
// expect: waves = waves
// expect: product = np.maximum(a.astype(np.float64) @ b, 0)
// header:
#include <metal_stdlib>
using namespace metal;

// ---------------------------------------------------------------------------------------------
// Types and compile-time helpers
// ---------------------------------------------------------------------------------------------
namespace kit {

template <int N>
struct Int {
  static constexpr constant int value = N;
};

template <typename A, typename B>
struct Same {
  static constexpr constant bool value = false;
};
template <typename A>
struct Same<A, A> {
  static constexpr constant bool value = true;
};

constexpr int log2_of(int n) {
  return n <= 1 ? 0 : 1 + log2_of(n / 2);
}

constexpr bool is_power_of_two(int n) {
  return n > 0 && (n & (n - 1)) == 0;
}

template <typename T>
constexpr T smaller(T a, T b) {
  return a < b ? a : b;
}

template <typename T, typename... Rest>
constexpr T smaller(T a, T b, Rest... rest) {
  return smaller(smaller(a, b), rest...);
}

template <typename... T>
constexpr auto total(T... values) {
  return (values + ...);
}

template <typename... T>
constexpr bool all_of(T... values) {
  return (... && values);
}

template <typename T>
inline void exchange(thread T& a, thread T& b) {
  const T old = a;
  a = b;
  b = old;
}

// The type that sums of T are kept in.
template <typename T>
struct Accumulator {
  using type = T;
};
template <>
struct Accumulator<half> {
  using type = float;
};
template <>
struct Accumulator<bfloat> {
  using type = float;
};
template <>
struct Accumulator<char> {
  using type = int;
};
template <>
struct Accumulator<uchar> {
  using type = uint;
};
template <>
struct Accumulator<short> {
  using type = int;
};
template <typename T>
using accumulator_t = typename Accumulator<T>::type;

// A fixed number of values with loops that unroll.
template <typename T, int N>
struct Row {
  T v[N];

  thread T& operator[](int i) thread { return v[i]; }
  T operator[](int i) const thread { return v[i]; }

  static Row filled(T value) {
    Row r;
#pragma unroll
    for (int i = 0; i < N; i++) r.v[i] = value;
    return r;
  }

  template <typename F>
  void each(F f) thread {
#pragma unroll
    for (int i = 0; i < N; i++) f(v[i], i);
  }

  template <typename U, typename F>
  U fold(U start, F f) const thread {
    U result = start;
#pragma unroll
    for (int i = 0; i < N; i++) result = f(result, v[i]);
    return result;
  }

  template <typename F>
  auto map(F f) const thread -> Row<decltype(f(T())), N> {
    Row<decltype(f(T())), N> r;
#pragma unroll
    for (int i = 0; i < N; i++) r.v[i] = f(v[i]);
    return r;
  }

  T sum() const thread {
    return fold(T(0), [](T a, T b) { return a + b; });
  }
  T largest() const thread {
    return fold(v[0], [](T a, T b) { return a > b ? a : b; });
  }
};

template <typename T, int N>
inline Row<T, N> operator+(Row<T, N> a, Row<T, N> b) {
#pragma unroll
  for (int i = 0; i < N; i++) a.v[i] += b.v[i];
  return a;
}

template <typename T, int N>
inline Row<T, N> operator*(Row<T, N> a, T s) {
#pragma unroll
  for (int i = 0; i < N; i++) a.v[i] *= s;
  return a;
}

template <typename T, int N>
inline accumulator_t<T> dot_rows(Row<T, N> a, Row<T, N> b) {
  accumulator_t<T> sum = 0;
#pragma unroll
  for (int i = 0; i < N; i++) sum += accumulator_t<T>(a.v[i]) * accumulator_t<T>(b.v[i]);
  return sum;
}

template <typename T, int N, typename P>
inline Row<T, N> load_row(P source, int stride = 1) {
  Row<T, N> r;
#pragma unroll
  for (int i = 0; i < N; i++) r.v[i] = static_cast<T>(source[i * stride]);
  return r;
}

}  // namespace kit

// ---------------------------------------------------------------------------------------------
// Bits
// ---------------------------------------------------------------------------------------------
namespace bits {

template <int Offset, int Width>
struct Field {
  static_assert(Offset >= 0 && Width > 0 && Offset + Width <= 32, "a field lies in one word");
  static constexpr constant uint mask = Width == 32 ? ~0u : (1u << Width) - 1;

  static constexpr uint get(uint word) { return (word >> Offset) & mask; }
  static constexpr uint set(uint word, uint value) {
    return (word & ~(mask << Offset)) | ((value & mask) << Offset);
  }
  static constexpr int get_signed(uint word) {
    return int(word << (32 - Offset - Width)) >> (32 - Width);
  }
};

// 5 + 6 + 5 bits, as pixels are kept.
struct Pixel565 {
  using Red = Field<11, 5>;
  using Green = Field<5, 6>;
  using Blue = Field<0, 5>;
  uint word;

  static Pixel565 of(uint r, uint g, uint b) {
    return Pixel565{Red::set(Green::set(Blue::set(0u, b), g), r)};
  }
  uint luma() const { return 2 * Red::get(word) + 3 * Green::get(word) / 2 + Blue::get(word); }
};

constexpr uint spread(uint v) {
  v &= 0xFFFF;
  v = (v | (v << 8)) & 0x00FF00FF;
  v = (v | (v << 4)) & 0x0F0F0F0F;
  v = (v | (v << 2)) & 0x33333333;
  v = (v | (v << 1)) & 0x55555555;
  return v;
}

constexpr uint gather_even(uint v) {
  v &= 0x55555555;
  v = (v | (v >> 1)) & 0x33333333;
  v = (v | (v >> 2)) & 0x0F0F0F0F;
  v = (v | (v >> 4)) & 0x00FF00FF;
  v = (v | (v >> 8)) & 0x0000FFFF;
  return v;
}

constexpr uint morton(uint x, uint y) {
  return spread(x) | (spread(y) << 1);
}

inline uint2 from_morton(uint m) {
  return uint2(gather_even(m), gather_even(m >> 1));
}

template <typename T>
constexpr T gray(T v) {
  return v ^ (v >> 1);
}

inline uint from_gray(uint g) {
#pragma unroll
  for (int shift = 1; shift < 32; shift *= 2) g ^= g >> shift;
  return g;
}

// Seven bits a byte, the eighth says that more follow.
struct Varint {
  uchar bytes[5];
  int length;

  static Varint of(uint value) {
    Varint v;
    v.length = 0;
    do {
      const uchar low = value & 0x7F;
      value >>= 7;
      v.bytes[v.length++] = low | (value ? 0x80 : 0);
    } while (value);
    return v;
  }

  uint value() const thread {
    uint result = 0;
    for (int i = 0; i < length; i++) result |= uint(bytes[i] & 0x7F) << (7 * i);
    return result;
  }
};

constexpr uint zigzag(int v) {
  return (uint(v) << 1) ^ uint(v >> 31);
}

constexpr int from_zigzag(uint v) {
  return int(v >> 1) ^ -int(v & 1);
}

// How many steps it takes to clear all bits, lowest first.
inline int kernighan(uint v) {
  int n = 0;
  for (; v; v &= v - 1) n++;
  return n;
}

}  // namespace bits

// ---------------------------------------------------------------------------------------------
// Hashes and random numbers
// ---------------------------------------------------------------------------------------------
namespace hashes {

struct Crc32 {
  static constexpr constant uint polynomial = 0xEDB88320u;

  // One entry of the table that software usually carries along.
  static constexpr uint entry(uint byte) {
    uint c = byte;
    for (int k = 0; k < 8; k++) c = (c & 1) ? polynomial ^ (c >> 1) : c >> 1;
    return c;
  }
  static uint of(uint word) {
    uint c = ~0u;
    for (int i = 0; i < 4; i++) {
      c = entry((c ^ (word >> (8 * i))) & 0xFF) ^ (c >> 8);
    }
    return ~c;
  }
};

struct Murmur {
  static constexpr uint final_mix(uint h) {
    h ^= h >> 16;
    h *= 0x85EBCA6Bu;
    h ^= h >> 13;
    h *= 0xC2B2AE35u;
    h ^= h >> 16;
    return h;
  }
  static uint of(uint word) { return final_mix(word); }
};

struct Fnv {
  static uint of(uint word) {
    uint h = 2166136261u;
    for (int i = 0; i < 4; i++) {
      h ^= (word >> (8 * i)) & 0xFF;
      h *= 16777619u;
    }
    return h;
  }
};

struct Xx {
  static uint of(uint word) {
    uint h = 374761393u + 4u;  // seed 0, four bytes
    h += word * 3266489917u;
    h = rotate(h, 17u) * 668265263u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    h *= 3266489917u;
    h ^= h >> 16;
    return h;
  }
};

struct Pcg {
  static uint of(uint word) {
    const uint state = word * 747796405u + 2891336453u;
    const uint mixed = ((state >> ((state >> 28) + 4u)) ^ state) * 277803737u;
    return (mixed >> 22) ^ mixed;
  }
};

struct SplitMix {
  static uint of(uint word) {
    ulong z = ulong(word) + 0x9E3779B97F4A7C15ul;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ul;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBul;
    z ^= z >> 31;
    return uint(z ^ (z >> 32));
  }
};

// Counter-based: ten rounds of two multiplications.
struct Philox {
  uint4 counter;
  uint2 key;

  uint4 next() thread {
    uint4 c = counter;
    uint2 k = key;
#pragma unroll
    for (int round = 0; round < 10; round++) {
      const uint high0 = mulhi(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x;
      const uint high1 = mulhi(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
      c = uint4(high1 ^ c.y ^ k.x, low1, high0 ^ c.w ^ k.y, low0);
      k += uint2(0x9E3779B9u, 0xBB67AE85u);
    }
    counter.x++;
    return c;
  }
};

struct Xorshift {
  uint state;
  uint operator()() thread {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
  }
};

// The hashes of a list, one after the other.
template <typename... H>
struct Chain;
template <>
struct Chain<> {
  static uint of(uint word) { return word; }
};
template <typename First, typename... Rest>
struct Chain<First, Rest...> {
  static uint of(uint word) { return Chain<Rest...>::of(First::of(word)); }
};

template <typename... H>
inline uint mixed(uint word) {
  return (H::of(word) ^ ...);
}

// Open addressing in a small private table.
template <int Size, typename Hash>
struct Set {
  static_assert(kit::is_power_of_two(Size), "the table is indexed by low bits");
  uint slots[Size];
  int used = 0;

  Set() {
    for (int i = 0; i < Size; i++) slots[i] = 0;
  }
  // Zero marks a free slot, so keys are kept plus one.
  bool insert(uint key) thread {
    uint at = Hash::of(key) & (Size - 1);
    for (int tries = 0; tries < Size; tries++) {
      if (slots[at] == key + 1) return false;
      if (slots[at] == 0) {
        slots[at] = key + 1;
        used++;
        return true;
      }
      at = (at + 1) & (Size - 1);
    }
    return false;
  }
};

}  // namespace hashes

// ---------------------------------------------------------------------------------------------
// Numbers
// ---------------------------------------------------------------------------------------------
namespace numbers {

// Binary fixed point with `Fraction` bits behind the point.
template <int Fraction>
struct Fixed {
  int raw;

  static constexpr constant int one = 1 << Fraction;

  static constexpr Fixed of(int whole) { return Fixed{whole << Fraction}; }
  static constexpr Fixed ratio(int a, int b) { return Fixed{int(long(a) * one / b)}; }

  template <int Other>
  constexpr Fixed<Other> to() const {
    if constexpr (Other >= Fraction) {
      return Fixed<Other>{raw << (Other - Fraction)};
    } else {
      return Fixed<Other>{raw >> (Fraction - Other)};
    }
  }
  constexpr int whole() const { return raw >> Fraction; }

  friend constexpr Fixed operator+(Fixed a, Fixed b) { return Fixed{a.raw + b.raw}; }
  friend constexpr Fixed operator-(Fixed a, Fixed b) { return Fixed{a.raw - b.raw}; }
  friend constexpr Fixed operator*(Fixed a, Fixed b) {
    return Fixed{int((long(a.raw) * b.raw) >> Fraction)};
  }
  friend constexpr Fixed operator/(Fixed a, Fixed b) {
    return Fixed{int((long(a.raw) << Fraction) / b.raw)};
  }
  friend constexpr bool operator<(Fixed a, Fixed b) { return a.raw < b.raw; }
};

template <int Fraction>
inline Fixed<Fraction> root(Fixed<Fraction> a) {
  ulong rest = ulong(a.raw) << Fraction;
  ulong result = 0;
  for (ulong bit = 1ul << 46; bit; bit >>= 2) {
    if (rest >= result + bit) {
      rest -= result + bit;
      result = (result >> 1) + bit;
    } else {
      result >>= 1;
    }
  }
  return Fixed<Fraction>{int(result)};
}

template <typename T>
struct Complex {
  T re, im;
  friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  T norm() const { return re * re + im * im; }
};

// A value and its derivative.
template <typename T>
struct Dual {
  T value, slope;

  Dual() = default;
  Dual(T v) : value(v), slope(0) {}
  Dual(T v, T s) : value(v), slope(s) {}

  friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
  friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
  friend Dual operator*(Dual a, Dual b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend Dual operator/(Dual a, Dual b) {
    const T q = a.value / b.value;
    return {q, (a.slope - q * b.slope) / b.value};
  }
};

template <typename T>
inline Dual<T> sine(Dual<T> a) {
  return {sin(a.value), cos(a.value) * a.slope};
}
template <typename T>
inline Dual<T> exponential(Dual<T> a) {
  const T e = exp(a.value);
  return {e, e * a.slope};
}

struct Quaternion {
  float w;
  float3 v;

  static Quaternion about(float3 axis, float angle) {
    return {cos(angle / 2), normalize(axis) * sin(angle / 2)};
  }
  friend Quaternion operator*(Quaternion a, Quaternion b) {
    return {a.w * b.w - dot(a.v, b.v), a.w * b.v + b.w * a.v + cross(a.v, b.v)};
  }
  Quaternion conjugate() const { return {w, -v}; }
  float3 rotate(float3 p) const {
    const Quaternion q = *this * Quaternion{0, p} * conjugate();
    return q.v;
  }
};

// The error of each addition is kept in a second number.
template <typename T>
struct Compensated {
  T sum = 0, rest = 0;
  void add(T v) thread {
    const T s = sum + v;
    rest += abs(sum) >= abs(v) ? (sum - s) + v : (v - s) + sum;
    sum = s;
  }
  T value() const thread { return sum + rest; }
};

template <typename T, typename... C>
inline T polynomial(T x, T first, C... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return first;
  } else {
    return first + x * polynomial(x, rest...);
  }
}

template <int Steps, typename F>
inline float simpson(float a, float b, F f) {
  static_assert(Steps % 2 == 0, "Simpson's rule takes pairs of intervals");
  const float h = (b - a) / Steps;
  float sum = f(a) + f(b);
  for (int i = 1; i < Steps; i++) sum += (i % 2 ? 4 : 2) * f(a + i * h);
  return sum * h / 3;
}

template <typename F>
inline float newton(float x, F f, int steps) {
  for (int i = 0; i < steps; i++) {
    const Dual<float> y = f(Dual<float>(x, 1));
    if (abs(y.value) < 1e-7f) break;
    x -= y.value / y.slope;
  }
  return x;
}

template <typename T, int R, int C>
struct Matrix {
  T m[R][C];

  static Matrix identity() {
    Matrix a;
    for (int i = 0; i < R; i++)
      for (int j = 0; j < C; j++) a.m[i][j] = T(i == j);
    return a;
  }

  template <typename F>
  static Matrix from(F f) {
    Matrix a;
    for (int i = 0; i < R; i++)
      for (int j = 0; j < C; j++) a.m[i][j] = f(i, j);
    return a;
  }

  template <int D>
  Matrix<T, R, D> times(Matrix<T, C, D> b) const thread {
    Matrix<T, R, D> c;
    for (int i = 0; i < R; i++) {
      for (int j = 0; j < D; j++) {
        T sum = 0;
        for (int k = 0; k < C; k++) sum = fma(m[i][k], b.m[k][j], sum);
        c.m[i][j] = sum;
      }
    }
    return c;
  }

  Matrix<T, C, R> transposed() const thread {
    Matrix<T, C, R> t;
    for (int i = 0; i < R; i++)
      for (int j = 0; j < C; j++) t.m[j][i] = m[i][j];
    return t;
  }

  T trace() const thread {
    T sum = 0;
    for (int i = 0; i < kit::smaller(R, C); i++) sum += m[i][i];
    return sum;
  }
};

// Gauss with the largest pivot; the determinant comes along.
template <typename T, int N>
struct Solver {
  Matrix<T, N, N> a;
  T determinant = 1;

  void solve(thread T* b) thread {
    for (int k = 0; k < N; k++) {
      int best = k;
      for (int i = k + 1; i < N; i++) {
        if (abs(a.m[i][k]) > abs(a.m[best][k])) best = i;
      }
      if (best != k) {
        for (int j = 0; j < N; j++) kit::exchange(a.m[k][j], a.m[best][j]);
        kit::exchange(b[k], b[best]);
        determinant = -determinant;
      }
      determinant *= a.m[k][k];
      for (int i = k + 1; i < N; i++) {
        const T factor = a.m[i][k] / a.m[k][k];
        for (int j = k; j < N; j++) a.m[i][j] -= factor * a.m[k][j];
        b[i] -= factor * b[k];
      }
    }
    for (int i = N - 1; i >= 0; i--) {
      for (int j = i + 1; j < N; j++) b[i] -= a.m[i][j] * b[j];
      b[i] /= a.m[i][i];
    }
  }
};

template <typename T, int N>
inline Matrix<T, N, N> cholesky(Matrix<T, N, N> a) {
  Matrix<T, N, N> l = Matrix<T, N, N>::from([](int, int) { return T(0); });
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++) {
      T sum = a.m[i][j];
      for (int k = 0; k < j; k++) sum -= l.m[i][k] * l.m[j][k];
      if (i == j) {
        l.m[i][i] = sqrt(sum);
      } else {
        l.m[i][j] = sum / l.m[j][j];
      }
    }
  }
  return l;
}

// x^n by squaring, for whatever has a product.
template <typename T>
inline T power(T x, T one, uint n) {
  T result = one;
  while (n) {
    if (n & 1) result = result * x;
    x = x * x;
    n >>= 1;
  }
  return result;
}

struct Modular {
  uint v;
  static constexpr constant uint modulus = 998244353u;
  friend Modular operator*(Modular a, Modular b) {
    return Modular{uint(ulong(a.v) * b.v % modulus)};
  }
};

inline uint greatest_divisor(uint a, uint b) {
  while (b) {
    const uint r = a % b;
    a = b;
    b = r;
  }
  return a;
}

}  // namespace numbers

// ---------------------------------------------------------------------------------------------
// Quantised weights
// ---------------------------------------------------------------------------------------------
namespace quant {

// Values of `Bits` bits, lowest first, with a scale and a bias for each group of values.
template <int Bits, int Group>
struct Affine {
  static_assert(32 % Bits == 0, "values do not cross words");
  static constexpr constant int per_word = 32 / Bits;
  static constexpr constant uint mask = (1u << Bits) - 1;

  static uint code(const device uint* words, int i) {
    return (words[i / per_word] >> (Bits * (i % per_word))) & mask;
  }

  // The dot product of a row with a vector; words are read once.
  template <typename X>
  static float dot(const device uint* words, const device half* scales, const device half* biases,
                   X x, int length) {
    float sum = 0;
    for (int g = 0; g < length / Group; g++) {
      float products = 0, plain = 0;
      for (int w = 0; w < Group / per_word; w++) {
        uint word = words[g * (Group / per_word) + w];
#pragma unroll
        for (int k = 0; k < per_word; k++) {
          const float value = x[g * Group + w * per_word + k];
          products += float(word & mask) * value;
          plain += value;
          word >>= Bits;
        }
      }
      sum += float(scales[g]) * products + float(biases[g]) * plain;
    }
    return sum;
  }
};

// Eight bits and wider need no shifts: bytes are elements of their own.
template <int Group>
struct Affine<8, Group> {
  static uint code(const device uint* words, int i) { return ((const device uchar*)words)[i]; }

  template <typename X>
  static float dot(const device uint* words, const device half* scales, const device half* biases,
                   X x, int length) {
    const device uchar4* fours = reinterpret_cast<const device uchar4*>(words);
    float sum = 0;
    for (int i = 0; i < length; i += 4) {
      const int g = i / Group;
      const float4 q = float4(*fours++);
      const float4 v = float4(x[i], x[i + 1], x[i + 2], x[i + 3]);
      sum += float(scales[g]) * metal::dot(q, v) + float(biases[g]) * (v.x + v.y + v.z + v.w);
    }
    return sum;
  }
};

// Sixteen values of a table, denser around zero.
constant float table16[16] = {-1.0f,   -0.6875f, -0.5f,   -0.375f, -0.28125f, -0.1875f,
                              -0.09375f, 0.0f,   0.078125f, 0.15625f, 0.25f,   0.34375f,
                              0.4375f, 0.5625f,  0.71875f, 1.0f};

struct Table {
  static float value(uint code) { return table16[code & 15]; }
  static uint nearest(float x) {
    uint best = 0;
    for (uint i = 1; i < 16; i++) {
      if (abs(x - table16[i]) < abs(x - table16[best])) best = i;
    }
    return best;
  }
};

// Four bits of floating point: sign, two bits of exponent, one of mantissa.
struct Float4Bits {
  uchar bits;
  float value() const {
    const int exponent = (bits >> 1) & 3, mantissa = bits & 1;
    const float magnitude =
        exponent ? (1 + 0.5f * mantissa) * float(1 << exponent) * 0.5f : 0.5f * mantissa;
    return bits & 8 ? -magnitude : magnitude;
  }
};

// The scheme that a tag selects.
struct ByTable {};
struct ByFloat {};
template <typename Tag>
inline float decode(uint code) {
  if constexpr (kit::Same<Tag, ByTable>::value) {
    return Table::value(code);
  } else {
    static_assert(kit::Same<Tag, ByFloat>::value, "unknown scheme");
    return Float4Bits{uchar(code & 15)}.value();
  }
}

}  // namespace quant

// ---------------------------------------------------------------------------------------------
// Activations
// ---------------------------------------------------------------------------------------------
namespace activation {

struct Relu {
  template <typename T>
  T operator()(T x) const {
    return max(x, T(0));
  }
};
struct Silu {
  template <typename T>
  T operator()(T x) const {
    return x / (1 + exp(-x));
  }
};
struct Gelu {
  float operator()(float x) const {
    constexpr float c = 0.7978845608f;
    return 0.5f * x * (1 + tanh(c * (x + 0.044715f * x * x * x)));
  }
};
struct Softplus {
  float operator()(float x) const { return max(x, 0.0f) + log(1 + exp(-abs(x))); }
};
template <int Slope1024>
struct Leaky {
  template <typename T>
  T operator()(T x) const {
    return x >= 0 ? x : x * (T(Slope1024) / T(1024));
  }
};

// Leftmost last, as in mathematics.
template <typename... F>
struct Compose;
template <typename F>
struct Compose<F> : F {};
template <typename F, typename... Rest>
struct Compose<F, Rest...> {
  float operator()(float x) const { return F()(Compose<Rest...>()(x)); }
};

template <typename... F>
inline float sum_of(float x) {
  return (F()(x) + ...);
}

enum class Kind : uchar { relu, silu, gelu, softplus };

inline float apply(Kind kind, float x) {
  switch (kind) {
    case Kind::relu:
      return Relu()(x);
    case Kind::silu:
      return Silu()(x);
    case Kind::gelu:
      return Gelu()(x);
    default:
      break;
  }
  return Softplus()(x);
}

}  // namespace activation

// ---------------------------------------------------------------------------------------------
// Attention of one query
// ---------------------------------------------------------------------------------------------
namespace attention {

// Softmax over values that come one at a time.
template <int Width>
struct Online {
  float highest = -INFINITY;
  float weight = 0;
  kit::Row<float, Width> sum = kit::Row<float, Width>::filled(0);

  void add(float score, kit::Row<float, Width> value) thread {
    const float top = max(highest, score);
    const float keep = exp(highest - top), share = exp(score - top);
    weight = weight * keep + share;
    sum = sum * keep + value * share;
    highest = top;
  }

  // Two halves of a sequence.
  void join(Online other) thread {
    const float top = max(highest, other.highest);
    const float mine = exp(highest - top), theirs = exp(other.highest - top);
    weight = weight * mine + other.weight * theirs;
    sum = sum * mine + other.sum * theirs;
    highest = top;
  }

  kit::Row<float, Width> result() const thread {
    kit::Row<float, Width> r = sum;
    r.each([w = weight](thread float& v, int) { v /= w; });
    return r;
  }
};

// Rotates pairs of components by an angle that falls with their place.
template <int Width>
inline kit::Row<float, Width> with_position(kit::Row<float, Width> r, int position) {
#pragma unroll
  for (int i = 0; i < Width / 2; i++) {
    const float angle = position * exp2(-float(i));
    const float c = cos(angle), s = sin(angle);
    const float a = r.v[i], b = r.v[i + Width / 2];
    r.v[i] = a * c - b * s;
    r.v[i + Width / 2] = a * s + b * c;
  }
  return r;
}

struct Causal {
  int position;
  bool allows(int key) const { return key <= position; }
  float bias(int) const { return 0; }
};
struct Window {
  int position;
  int reach;
  bool allows(int key) const { return abs(key - position) <= reach; }
  float bias(int key) const { return -0.125f * abs(key - position); }
};

template <int Width, typename Mask>
inline Online<Width> over(kit::Row<float, Width> query, const device half* keys,
                          const device half* values, int first, int last, Mask mask) {
  Online<Width> state;
  for (int i = first; i < last; i++) {
    if (!mask.allows(i)) continue;
    const auto key = kit::load_row<float, Width>(keys + i * Width);
    const float score = kit::dot_rows(query, with_position<Width>(key, i));
    state.add(score * rsqrt(float(Width)) + mask.bias(i),
              kit::load_row<float, Width>(values + i * Width));
  }
  return state;
}

}  // namespace attention

// ---------------------------------------------------------------------------------------------
// Sorting and searching
// ---------------------------------------------------------------------------------------------
namespace order {

struct Up {
  template <typename T>
  static bool before(T a, T b) {
    return a < b;
  }
};
struct Down {
  template <typename T>
  static bool before(T a, T b) {
    return b < a;
  }
};

template <typename By, typename T>
inline void in_order(thread T& a, thread T& b) {
  if (By::before(b, a)) kit::exchange(a, b);
}

// Batcher's network for 2^n values in registers.
template <typename By, typename T, int N>
inline void network(thread T (&v)[N]) {
  static_assert(kit::is_power_of_two(N), "the network wants a power of two");
#pragma unroll
  for (int p = 1; p < N; p *= 2) {
#pragma unroll
    for (int k = p; k >= 1; k /= 2) {
#pragma unroll
      for (int j = k % p; j + k < N; j += 2 * k) {
#pragma unroll
        for (int i = 0; i < k; i++) {
          if (i + j + k < N && (i + j) / (2 * p) == (i + j + k) / (2 * p)) {
            in_order<By>(v[i + j], v[i + j + k]);
          }
        }
      }
    }
  }
}

template <typename By, typename T, int N>
inline void insertion(thread T (&v)[N], int length) {
  for (int i = 1; i < length; i++) {
    const T current = v[i];
    int j = i;
    while (j > 0 && By::before(current, v[j - 1])) {
      v[j] = v[j - 1];
      j--;
    }
    v[j] = current;
  }
}

// The first K of a stream, kept in order.
template <typename By, typename T, int K>
struct Best {
  T value[K];
  int place[K];

  explicit Best(T worst) {
    for (int i = 0; i < K; i++) value[i] = worst, place[i] = -1;
  }
  void offer(T v, int where) thread {
    if (!By::before(v, value[K - 1])) return;
    int at = K - 1;
    for (; at > 0 && By::before(v, value[at - 1]); at--) {
      value[at] = value[at - 1];
      place[at] = place[at - 1];
    }
    value[at] = v;
    place[at] = where;
  }
};

// A heap whose root comes last.
template <typename T, int N>
struct Heap {
  T items[N];
  int size = 0;

  void push(T v) thread {
    int at = size++;
    while (at > 0) {
      const int parent = (at - 1) / 2;
      if (items[parent] <= v) break;
      items[at] = items[parent];
      at = parent;
    }
    items[at] = v;
  }
  T pop() thread {
    const T result = items[0];
    const T last = items[--size];
    int at = 0;
    while (true) {
      int child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && items[child + 1] < items[child]) child++;
      if (last <= items[child]) break;
      items[at] = items[child];
      at = child;
    }
    items[at] = last;
    return result;
  }
};

// The first place whose value is not before `v`.
template <typename By, typename P, typename T>
inline int lower_bound(P values, int length, T v) {
  int low = 0, high = length;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (By::before(values[middle], v)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// A threadgroup sorts its array; every thread owns one value.
template <typename By, int N, typename T>
inline void bitonic(threadgroup T* values, uint thread_index) {
  for (uint k = 2; k <= N; k *= 2) {
    for (uint j = k / 2; j > 0; j /= 2) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const uint other = thread_index ^ j;
      if (other > thread_index) {
        const T a = values[thread_index], b = values[other];
        const bool upward = (thread_index & k) == 0;
        if (upward ? By::before(b, a) : By::before(a, b)) {
          values[thread_index] = b;
          values[other] = a;
        }
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

}  // namespace order

// ---------------------------------------------------------------------------------------------
// What a threadgroup does together
// ---------------------------------------------------------------------------------------------
namespace group {

struct Add {
  template <typename T>
  static constexpr T start() {
    return T(0);
  }
  template <typename T>
  static T join(T a, T b) {
    return a + b;
  }
  template <typename T>
  static T lanes(T v) {
    return simd_sum(v);
  }
};

struct Largest {
  template <typename T>
  static constexpr T start() {
    return numeric_limits<T>::lowest();
  }
  template <typename T>
  static T join(T a, T b) {
    return max(a, b);
  }
  template <typename T>
  static T lanes(T v) {
    return simd_max(v);
  }
};

struct Place {
  uint lane;
  uint simdgroup;
  uint index;
  uint simdgroups;
};

// One value a thread, the result to all.
template <typename Op, typename T>
inline T reduce(T v, threadgroup T* memory, Place place) {
  v = Op::lanes(v);
  if (place.lane == 0) memory[place.simdgroup] = v;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  T result = Op::template start<T>();
  for (uint i = 0; i < place.simdgroups; i++) result = Op::join(result, memory[i]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return result;
}

// Inclusive, by doubling steps through memory: no SIMD functions.
template <typename Op, int N, typename T>
inline T scan(T v, threadgroup T (&memory)[2][N], uint index) {
  int from = 0;
  memory[from][index] = v;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 1; step < N; step *= 2) {
    const T mine = memory[from][index];
    memory[1 - from][index] = index >= step ? Op::join(memory[from][index - step], mine) : mine;
    from = 1 - from;
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  return memory[from][index];
}

template <typename T>
struct Found {
  T value;
  uint where;
};

template <typename T>
inline Found<T> argmax(T v, threadgroup Found<T>* memory, Place place) {
  Found<T> best = {v, place.index};
  for (ushort step = 16; step > 0; step /= 2) {
    const Found<T> other = {simd_shuffle_xor(best.value, step), simd_shuffle_xor(best.where, step)};
    if (other.value > best.value || (other.value == best.value && other.where < best.where)) {
      best = other;
    }
  }
  if (place.lane == 0) memory[place.simdgroup] = best;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  best = memory[0];
  for (uint i = 1; i < place.simdgroups; i++) {
    if (memory[i].value > best.value) best = memory[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return best;
}

template <int Bins>
inline void histogram(threadgroup atomic_uint* bins, uint value, Place place, uint threads) {
  for (uint i = place.index; i < Bins; i += threads) {
    atomic_store_explicit(&bins[i], 0u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&bins[value % Bins], 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

// Where the values that pass a test go, and how many pass.
template <int N>
inline uint2 compact(bool keep, threadgroup uint (&memory)[2][N], uint index) {
  const uint rank = scan<Add, N>(uint(keep), memory, index);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (index == N - 1) memory[0][0] = rank;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint count = memory[0][0];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return uint2(rank - 1, count);
}

}  // namespace group

// ---------------------------------------------------------------------------------------------
// Tiles: a matrix product through threadgroup memory
// ---------------------------------------------------------------------------------------------
namespace tiles {

template <typename T, int Rows, int Columns, int Threads>
struct Loader {
  static_assert(Rows * Columns % Threads == 0, "every thread loads the same number of elements");
  static constexpr constant int each = Rows * Columns / Threads;

  const device T* source;
  int stride;
  threadgroup float* tile;
  uint index;

  void load() const {
#pragma unroll
    for (int i = 0; i < each; i++) {
      const int at = int(index) + i * Threads, r = at / Columns, c = at % Columns;
      tile[at] = float(source[r * stride + c]);
    }
  }
  void advance(int elements) { source += elements; }
};

// Each thread computes a strip of the product of two tiles.
template <int Depth, int Columns, int Strip>
struct Product {
  kit::Row<float, Strip> sum = kit::Row<float, Strip>::filled(0);

  void add(const threadgroup float* a, const threadgroup float* b, int row, int column) thread {
    for (int k = 0; k < Depth; k++) {
      const float left = a[row * Depth + k];
#pragma unroll
      for (int j = 0; j < Strip; j++) {
        sum.v[j] = fma(left, b[k * Columns + column + j], sum.v[j]);
      }
    }
  }
  template <typename F>
  void store(device float* out, F finish) const thread {
#pragma unroll
    for (int j = 0; j < Strip; j++) out[j] = finish(sum.v[j]);
  }
};

}  // namespace tiles

// ---------------------------------------------------------------------------------------------
// Small programs: tokens, texts, images, cells
// ---------------------------------------------------------------------------------------------
namespace machines {

enum class State : int { blank, word, number, broken };

// Counts words and numbers among bytes, and tells what went wrong first.
struct Tokens {
  int words = 0, numbers = 0, errors = 0;

  static State next(State state, uchar c) {
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'z') || c == '_';
    if (c == ' ') return State::blank;
    switch (state) {
      case State::blank:
        return digit ? State::number : letter ? State::word : State::broken;
      case State::word:
        return digit || letter ? State::word : State::broken;
      case State::number:
        return digit ? State::number : State::broken;
      case State::broken:
        return State::broken;
    }
    return State::broken;
  }

  template <typename P>
  void read(P text, int length) thread {
    State state = State::blank;
    for (int i = 0; i < length; i++) {
      const State now = next(state, text[i]);
      if (now != state) {
        words += now == State::word;
        numbers += now == State::number;
        errors += now == State::broken;
      }
      state = now;
    }
  }
};

// The number of edits between two short texts, with two rows of the table.
template <int Longest, typename P, typename Q>
inline int edit_distance(P a, int n, Q b, int m) {
  int rows[2][Longest + 1];
  for (int j = 0; j <= m; j++) rows[0][j] = j;
  for (int i = 1; i <= n; i++) {
    thread int* before = rows[(i - 1) % 2];
    thread int* now = rows[i % 2];
    now[0] = i;
    for (int j = 1; j <= m; j++) {
      const int replaced = before[j - 1] + (a[i - 1] != b[j - 1]);
      now[j] = kit::smaller(replaced, before[j] + 1, now[j - 1] + 1);
    }
  }
  return rows[n % 2][m];
}

// The most valuable choice of items under a limit of weight.
template <int Capacity>
inline int knapsack(const device uchar* items, int count) {
  int best[Capacity + 1] = {};
  for (int i = 0; i < count; i++) {
    const int weight = 1 + items[i] % 7, value = items[i] / 7;
    for (int c = Capacity; c >= weight; c--) {
      best[c] = max(best[c], best[c - weight] + value);
    }
  }
  return best[Capacity];
}

// Steps until a point leaves the circle, at most `limit`.
inline int escape_steps(float x, float y, int limit) {
  numbers::Complex<float> z = {0, 0};
  const numbers::Complex<float> c = {x, y};
  int steps = 0;
  for (; steps < limit && z.norm() <= 4; steps++) z = z * z + c;
  return steps;
}

// 64 cells in a word, on a ring; the rule's bit number is left, self, right.
template <uint Rule>
struct Cells {
  ulong state;

  void step() thread {
    const ulong left = (state << 1) | (state >> 63), right = (state >> 1) | (state << 63);
    ulong next = 0;
#pragma unroll
    for (uint pattern = 0; pattern < 8; pattern++) {
      if ((Rule >> pattern) & 1) {
        next |= (pattern & 4 ? left : ~left) & (pattern & 2 ? state : ~state) &
                (pattern & 1 ? right : ~right);
      }
    }
    state = next;
  }
  int alive() const { return int(popcount(state)); }
};

// A machine with a stack, three instructions and numbers: bytes 0..9, '+', '*', '-'.
struct Calculator {
  int stack[8];
  int height = 0;

  template <int N>
  static int run(constant char (&program)[N], int input) {
    Calculator c;
    for (int i = 0; i < N && program[i]; i++) {
      const char op = program[i];
      if (op >= '0' && op <= '9') {
        c.push(op - '0');
      } else if (op == 'x') {
        c.push(input);
      } else {
        const int b = c.pop(), a = c.pop();
        c.push(op == '+' ? a + b : op == '*' ? a * b : a - b);
      }
    }
    return c.pop();
  }
  void push(int v) thread { stack[height++] = v; }
  int pop() thread { return stack[--height]; }
};

constant char program[] = "xx*3x*-7+x2++";  // x * x - 3 * x + 7 + (x + 2)

// The place of a step on the space-filling curve of Hilbert.
template <int Order>
inline uint2 hilbert(uint d) {
  uint2 p = uint2(0);
  for (uint s = 1; s < (1u << Order); s *= 2) {
    const uint rx = 1 & (d / 2), ry = 1 & (d ^ rx);
    if (ry == 0) {
      if (rx == 1) p = uint2(s - 1) - p;
      p = p.yx;
    }
    p += s * uint2(rx, ry);
    d /= 4;
  }
  return p;
}

// Run lengths of equal bytes: the number of runs and the longest.
template <typename P>
inline int2 runs(P bytes, int length) {
  int2 result = int2(0);
  int current = 0;
  for (int i = 0; i < length; i++) {
    current = i > 0 && bytes[i] == bytes[i - 1] ? current + 1 : 1;
    result.x += current == 1;
    result.y = max(result.y, current);
  }
  return result;
}

}  // namespace machines

// ---------------------------------------------------------------------------------------------
// Filters and transforms
// ---------------------------------------------------------------------------------------------
namespace signal {

using numbers::Complex;

// A radix-2 transform in registers, its twiddles by recurrence.
template <int N>
inline void transform(thread Complex<float> (&v)[N]) {
  constexpr int levels = kit::log2_of(N);
#pragma unroll
  for (uint i = 0; i < N; i++) {
    const uint j = reverse_bits(i) >> (32 - levels);
    if (i < j) kit::exchange(v[i], v[j]);
  }
#pragma unroll
  for (int half_size = 1; half_size < N; half_size *= 2) {
    const float angle = -M_PI_F / half_size;
#pragma unroll
    for (int k = 0; k < half_size; k++) {
      const Complex<float> w = {cos(angle * k), sin(angle * k)};
#pragma unroll
      for (int i = k; i < N; i += 2 * half_size) {
        const Complex<float> a = v[i], b = v[i + half_size] * w;
        v[i] = a + b;
        v[i + half_size] = a - b;
      }
    }
  }
}

template <int Taps>
struct Filter {
  float taps[Taps];

  template <typename... F>
  explicit Filter(F... values) : taps{static_cast<float>(values)...} {
    static_assert(sizeof...(F) == Taps, "one value a tap");
  }
  template <typename P>
  float at(P x, int i, int length) const thread {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < Taps; k++) {
      const int j = clamp(i + k - Taps / 2, 0, length - 1);
      sum += taps[k] * x[j];
    }
    return sum;
  }
};

// Haar's wavelet, in place, until one average is left.
template <int N, typename T>
inline void haar(thread T (&v)[N]) {
  for (int length = N; length > 1; length /= 2) {
    T buffer[N];
    for (int i = 0; i < length / 2; i++) {
      buffer[i] = (v[2 * i] + v[2 * i + 1]) / 2;
      buffer[length / 2 + i] = (v[2 * i] - v[2 * i + 1]) / 2;
    }
    for (int i = 0; i < length; i++) v[i] = buffer[i];
  }
}

// A second-order recursive filter with its memory.
struct Biquad {
  float b0, b1, b2, a1, a2;
  float2 memory = float2(0);

  float operator()(float x) thread {
    const float y = b0 * x + memory.x;
    memory = float2(b1 * x - a1 * y + memory.y, b2 * x - a2 * y);
    return y;
  }
};

}  // namespace signal
// body:
const uint t = thread_position_in_grid.x;
const uint l = thread_index_in_threadgroup;
const uint g = threadgroup_position_in_grid.x;
const group::Place place = {thread_index_in_simdgroup, simdgroup_index_in_threadgroup, l,
                            simdgroups_per_threadgroup};
const int mine = numbers_in[t];

// A tile of the product: sixteen rows of a threadgroup, four columns a thread.
{
  constexpr int depth = 16, columns = 16, strip = 4;
  threadgroup float left[16 * depth], right[depth * columns];
  tiles::Loader<half, 16, depth, 64> from_a = {a + g * 16 * 32, 32, left, l};
  tiles::Loader<half, depth, columns, 64> from_b = {b, columns, right, l};
  tiles::Product<depth, columns, strip> sums;
  const int row = l / (columns / strip), column = strip * (l % (columns / strip));
  for (int k = 0; k < 32; k += depth) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    from_a.load();
    from_b.load();
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sums.add(left, right, row, column);
    from_a.advance(depth);
    from_b.advance(depth * columns);
  }
  sums.store(product + (g * 16 + row) * columns + column, activation::Relu());
}

// One row of the quantised matrix, read in three ways.
{
  const device uint* row = words + l * 8;
  const device half* s = scales + l * 2;
  const device half* z = biases + l * 2;
  const device float* vector = x + g * 64;
  gemv[0 * 256 + t] = quant::Affine<2, 16>::dot(row, s, z, vector, 32);
  gemv[1 * 256 + t] = quant::Affine<4, 16>::dot(row, s, z, vector, 32);
  gemv[2 * 256 + t] = quant::Affine<8, 16>::dot(row, s, z, vector, 32);
}

// Attention in two halves.
{
  const int position = t % 24;
  const auto query = attention::with_position(kit::load_row<float, 8>(x + t % 200, 3), position);
  attention::Online<8> state;
  if (t % 2) {
    const attention::Window near = {position, 4};
    state = attention::over(query, keys, vals, 0, 12, near);
    state.join(attention::over(query, keys, vals, 12, 24, near));
  } else {
    const attention::Causal past = {position};
    state = attention::over(query, keys, vals, 0, 12, past);
    state.join(attention::over(query, keys, vals, 12, 24, past));
  }
  auto result = state.result();
  result.each([&](thread float& v, int i) { attended[t * 8 + i] = v; });
}

// Softmax over the threadgroup.
threadgroup float partial[32];
{
  using namespace activation;
  float v = apply(static_cast<Kind>(t % 4), x[t]);
  v += Compose<Silu, Leaky<128>>()(x[t]) + sum_of<Relu, Softplus>(x[t]);
  const float e = exp(v - group::reduce<group::Largest>(v, partial, place));
  soft[t] = e / group::reduce<group::Add>(e, partial, place);
}

// Sorting: the threadgroup its numbers, each thread sixteen of them.
threadgroup int shared[64];
{
  shared[l] = mine;
  int bound;
  if (g & 1) {
    order::bitonic<order::Down, 64>(shared, l);
    bound = order::lower_bound<order::Down>(shared, 64, mine);
  } else {
    order::bitonic<order::Up, 64>(shared, l);
    bound = -1;
  }
  sorted[t] = shared[l];

  order::Best<order::Down, int, 3> best(INT_MIN);
  order::Heap<int, 16> heap;
  int eight[8], all[16];
  for (int i = 0; i < 16; i++) {
    const int v = numbers_in[(t * 7 + i) % 256];
    best.offer(v, i);
    heap.push(v);
    all[i] = v;
    if (i < 8) eight[i] = v;
  }
  order::network<order::Up>(eight);
  order::insertion<order::Up>(all, 16);
  heap.pop();
  heap.pop();
  const int third = heap.pop();
  if (third != all[2]) return;
  top[t * 5] = best.value[0];
  top[t * 5 + 1] = best.place[2];
  top[t * 5 + 2] = eight[3];
  top[t * 5 + 3] = third;
  top[t * 5 + 4] = bound < 0 ? order::lower_bound<order::Up>(shared, 64, mine) : bound;
}

// Hashes.
{
  using namespace hashes;
  const uint n = as_type<uint>(mine);
  Philox philox = {uint4(n, t, 1, 2), uint2(3, 4)};
  const uint4 first = philox.next(), second = philox.next();
  Xorshift walk = {n | 1};
  walk(), walk();
  Set<32, Murmur> set;
  for (uint i = 0; i < 16; i++) set.insert(uint(numbers_in[(t * 7 + i) % 256]) % 12u);
  hashed[t * 4] = mixed<Crc32, Murmur, Fnv, Xx, Pcg, SplitMix>(n);
  hashed[t * 4 + 1] = Chain<Murmur, Pcg, Xx>::of(n);
  hashed[t * 4 + 2] = first.x ^ second.w;
  hashed[t * 4 + 3] = walk() + set.used;
}

// What the threadgroup counts together.
{
  threadgroup uint lines[2][64];
  threadgroup atomic_uint bins[16];
  threadgroup group::Found<float> found[2];
  const uint value = mine & 15;
  counts[t * 4] = group::scan<group::Add, 64>(value, lines, l);
  group::histogram<16>(bins, value, place, threads_per_threadgroup.x);
  counts[t * 4 + 1] = atomic_load_explicit(&bins[l % 16], memory_order_relaxed);
  const uint2 where = group::compact<64>(mine & 1, lines, l);
  counts[t * 4 + 2] = mine & 1 ? int(where.x) : -int(where.y);
  counts[t * 4 + 3] = group::argmax(x[t], found, place).where;
}

// Numbers.
{
  using namespace numbers;
  float v[16];
  for (int i = 0; i < 16; i++) v[i] = x[(t + i) % 256];
  const auto m = Matrix<float, 3, 3>::from(
      [&](int i, int j) { return v[3 * i + j] + (i == j ? 4.0f : 0.0f); });
  Solver<float, 3> solver = {m};
  float right[3] = {v[0], v[1], v[2]};
  solver.solve(right);
  const auto spd = m.times(m.transposed());
  const auto f = [](Dual<float> s) { return sine(s) * exponential(s) / (Dual<float>(2) + s * s); };
  const Quaternion turn = Quaternion::about(float3(1, 2, 2), v[3]);
  Compensated<float> sum;
  sum.add(1e4f);
  for (int i = 0; i < 16; i++) sum.add(v[i]);
  sum.add(-1e4f);
  const float target = 2 + abs(v[0]);
  const float area = simpson<16>(0.0f, 1.0f, [](float s) { return 3 * s * s; });  // 1
  device float* row = nums + t * 8;
  row[0] = right[1];
  row[1] = solver.determinant / 64 * area;
  row[2] = cholesky(spd).trace();
  row[3] = f(Dual<float>(v[0], 1)).slope;
  row[4] = turn.rotate(float3(v[4], v[5], v[6])).x;
  row[5] = polynomial(v[0], 1.0f, -0.5f, 0.25f, 2.0f);
  row[6] = newton(target, [=](Dual<float> s) { return s * s - Dual<float>(target); }, 12);
  row[7] = sum.value();
}

// Integers.
{
  using namespace numbers;
  using namespace bits;
  using Q12 = Fixed<12>;
  const int k = abs(mine) % 1000 + 1;
  const Q12 ratio = Q12::ratio(k, 7);
  const Q12 fixed = (ratio < Q12::of(0) ? Q12::of(0) : ratio) * Q12::of(3) - Q12::of(5);
  const uint2 back = from_morton(morton(k % 256, k / 4));
  const Varint encoded = Varint::of(k * 9);
  const uint code = from_gray(gray(uint(mine)));
  const Pixel565 pixel = Pixel565::of(k % 32, k % 64, k % 16);
  device int* row = ints + t * 8;
  row[0] = fixed.to<8>().raw;
  row[1] = root(Q12::of(k)).raw;
  row[2] = power(Modular{uint(k)}, Modular{1}, 13).v;
  row[3] = greatest_divisor(k * 12, 360);
  row[4] = back.x * 3 + back.y;
  row[5] = encoded.value() == uint(k * 9) ? encoded.length - 1 : -1;
  row[6] = from_zigzag(zigzag(int(gray(code))));
  row[7] = pixel.luma() + kernighan(uint(mine));
}

// Small programs.
{
  using namespace machines;
  const device uchar* s = text + t;
  Tokens tokens;
  tokens.read(s, 16);
  Cells<110> cells = {ulong(uint(mine)) * 0x9E3779B97F4A7C15ul};
  for (int i = 0; i < 5; i++) cells.step();
  const uint2 at = hilbert<4>(t);
  uchar coarse[16];
  for (int i = 0; i < 16; i++) coarse[i] = s[i] / 32;
  const int2 found = runs(coarse, 16);
  device int* row = small + t * 8;
  row[0] = tokens.words * 100 + tokens.numbers * 10 + tokens.errors;
  row[1] = edit_distance<9>(s, 7, s + 5, 9);
  row[2] = knapsack<24>(s, 6);
  row[3] = escape_steps((t % 16) / 8.0f - 1.5f, (t / 16) / 8.0f - 1, 30);
  row[4] = cells.alive();
  row[5] = Calculator::run(program, int(t) - 100);
  row[6] = at.x + 64 * at.y;
  row[7] = found.x * 100 + found.y;
}

// Filters.
{
  using namespace signal;
  Complex<float> spectrum[8];
  float averages[8];
  Biquad biquad = {0.3f, 0.2f, 0.1f, -0.5f, 0.25f};
  const Filter<5> smooth(0.1f, 0.2f, 0.4f, 0.2f, 0.1f);
  float last = 0;
  for (int i = 0; i < 8; i++) {
    const float v = x[(t + i) % 256];
    spectrum[i] = {v, 0};
    averages[i] = v;
    last = biquad(v);
  }
  transform(spectrum);
  haar(averages);
  waves[t * 4] = spectrum[1].norm();
  waves[t * 4 + 1] = smooth.at(x, t, 256);
  waves[t * 4 + 2] = averages[0];
  waves[t * 4 + 3] = last;
}
