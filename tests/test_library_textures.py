"""Kernels that take textures: the others of their file run, and they themselves are one error."""

from __future__ import annotations

import mlx.core as mx
import pytest

import anymetal
from anymetal.errors import MetalCompileError, UnsupportedFeatureError

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
TWICE = (
    "kernel void twice(device float* x, uint i [[thread_position_in_grid]])"
    " { x[i] = 2 * float(i); }\n"
)
#: What texts with textures look like: helpers, samplers, structs, templates, all kinds of textures.
TEXT = (
    HEAD
    + """constexpr sampler linear(coord::normalized, address::clamp_to_edge, filter::linear);
struct Images { texture2d<float> image; device float* result; };
float4 mixed(texture2d<float> image, float2 at) {
  constexpr sampler nearest(mag_filter::nearest, max_anisotropy(4), lod_clamp(0.0f, 1.0f));
  return image.sample(nearest, at, level(0)) + image.sample(linear, at, bias(1.0f), int2(1));
}
template <typename T> T red(texture2d<T, access::read> image, uint2 at) { return image.read(at).x; }
kernel void blur(texture2d<float, access::sample> in [[texture(0)]],
                 texture2d<half, access::write> out [[texture(1)]],
                 device const float* weights, uint2 at [[thread_position_in_grid]]) {
  if (at.x >= out.get_width() || at.y >= out.get_height()) return;
  float4 sum = 0;
  for (int i = 0; i < 3; i++) sum += mixed(in, float2(at)) * weights[i];
  out.write(half4(sum), at);
}
kernel void many(array<texture2d_array<float>, 4> a [[texture(0)]], depthcube<float> b,
                 sampler s [[sampler(0)]], device float* o,
                 texture3d<uint, access::read_write, memory_coherence_device> c [[texture(9)]]) {
  o[0] = a[1].gather(s, float2(0), 1, int2(0), component::y).x * is_null_texture(c);
  o[1] = b.sample_compare(s, float3(1), 0.5f) + float(c.atomic_fetch_add(uint3(0), uint4(1)).x);
  if (b.sparse_sample(s, float3(2)).resident()) { c.write(uint4(1), uint3(0)); c.fence(); }
}
template <typename T> kernel void first(device T* o, texture2d<T, access::read> image) {
  *o = red(image, uint2(0));
}
template [[host_name("first_half")]] [[kernel]] decltype(first<half>) first<half>;
kernel void hidden(constant Images& images, uint i [[thread_position_in_grid]]) {
  images.result[i] = images.image.read(uint2(i)).x;
}
"""
    + TWICE
)


def test_other_kernels_of_the_file_run() -> None:
    library = anymetal.metal_library(TEXT)
    assert library.kernel_names == ["blur", "many", "hidden", "twice", "first_half"]
    (out,) = library.twice(((40,), mx.float32), grid=40, threadgroup=32)
    assert out.tolist() == [2.0 * i for i in range(40)]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("blur", r"x\.metal:10:18: parameter `in` is a texture"),
        ("many", r"x\.metal:18:24: parameter `a` is a texture"),
        ("first_half", r"x\.metal:25:54: parameter `image` is a texture"),
    ],
)
def test_a_call_names_kernel_place_and_parameter(name: str, place: str) -> None:
    kernel = anymetal.metal_library(TEXT, name="x.metal")[name]
    for attempt in (kernel.source, lambda: kernel(1, 2, 3, 4, grid=1, threadgroup=1)):
        with pytest.raises(UnsupportedFeatureError, match=f"^kernel `{name}` cannot run: {place}"):
            attempt()


@pytest.mark.parametrize(
    ("parameter", "what"),
    [
        ("texture2d<float> t [[texture(0)]]", "a texture"),
        ("const metal::texture2d<float, access::write> t", "a texture"),
        ("metal::array<metal::texture2d<float>, 2> t", "a texture"),
        ("depth2d_ms<float> t [[texture(0)]]", "a texture"),
        ("texture_buffer<uint> t", "a texture"),
        ("sampler t [[sampler(0)]]", "a sampler"),
    ],
)
def test_what_is_refused(parameter: str, what: str) -> None:
    text = f"{HEAD}kernel void k(device float* o,\n  {parameter}) {{}}\n{TWICE}"
    library = anymetal.metal_library(text, name="x.metal")
    with pytest.raises(UnsupportedFeatureError, match=rf"x\.metal:4:\d+: parameter `t` is {what}"):
        library.k.source()
    library.twice.source()


def test_a_texture_in_a_struct_is_found_where_it_is_read() -> None:
    library = anymetal.metal_library(TEXT, name="x.metal")
    error = r"x\.metal:30:35: error: textures are not supported"
    with pytest.raises(MetalCompileError, match=error):
        mx.eval(library.hidden(bytes(16), grid=1, threadgroup=1))


def test_names_that_belong_to_textures_are_free_in_texts_without() -> None:
    library = anymetal.metal_library(
        HEAD + "constant float bias = 3; struct level { float a; }; enum access { filter };\n"
        "kernel void k(device level* x, device int* texture) { x->a = bias; *texture = filter; }"
    )
    out, number = library.k(((1,), mx.float32), ((1,), mx.int32), grid=1, threadgroup=1)
    assert (out.item(), number.item()) == (3, 0)


def test_what_has_no_type_here_is_refused_with_its_file() -> None:
    text = f"{HEAD}kernel void k(device float* o,\n  acceleration_structure<> a) {{}}\n{TWICE}"
    what = r"x\.metal:4:\d+: parameter 'a' of kernel 'k' is ray tracing data"
    with pytest.raises(UnsupportedFeatureError, match=what):
        anymetal.metal_library(text, name="x.metal")


GRAPHICS = (
    HEAD
    + """struct Corner { float3 at [[attribute(0)]]; float2 uv [[attribute(1)]]; };
struct Point { float4 position [[position]]; float2 uv; half4 colour [[flat]]; };
// vertex Point of_comment() {}
vertex Point corners(Corner in [[stage_in]], uint id [[vertex_id]],
                     constant float4x4& view [[buffer(1)]]) {
  float vertices = id; Point point; point.position = view * float4(in.at, vertices);
  point.uv = in.uv; return point;
}
template <typename T> fragment vec<T, 4> shaded(Point in [[stage_in]]) { return vec<T, 4>(1); }
fragment
half4 colours(Point in [[stage_in]], bool front [[front_facing]],
                       texture2d<half> image [[texture(0)]], sampler s [[sampler(0)]]) {
  if (in.uv.x < 0 || fwidth(in.uv).y > dfdx(in.uv.x)) discard_fragment();
  return front ? image.sample(s, in.uv) : in.colour;
} fragment float4 one() { return 1; }
[[vertex]] float4 zero() { return 0; }
"""
)


def test_functions_of_vertices_and_fragments_are_passed_over() -> None:
    library = anymetal.metal_library(GRAPHICS + TWICE)
    assert library.kernel_names == ["twice"]
    (out,) = library.twice(((40,), mx.float32), grid=40, threadgroup=32)
    assert out.tolist() == [2.0 * i for i in range(40)]


@pytest.mark.parametrize("call", ["discard_fragment()", "x[0] = dfdx(x[0])"])
def test_a_kernel_that_calls_a_function_of_fragments_is_refused(call: str) -> None:
    text = f"{HEAD}kernel void k(device float* x) {{ {call}; }}\n"
    name = "discard_fragment" if "discard" in call else "dfdx"
    with pytest.raises(MetalCompileError, match=f"error: 'metal::{name}.* is for fragment func"):
        anymetal.metal_library(text).k(mx.ones(1), grid=1, threadgroup=1)[0].tolist()


def test_errors_keep_their_columns_behind_these_words() -> None:
    text = HEAD + "vertex float4 v() { return undefined; }\n" + TWICE
    with pytest.raises(MetalCompileError, match="metal_library:3:28: error: use of undecl"):
        anymetal.metal_library(text)
