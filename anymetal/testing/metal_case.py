"""One-kernel test cases: a `.metal` file with the kernel's body and directives in comments.

    // input: x = float32[100] normal
    // output: y = float32[100]
    // grid: 100
    // threadgroup: 32
    // expect: y = np.exp(x)
    // close: 1e-6
    y[thread_position_in_grid.x] = exp(x[thread_position_in_grid.x]);

tests/kernels/README.md describes the directives.
"""

from __future__ import annotations

import contextlib
import re
import textwrap
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np

import anymetal
from anymetal.errors import MetalCompileError
from anymetal.testing.fuzz.launch import Extent, LaunchSize
from anymetal.testing.fuzz.numerics import round_bfloat

Array = np.ndarray[Any, np.dtype[Any]]

_KEYS = (
    "input output view grid threadgroup template dtypes init math_mode row_contiguous "
    "atomic_outputs where expect close error covers header body"
).split()
_DIRECTIVE = re.compile(rf"// ({'|'.join(_KEYS)}):(.*)")
_CONTINUED = re.compile(r"//(    +.*|\s*)$")
_ARRAY = re.compile(r"(\w+)\s*=\s*(\w+)\s*(\[[^\]]*\])?\s*(.*)", re.S)
#: Type, message and position of an error.
_ERROR = re.compile(
    r"(?:(?P<type>\w+Error): )?(?P<text>.*?)(?: at (?P<line>\d+):(?P<column>\d+))?", re.S
)
#: A place in a message: behind the name of a file or part, not a ratio or a time.
_POSITION = re.compile(r"[^\W\d]:(\d+):(\d+)\b")
#: What formulas may ask of each thread.
_WHO = ("tid", "lid", "group", "lane", "simdgroup", "px", "py", "pz")
#: Relative error that rounding alone may cause.
_ROUNDING = {mx.float16: 1e-3, mx.bfloat16: 1e-2}
_SHOWN = 5


class CaseFormatError(Exception):
    """The file does not follow the format, or has a formula that cannot be computed."""


@dataclass
class MetalCase:
    """The parts of a `.metal` file."""

    path: Path
    header: str = ""
    body: str = ""
    directives: dict[str, list[str]] = field(default_factory=dict)

    def all(self, key: str) -> list[str]:
        """The texts of every directive of this name."""
        return self.directives.get(key, [])

    def one(self, key: str, default: str) -> str:
        """The text of a directive that occurs at most once."""
        texts = self.all(key)
        if len(texts) > 1:
            raise CaseFormatError(f"{self.path}: `// {key}:` occurs {len(texts)} times")
        return texts[0] if texts else default

    @property
    def dtypes(self) -> list[str]:
        """Names of the dtypes to run for, each as `T`; [""] if the case names its types itself."""
        return self.one("dtypes", "").split() or [""]

    @property
    def launch(self) -> LaunchSize:
        return LaunchSize(_extent(self.one("grid", "1")), _extent(self.one("threadgroup", "32")))


@contextlib.contextmanager
def _formula(case: MetalCase, directive: str, text: str) -> Iterator[None]:
    """Errors of a formula are told with its text."""
    try:
        yield
    except Exception as error:
        what = f"`// {directive}: {text.strip()}`"
        raise CaseFormatError(f"{case.path}: {what}: {type(error).__name__}: {error}") from error


def parse(path: Path) -> MetalCase:
    """Reads a case. The line numbers of body and header are those of the file."""
    case = read(path, path.read_text())
    if not case.all("expect") and not case.all("error"):
        raise CaseFormatError(f"{path}: neither `// expect:` nor `// error:`")
    return case


def read(path: Path, lines: str) -> MetalCase:
    """The case that these lines describe, whatever they expect."""
    case = MetalCase(path)
    parts: dict[str, list[str]] = {"header": [], "body": []}
    part, current = "body", ""
    for number, line in enumerate(lines.splitlines(), 1):
        found, more = _DIRECTIVE.fullmatch(line), _CONTINUED.fullmatch(line)
        if found:
            current = found[1]
            if current in parts:
                part, current = current, ""
            else:
                case.directives.setdefault(current, []).append(found[2].strip())
        elif current and more:
            case.directives[current][-1] += "\n" + more[1]
        else:
            current = ""
            parts[part] += [""] * (number - 1 - len(parts[part])) + [line]
    case.header, case.body = "\n".join(parts["header"]), "\n".join(parts["body"])
    if not case.all("output"):
        raise CaseFormatError(f"{path}: no `// output: name = dtype[shape]`")
    return case


def run(case: MetalCase, dtype: str = "") -> None:
    """Runs the case with `dtype` as `T`; raises AssertionError if the result is not as expected."""
    error = case.one("error", "")
    if error:
        _check_error(case, dtype, error)
        return
    arrays = inputs(case, dtype)
    results = _launch(case, dtype, arrays)
    _compare(case, dtype, arrays, results)


def _check_error(case: MetalCase, dtype: str, error: str) -> None:
    expected = _ERROR.fullmatch(error)
    assert expected
    name = expected["type"] or MetalCompileError.__name__
    try:
        _launch(case, dtype, inputs(case, dtype))
    except Exception as raised:
        text = str(raised)
        actual = type(raised).__name__
        assert actual == name, f"{case.path}: this {actual} should be a {name}:\n{text}"
        pattern = expected["text"]
        assert re.search(pattern, text), f"{case.path}: no {pattern!r} in this error:\n{text}"
        if expected["line"]:
            place = int(expected["line"]), int(expected["column"])
            assert place == position_in(text), (
                f"{case.path}: this error does not point at {place}:\n{text}"
            )
        return
    raise AssertionError(f"{case.path}: no error, expected {expected['text']!r}")


def position_in(text: str) -> tuple[int, int] | None:
    """Line and column of the first place that a message names."""
    found = _POSITION.search(text)
    return (int(found[1]), int(found[2])) if found else None


def _extent(text: str) -> Extent:
    x, y, z = ([int(word) for word in text.split()] + [1, 1])[:3]
    return (x, y, z)


# --------------------------------------------------------------------------------- arrays


@dataclass
class Declared:
    """An array that a directive describes."""

    name: str
    dtype: mx.Dtype
    shape: tuple[int, ...]
    text: str


def declaration(case: MetalCase, text: str, dtype: str) -> Declared:
    """The array of an `input` or `output` directive, with `dtype` as `T`."""
    match = _ARRAY.fullmatch(text)
    if match is None:
        raise CaseFormatError(f"{case.path}: {text!r} is not `name = dtype[shape] …`")
    name, kind, shape, rest = match.groups()
    kind = dtype if kind == "T" and dtype else kind
    extents = tuple(int(n) for n in (shape or "[]")[1:-1].split(",") if n.strip())
    return Declared(name, _dtype(kind), extents, rest.strip())


def _dtype(name: str) -> mx.Dtype:
    dtype: mx.Dtype = getattr(mx, "bool_" if name == "bool" else name)
    return dtype


def inputs(
    case: MetalCase, dtype: str, random: np.random.Generator | None = None
) -> dict[str, mx.array]:
    """The inputs by name, row-contiguous; the same data in every run, unless `random` makes it."""
    random = random or np.random.default_rng(zlib.crc32(case.path.stem.encode()))
    result: dict[str, mx.array] = {}
    for text in case.all("input"):
        declared = declaration(case, text, dtype)
        with _formula(case, "input", text):
            values = _data(declared, random)
        result[declared.name] = mx.array(values).astype(declared.dtype)
    return result


def _data(declared: Declared, random: np.random.Generator) -> Array:
    """What the text of an input says: a number, a generator's name or call, a NumPy expression."""
    shape, kind = declared.shape, declared.dtype
    size = int(np.prod(shape))

    def anything() -> Array:
        if kind == mx.bool_:
            return random.random(shape) < 0.5
        if not mx.issubdtype(kind, mx.integer):
            return random.normal(size=shape)
        info = mx.iinfo(kind)
        numbers = np.dtype(str(kind).removeprefix("mlx.core."))
        return random.integers(info.min, info.max, shape, numbers, endpoint=True)

    def integers(low: int = -100, high: int = 100) -> Array:
        return random.integers(low, high, shape, endpoint=True)

    names = {
        "np": np,
        "random": anything,
        "integers": integers,
        "normal": partial(random.normal, size=shape),
        "uniform": lambda low=-1.0, high=1.0: random.uniform(low, high, shape),
        "arange": lambda: np.arange(size),
    }
    value = eval(declared.text or "random", names)
    array = np.asarray(value() if callable(value) else value)
    if kind in (mx.float16, mx.bfloat16, mx.float32):
        array = array.astype(np.float32)
    elif kind not in (mx.bool_, mx.complex64):
        array = array.astype(str(kind).removeprefix("mlx.core."))
    return array.reshape(shape)


def _to_numpy(array: mx.array) -> Array:
    """The values; half and bfloat as float32, in which formulas compute with them."""
    narrow = array.dtype in (mx.float16, mx.bfloat16)
    return np.array(array.astype(mx.float32) if narrow else array)


# --------------------------------------------------------------------------- run and compare


def template_value(text: str) -> Any:
    """A bool, a number or a dtype, as the directive `template` writes it."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d+", text) else _dtype(text)


def _launch(case: MetalCase, dtype: str, inputs: dict[str, mx.array]) -> dict[str, mx.array]:
    results = launcher(case, dtype, inputs)()
    names = [declaration(case, text, dtype).name for text in case.all("output")]
    return dict(zip(names, results, strict=True))


def launcher(
    case: MetalCase, dtype: str, inputs: dict[str, mx.array]
) -> Callable[[], list[mx.array]]:
    """What launches the case, as often as one likes, and returns the outputs."""
    outputs = [declaration(case, text, dtype) for text in case.all("output")]
    template = [("T", _dtype(dtype))] if dtype else []
    for pair in case.one("template", "").split():
        name, _, value = pair.partition("=")
        template.append((name, template_value(value)))
    kernel = anymetal.metal_kernel(
        name=re.sub(r"\W", "_", case.path.stem),
        input_names=list(inputs),
        output_names=[output.name for output in outputs],
        source=case.body,
        header=case.header,
        ensure_row_contiguous=case.one("row_contiguous", "true") == "true",
        atomic_outputs=case.one("atomic_outputs", "false") == "true",
        compile_options={"math_mode": case.one("math_mode", "safe")},
    )
    arguments = dict(inputs)
    for text in case.all("view"):
        name, _, expression = text.partition("=")
        with _formula(case, "view", text):
            arguments[name.strip()] = eval(expression, {"mx": mx, **inputs})
    init = case.one("init", "")

    def run() -> list[mx.array]:
        results = kernel(
            inputs=list(arguments.values()),
            output_shapes=[output.shape for output in outputs],
            output_dtypes=[output.dtype for output in outputs],
            grid=case.launch.grid,
            threadgroup=case.launch.threadgroup,
            template=template or None,
            init_value=float(init) if init else None,
        )
        mx.eval(results)
        return results

    return run


def _names(case: MetalCase, dtype: str, inputs: dict[str, mx.array]) -> dict[str, Any]:
    """What formulas may use: the inputs, the views in their place, and who each thread is."""
    names: dict[str, Any] = {"np": np, "dtype": dtype}
    names.update((name, _to_numpy(array)) for name, array in inputs.items())
    for text in case.all("view"):
        name, _, expression = text.partition("=")
        view: mx.array = eval(expression, {"mx": mx, **inputs})
        names[name.strip()] = _to_numpy(mx.contiguous(view))
    # Laying out the threads of a large launch takes longer than all else, and few formulas ask.
    words = set(re.findall(r"\w+", " ".join(case.all("where") + case.all("expect"))))
    if not words.isdisjoint(_WHO):
        names = {**_who(case.launch), **names}
    return names


def _who(launch: LaunchSize) -> dict[str, Any]:
    """Who each thread is, in the order of the linear position in the grid."""
    layout = launch.layout
    order = np.flatnonzero(layout.exists)
    order = order[np.argsort(layout.thread[order])]
    values = (
        layout.thread,
        layout.local,
        layout.group,
        layout.attributes["thread_index_in_simdgroup"],
        layout.attributes["simdgroup_index_in_threadgroup"],
        *layout.attributes["thread_position_in_grid"],
    )
    return {name: array[order].astype(np.int64) for name, array in zip(_WHO, values, strict=True)}


@dataclass
class Expected:
    """What an output must hold: values as NumPy has them, half and bfloat as float32, and the
    allowed errors."""

    values: Array
    relative: float = 0.0
    absolute: float = 0.0

    def wrong(self, actual: Array) -> Array:
        """Where the actual values are others. NaN equals NaN."""
        wrong: Array = ~(actual == self.values)
        if actual.dtype.kind in "fc":
            wrong &= ~(np.isnan(actual) & np.isnan(self.values))
            if self.relative or self.absolute:
                allowed = self.absolute + self.relative * np.abs(self.values)
                wrong &= ~(np.abs(actual - self.values) <= allowed)
        return wrong


def expected(case: MetalCase, dtype: str, inputs: dict[str, mx.array]) -> dict[str, Expected]:
    """What the outputs must hold, by name, for these inputs."""
    names = _names(case, dtype, inputs)
    outputs = {
        output.name: output for output in (declaration(case, t, dtype) for t in case.all("output"))
    }
    results = {}
    with np.errstate(all="ignore"):
        for code in case.all("where"):
            with _formula(case, "where", code):
                exec(textwrap.dedent(code), names)
        for text in case.all("expect"):
            name, _, formula = text.partition("=")
            with _formula(case, "expect", text):
                values = np.asarray(eval(textwrap.dedent(formula).strip(), names))
            results[name.strip()] = _expected(case, outputs[name.strip()], values)
    return results


def _expected(case: MetalCase, output: Declared, values: Array) -> Expected:
    size = int(np.prod(output.shape))
    values = _rounded(np.broadcast_to(values.reshape(-1), size), output.dtype)
    values = values.reshape(output.shape)
    tolerance = [float(word) for word in case.one("close", "").split()]
    if not tolerance:
        return Expected(values)
    rounding = _ROUNDING.get(output.dtype, 0.0)
    return Expected(values, max(tolerance[0], rounding), max(tolerance[-1], rounding))


def _compare(
    case: MetalCase, dtype: str, inputs: dict[str, mx.array], results: dict[str, mx.array]
) -> None:
    with np.errstate(all="ignore"):
        for name, wanted in expected(case, dtype, inputs).items():
            _check(case, name, _to_numpy(results[name]), wanted)


def _check(case: MetalCase, name: str, actual: Array, wanted: Expected) -> None:
    wrong = wanted.wrong(actual)
    if wrong.any():
        lines = [f"{case.path}: {wrong.sum()} of {wrong.size} values of {name} are wrong"]
        for index in np.argwhere(wrong)[:_SHOWN]:
            at = tuple(int(i) for i in index)
            values = f"{actual[at]!s}, expected {wanted.values[at]!s}"
            lines.append(f"  {name}{list(at)} is {values}")
        raise AssertionError("\n".join(lines))


def _rounded(values: Array, dtype: mx.Dtype) -> Array:
    """The expected values as the output's type has them."""
    if dtype == mx.bfloat16:
        return round_bfloat(values.astype(np.float32))
    if dtype == mx.float16:
        return values.astype(np.float16).astype(np.float32)
    if mx.issubdtype(dtype, mx.integer) and values.dtype.kind not in "iub":
        raise CaseFormatError(f"an integer output needs integers, not {values.dtype}")
    names = {mx.bool_: np.bool_, mx.float32: np.float32, mx.complex64: np.complex64}
    return values.astype(names.get(dtype, str(dtype).removeprefix("mlx.core.")))
