"""The renderings of findings: each against what its readers expect, and JSON back again."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from anymetal.findings import Finding, Place, Rule, once_per_place, text
from anymetal.findings.github import as_github
from anymetal.findings.records import as_json, as_record, from_record
from anymetal.findings.sarif import as_sarif

RACE = Finding(
    code="race",
    severity="error",
    message="write to `shared` races with a read",
    kernel="softmax",
    place=Place("<kernel softmax>", 7, 5, "    shared[lid] = m;", 16),
    others=(Place("<kernel softmax>", 5, 9, "    s += shared[lid ^ 1];", message="the read"),),
    details={"buffer": "shared", "shape": (32,), "index": 3, "thread": (3, 0, 0)},
    hint="put a threadgroup_barrier between them",
    count=4,
)
IN_FILE = Finding(
    code="AM104",
    severity="warning",
    message="100%, a:b\nc",
    kernel="k",
    place=Place("my file.py", 12, 4, "\tx[i] = 0.5;", 9, part="source", part_line=2),
)


def test_text_has_a_caret_under_the_column() -> None:
    assert text.as_text(RACE).split("\n") == [
        "<kernel softmax>:7:5: error: write to `shared` races with a read [race] (× 4)",
        "    7 |     shared[lid] = m;",
        "      |     ^~~~~~~~~~~",
        "    with buffer shared, shape (32), index 3, thread (3, 0, 0)",
        "<kernel softmax>:5:9: note: the read",
        "    5 |     s += shared[lid ^ 1];",
        "      |         ^",
        "hint: put a threadgroup_barrier between them",
    ]


def test_text_names_the_kernel_of_a_file() -> None:
    assert text.as_text(IN_FILE).split("\n") == [
        "my file.py:12:4: warning: 100%, a:b",
        "c [AM104]",
        "   12 |     x[i] = 0.5;",
        "      |       ^~~~~",
        "    in kernel k, line 2 of its source",
    ]


@pytest.mark.parametrize(
    ("line", "column", "below"),
    [
        ("int x;", 5, "    ^"),
        ("\t\tx", 3, "        ^"),
        ("/* 漢字 */ x", 10, "           ^"),
        ("e\u0301 x", 4, "  ^"),
        ("x", 2, " ^"),  # behind the end
        ("\x1b[31m x", 7, "      ^"),  # no line changes the terminal
    ],
)
def test_the_caret_stands_below_the_character(line: str, column: int, below: str) -> None:
    shown = text.as_text(replace(RACE, place=Place("f", 1, column, line)))
    _, code, caret, *_ = shown.split("\n")
    assert caret == "      | " + below
    assert "\x1b" not in code and "\t" not in code


def test_a_place_without_a_line() -> None:
    lost = replace(RACE, place=Place("<kernel k>", 0), others=(), details={}, hint="", count=1)
    assert text.as_text(lost) == "<kernel k>: error: write to `shared` races with a read [race]"


def test_colours_are_for_terminals() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    plain, coloured = io.StringIO(), Terminal()
    text.write([RACE], plain)
    text.write([RACE], coloured)
    assert plain.getvalue() == text.as_text(RACE) + "\n"
    assert "\x1b[" in coloured.getvalue()


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ("", "nothing"),
        ("e", "1 error"),
        ("eew", "2 errors and 1 warning"),
        ("nwwe", "1 error, 2 warnings and 1 note"),
    ],
)
def test_summary(kinds: str, expected: str) -> None:
    names = {"e": "error", "w": "warning", "n": "note"}
    assert text.summary(replace(RACE, severity=names[k]) for k in kinds) == expected  # type: ignore[arg-type]


def test_json_and_back() -> None:
    document = json.loads(as_json([RACE, IN_FILE]))
    assert document["version"] == 1
    race, other = map(from_record, document["findings"])
    assert replace(race, details=RACE.details) == RACE
    assert race.details == {**RACE.details, "shape": [32], "thread": [3, 0, 0]}
    assert other == IN_FILE


def test_json_of_numbers_of_numpy() -> None:
    np = pytest.importorskip("numpy")
    record = as_record(replace(RACE, details={"index": np.int64(3), "value": np.float32(0.5)}))
    assert record["details"] == {"index": 3, "value": 0.5}


def test_sarif_has_what_the_standard_requires() -> None:
    rules = [Rule("AM104", "half-constant", "A constant is wider.", url="https://example.org/a")]
    rules.append(Rule("race", "race", "Two threads meet.", "error"))
    document = json.loads(as_sarif([RACE, IN_FILE], rules, "1.0"))
    assert document["version"] == "2.1.0" and document["$schema"].endswith(
        "sarif-schema-2.1.0.json"
    )
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "AnyMetal" and driver["version"] == "1.0"
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note") and result["message"]["text"]
    race, in_file = run["results"]
    assert race["occurrenceCount"] == 4
    assert race["properties"]["index"] == 3
    assert [place["message"]["text"] for place in race["relatedLocations"]] == ["the read"]
    (location,) = race["locations"]  # no file: nothing that a reader could try to open
    assert "physicalLocation" not in location
    assert location["message"]["text"] == "<kernel softmax>:7:5"
    (location,) = in_file["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "my%20file.py"
    region = location["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"], region["endColumn"]) == (12, 4, 9)


def test_github_escapes_what_ends_its_fields() -> None:
    assert as_github(IN_FILE) == (
        "::warning file=my file.py,line=12,col=4,endColumn=9,title=AM104::100%25, a:b%0Ac"
    )
    assert as_github(RACE) == (
        "::error title=race::<kernel softmax>:7:5: write to `shared` races with a read"
        "%0A<kernel softmax>:5:9: the read%0Ahint: put a threadgroup_barrier between them"
    )
    comma = replace(IN_FILE, place=Place("a,b:c.py", 0), message="m")
    assert as_github(comma) == "::warning file=a%2Cb%3Ac.py,title=AM104::m"


def test_once_per_place() -> None:
    other = replace(RACE, kernel="b")
    again = replace(RACE, message="at another index", count=2)
    merged = list(once_per_place([RACE, other, again]))
    assert merged == [replace(RACE, count=6), other]
