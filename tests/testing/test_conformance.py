"""docs/metal-support.md says what the cases prove, and nothing of Metal is left out."""

from __future__ import annotations

import pytest

from anymetal.testing import conformance
from anymetal.testing.conformance import Case, Row, all_cases, page, problems, rows
from anymetal.testing.features import Feature, features, read
from anymetal.testing.metal_case import MetalCase

_FOLDER = conformance._KERNELS


def _case(name: str, body: str = "", **directives: list[str]) -> Case:
    return Case(MetalCase(_FOLDER / f"{name}.metal", body=body, directives=directives))


def test_the_page_is_current() -> None:
    cases = all_cases()
    table = rows(features(), cases)
    assert not problems(table, cases)
    assert conformance.PAGE.read_text() == page(table), (
        "run python -m anymetal.testing.conformance --write"
    )


def test_features_are_listed_once_in_a_section() -> None:
    listed = [(feature.section, feature.name, feature.types) for feature in features()]
    assert len(set(listed)) == len(listed)


def test_the_text_of_features() -> None:
    text = """
# a comment
## One
@ half, float; 1 to 4
in: math/*
() sin cos
MAXHALF
## Two
goto | refused: errors/goto*
packed_x2 packed_x3 | cases: a/b c/d
early return | cases: e/f | tests: tests/x.py
"""
    listed = list(read(text))
    names = ["sin", "cos", "MAXHALF", "goto", "packed_x2", "packed_x3", "early return"]
    assert [feature.name for feature in listed] == names
    assert listed[0].scalar_types == ["half", "float"]
    assert listed[0].folders == ("math/*",)
    assert listed[3].refused == ("errors/goto*",) and not listed[3].folders
    assert listed[5].cases == ("a/b", "c/d") and listed[6].tests == ("tests/x.py",)


def test_unknown_keys_are_errors() -> None:
    with pytest.raises(ValueError, match="state"):
        list(read("goto | state: works"))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y[0] = sin(x);", True),
        ("y[0] = metal::precise::sin (x);", True),
        ("y[0] = sin<float>(x);", True),
        ("// sin(x)\ny[0] = x;", False),
        ("float sin = 1;", False),
        ("y[0] = asin(x) + sinh(x);", False),
    ],
)
def test_calls_are_found(body: str, expected: bool) -> None:
    (feature,) = read("() sin")
    assert _case("math/a", body).proves(feature) is expected


def test_a_case_says_what_it_covers() -> None:
    feature = Feature("Barriers", "return before a barrier")
    case = _case("threadgroup/a", covers=["something else, return before a barrier"])
    assert case.proves(feature)
    (found,) = problems(rows([feature], [case]), [case])
    assert "covers something else" in found


def test_folders_and_types_limit_what_counts() -> None:
    (feature,) = read("in: bfloat/*\nwith: bfloat16\n() exp")
    body = "y[0] = exp(x);"
    assert _case("bfloat/a", body, input=["x = bfloat16[4]"]).proves(feature)
    assert not _case("bfloat/a", body, input=["x = float32[4]"]).proves(feature)
    assert not _case("math/a", body, input=["x = bfloat16[4]"]).proves(feature)


def test_problems() -> None:
    listed = list(read("## S\n@ half, float\n() sin\n@\n() cos\nold | tests: tests/nowhere.py"))
    case = _case("math/a", "sin(x)", input=["x = float32[4]"])
    assert problems(rows(listed, [case]), [case]) == [
        "S: sin: no case with half",
        "S: cos: neither a case nor a reason",
        "S: old: there is no tests/nowhere.py",
    ]


def test_states() -> None:
    (absent,) = read("textures | absent: only buffers")
    assert Row(absent, (), ()).state(frozenset()) == "not available: only buffers"
    case = _case("math/a", "sin(x)")
    row = Row(Feature("S", "sin"), (case,), ())
    assert row.state(frozenset()) == "works"
    assert row.state(frozenset({"math/a"})) == "**fails** in math/a"
    assert "1 features: 0 work" in page([row], frozenset({"math/a"}))


def test_an_error_is_no_proof_that_a_function_is_there() -> None:
    (feature,) = read("() erf")
    case = _case("errors/erf", "erf(x)", error=["undeclared"])
    assert not case.proves(feature)
    assert case.shows_refusal(Feature("S", "erf", refused=("errors/*",)))
