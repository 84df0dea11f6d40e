"""Shapes of programs that can be made as long as one likes: bodies of kernels, by their number of
steps.

The inputs are `a` (floats), `b` (ints) and `n` (an int), the outputs `out` (floats) and `to`
(ints).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

_TOP = """
    uint i = thread_position_in_grid.x;
    uint lane = thread_index_in_simdgroup;
    float x = a[i], y = a[i + 1];
    uint h = uint(b[i]);
    int at = b[i + 1];
"""
_END = """
    out[i] = x + y;
    to[i] = int(h) + at;
"""

Body = Callable[[int], str]
SHAPES: dict[str, Body] = {}


def _shape(build: Callable[[int], str | Iterable[str]]) -> Body:
    def body(steps: int) -> str:
        lines = build(steps)
        text = lines if isinstance(lines, str) else "\n".join(lines)
        return f"{_TOP}{text}{_END}"

    SHAPES[build.__name__] = body
    return body


def _repeated(name: str, step: str, before: str = "", after: str = "") -> None:
    """A shape that is one step after the other; `@` is the number of the step."""

    def build(steps: int) -> Iterable[str]:
        yield before
        for number in range(steps):
            yield step.replace("@", str(number))
        yield after

    build.__name__ = name
    _shape(build)


def _nested(name: str, head: str, inside: str) -> None:
    """A shape of blocks in blocks."""

    def build(steps: int) -> Iterable[str]:
        for number in range(steps):
            yield head.replace("@", str(number)) + " { x += y;"
        yield inside + "}" * steps

    build.__name__ = name
    _shape(build)


# ------------------------------------------------------------------------- values used twice

_XORSHIFT = "h ^= h << 13; h ^= h >> 17; h ^= h << 5;"
_repeated("xorshift", _XORSHIFT)
_repeated("xorshift_of_position", _XORSHIFT, "h = i * 2654435761u;")
_repeated("xorshift_to_index", _XORSHIFT, "h = i;", "x += a[h & 1023];")
_repeated("xorshift_in_bounds", _XORSHIFT, "h = i;", "if (h < uint(n)) x += a[h] * y;")
_repeated("hash", "h = (h ^ (h >> 16)) * 0x85ebca6bu + @u;")
_repeated("squares", "h = h * h + @u;")
_repeated("float_squares", "x = x * x + 0.5f;")
_repeated("uniform_squares", "u = u * u + uint(b[@]);", "uint u = uint(n);", "x += a[u + i];")
_repeated("uniform_masks", "u = u & (u * 5u);", "uint u = uint(n);", "x += a[u + i];")
_repeated("squares_of_place", "h = h * h + lane;", "h = i;", "out[h] = y;")
_repeated(
    "xorshift_of_rows",
    _XORSHIFT,
    "h = simdgroup_index_in_threadgroup;",
    "for (int k = 0; k < n; k++) x += a[h + k * 32 + lane] * a[h + n + k * 32 + lane];",
)
_repeated("sines", "x = sin(x) + x;")

# ------------------------------------------------------------------------------ straight code

_repeated("sum", "x += y * @.0f;")
_repeated("sum_of_position", "at += int(i) * b[@];")


@_shape
def tree(steps: int) -> str:
    """A wide expression, balanced."""
    terms = [f"x * {k}.25f" for k in range(steps)]
    while len(terms) > 1:
        terms = [f"({' + '.join(terms[k : k + 2])})" for k in range(0, len(terms), 2)]
    return f"y = {terms[0]};"


_repeated("conversions", "h = uint(int(float(h) * 0.5f)) + uint(ushort(h)); x += half(x);")
_repeated(
    "mixed_types",
    "{ long w = long(h) * at; short s = short(w); h += uint(s); x += float(w); }",
)
_repeated("selects", "x = x > y ? x - @.0f : y; y = h > @u ? x : y; h += uint(x < y);")
_repeated(
    "min_max", "x = min(x, y + @.0f); y = max(y, x); h = min(h, uint(at)) + clamp(h, 1u, 99u);"
)
_repeated(
    "float4s", "v = v * w + v.yzwx; w.xy = v.zw;", "float4 v = x, w = y;", "x += v.x + w.y + w.z;"
)
_repeated("divisions", "h = (h + @u) / (h % 7u + 1u) + h % 5u;")
_repeated("flags", "int f@ = f == @ ? f + 1 : f; f = f@; x += f;", "int f = lane > 7 ? at : 0;")

# ------------------------------------------------------------------------------------- memory

_repeated(
    "stray_loads", "{ float v = a[at + @]; v = v * v + v; x += at + @ < n && at > @ ? v : 1; }"
)
_repeated("stray_value", "if (at == @) y += v; x = h > @u ? x - y : v;", "float v = a[at];")

_repeated("loads_and_stores", "out[i + @ * 64] = a[i + @ * 64] * x;")
_repeated("loads_of_rows", "x += a[i * 4 + @];")
_repeated("stores_of_rows", "out[i * 8 + @] = x * @.0f;")
_repeated("loads_far_apart", "x += a[i * 20000 + @] * y;")
_repeated("gathers", "x += a[b[i + @ * 32] & 1023];")
_repeated("adds_to_index", "h = h + (i ^ @u);", "", "x += a[h & 0xffff];")
_repeated("divided_index", "x += a[(i / @1u) % 64 + (i % @3u)];")
_repeated("pointers", "p += b[@]; x += *p; p = h > @u ? p : p + 1;", "const device float* p = a;")
_repeated(
    "tiles_on_the_way", "p += (lane / 8) * n + lane % 8; x += *p;", "const device float* p = a;"
)
_repeated(
    "private_elements",
    "w[(h + @u) & 15] = x; x += w[@ & 15] + y;",
    "float w[16]; for (int k = 0; k < 16; k++) w[k] = y;",
)
_repeated(
    "atomics",
    "atomic_fetch_add_explicit((device atomic_int*)to + (h & 31), @, memory_order_relaxed);h += 3;",
)
_repeated(
    "threadgroup_memory",
    "s[lane] = x; threadgroup_barrier(mem_flags::mem_threadgroup);"
    "x += s[31 - lane] + s[@ & 31]; threadgroup_barrier(mem_flags::mem_threadgroup);",
    "threadgroup float s[32];",
)
_repeated(
    "loads_beside_threadgroup_memory",
    "s[h & 31] = x; x += a[i + b[@]] + s[@ & 31];",
    "threadgroup float s[32];",
)
_repeated("shuffles", "x += simd_shuffle(x, ushort(@ & 31)); y = simd_shuffle_xor(x + y, 1);")
_repeated("reductions", "x += simd_sum(x * @.0f); y = simd_max(y) + x;")
_repeated(
    "components",
    "{ float4 v = ((const device float4*)a)[i + @ * 32]; t += v.x + v.y + v.z + v.w; }",
    "float t = 0;",
    "x = simd_sum(t);",
)


@_shape
def factorisation(steps: int) -> Iterable[str]:
    """Columns that are subtracted from all behind them: about steps² / 2 instructions."""
    size = max(2, int((steps * 2) ** 0.5))
    yield "".join(f"float c{k} = a[i + {1024 * k}];" for k in range(size))
    for k in range(size):
        yield "".join(f"c{j} -= c{k} * simd_shuffle(c{k}, {j % 32});" for j in range(k + 1, size))
    yield "".join(f"out[i + {1024 * k}] = c{k};" for k in range(size))


@_shape
def private_array(steps: int) -> Iterable[str]:
    """An array whose elements are named, and are not."""
    yield f"float w[{steps}]; w[h & 1] = 1;"
    for k in range(steps):
        yield f"w[{k}] = x + {k}.0f; x += w[h % {k + 1}u];"


# ---------------------------------------------------------- neighbours, and orders of memory

_FLOAT4 = "((const device float4*)a)"
_repeated("sums_of_float4s", f"v += {_FLOAT4}[i + @ * 32] * 0.5f;", "float4 v = 0;", "x += v.x;")
_repeated(
    "stores_of_float4s",
    f"((device float4*)out)[i + @ * 32] = {_FLOAT4}[i + @ * 32] * x;",
)
_repeated(
    "uses_of_one_float4",
    "((device float4*)out)[i + @ * 32] = v * (y + @.0f);",
    f"float4 v = {_FLOAT4}[i];",
)
_repeated(
    "tallies",
    "{ int4 v = ((const device int4*)b)[i + @ * 32]; t += v.x + v.y + v.z + v.w; }",
    "int t = 0;",
    "at = simd_sum(t);",
)
_repeated("strides_and_stores", "x += a[i * 5 + uint(n) * @u]; out[i + @ * 64] = x;")
_repeated(
    "additions_and_loads",
    "atomic_fetch_add_explicit((device atomic<float>*)out + i * 5 + uint(n) * @u, x, "
    "memory_order_relaxed); x += a[i + @];",
)
_repeated(
    "loaded_addresses",
    "at = at * 3 + @; x += a[at + lane];",
    "at = b[threadgroup_position_in_grid.x];",
)
_repeated(
    "places_that_are_data",
    "p = p * 3 + @; out[p + k * 32 + lane] = x;",
    "uint p = uint(b[i]); for (int k = 0; k < n; k++) {",
    "}",
)
_repeated(
    "matrices",
    "{ simdgroup_float8x8 m; simdgroup_load(m, a + @ * 64, 8);"
    "simdgroup_multiply_accumulate(s[@ % 4], m, r, s[@ % 4]); }",
    "simdgroup_float8x8 r, s[4]; simdgroup_load(r, a, 8);"
    "for (int k = 0; k < 4; k++) s[k] = make_filled_simdgroup_matrix<float, 8, 8>(0);",
    "for (int k = 0; k < 4; k++) simdgroup_store(s[k], out + k * 64, 8);",
)
_repeated(
    "many_left_matrices",
    "simdgroup_float8x8 m@, s@; simdgroup_load(m@, a + @ * 64, 8); simdgroup_multiply(s@, m@, r);"
    "simdgroup_store(s@, out + @ * 64, 8);",
    "simdgroup_float8x8 r; simdgroup_load(r, a, 8);",
)

# ------------------------------------------------------------------------------- control flow

_repeated(
    "nests",
    "for (int j = 0; j < 64; j++) { float t = a[j * 64 + @]; out[j] = t;"
    "for (int d = 0; d < 64; d++) w[d] += t * b[j * n + d]; }",
    "float w[64]; for (int k = 0; k < 64; k++) w[k] = y;",
    "x += w[at & 63];",
)
_repeated("uniform_ifs", "if (n > @) { x += a[i + @]; if (n == @ + 7) out[i] = x; }")
_repeated("uniform_ways_out", "if (h > @u) { if (n == @) return; x += a[i + @]; }")
_repeated(
    "loops_with_ways_out",
    "for (int k = 0; k < n; k++) { if (x > @.0f) { if (n == k + @) break; x += a[k]; } }",
)


@_shape
def late_uses(steps: int) -> Iterable[str]:
    """What is loaded in front, for branches far behind."""
    yield "".join(f"float v{k} = a[i * 3 + {k}];" for k in range(steps))
    yield "".join(f"if (h > {k}u) x = x * v{k} + y;" for k in range(steps))


_repeated("loops", "for (int k = 0; k < n + @; k++) x += a[k * 32 + lane] * y;")
_repeated("divergent_loops", "while (x > @.0f) { x -= y; y *= 2.0f; }")
_repeated("ifs", "if (h > @u) x += a[h + @]; else y += x;")
_repeated("checks", "if (int(h) + @ < n) x += a[int(h) + @];")
_repeated("checks_of_place", "if (int(i) + @ < n) x += a[int(i) + @];")
_repeated("ways_out", "if (x > @.0f) { out[i + @] = y; return; } x += a[i + @];")
_nested("nested_ifs", "x = x * y; if (x > @.0f + y)", "out[i + 1] = x;")
_nested("nested_loops", "for (int k@ = 0; k@ < n; k@++)", "x += a[i];")
_nested("nested_divergent_loops", "for (int k@ = 0; k@ < at; k@++)", "x += a[i];")


@_shape
def ladder(steps: int) -> str:
    return "else ".join(f"if (h < {k * 7}u) x = a[i + {k}] * y;\n" for k in range(steps))


@_shape
def switch(steps: int) -> str:
    cases = "".join(f"case {k}: x = y * {k}.0f + a[{k * 3}]; break;\n" for k in range(steps))
    return f"switch (h) {{ {cases} default: x = 1; }}"


@_shape
def phis(steps: int) -> Iterable[str]:
    """Many values that one branch changes."""
    size = max(2, int(steps**0.5))
    yield "".join(f"float v{k} = a[i + {k}];" for k in range(size))
    for number in range(size):
        changed = "".join(f"v{k} = v{k} * y + {number}.0f;" for k in range(size))
        yield f"if (h > {number}u) {{ {changed} out[{number}] = x; }}"
    yield "".join(f"x += v{k};" for k in range(size))


@_shape
def delays(steps: int) -> Iterable[str]:
    """What one iteration loads, each of the next ones sees in another variable."""
    yield "".join(f"float v{k} = 0;" for k in range(steps))
    yield "for (int k = 0; k < n; k++) {"
    yield "".join(f"v{k} = v{k + 1};" for k in range(steps - 1))
    yield f"v{steps - 1} = a[i + k]; out[k] = v0; }}"
    yield "".join(f"x += v{k};" for k in range(steps))
