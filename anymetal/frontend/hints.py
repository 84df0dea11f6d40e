"""What a compile error most likely means to the author of a kernel: a table of patterns.

Clang explains C++; these rows explain Metal and MLX. A row is a pattern for Clang's message, and
the hint, or a function that makes one of the match and the kernel (None: it does not apply).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from anymetal.source import ATTRIBUTES, KernelSource, LibrarySource

Maker = Callable[[re.Match[str], KernelSource], "str | None"]

#: Words of CUDA, OpenCL and C that kernels bring along, and what Metal says instead.
_ELSEWHERE = {
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
    "__shared__": "threadgroup",
    "__shfl_sync": "simd_shuffle",
    "__shfl_down_sync": "simd_shuffle_down",
    "__shfl_xor_sync": "simd_shuffle_xor",
    "__expf": "fast::exp",
    "expf": "exp",
    "sqrtf": "sqrt",
    "logf": "log",
    "powf": "pow",
    "fmaxf": "max",
    "fminf": "min",
    "fabsf": "abs",
    "atomicAdd": "atomic_fetch_add_explicit(&x, v, memory_order_relaxed)",
    "printf": 'os_log_default.log("x = %f", x), which takes formats as printf does',
}

#: Functions of C that kernels expect and Metal lacks, and how to do without.
_MISSING = {
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
    "malloc": "use a local array of fixed size",
    "free": "use a local array of fixed size",
    "memcpy": "write a loop or assign the values",
    "memset": "write a loop",
    "strlen": "there are no strings",
    "clock": "the host measures time",
    "abort": "write a flag to an output and return",
    "exit": "write a flag to an output and return",
}

_NO_DOUBLE = (
    "use float; where its 24 bits are too few, keep the error of each step in a second float "
    "(float2 as high and low part) or accumulate integers in several limbs"
)
#: Hints about what `metal_kernel` is passed and generates: no help for the kernels of a library.
_OF_METAL_KERNEL = re.compile(
    r"\bMLX\b|metal_kernel|template=|header=|input_names|the inputs are|pass the \w+ as an input"
)
#: What MLX puts in front of custom kernels, apart from Metal's own names.
_OF_PRELUDE = re.compile(
    r"(?:b?float16|complex(?:64|32)?)_t|is_complex_v|Limits|WorkPerThread|ConditionalType|ceildiv|"
    r"elem_to_loc\w*|LoopedElemToLoc|cast_to|log1p|MTL_CONST|MLX_MTL_PRAGMA_UNROLL|\w+_N_READS"
)
_UNKNOWN = "(?:use of undeclared identifier|unknown type name|no template named) "
_UNKNOWN_NAME = _UNKNOWN + r"'(\w+)'"


def hint_for(part: str, message: str, source: KernelSource) -> str | None:
    """The first hint of the table that fits an error in this part of the kernel."""
    for pattern, hint in _HINTS:
        match = pattern.search(f"{part}: {message}")
        if match is not None:
            text = hint if isinstance(hint, str) else hint(match, source)
            if text is not None and not (
                isinstance(source, LibrarySource) and _OF_METAL_KERNEL.search(text)
            ):
                return text
    return None


def _shape(match: re.Match[str], source: KernelSource) -> str | None:
    """`x_shape` and its like exist for inputs with a dimension, if the body names them."""
    name, what = match.group(1), match.group(2)
    kinds = {p.name: p for p in source.parameters if p.kind in ("input", "output")}
    if name not in kinds:
        inputs = ", ".join(p.name for p in source.parameters if p.kind == "input") or "none"
        return f"{name}_{what} exists for an input called {name!r}; the inputs are: {inputs}"
    if kinds[name].kind == "output":
        return (
            f"{name!r} is an output, and only inputs have a _{what}: pass the {what} as an "
            "input or a template argument"
        )
    if "&" in kinds[name].declaration:
        return f"{name!r} is a scalar (0-d) in this call, and a scalar has no {name}_{what}"
    return (
        f"MLX declares {name}_{what} in the kernel, not in the functions of the header: hand it "
        "to the function as an argument"
    )


def _attribute(match: re.Match[str], source: KernelSource) -> str | None:
    name = match.group(1)
    if name in ATTRIBUTES:
        return f"{name} exists in the kernel only: hand it to the function as an argument"
    if re.match(
        r"(thread|simd|quad|dispatch|grid|threads|threadgroup)\w*_(in|per|index|size)", name
    ):
        import difflib

        near = difflib.get_close_matches(name, sorted(ATTRIBUTES), 1)
        return f"the attribute is called {near[0]}" if near else None
    return None


def _elsewhere(match: re.Match[str], source: KernelSource) -> str | None:
    metal = _ELSEWHERE.get(match.group(1))
    return metal and f"in Metal, use {metal}"


def _missing(match: re.Match[str], source: KernelSource) -> str | None:
    instead = _MISSING.get(match.group(1))
    return instead and f"Metal has no {match.group(1)}: {instead}"


def _template(match: re.Match[str], source: KernelSource) -> str | None:
    """One capital letter, or a word in capitals: by custom a template parameter."""
    name = match.group(1)
    if re.fullmatch(r"[A-Z][A-Z0-9_]*", name) is None or name.startswith("MLX"):
        return None
    value = "mx.float32" if re.fullmatch(r"[TUV]\d?", name) else "4"
    return f"if {name} is a template parameter, pass it in the call: template=[({name!r}, {value})]"


def _buffer(match: re.Match[str], source: KernelSource) -> str | None:
    if re.fullmatch(r"(in|inp|input|out|output|src|dst|result)\d*", match.group(1)) is None:
        return None
    return "buffers have exactly the names of input_names and output_names: " + ", ".join(
        p.name for p in source.parameters if p.kind in ("input", "output")
    )


def _redefinition(match: re.Match[str], source: KernelSource) -> str | None:
    name = match.group(1)
    if name in source.attributes:
        return (
            f"{name} is an attribute, which MLX declares as soon as the body contains that word: "
            "give your variable another name"
        )
    if any(p.name == name for p in source.parameters):
        return f"MLX declares {name} as a buffer of the kernel: give your variable another name"
    return None


def _atomic_outputs(match: re.Match[str], source: KernelSource) -> str | None:
    if any("atomic<" in p.declaration for p in source.parameters):
        return (
            "outputs are atomic because of atomic_outputs=True: "
            "atomic_fetch_add_explicit(&out[i], value, memory_order_relaxed), and "
            "atomic_store_explicit / atomic_load_explicit"
        )
    return None


def _atomic_call(match: re.Match[str], source: KernelSource) -> str | None:
    if any("atomic<" in p.declaration for p in source.parameters):
        return None
    return (
        "an atomic function needs a pointer to atomic<T>: pass atomic_outputs=True to "
        "metal_kernel, or cast, as in (device atomic_uint*)&out[i]"
    )


def _prelude(match: re.Match[str], source: KernelSource) -> str | None:
    """Names of MLX's helpers in a text that finds Metal's only."""
    if source.prelude == "metal" and _OF_PRELUDE.fullmatch(match[1]):
        return (
            f'{match[1]} is a helper of custom kernels: include its header, or pass prelude="mlx"'
        )
    return None


def _included(match: re.Match[str], source: KernelSource) -> str | None:
    if not isinstance(source, LibrarySource):
        return None
    return (
        "files are looked for beside the file that includes them, and in the folders of "
        "include_dirs=[…]; their names must be written out, not made by macros"
    )


_HINTS: tuple[tuple[re.Pattern[str], str | Maker], ...] = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (r"'(?:long )?double' is not supported in Metal", _NO_DOUBLE),
        (_UNKNOWN + r"'(?:double\d(?:x\d)?|float64_t)'", _NO_DOUBLE),
        (
            r"Metal has atomic<T> for",
            "accumulate in float (or int) and convert the result with astype",
        ),
        (_UNKNOWN_NAME, _prelude),
        (r"'[^']+' file not found", _included),
        (_UNKNOWN_NAME, _elsewhere),
        (_UNKNOWN_NAME, _missing),
        (
            _UNKNOWN
            + r"'(?:metal::)?(?:texture|depth|sampler|intersect|acceleration|mesh|imageblock)",
            "kernels of MLX take buffers only: there is no way to pass textures, samplers and the "
            "like; index an array instead",
        ),
        (_UNKNOWN_NAME, _attribute),
        (r"undeclared identifier '(\w+)_(shape|strides|ndim|size)'", _shape),
        (_UNKNOWN_NAME, _template),
        (_UNKNOWN_NAME, _buffer),
        (
            r"(?:undeclared identifier|type name|declared) 'std'",
            "Metal has no C++ standard library; its functions are in namespace metal, which is "
            "open already: write exp(x), not std::exp(x)",
        ),
        (
            r"'[^']+' file not found",
            "only Metal's own headers can be included (<metal_stdlib>, <metal_math>, ...); put "
            "your own functions into header=",
        ),
        (
            r"^signature: (?:function definition is not allowed|expected unqualified-id)",
            "the header does not close a brace that it opens",
        ),
        (
            r"function definition is not allowed here",
            "source= is the body of one function, without its signature and outer braces; put "
            "other functions into header=",
        ),
        (r"redefinition of '(\w+)'", _redefinition),
        (
            r"(?:no viable overloaded '[^']*='|invalid operands|no viable conversion|"
            r"incompatible type|not assignable|cannot (?:convert|initialize))",
            _atomic_outputs,
        ),
        (r"no matching function for call to 'atomic_", _atomic_call),
        (
            r"(?:read-only variable is not assignable|cannot assign to (?!.* member fun).* const)",
            "inputs cannot be written: write to an output, or copy the value to a variable",
        ),
        (
            r"(?:conver|initializ|operands|assign).*'(?:const )?bfloat",
            "bfloat converts to float by itself, but nothing converts to bfloat by itself: "
            "write bfloat(x)",
        ),
        (
            r"variable length array",
            "the size of an array must be a constant: use constexpr, a template argument "
            "(template=[('N', 8)]) or a number",
        ),
        (
            r"call to '\w+' is ambiguous",
            "give the arguments one type, as in max(x, 0.0f) or max(x, T(0))",
        ),
    )
)
