"""How kernels are found in Python programs, and where in the file their texts stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from anymetal.lint import python
from anymetal.lint.kernels import DTYPE, Kernel
from anymetal.lint.text import File
from tests.lint.programs import checked, found, marked

_HEAD = "import mlx.core as mx\nimport textwrap\nfrom pathlib import Path\n"


def kernels_in(text: str, name: str = "p.py") -> list[Kernel]:
    return python.kernels(python.parse(File(name, text)))[0]


def _source(text: str) -> str:
    """The source of the one kernel of a program in which it is an expression."""
    made = f"k = mx.fast.metal_kernel(name='k', input_names=[], output_names=['y'], source={text})"
    (kernel,) = kernels_in(_HEAD + made)
    return kernel.body.value


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "expression",
    [
        "'a\\n\\tb\\x41\\u00e9\\\\ \\q'",
        "r'a\\nb'",
        '"""one\ntwo"""',
        "'a' \"b\"\n    'c'",
        "('a'  # comment\n 'b\\\n c')",
        "'a' + 'b'",
        "f'a{3}{{b}}{\"c\"}d'",
        "f'{1 + 2}' 'x{y}'",
        "'{0} {{}} {n}'.format(1, n='x')",
        "'aXbX'.replace('X', 'yy')",
        "textwrap.dedent('  a\\n    b\\n')",
        "' a '.strip()",
        "'é漢\\N{BULLET}'",
        "''",
    ],
)
def test_strings_are_those_of_python(expression: str) -> None:
    assert _source(expression) == eval(f"({expression})", {"textwrap": __import__("textwrap")})


@pytest.mark.parametrize(
    ("program", "offsets"),
    [
        ("'ab'", "ab"),
        ("'a\\nb'", "a\\b"),
        ("'a' 'b'", "ab"),
        ("f'a{{{1}b'", "a{{b"),
        ("'''a\n b'''", "a\n b"),
    ],
)
def test_each_character_knows_its_place(program: str, offsets: str) -> None:
    made = "k = mx.fast.metal_kernel(name='k', input_names=[], output_names=['y'], source="
    text = f"{_HEAD}{made}{program})"
    (kernel,) = kernels_in(text)
    assert "".join(text[place] for place in kernel.body.places) == offsets


def test_the_place_of_a_finding_behind_escapes(tmp_path: Path) -> None:
    text, places = marked(
        _HEAD + "N = 4\n"
        "k = mx.fast.metal_kernel(name='k', input_names=['x'], output_names=['y'],\n"
        "    source=f'uint i = {N};\\t\\n' 'y[i] = §missing + x[i]; // é {x}')\n"
        "k(inputs=[1], output_shapes=[(1,)], output_dtypes=[mx.float32], grid=(1, 1, 1),\n"
        "  threadgroup=(1, 1, 1))\n"
    )
    assert found(checked(text, tmp_path), "AM302") == [("AM302", *places[0])]


@pytest.mark.parametrize(
    "head, call",
    [
        ("import mlx.core as mx", "mx.fast.metal_kernel"),
        ("import mlx.core", "mlx.core.fast.metal_kernel"),
        ("from mlx.core import fast", "fast.metal_kernel"),
        ("from mlx.core.fast import metal_kernel as mk", "mk"),
        ("from mlx import core as c\nmake = c.fast.metal_kernel", "make"),
        ("import anymetal", "anymetal.metal_kernel"),
        ("from anymetal import metal_kernel", "metal_kernel"),
    ],
)
def test_names_of_metal_kernel(head: str, call: str) -> None:
    (kernel,) = kernels_in(f"{head}\nk = {call}('name', ['x'], ['y'], 'body', 'header')")
    assert (kernel.name, kernel.body.value, kernel.header.value) == ("name", "body", "header")
    assert (kernel.inputs, kernel.outputs) == (("x",), ("y",))


def test_names_that_are_bound_elsewhere() -> None:
    text = """
import mlx.core as mx
SOURCE = "module"
OTHER = "one"
OTHER = "two"
class C:
    SOURCE = "class"
    def f(self, given="g"):
        SOURCE = "local"
        return mx.fast.metal_kernel(name="a", input_names=[], output_names=["y"], source=SOURCE)
def g():
    return mx.fast.metal_kernel(name="b", input_names=[], output_names=["y"], source=SOURCE)
def h(given):
    mx.fast.metal_kernel(name="c", input_names=[], output_names=["y"], source=given)
    mx.fast.metal_kernel(name="d", input_names=[], output_names=["y"], source=OTHER)
"""
    kernels, unchecked = python.kernels(python.parse(File("p.py", text)))
    assert {k.name: k.body.value for k in kernels} == {"a": "local", "b": "module"}
    assert ["'c'" in unchecked[0].reason, "'d'" in unchecked[1].reason] == [True, True]
    assert [one.failed for one in unchecked] == [False, False]


def test_launches() -> None:
    text = """
import mlx.core as mx
TG = 64
k = mx.fast.metal_kernel(name="k", input_names=["x", "n"], output_names=["y"], source="")
def f(x, dtype):
    template = [("T", x.dtype), ("N", 3), ("F", True), ("D", mx.int8), ("M", f(x))]
    return k(inputs=[x, 7], output_shapes=[(3,)], output_dtypes=[mx.float16],
             grid=(2 * TG, 1, x.size), threadgroup=(TG, 1, 1), template=template, init_value=0)
"""
    (launch,) = kernels_in(text)[0].launches
    assert launch.grid == (128, 1, None) and launch.threadgroup == (64, 1, 1)
    assert launch.template == (("T", DTYPE), ("N", 3), ("F", True), ("D", "int8"), ("M", None))
    assert launch.output_dtypes == ("float16",) and launch.inputs == (None, 7)
    assert launch.initialised


def test_a_text_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "k.metal").write_text("y[0] = missing;")
    text, places = marked(
        _HEAD + "k = mx.fast.metal_kernel(name='k', input_names=[], output_names=['y'],\n"
        "    source=Path(§'k.metal').read_text())\n"
        "k(inputs=[], output_shapes=[(1,)], output_dtypes=[mx.float32], grid=(1, 1, 1),\n"
        "  threadgroup=(1, 1, 1))\n"
    )
    report = checked(text.replace("§", ""), tmp_path)
    assert [(f.code, f.place.line) for f in report.findings] == [("AM302", places[0][0])]


def test_nothing_of_the_program_runs(tmp_path: Path) -> None:
    text = (
        f"open({str(tmp_path / 'made')!r}, 'w')\nimport mlx.core as mx\n"
        f"k = mx.fast.metal_kernel(name='k', input_names=[], output_names=['y'],\n"
        f"    source=str(open({str(tmp_path / 'too')!r}, 'w')))\n"
    )
    report = checked(text, tmp_path)
    assert len(report.unchecked) == 1 and not found(report)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program.py"]
