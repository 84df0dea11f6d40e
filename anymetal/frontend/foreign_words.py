"""Words of CUDA, OpenCL, HLSL and C that authors of kernels bring along, and Metal's for them."""

from __future__ import annotations

import re

#: Words of CUDA, OpenCL and C that kernels bring along, and what Metal says instead.
ELSEWHERE = {
    "gid": "uint gid = thread_position_in_grid.x: attributes have their own names in MLX",
    "tid": "uint tid = thread_position_in_threadgroup.x: attributes have their own names in MLX",
    "lid": "uint lid = thread_index_in_threadgroup: attributes have their own names in MLX",
    "lane_id": "thread_index_in_simdgroup",
    "simd_lane_id": "thread_index_in_simdgroup",
    "simd_group_id": "simdgroup_index_in_threadgroup",
    "thread_position_in_simdgroup": "thread_index_in_simdgroup",
    "thread_index_in_grid": "thread_position_in_grid.x",
    "threadgroup_size": "threads_per_threadgroup",
    "threadIdx": "thread_position_in_threadgroup",
    "blockIdx": "threadgroup_position_in_grid",
    "blockDim": "threads_per_threadgroup",
    "gridDim": "threadgroups_per_grid",
    "warpSize": "threads_per_simdgroup",
    "get_global_id": "thread_position_in_grid",
    "get_local_id": "thread_position_in_threadgroup",
    "get_group_id": "threadgroup_position_in_grid",
    "get_local_size": "threads_per_threadgroup",
    "get_global_size": "threads_per_grid",
    "__syncthreads": "threadgroup_barrier(mem_flags::mem_threadgroup)",
    "__syncwarp": "simdgroup_barrier(mem_flags::mem_none)",
    "barrier": "threadgroup_barrier(mem_flags::mem_threadgroup)",
    "GroupMemoryBarrierWithGroupSync": "threadgroup_barrier(mem_flags::mem_threadgroup)",
    "memoryBarrierShared": "threadgroup_barrier(mem_flags::mem_threadgroup)",
    "__threadfence": "atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst)",
    "__shared__": "threadgroup",
    "__local": "threadgroup",
    "groupshared": "threadgroup",
    "__global": "device",
    "__constant__": "constant",
    "__constant": "constant",
    "__forceinline__": "inline",
    "__global__": "kernel, in a file for metal_library; metal_kernel takes the body of one",
    "__kernel": "kernel, in a file for metal_library; metal_kernel takes the body of one",
    "__half": "half",
    "__half2float": "float(x)",
    "__float2half": "half(x)",
    "__nv_bfloat16": "bfloat",
    "__float_as_int": "as_type<int>(x)",
    "__float_as_uint": "as_type<uint>(x)",
    "__int_as_float": "as_type<float>(x)",
    "__uint_as_float": "as_type<float>(x)",
    "__popc": "popcount",
    "__clz": "clz",
    "__brev": "reverse_bits",
    "__fdividef": "fast::divide",
    "__frcp_rn": "1 / x",
    "__fmaf_rn": "fma",
    "lerp": "mix",
    "frac": "fract",
    "fmaxf": "max",
    "fminf": "min",
    "fabsf": "abs",
    "rsqrtf": "rsqrt",
    "__shfl_sync": "simd_shuffle",
    "__shfl_up_sync": "simd_shuffle_up",
    "__shfl_down_sync": "simd_shuffle_down",
    "__shfl_xor_sync": "simd_shuffle_xor",
    "__ballot_sync": "simd_ballot",
    "__any_sync": "simd_any",
    "__all_sync": "simd_all",
    "__activemask": "simd_active_threads_mask",
    "__reduce_add_sync": "simd_sum",
    "__reduce_max_sync": "simd_max",
    "__reduce_min_sync": "simd_min",
    "atomicAdd": "atomic_fetch_add_explicit(&x, v, memory_order_relaxed)",
    "atomicSub": "atomic_fetch_sub_explicit(&x, v, memory_order_relaxed)",
    "atomicMax": "atomic_fetch_max_explicit(&x, v, memory_order_relaxed), for integers",
    "atomicMin": "atomic_fetch_min_explicit(&x, v, memory_order_relaxed), for integers",
    "atomicExch": "atomic_exchange_explicit(&x, v, memory_order_relaxed)",
    "atomicCAS": "atomic_compare_exchange_weak_explicit in a loop",
    "PI": "M_PI_F",
    "pi": "M_PI_F",
    "FLT_INFINITY": "INFINITY",
    "complex": "complex64_t, with members real and imag",
    "printf": 'os_log_default.log("x = %f", x), which takes formats as printf does',
}

#: Functions of C that kernels expect and Metal lacks, and how to do without.
MISSING = {
    "erf": "approximate it: mlx/backend/metal/kernels/erf.h has one to paste into header=",
    "erfc": "approximate it by 1 - erf(x), pasting MLX's erf.h into header=",
    "erfinv": "approximate it: mlx/backend/metal/kernels/erf.h has one to paste into header=",
    "lgamma": "approximate it, as by Stirling's series",
    "tgamma": "approximate it, as by exp of Stirling's series",
    "cbrt": "write copysign(pow(abs(x), 1.0f / 3), x)",
    "hypot": "write sqrt(x * x + y * y) or length(float2(x, y))",
    "expm1": "write exp(x) - 1, or its series for small x",
    "remainder": "write x - y * rint(x / y)",
    "logb": "use ilogb(x)",
    "scalbn": "use ldexp(x, n)",
    "nearbyint": "use rint(x)",
    "lrint": "write int(rint(x))",
    "lround": "write int(round(x))",
    "rand": "hash the thread's position, or pass random numbers as an input",
    "__device__": "functions that kernels call need no word for that",
    "__host__": "all functions are for kernels",
    "__restrict__": "buffers are taken to be apart from each other",
    "__ldg": "x[i] reads without a function",
    "malloc": "use a local array of fixed size",
    "free": "use a local array of fixed size",
    "memcpy": "write a loop or assign the values",
    "memset": "write a loop",
    "strlen": "there are no strings",
    "clock": "the host measures time",
    "clock64": "the host measures time",
    "sigmoid": "write 1 / (1 + exp(-x))",
    "swap": "write three assignments",
    "abort": "write a flag to an output and return",
    "exit": "write a flag to an output and return",
}

#: Functions that C has for each type, with a letter behind: `expf`. CUDA's fast one is `__expf`.
_FUNCTIONS = (
    "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh cospi exp exp10 exp2 fdim floor "
    "fma fmod frexp ldexp log log10 log2 modf nextafter pow rint round sin sincos sinh sinpi sqrt "
    "tan tanh tanpi trunc"
)
_OF_FLOAT = re.compile(rf"(?P<fast>__)?(?P<name>{'|'.join(_FUNCTIONS.split())})f")
_ATOMIC = re.compile(
    r"atomic_(?:load|store|exchange|compare_exchange_weak|fetch_(?:add|sub|and|or|xor|min|max))"
)
_MADE = re.compile(r"make_(?P<type>u?(?:char|short|int|long)[234]|(?:float|half)[234])")
_CONSTANT = re.compile(
    r"M_(?:E|LOG2E|LOG10E|LN2|LN10|PI|PI_2|PI_4|1_PI|2_PI|2_SQRTPI|SQRT2|SQRT1_2)"
)
_FLAG = re.compile(r"mem_(?:none|device|threadgroup|texture)")


def in_metal(word: str) -> str | None:
    """What Metal says instead of this word; None if that is not known."""
    if of_float := _OF_FLOAT.fullmatch(word):
        return f"fast::{of_float['name']}" if of_float["fast"] else of_float["name"]
    if _ATOMIC.fullmatch(word):
        return f"{word}_explicit(…, memory_order_relaxed)"
    if made := _MADE.fullmatch(word):
        return f"{made['type']}(…)"
    if _CONSTANT.fullmatch(word):
        return f"{word}_F"
    if _FLAG.fullmatch(word):
        return f"mem_flags::{word}"
    return ELSEWHERE.get(word)
