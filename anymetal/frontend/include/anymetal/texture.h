// Textures, samplers and functions of fragments, for libraries whose text has some. A kernel that
// takes a texture is refused when it is called (frontend/parameters.py); here is what it takes to
// read its text, such that the other kernels of its file run. No function has a body, so none can be
// a part of a kernel that runs (frontend/restrictions.py). What they are called with is not checked.
#pragma once

namespace metal {

enum class access { sample, read, write, read_write };
enum memory_coherence { memory_coherence_threadgroup, memory_coherence_device };
enum class component { x, y, z, w };

enum class coord { normalized, pixel };
enum class filter { nearest, linear, bicubic };
enum class mag_filter { nearest, linear, bicubic };
enum class min_filter { nearest, linear, bicubic };
enum class mip_filter { none, nearest, linear };
enum class reduction { weighted_average, minimum, maximum };
enum class border_color { transparent_black, opaque_black, opaque_white };
enum class compare_func {
  none,
  never,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  always
};
#define AM_ADDRESS(name) \
  enum class name { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
AM_ADDRESS(address)
AM_ADDRESS(s_address)
AM_ADDRESS(t_address)
AM_ADDRESS(r_address)
#undef AM_ADDRESS

// Options of samplers and of `sample`.
#define AM_OPTION(name)               \
  struct name {                       \
    template <typename... A>          \
    constexpr explicit name(A...) {}  \
  };
AM_OPTION(max_anisotropy)
AM_OPTION(lod_clamp)
AM_OPTION(bias)
AM_OPTION(level)
AM_OPTION(min_lod_clamp)
AM_OPTION(gradient2d)
AM_OPTION(gradient3d)
AM_OPTION(gradientcube)
#undef AM_OPTION

struct sampler {
  template <typename... A>
  constexpr sampler(A...) {}
};

}  // namespace metal

namespace metal {

// What sparse textures give.
template <typename T>
struct sparse_color {
  bool resident() const;
  T value() const;
};

}  // namespace metal

namespace __am {

// A texture whose samples are of type Sample, with components of type T.
template <typename T, typename Sample>
struct texture {
  template <typename... A>
  Sample sample(A...) const;
  template <typename... A>
  Sample read(A...) const;
  template <typename... A>
  T sample_compare(A...) const;
  template <typename... A>
  ::metal::vec<T, 4> gather(A...) const;
  template <typename... A>
  ::metal::vec<T, 4> gather_compare(A...) const;
  template <typename... A>
  ::metal::sparse_color<Sample> sparse_sample(A...) const;
  template <typename... A>
  ::metal::sparse_color<Sample> sparse_read(A...) const;
  template <typename... A>
  ::metal::sparse_color<T> sparse_sample_compare(A...) const;
  template <typename... A>
  ::metal::sparse_color<::metal::vec<T, 4>> sparse_gather(A...) const;
  template <typename... A>
  void write(A...) const;
  void fence() const;

  template <typename... A>
  Sample atomic_load(A...) const;
  template <typename... A>
  void atomic_store(A...) const;
  template <typename... A>
  bool atomic_compare_exchange_weak(A...) const;
#define AM_ATOMIC(name)    \
  template <typename... A> \
  Sample atomic_##name(A...) const;
  AM_ATOMIC(exchange)
  AM_ATOMIC(fetch_add)
  AM_ATOMIC(fetch_sub)
  AM_ATOMIC(fetch_and)
  AM_ATOMIC(fetch_or)
  AM_ATOMIC(fetch_xor)
  AM_ATOMIC(fetch_min)
  AM_ATOMIC(fetch_max)
#undef AM_ATOMIC

  uint get_width(uint lod = 0) const;
  uint get_height(uint lod = 0) const;
  uint get_depth(uint lod = 0) const;
  uint get_array_size() const;
  uint get_num_mip_levels() const;
  uint get_num_samples() const;
  template <typename... A>
  float calculate_clamped_lod(A...) const;
  template <typename... A>
  float calculate_unclamped_lod(A...) const;
};

}  // namespace __am

namespace metal {

#define AM_TEXTURE(name, ...)                                 \
  template <typename T, access = access::sample,              \
            memory_coherence = memory_coherence_threadgroup>  \
  struct name : __am::texture<T, __VA_ARGS__> {};
#define AM_COLOR(name) AM_TEXTURE(name, vec<T, 4>)
AM_COLOR(texture1d)
AM_COLOR(texture1d_array)
AM_COLOR(texture2d)
AM_COLOR(texture2d_array)
AM_COLOR(texture2d_ms)
AM_COLOR(texture2d_ms_array)
AM_COLOR(texture3d)
AM_COLOR(texturecube)
AM_COLOR(texturecube_array)
AM_COLOR(texture_buffer)
AM_TEXTURE(depth2d, T)
AM_TEXTURE(depth2d_array, T)
AM_TEXTURE(depth2d_ms, T)
AM_TEXTURE(depth2d_ms_array, T)
AM_TEXTURE(depthcube, T)
AM_TEXTURE(depthcube_array, T)
#undef AM_COLOR
#undef AM_TEXTURE

template <typename T, typename Sample>
bool is_null_texture(__am::texture<T, Sample>);

// Functions of fragments.
void discard_fragment();
template <typename T>
T dfdx(T);
template <typename T>
T dfdy(T);
template <typename T>
T fwidth(T);

}  // namespace metal
