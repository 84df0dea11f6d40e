"""What a compile error most likely means to the author of a kernel: a table of patterns.

Clang explains C++; these rows explain Metal and MLX. A row is a pattern for Clang's message, and
the hint, or a function that makes one of the match and the kernel (None: it does not apply).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from anymetal.frontend.foreign_words import MISSING, in_metal
from anymetal.source import ATTRIBUTES, KernelSource, LibrarySource

Maker = Callable[[re.Match[str], KernelSource], "str | None"]

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
_SCALAR = re.compile(r"u?(?:char|short|int|long)|u?int\d+_t|size_t|half|bfloat|float\w*|bool")
_VECTOR = re.compile(r"(u?(?:char|short|int|long)|half|bfloat|float|bool)([234])")
_UNKNOWN = "(?:use of undeclared identifier|unknown type name|no template named) "
_UNKNOWN_NAME = _UNKNOWN + r"'(\w+)'"


def hint_for(part: str, message: str, source: KernelSource) -> str | None:
    """The first hint of the table that fits an error in this part of the kernel, and its notes."""
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
    metal = in_metal(match.group(1))
    return metal and f"in Metal, use {metal}"


def _missing(match: re.Match[str], source: KernelSource) -> str | None:
    instead = MISSING.get(match.group(1))
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
    if re.search(r"requires \d arguments, but \d w", match.string):
        return "the last argument is the order: memory_order_relaxed"
    if "conversion from 'atomic_float *'" in match.string:
        return (
            "Metal adds, subtracts, exchanges, loads and stores atomic floats, and nothing else; a "
            "maximum of floats that are not negative is that of their bits, in an atomic_uint"
        )
    if any("atomic<" in p.declaration for p in source.parameters):
        return None
    return (
        "an atomic function needs a pointer to atomic<T>: pass atomic_outputs=True to "
        "metal_kernel, or cast, as in (device atomic_uint*)&out[i]"
    )


def _scalars(match: re.Match[str], source: KernelSource) -> str:
    """Something without elements is asked for one: perhaps an input that was passed as a number."""
    text = "buffers have one dimension, as in x[row * x_shape[1] + column]"
    names = _inputs(source, "&")
    if not names:
        return f"{text}; an input of shape () is a number, and has no elements"
    one = names[0]
    which = f"input {one} is a number" if len(names) == 1 else f"{', '.join(names)} are numbers"
    return (
        f"{text}. Of shape (), the {which}, without elements: write {one}, or pass an array of "
        "shape (1,)"
    )


def _elements(match: re.Match[str], source: KernelSource) -> str | None:
    """An array stands where a number is wanted: perhaps one of a single element."""
    names = _inputs(source, "*")
    if not names:
        return None
    one = names[0]
    what = f"{one} is an array" if len(names) == 1 else f"{', '.join(names)} are arrays"
    return (
        f"the kernel's {what}, even of one element: write {one}[0] or {one}[i]. A Python number, "
        "or an array of shape (), needs no index"
    )


def _inputs(source: KernelSource, mark: str) -> list[str]:
    """The inputs that are passed as numbers (&) or as pointers (*)."""
    return [p.name for p in source.parameters if p.kind == "input" and f"{mark} " in p.declaration]


def _operands(match: re.Match[str], source: KernelSource) -> str | None:
    """Two operands that do not fit, by their types."""
    left, right = (type_.removeprefix("const ") for type_ in match.groups())
    if "*" in left + right:
        hint = "a buffer is a pointer: take one of its elements, as in x[i]"
        more = _elements(match, source)
        return f"{hint}; {more}" if more else hint
    vectors = [found for type_ in (left, right) if (found := _VECTOR.fullmatch(type_))]
    if len(vectors) == 2 and vectors[0][2] != vectors[1][2]:
        return "vectors of different lengths do not mix: take as many components, as in v.xy"
    if len(vectors) == 2 and left != right:
        return f"vectors of different types do not mix: convert one of them, as in {left}(v)"
    if {left, right} <= {"float", "half", "bfloat", "int", "uint"}:
        return "% and the operators of bits are for integers: the remainder of floats is fmod(x, y)"
    return None


def _conversion(match: re.Match[str], source: KernelSource) -> str | None:
    """A vector where something else is wanted."""
    given = _VECTOR.fullmatch(match[1].removeprefix("const "))
    wanted = match[2].removeprefix("const ")
    if given is None:
        return None
    if (vector := _VECTOR.fullmatch(wanted)) and vector[2] == given[2]:
        return f"vectors do not convert by themselves in Metal: write {wanted}(v)"
    if vector:
        return f"take as many components as {wanted} has, or add those that are missing"
    if _SCALAR.fullmatch(wanted):
        return "a vector is no number: take one component, as in thread_position_in_grid.x"
    return None


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
            r"(?:no viable overloaded '[^']*='|has no '=' for|deleted function: read it|"
            r"invalid operands|no viable conversion|incompatible type|not assignable|"
            r"cannot (?:convert|initialize))",
            _atomic_outputs,
        ),
        (r"no matching function for call to 'atomic_", _atomic_call),
        (
            r"no matching function for call to '(?:threadgroup|simdgroup)_barrier'",
            "say whose memory it orders, as in threadgroup_barrier(mem_flags::mem_threadgroup)",
        ),
        (r"invalid operands to binary expression \('([^']*)'.* and '([^']*)'", _operands),
        (r"no viable conversion from '([^']*)' to '([^']*)'", _conversion),
        (
            r"value of type 'bool[234]' is not contextually convertible",
            "a condition is one bool: write all(v < w) or any(v < w); select(b, a, v < w) chooses "
            "for each component",
        ),
        (
            r"'(\w+) \*' with an .value of type 'const \1 \*'|casts away qualifiers|"
            r"would lose const qualifier",
            "inputs are read-only: point to them with `const device float*`, or with `auto`",
        ),
        (
            r"member reference base type '[^']*\*' is not",
            "a buffer is a pointer: x[i] is an element of an input x, and x_shape, x_strides and "
            "x_ndim belong to it",
        ),
        (
            r"subscripted value is not an array",
            _scalars,
        ),
        (
            r"(?:variable|parameter|object) of type '(?:const )?(\w+)' with an .value of type "
            r"'(?:const )?\1 ?\*'|assigning to '(\w+)' from incompatible type '(?:const )?\2 ?\*'",
            _elements,
        ),
        (
            r"assigning to '\w+ \*' from incompatible type",
            "an output is a pointer: assign to one of its elements, as in out[i] = …",
        ),
        (
            r"^source: void function '[^']*' should not return a value",
            "a kernel returns nothing: write the value to an output",
        ),
        (
            r"static variable '[^']*' must reside in constant",
            "no variable outlives a thread: what threads share is an output, or threadgroup memory",
        ),
        (
            r"program scope variable '([^']*)' must reside in constant",
            "write `constant` in front of its type; what kernels change is an output",
        ),
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
