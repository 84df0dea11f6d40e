"""From a kernel's text to sources that compile, with types that fit where none are known.

A program seldom tells the linter which dtypes its arrays have. So the kernel is compiled with
several: all arrays float32, float16, int32 and so on. What depends on types counts only if it shows
with all of those that compile; and what none of them can repair is an error of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import mlx.core as mx

from anymetal.errors import MetalCompileError
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.complaints import Complaint
from anymetal.lint.kernels import DTYPE, Kernel, Launch
from anymetal.signature import KernelDefinition, SignatureGenerator
from anymetal.source import KernelSource, MathMode

#: Dtypes of unknown arrays and of unknown numbers, in the order in which they are tried.
_GUESSES = (
    ("float32", "int32"),
    ("float16", "int32"),
    ("int32", "int32"),
    ("uint32", "uint32"),
    ("float32", "float32"),
    ("bfloat16", "int32"),
)
#: Behind the first that compiles, which others are worth a look.
_MOST_COMPILED = 4
_INTEGER = 32  #: for a template parameter that is a number
_MOST_REPAIRS = 12

_POINTER = r"\b{0}\s*\[|[=(,]\s*&?{0}\s*\+|\*\)\s*\(?\s*&?{0}\b|=\s*{0}\s*;|\*\s*{0}\s*[;=]"
_ERROR = re.compile(r"^(?P<place>[^\n]*?:\d+:\d+): error: (?P<text>.*)$", re.M)
_UNKNOWN = re.compile(r"(use of undeclared identifier|unknown type name) '([A-Z][A-Z0-9_]*)'")
#: Where a template parameter stands for a type.
_TYPE = (
    r"\b{0}\s+\w+\s*[=;\[,)({{]|\b{0}\s*[({{]|<\s*{0}\s*[,>]"
    r"|\b(?:device|constant|threadgroup|thread|const)\s+{0}\b"
)
#: An error with the line that it shows.
_SHOWN = re.compile(
    r"^[^\n]*:\d+:\d+: error: (?P<text>.*)\n *\d+ \| (?P<code>.*)\n *\| (?P<marks>.*)$", re.M
)
_WANTED = re.compile(r"variable of type 'const (\w+) \*' with")
_DTYPES = {
    "float": "float32", "half": "float16", "bfloat": "bfloat16", "int": "int32", "uint": "uint32",
    "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "long": "int64",
    "ulong": "uint64", "uint8_t": "uint8", "int8_t": "int8", "uint16_t": "uint16",
    "int16_t": "int16", "uint32_t": "uint32", "int32_t": "int32", "float16_t": "float16",
    "bfloat16_t": "bfloat16",
}  # fmt: skip
_SHAPES = r"\b{}_(?:shape|strides|ndim)\b"


class Made(NamedTuple):
    """A source that compiles, its raw IR, and what Clang complains of."""

    source: KernelSource
    ir: str
    heard: list[Complaint]


class Attempt(NamedTuple):
    """A source, and what Clang made of it or the error that it found."""

    source: KernelSource
    made: Made | None
    error: MetalCompileError | None


@dataclass
class Compiled:
    """What became of a kernel."""

    sources: list[Made] = field(default_factory=list)
    errors: list[tuple[str, str, MetalCompileError]] = field(default_factory=list)

    @property
    def first(self) -> Made:
        """The one to look at where types do not matter."""
        return self.sources[0]


def compiled(kernel: Kernel) -> Compiled:
    """The kernel with all guesses of types that compile; or the errors that all of them have."""
    result = Compiled()
    common: list[tuple[str, str, MetalCompileError]] | None = None
    template = _template(kernel)
    for guess in _guesses(kernel):
        attempt, template = _attempt(kernel, guess, template)
        if attempt.made:
            if all(made.source != attempt.source for made in result.sources):
                result.sources.append(attempt.made)
        elif attempt.error:
            found = [(*place, attempt.error) for place in errors_in(attempt.error)]
            keys = {one[:2] for one in found}
            common = found if common is None else [one for one in common if one[:2] in keys]
            if not result.sources and common and _is_certain(common):
                break
        if len(result.sources) >= _MOST_COMPILED:
            break
    if not result.sources:
        result.errors = common or []
    return result


def _is_certain(errors: list[tuple[str, str, MetalCompileError]]) -> bool:
    """Whether another guess would meet the same errors: they are about words, not types."""
    return any(is_about_words(text) for _, text, _ in errors)


def is_about_words(text: str) -> bool:
    """Whether an error is about words or signs, whatever types there are."""
    words = ("undeclared identifier", "unknown type name", "expected", "not supported in Metal")
    return any(word in text for word in words)


def errors_in(error: MetalCompileError) -> list[tuple[str, str]]:
    """Place and text of each error, without what it says about types."""
    return [(match["place"], match["text"]) for match in _ERROR.finditer(error.diagnostics)]


# -- guesses --------------------------------------------------------------------------------


class _Guess(NamedTuple):
    array: str
    number: str
    scalars: frozenset[str]  #: inputs that are no arrays
    dtypes: tuple[tuple[str, str], ...] = ()  #: of inputs of which an error has told


def _guesses(kernel: Kernel) -> Iterator[_Guess]:
    given: dict[str, Any] = {}
    for launch in kernel.launches:
        given |= {n: v for n, v in zip(kernel.inputs, launch.inputs, strict=False) if v is not None}
    text = kernel.body.value
    scalars = frozenset(name for name in kernel.inputs if name in given or _is_scalar(name, text))
    for array, number in _GUESSES:
        yield _Guess(array, number, scalars)


def _is_scalar(name: str, text: str) -> bool:
    """Whether the text uses an input as a number, and nowhere as an array. If that is wrong, errors
    will tell."""
    name = re.escape(name)
    if re.search(_SHAPES.format(name), text):
        return False
    return not re.search(_POINTER.format(name), text)


def _corrected(guess: _Guess, error: MetalCompileError, kernel: Kernel) -> _Guess:
    """The guess as an error says that it should be: an array is used as a number, a number as an
    array, or an array has elements of another type."""
    scalars, dtypes = set(guess.scalars), dict(guess.dtypes)
    for match in _SHOWN.finditer(error.diagnostics):
        text, code, marks = match["text"], match["code"], match["marks"]
        for word in re.finditer(r"\w+", code):
            name = word[0]
            marked = any(mark in "~^" for mark in marks[word.start() : word.end()])
            if name not in kernel.inputs:
                continue
            if "no matching function" in text and _is_argument(code, word):
                scalars.discard(name)
            if not marked and "~" in marks:
                continue
            wanted = _WANTED.search(text)
            if "subscripted value" in text:
                scalars.discard(name)
            elif wanted is not None and wanted[1] in _DTYPES:
                dtypes[name] = _DTYPES[wanted[1]]
            elif "*'" in text and not code[word.end() :].lstrip().startswith("["):
                scalars.add(name)
    return guess._replace(scalars=frozenset(scalars), dtypes=tuple(sorted(dtypes.items())))


def _is_argument(code: str, word: re.Match[str]) -> bool:
    """Whether a word is an argument of a call, as it is."""
    before, after = code[: word.start()].rstrip()[-1:], code[word.end() :].lstrip()[:1]
    return before in ("(", ",") and after in (")", ",")


def _template(kernel: Kernel) -> dict[str, Any]:
    """The template parameters of the first call that has any, with guesses for unknown values."""
    for launch in kernel.launches:
        if launch.template:
            return {n: _kind(n, kernel) if v is None else v for n, v in launch.template}
    return {}


def _kind(name: str, kernel: Kernel) -> str | None:
    """Whether the text uses a template parameter as a type."""
    found = re.search(_TYPE.format(re.escape(name)), kernel.header.value + kernel.body.value)
    return DTYPE if found else None


def _attempt(
    kernel: Kernel, guess: _Guess, template: dict[str, Any]
) -> tuple[Attempt, dict[str, Any]]:
    """Compiles with one guess. Where no call is known, capitals may be template parameters."""
    attempt = _compiled(_source(kernel, guess, template))
    for _ in range(_MOST_REPAIRS):
        if attempt.error is None:
            break
        new = _missing_parameter(attempt.error, kernel, template)
        better = _corrected(guess, attempt.error, kernel)
        if new is None and better == guess:
            break
        template, guess = {**template, **(new or {})}, better
        attempt = _compiled(_source(kernel, guess, template))
    if attempt.error is not None:
        for other in _other_kinds(kernel, template):
            again = _compiled(_source(kernel, guess, other))
            if again.error is None:
                return again, other
    return attempt, template


def made_of(source: KernelSource) -> Made:
    """What Clang makes of a source. Raises as `compile_to_ir` does."""
    heard: list[Complaint] = []
    return Made(source, compile_to_ir(source, heard=heard), heard)


def _compiled(source: KernelSource) -> Attempt:
    try:
        return Attempt(source, made_of(source), None)
    except MetalCompileError as error:
        return Attempt(source, None, error)


def _other_kinds(kernel: Kernel, template: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The template with one of the parameters of unknown kind as a dtype instead of a number, or
    the other way round."""
    given = {name: v for launch in kernel.launches[:1] for name, v in launch.template}
    for name, value in list(template.items())[:_MOST_REPAIRS]:
        if given.get(name) is None:
            yield {**template, name: DTYPE if value is None else None}


def _missing_parameter(
    error: MetalCompileError | None, kernel: Kernel, template: dict[str, Any]
) -> dict[str, Any] | None:
    """What might be a template parameter, if the template of the kernel is not known."""
    if error is None or any(launch.template for launch in kernel.launches):
        return None
    for kind, name in _UNKNOWN.findall(error.diagnostics):
        if name not in template:
            return {name: DTYPE if "type" in kind else _kind(name, kernel)}
    return None


def _source(kernel: Kernel, guess: _Guess, template: dict[str, Any]) -> KernelSource:
    launch = kernel.launches[0] if kernel.launches else Launch()
    mode: MathMode = kernel.math_mode if kernel.math_mode != "safe" else "safe"  # type: ignore[assignment]
    definition = KernelDefinition(
        kernel.name,
        kernel.inputs,
        kernel.outputs,
        kernel.body.value,
        kernel.header.value,
        atomic_outputs=kernel.atomic_outputs,
        math_mode=mode,
    )
    outputs = _padded(launch.output_dtypes, len(kernel.outputs))
    numbers = _padded(launch.inputs, len(kernel.inputs))
    arrays = [_array(n, v, guess) for n, v in zip(kernel.inputs, numbers, strict=True)]
    dtypes = [_dtype(name or guess.array) for name in outputs]
    if kernel.atomic_outputs:
        dtypes = [d if d in _ATOMIC else mx.float32 for d in dtypes]
    values = [(name, _template_value(value, guess)) for name, value in template.items()]
    return SignatureGenerator(definition).specialization(arrays, dtypes, values).source


_ATOMIC = (mx.float32, mx.int32, mx.uint32)


def _padded(values: Sequence[Any], length: int) -> list[Any]:
    return [*values, *[None] * length][:length]


def _array(name: str, number: object, guess: _Guess) -> mx.array:
    if number is not None:
        value: Any = number
        return mx.array(value)
    dtype = dict(guess.dtypes).get(name, guess.array)
    if name in guess.scalars:
        return mx.array(0, _dtype(guess.number))
    return mx.zeros((16,), _dtype(dtype))


def _template_value(value: object, guess: _Guess) -> Any:
    if isinstance(value, (bool, int)):
        return value
    if value is None:
        return _INTEGER
    return _dtype(guess.array if value == DTYPE else str(value))


def _dtype(name: str) -> mx.Dtype:
    found = getattr(mx, name, None)
    return found if isinstance(found, mx.Dtype) else mx.float32
