"""Raw findings become sentences, places, indices and details."""

from __future__ import annotations

import json
import re
from pathlib import Path

import mlx.core as mx
import pytest

import anymetal
from anymetal.findings import Finding
from anymetal.findings.text import as_text
from anymetal.sanitizer.kinds import CHECKS, KINDS, rules
from tests.sanitize.fake import Raw, finding, raw, twice

X = mx.arange(8.0).reshape(2, 4)
NOWHERE = 2**31 - 2

#: A finding, and what it reads like.
MESSAGES = [
    (
        raw("bounds-read", offset=32, thread=(7, 0, 0)),
        "thread (7, 0, 0) of threadgroup (0, 0, 0) reads x[2, 0], outside of `x` "
        "(8 elements, shape (2, 4))",
    ),
    (
        raw("bounds-write", site=1, object=1, offset=2**64 - 4),
        "thread (0, 0, 0) of threadgroup (0, 0, 0) writes y[-1, 3], outside of `y` "
        "(8 elements, shape (2, 4))",
    ),
    (
        raw("bounds-read", object=0, offset=24, bytes=16),
        "thread (0, 0, 0) of threadgroup (0, 0, 0) reads bytes 24 to 39 of `x` (from x[1, 2] on), "
        "outside of `x` (8 elements, shape (2, 4))",
    ),
    (
        raw("bounds-read", object=2, offset=64),
        "thread (0, 0, 0) of threadgroup (0, 0, 0) reads t[16], outside of threadgroup memory `t` "
        "(16 elements)",
    ),
    (
        raw("bounds-read", object=NOWHERE, offset=16),
        "thread (0, 0, 0) of threadgroup (0, 0, 0) reads address 0x10, outside of all arrays",
    ),
    (
        raw("race-threadgroup", site=1, object=2, offset=4, other_site=0, other_thread=(9, 0, 0)),
        "thread (0, 0, 0) of threadgroup (0, 0, 0) writes t[1], which thread (9, 0, 0) reads, "
        "without a barrier between",
    ),
    (
        raw("race-threadgroup", site=1, object=2, other_site=0, other_thread=(2**32 - 1,) * 3),
        "thread (0, 0, 0) of threadgroup (0, 0, 0) writes t[0], which other threads read, "
        "without a barrier between",
    ),
    (
        raw(
            "race-groups", site=1, object=1, other_site=1, other_thread=(40, 0, 0),
            other_group=(1, 0, 0),
        ),
        "thread (0, 0, 0) of threadgroup (0, 0, 0) writes y[0, 0], which thread (40, 0, 0) of "
        "threadgroup (1, 0, 0) writes: nothing orders the two threadgroups",
    ),
    (
        raw("unwritten-output", object=1, offset=20, site=2**32 - 1),
        "no thread writes y[1, 1]",
    ),
    (
        raw("misaligned", site=3, object=0, offset=4),
        "thread (0, 0, 0) of threadgroup (0, 0, 0) accesses 16 bytes at byte 4 of `x` (8 elements, "
        "shape (2, 4)), which their type does not allow: the address has to be a multiple of 16",
    ),
    (
        raw("barrier-divergent", object=NOWHERE, group=(2, 0, 0)),
        "not all threads of threadgroup (2, 0, 0) reach this barrier: thread (0, 0, 0) of "
        "threadgroup (2, 0, 0) does not",
    ),
    (
        raw("shuffle-range", object=NOWHERE, detail=40),
        "thread (0, 0, 0) of threadgroup (0, 0, 0) asks for the value of lane 40, which its "
        "SIMD-group or quad does not have",
    ),
]  # fmt: skip


def found(*raws: Raw) -> list[Finding]:
    with finding(*raws), anymetal.sanitize(action="report") as session:
        twice()(X)
    return list(session.findings)


@pytest.mark.parametrize(("one", "message"), MESSAGES, ids=lambda v: getattr(v, "kind", None))
def test_messages(one: Raw, message: str) -> None:
    (only,) = found(one)
    assert only.message == message


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_has_a_message_without_gaps(kind: object) -> None:
    number = KINDS.index(kind)  # type: ignore[arg-type]
    if KINDS[number].check in CHECKS:
        (only,) = found(Raw(number, other_site=0))
        assert "{" not in as_text(only) and only.code == KINDS[number].name
    rule = rules()[number]
    assert "{" not in rule.summary and rule.summary.endswith(".") and rule.summary[0].isupper()


def test_details_for_programs() -> None:
    (only,) = found(MESSAGES[5][0])
    assert only.details == {
        "array": "t",
        "shape": (16,),
        "index": (1,),
        "thread": (0, 0, 0),
        "threadgroup": (0, 0, 0),
        "other_thread": (9, 0, 0),
        "other_threadgroup": (0, 0, 0),
    }


def test_places_are_those_of_the_file_that_has_the_kernel() -> None:
    (only,) = found(MESSAGES[0][0])
    text = (Path(__file__).parent / "fake.py").read_text().split("\n")[only.place.line - 1]
    assert only.place.file.endswith("fake.py") and "y[i] = 2 * x[i];" in text
    assert text[only.place.column - 1 : only.place.end_column - 1] in ("i", "2")
    assert (only.place.part, only.place.part_line) == ("source", 1)
    (launch,) = [other for other in only.others if other.message == "launched here"]
    assert launch.file.endswith("fake.py") and "kernel(" in launch.text


BODY = "\n    uint i = thread_position_in_grid.x;\n    y[i] = x[i];\n"


def test_places_of_kernels_whose_file_is_not_known() -> None:
    kernel = anymetal.metal_kernel(
        name="copy", input_names=["x"], output_names=["y"], source=BODY + " " * 3
    )
    with (
        finding(raw("bounds-read")._replace(site=0)),
        anymetal.sanitize(action="report") as session,
    ):
        kernel(
            inputs=[X], grid=(8, 1, 1), threadgroup=(8, 1, 1), output_shapes=[(8,)],
            output_dtypes=[mx.float32],
        )  # fmt: skip
    place = session.findings[0].place
    assert (place.file, place.line, place.column) == ("<kernel copy>", 1, 44)


def test_a_report_for_people() -> None:
    (only,) = found(MESSAGES[0][0]._replace(count=3))
    lines = as_text(only).split("\n")
    assert re.fullmatch(
        r".*fake\.py:\d+:\d+: error: thread \(7, 0, 0\) .* \[bounds-read\] \(× 3\)", lines[0]
    )
    assert lines[1].endswith('source="uint i = thread_position_in_grid.x; y[i] = 2 * x[i];",')
    assert lines[2].strip("| ") == "^"
    assert "in kernel twice, line 1 of its source" in lines[3]
    assert lines[-1].startswith("hint: ")


def test_json_and_sarif() -> None:
    with finding(MESSAGES[0][0], MESSAGES[5][0]), anymetal.sanitize(action="report") as session:
        twice()(X)
    records = json.loads(session.json())["findings"]
    assert [one["code"] for one in records] == ["bounds-read", "race-threadgroup"]
    assert records[0]["details"]["index"] == [2, 0]
    run = json.loads(session.sarif())["runs"][0]
    assert [one["ruleId"] for one in run["results"]] == ["bounds-read", "race-threadgroup"]
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {one.name for one in KINDS}


def test_the_numbers_of_kinds_are_those_of_the_observer() -> None:
    folder = Path(anymetal.__file__).parent / "targets" / "cpu" / "observer"
    (text,) = re.findall(
        r"enum Kind : uint32_t \{(.*?)\};", (folder / "observer.h").read_text(), re.S
    )
    names = [name.strip().lower().replace("_", "-") for name in text.split(",") if name.strip()]
    assert [{"not-a-number": "nan"}.get(name, name) for name in names] == [k.name for k in KINDS]


def test_a_launch_tells_size_and_alignment_of_a_vector() -> None:
    body = "uint i = thread_position_in_grid.x;\ny[i] = dot(*(const device float4*)(x + i), 1);"
    kernel = anymetal.metal_kernel("skewed", ["x"], ["y"], body)
    with anymetal.sanitize(action="report") as session:
        mx.eval(
            kernel(
                inputs=[mx.zeros(16)], output_shapes=[(4,)], output_dtypes=[mx.float32],
                grid=(4, 1, 1), threadgroup=(4, 1, 1),
            )
        )  # fmt: skip
    (one,) = session.findings
    assert "accesses 16 bytes at byte 4 of `x`" in one.message
    assert one.message.endswith("a multiple of 16") and one.count == 3
