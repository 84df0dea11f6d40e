"""Questions are answered once, until their answers are forgotten."""

from __future__ import annotations

from collections.abc import Callable

from anymetal.analysis.cache import ANY_LAUNCH, Analyses, LaunchFacts
from anymetal.ir import types as t
from anymetal.ir.model import Block, Instr, Program


def known() -> Analyses:
    return Analyses(Program("k", [], [Block("%0", [Instr(t.VOID, "ret", [])])], {}, []))


asked: list[str] = []


def blocks(about: Analyses) -> int:
    asked.append("blocks")
    return len(about.program.blocks)


def twice(about: Analyses) -> int:
    asked.append("twice")
    return 2 * about(blocks)


def nothing(_: Analyses) -> None:
    asked.append("nothing")


def of(about: Analyses, *questions: Callable[[Analyses], object]) -> list[str]:
    """What is asked for the sake of these questions, in order."""
    asked.clear()
    for question in questions:
        about(question)
    return list(asked)


def test_a_question_is_asked_once() -> None:
    about = known()
    assert of(about, blocks, blocks) == ["blocks"]
    assert about(blocks) == 1


def test_no_answer_is_an_answer() -> None:
    assert of(known(), nothing, nothing) == ["nothing"]


def test_questions_share_answers() -> None:
    assert of(known(), twice, blocks, twice) == ["twice", "blocks"]


def test_answers_are_of_one_program() -> None:
    one, other = known(), known()
    other.program.blocks.append(Block("%1"))
    assert (one(twice), other(twice)) == (2, 4)


def test_all_is_forgotten_but_what_is_kept() -> None:
    about = known()
    of(about, twice, nothing)
    about.forget([twice])
    assert of(about, twice, nothing, blocks) == ["nothing", "blocks"]
    about.forget()
    assert of(about, twice) == ["twice", "blocks"]


def test_a_kept_answer_does_not_keep_what_it_came_from() -> None:
    """Each question is kept or forgotten for itself."""
    about = known()
    assert about(twice) == 2
    about.program.blocks.append(Block("%1"))
    about.forget([twice])
    assert (about(blocks), about(twice)) == (2, 2)


def test_keeping_what_nobody_asked_asks_nothing() -> None:
    about = known()
    asked.clear()
    about.forget([blocks])
    assert asked == []
    assert of(about, blocks) == ["blocks"]


def test_what_is_known_of_launches_without_being_told() -> None:
    about = known()
    assert (about.launch, about.width) == (ANY_LAUNCH, 1)
    assert LaunchFacts(False, False, False, False) == ANY_LAUNCH
