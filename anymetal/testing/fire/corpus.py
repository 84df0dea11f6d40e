"""The kernels that everything starts from: those of the tests, the benchmarks and the package.

They are read from a checkout; an installed package does not have them.
"""

from __future__ import annotations

import functools
import random
from pathlib import Path

from anymetal.testing import metal_case
from anymetal.testing.fire.trial import Trial, Value, dtype_name
from anymetal.testing.metal_case import MetalCase

_ROOT = Path(__file__).parents[3]
_CASES = _ROOT / "tests" / "kernels"
_OTHERS = _ROOT / "benchmarks" / "others"
_PACKAGE = Path(__file__).parents[2]
_SPLIT = "// kernel: "

#: Metal files of which no kernel of the tests has the like.
LIBRARIES = (
    """\
#include <metal_stdlib>
using namespace metal;
constant int N [[function_constant(0)]];
constant bool wide [[function_constant(1)]];
constant float table[3] = {1.0f, 2.5f, -3.0f};
struct Scale { float factor; int offset; };
template <typename T> T twice(T v) { return v + v; }
namespace a { namespace b {
kernel void scale(device float* o [[buffer(0)]], constant Scale& s [[buffer(2)]],
                  device const float* x [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  o[i] = twice(x[i]) * s.factor + table[i % 3] + s.offset;
}
} }
kernel void counted(device int* o, device const int* x [[buffer(1), function_constant(wide)]],
                    uint2 p [[thread_position_in_grid]]) {
  if (is_function_constant_defined(N)) o[p.x] = N;
  else if (wide) o[p.x] = x[p.y];
}
""",
    """\
#include <metal_stdlib>
using namespace metal;
template <typename T, int BLOCK = 4>
[[kernel]] void sum(device const T* x [[buffer(0)]], device T* o [[buffer(1)]],
                    threadgroup T* slots [[threadgroup(0)]],
                    ushort lane [[thread_index_in_simdgroup]],
                    uint i [[thread_position_in_grid]]) {
  T total = 0;
  for (int k = 0; k < BLOCK; ++k) total += x[i * BLOCK + k];
  slots[lane] = total;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  o[i] = slots[31 - lane];
}
#define INSTANTIATE(name, type) \\
  template [[host_name(#name)]] [[kernel]] decltype(sum<type>) sum<type>;
INSTANTIATE(sum_float, float)
INSTANTIATE(sum_int, int)
template [[host_name("sum_half_8")]] kernel void sum<half, 8>(
    device const half*, device half*, threadgroup half*, ushort, uint);
""",
    """\
using namespace metal;
uint3 where [[thread_position_in_grid]];
struct Node { int next; float weight[2]; };
static inline float walk(device const Node* nodes, int first) {
  float sum = 0;
  for (int at = first; at >= 0; at = nodes[at].next) sum += nodes[at].weight[0];
  return sum;
}
[[kernel]] [[max_total_threads_per_threadgroup(64)]]
void lists(device const Node* nodes, device atomic_uint* count, device float* sums) {
  sums[where.x] = walk(nodes, int(where.x));
  atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);
}
""",
)


@functools.cache
def kernels() -> tuple[Trial, ...]:
    """All kernels that are expected to compile, in the order of their files."""
    if not _CASES.is_dir():
        raise FileNotFoundError(f"{_CASES} is missing: the corpus is that of a checkout")
    cases = [metal_case.parse(path) for path in sorted(_CASES.rglob("*.metal"))]
    for path in sorted(_OTHERS.glob("*.metal")):
        for text in path.read_text().split(_SPLIT)[1:]:
            name, _, lines = text.partition("\n")
            cases.append(metal_case.read(Path(name.strip()), lines))
    return tuple(_trial(case, case.dtypes[0]) for case in cases if not case.all("error"))


@functools.cache
def texts() -> tuple[str, ...]:
    """Texts to take tokens from, those of our own kernels and of kernels with errors included."""
    ours = [path.read_text() for path in sorted(_PACKAGE.glob("*/metal/*.metal"))]
    errors = [metal_case.parse(path) for path in sorted((_CASES / "errors").glob("*.metal"))]
    wrong = [case.header + "\n" + case.body for case in errors]
    return (*(k.header + "\n" + k.body for k in kernels()), *ours, *wrong, *LIBRARIES)


def any_kernel(rng: random.Random) -> Trial:
    """One of them; short ones are as likely as long ones."""
    return rng.choice(kernels())


def _trial(case: MetalCase, dtype: str) -> Trial:
    declared = [metal_case.declaration(case, text, dtype) for text in case.all("input")]
    views = {text.partition("=")[0].strip() for text in case.all("view")}
    outputs = [metal_case.declaration(case, text, dtype) for text in case.all("output")]
    template: list[tuple[str, Value]] = [("T", dtype)] if dtype else []
    for pair in case.one("template", "").split():
        name, _, value = pair.partition("=")
        given = metal_case.template_value(value)
        template.append((name, given if isinstance(given, (int, bool)) else value))
    inputs = [(one.name, dtype_name(one.dtype), one.shape) for one in declared]
    inputs += [(name, "float32", (64,)) for name in sorted(views - {one.name for one in declared})]
    return Trial(
        name=case.path.stem.replace("-", "_"),
        body=case.body.strip("\n") + "\n",
        header=case.header.strip("\n") + "\n" if case.header.strip() else "",
        inputs=tuple(inputs),
        outputs=tuple((one.name, dtype_name(one.dtype)) for one in outputs),
        template=tuple(template),
        math_mode=case.one("math_mode", "safe"),
        atomic=case.one("atomic_outputs", "false") == "true",
    )
