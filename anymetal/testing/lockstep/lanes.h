// Cross-lane functions and barriers for the lockstep simulator: each is a meeting of lanes, with an
// operation that one of them computes for all.
#pragma once

namespace am {

template <class T> T& first(Thread* lane) { return *(T*)lane->first; }
template <class T> T& second(Thread* lane) { return *(T*)lane->second; }
template <class T> T& result(Thread* lane) { return *(T*)lane->result; }

template <class T> T call(uint line, Operation* operation, T a, T b = T(0), uint number = 0) {
  static_assert(sizeof(T) <= 16, "operands are kept in 16 bytes");
  memcpy(self->first, &a, sizeof(T));
  memcpy(self->second, &b, sizeof(T));
  self->number = number;
  meet(line, operation);
  T r;
  memcpy(&r, self->result, sizeof(T));
  return r;
}

inline void nothing(Group&) {}
inline void simd_meet(uint line) { meet(line, nothing); }
inline void group_meet() { wait_as(AT_BARRIER); }

// ---------------------------------------------------------------------------------- reductions

struct Sum { template <class T> static T of(T a, T b) { return T(a + b); } static constexpr int start = 0; };
struct Product { template <class T> static T of(T a, T b) { return T(a * b); } static constexpr int start = 1; };
struct Least { template <class T> static T of(T a, T b) { return min(a, b); } };
struct Most { template <class T> static T of(T a, T b) { return max(a, b); } };
struct And { template <class T> static T of(T a, T b) { return T(a & b); } };
struct Or { template <class T> static T of(T a, T b) { return T(a | b); } };
struct Xor { template <class T> static T of(T a, T b) { return T(a ^ b); } };

template <class F, class T, int N> void reduce(Group& g) {
  for (int at = 0; at < LANES; at += N) {
    bool some = false;
    T all = T(0);
    for (int i = at; i < at + N; i++) {
      if (!g.lane[i]) continue;
      all = some ? F::of(all, first<T>(g.lane[i])) : first<T>(g.lane[i]);
      some = true;
    }
    for (int i = at; i < at + N; i++)
      if (g.lane[i]) result<T>(g.lane[i]) = all;
  }
}

template <class F, class T, int N, bool inclusive> void scan(Group& g) {
  for (int at = 0; at < LANES; at += N) {
    T all = T(F::start);
    for (int i = at; i < at + N; i++) {
      if (!g.lane[i]) continue;
      T behind = F::of(all, first<T>(g.lane[i]));
      result<T>(g.lane[i]) = inclusive ? behind : all;
      all = behind;
    }
  }
}

// ------------------------------------------------------------------------------------ shuffles

// What an inactive lane gives is open in Metal; AnyMetal says that it is 0.
template <class T> T given(Group& g, int lane) { return g.lane[lane] ? first<T>(g.lane[lane]) : T(0); }

struct At { static int of(int, uint n, int) { return (int)n; } };
struct ByXor { static int of(int i, uint n, int) { return i ^ (int)n; } };
struct Up { static int of(int i, uint n, int) { return i >= (int)n ? i - (int)n : i; } };
struct Down { static int of(int i, uint n, int width) { return i + (int)n < width ? i + (int)n : i; } };
struct RotateUp { static int of(int i, uint n, int width) { return (i - (int)n) & (width - 1); } };
struct RotateDown { static int of(int i, uint n, int width) { return (i + (int)n) & (width - 1); } };

template <class F, class T, int N> void move(Group& g) {
  for (int i = 0; i < LANES; i++)
    if (g.lane[i]) {
      int from = F::of(i % N, g.lane[i]->number, N);
      result<T>(g.lane[i]) = given<T>(g, i - i % N + from % N);
    }
}

template <class T, int N> void first_active(Group& g) {
  for (int at = 0; at < LANES; at += N) {
    Thread* least = nullptr;
    for (int i = at; i < at + N && !least; i++) least = g.lane[i];
    for (int i = at; i < at + N; i++)
      if (g.lane[i]) result<T>(g.lane[i]) = first<T>(least);
  }
}

template <class T, int N, bool up> void fill(Group& g) {
  for (int i = 0; i < LANES; i++) {
    if (!g.lane[i]) continue;
    int lane = i % N, from = up ? lane - (int)g.lane[i]->number : lane + (int)g.lane[i]->number;
    bool inside = from >= 0 && from < N;
    int at = i - lane + (inside ? from : up ? from + N : from - N);
    Thread* source = g.lane[at];
    result<T>(g.lane[i]) = !source ? T(0) : inside ? first<T>(source) : second<T>(source);
  }
}

// --------------------------------------------------------------------------------------- votes

template <int N> void vote(Group& g) {  // the ballot of its own lanes, for each
  for (int at = 0; at < LANES; at += N) {
    ulong mask = 0;
    for (int i = at; i < at + N; i++)
      if (g.lane[i] && first<ulong>(g.lane[i])) mask |= 1ul << (i - at);
    for (int i = at; i < at + N; i++)
      if (g.lane[i]) result<ulong>(g.lane[i]) = mask;
  }
}
template <int N> ulong ballot(uint line, bool yes) { return call<ulong>(line, vote<N>, yes); }

template <int N> void lowest(Group& g) {
  for (int at = 0; at < LANES; at += N) {
    bool none = true;
    for (int i = at; i < at + N; i++)
      if (g.lane[i]) {
        result<ulong>(g.lane[i]) = none;
        none = false;
      }
  }
}

}  // namespace am

struct simd_vote {
  using vote_t = ulong;
  vote_t mask;
  explicit operator vote_t() const { return mask; }
};

// ----------------------------------------------------------------------------- names in kernels

#define AM_REDUCE(F, N, x) am::call(__LINE__, am::reduce<am::F, decltype(am::plain(x)), N>, am::plain(x))
#define AM_SCAN(F, N, inc, x) \
  am::call(__LINE__, am::scan<am::F, decltype(am::plain(x)), N, inc>, am::plain(x))
#define AM_MOVE(F, N, x, n) \
  am::call(__LINE__, am::move<am::F, decltype(am::plain(x)), N>, am::plain(x), decltype(am::plain(x))(0), n)
#define AM_FILL(N, up, x, f, n) \
  am::call(__LINE__, am::fill<decltype(am::plain(x)), N, up>, am::plain(x), decltype(am::plain(x))(f), n)
namespace am {
template <class T> T plain(T x) { return x; }
}

#define simd_sum(x) AM_REDUCE(Sum, 32, x)
#define simd_product(x) AM_REDUCE(Product, 32, x)
#define simd_min(x) AM_REDUCE(Least, 32, x)
#define simd_max(x) AM_REDUCE(Most, 32, x)
#define simd_and(x) AM_REDUCE(And, 32, x)
#define simd_or(x) AM_REDUCE(Or, 32, x)
#define simd_xor(x) AM_REDUCE(Xor, 32, x)
#define quad_sum(x) AM_REDUCE(Sum, 4, x)
#define quad_product(x) AM_REDUCE(Product, 4, x)
#define quad_min(x) AM_REDUCE(Least, 4, x)
#define quad_max(x) AM_REDUCE(Most, 4, x)
#define quad_and(x) AM_REDUCE(And, 4, x)
#define quad_or(x) AM_REDUCE(Or, 4, x)
#define quad_xor(x) AM_REDUCE(Xor, 4, x)
#define simd_prefix_inclusive_sum(x) AM_SCAN(Sum, 32, true, x)
#define simd_prefix_exclusive_sum(x) AM_SCAN(Sum, 32, false, x)
#define simd_prefix_inclusive_product(x) AM_SCAN(Product, 32, true, x)
#define simd_prefix_exclusive_product(x) AM_SCAN(Product, 32, false, x)
#define quad_prefix_inclusive_sum(x) AM_SCAN(Sum, 4, true, x)
#define quad_prefix_exclusive_sum(x) AM_SCAN(Sum, 4, false, x)
#define simd_shuffle(x, n) AM_MOVE(At, 32, x, n)
#define simd_broadcast(x, n) AM_MOVE(At, 32, x, n)
#define simd_shuffle_xor(x, n) AM_MOVE(ByXor, 32, x, n)
#define simd_shuffle_up(x, n) AM_MOVE(Up, 32, x, n)
#define simd_shuffle_down(x, n) AM_MOVE(Down, 32, x, n)
#define simd_shuffle_rotate_up(x, n) AM_MOVE(RotateUp, 32, x, n)
#define simd_shuffle_rotate_down(x, n) AM_MOVE(RotateDown, 32, x, n)
#define quad_shuffle(x, n) AM_MOVE(At, 4, x, n)
#define quad_broadcast(x, n) AM_MOVE(At, 4, x, n)
#define quad_shuffle_xor(x, n) AM_MOVE(ByXor, 4, x, n)
#define quad_shuffle_up(x, n) AM_MOVE(Up, 4, x, n)
#define quad_shuffle_down(x, n) AM_MOVE(Down, 4, x, n)
#define simd_shuffle_and_fill_up(x, f, n) AM_FILL(32, true, x, f, n)
#define simd_shuffle_and_fill_down(x, f, n) AM_FILL(32, false, x, f, n)
#define simd_broadcast_first(x) \
  am::call(__LINE__, am::first_active<decltype(am::plain(x)), 32>, am::plain(x))
#define simd_ballot(x) (simd_vote{am::ballot<32>(__LINE__, x)})
#define simd_active_threads_mask() (simd_vote{am::ballot<32>(__LINE__, true)})
#define simd_any(x) (am::ballot<32>(__LINE__, x) != 0)
#define simd_all(x) (am::ballot<32>(__LINE__, !(x)) == 0)
#define quad_any(x) (am::ballot<4>(__LINE__, x) != 0)
#define quad_all(x) (am::ballot<4>(__LINE__, !(x)) == 0)
#define simd_is_first() (am::call<ulong>(__LINE__, am::lowest<32>, 0) != 0)
#define simdgroup_barrier(flags) am::simd_meet(__LINE__)
#define threadgroup_barrier(flags) am::group_meet()
