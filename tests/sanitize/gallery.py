"""docs/sanitizer-gallery.md: mistakes, what the sanitizer prints, the repair.

`python -m tests.sanitize.gallery --write` writes the page and its pictures out of cases of
tests/sanitize/kernels.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from anymetal.findings import Finding
from anymetal.findings.text import as_rich, as_text
from tests.sanitize.cases import FOLDER, Case, read, run

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "sanitizer-gallery.md"  #: what is written
_PICTURES = DOCS / "gallery"
_WIDTH = 118
#: Options of a call that matter for what is found.
_TOLD = ("init", "atomic_outputs", "option")


class Mistake(NamedTuple):
    """A case, and what to say about it."""

    case: str
    title: str
    story: str
    picture: bool = False
    repair: str = ""  #: where it is no matter of lines


MISTAKES = [
    Mistake(
        "races/reduction_reused",
        "A buffer is used again too early",
        "A layer norm in two passes: `sums` takes the means of the SIMD-groups, then their "
        "variances. A SIMD-group that is fast stores its second sum while a slow one still reads "
        "the first. On most runs it goes well, so it gets published: MLX's own layer norm "
        "([mlx#2340](https://github.com/ml-explore/mlx/pull/2340)) and the KL divergence of mlx-lm "
        "([mlx-lm#1719](https://github.com/ml-explore/mlx-lm/pull/1719), whose training diverged "
        "now and then on large models) had it.",
        picture=True,
    ),
    Mistake(
        "races/reverse_tile_none",
        "A barrier that orders no memory",
        "`mem_none` makes threads wait, but what they have written need not be visible to others "
        "yet.",
    ),
    Mistake(
        "races/tree_sum_last_warp",
        "Relying on lockstep",
        "The last rounds of a tree stay within one SIMD-group, so the barrier seems to be one too "
        "many. Metal promises no lockstep; `simdgroup_barrier` costs next to nothing.",
    ),
    Mistake(
        "bounds/select_behind_load",
        "The mask comes behind the load",
        "The value is dropped, but the load has been done, from memory of somebody else or from "
        "none. LLVM removes such loads, so no crash tells of it. The documentation's `grid_sample` "
        "loads all four pixels like this.",
        picture=True,
    ),
    Mistake(
        "bounds/threadgroup_neighbour",
        "One element too far, into the next array",
        "The memory behind `a` is there, and holds `b`: nothing crashes, and numbers are a little "
        "wrong at the edge of each threadgroup.",
    ),
    Mistake(
        "undefined/accumulator",
        "A sum that begins with anything",
        "Compilers often happen to give 0.",
    ),
    Mistake(
        "undefined/lower_triangle",
        "Elements that nobody writes",
        "Outputs are not zeroed unless `init_value` says so. In the gaps is whatever was in that "
        "memory before; the first run of a program mostly finds zeros.",
    ),
    Mistake(
        "undefined/atomic_sum",
        "Atomics without `init_value`",
        "The same for sums: the first addition needs something to add to.",
    ),
    Mistake(
        "barrier-divergent/half_a_simd_group",
        "A barrier that some threads never reach",
        "On one GPU it works, on another one the kernel hangs.",
    ),
    Mistake(
        "barrier-after-return/bounds",
        "A return before a barrier",
        "The usual guard at the top, in a kernel that has barriers further down. Apple's hardware "
        "counts returned threads as arrived, so it is a warning.",
    ),
    Mistake(
        "shuffle-inactive/after_a_return",
        "The value of a lane that has left",
        "At the ragged end of an array half of the partners are gone.",
    ),
    Mistake(
        "index-overflow/by_way_of_a_variable",
        "An index that wraps",
        "Right for every array that fits a test, wrong behind 2³² elements.",
    ),
    Mistake(
        "order-dependent/float_sum",
        "A sum that depends on who comes first",
        'Found with `order="shuffle"`: the launch runs again with threadgroups in other orders, '
        "and bits differ. That may be as you want it; then you know it.",
        picture=True,
        repair="Let each SIMD-group store its sum in an element of its own, and add these up in a "
        "fixed order: with `mx.sum`, or in a second kernel.",
    ),
]


def page() -> str:
    """The text of the page."""
    parts = [
        "# Mistakes that the sanitizer finds",
        "Each is a kernel that compiles, and most give the right numbers in a test. Below each "
        "stands what `anymetal run --sanitize` prints, and the repair. What the kinds mean: "
        "[sanitizer.md](sanitizer.md). This page is written by "
        "`python -m tests.sanitize.gallery --write`.",
        *map(_section, MISTAKES),
    ]
    return "\n\n".join(parts) + "\n"


def pictures() -> dict[str, str]:
    """SVG of what a terminal shows, by the name of the file."""
    return {
        f"{_name(mistake)}.svg": _picture(mistake.title, found(mistake.case))
        for mistake in MISTAKES
        if mistake.picture
    }


@functools.cache
def found(name: str) -> list[Finding]:
    """What is found in a case, without the line of this file that has launched it."""
    session = run(_bare(name))
    return [
        replace(one, others=tuple(o for o in one.others if o.message != "launched here"))
        for one in session.findings
    ]


def _bare(name: str) -> Case:
    """The case without its directives and marks, so that lines are counted from the body on."""
    case = read(FOLDER / f"{name}.metal")
    return replace(case, kernel=replace(case.kernel, body=_body(case)))


def _body(case: Case) -> str:
    text = re.sub(r" *// finds: .*", "", case.kernel.body)
    return re.sub(r"\A(//.*\n|\n)*", "", text).rstrip("\n")


def _section(mistake: Mistake) -> str:
    right, wrong = (_body(read(FOLDER / f"{mistake.case}{end}.metal")) for end in ("_ok", ""))
    if mistake.picture:
        shown = f"![{mistake.title}, as a terminal shows it](gallery/{_name(mistake)}.svg)"
    else:
        shown = f"```\n{chr(10).join(map(as_text, found(mistake.case)))}\n```"
    parts = [f"## {mistake.title}", mistake.story, f"```c++\n{wrong}\n```", shown]
    repair = mistake.repair or f"```diff\n{_repair(mistake.case, wrong, right)}\n```"
    parts += ["The repair:", repair]
    return "\n\n".join(parts)


def _repair(name: str, wrong: str, right: str) -> str:
    """The lines that differ, with one around each; of calls, the options that differ."""
    lines = list(difflib.unified_diff(wrong.split("\n"), right.split("\n"), lineterm="", n=1))[2:]
    calls = [read(FOLDER / f"{name}{end}.metal").kernel.directives for end in ("", "_ok")]
    for key in _TOLD:
        before, after = (call.get(key, []) for call in calls)
        if before != after:
            lines += [f"-{key}: {text}" for text in before]
            lines += [
                f"+init_value={text}" if key == "init" else f"+{key}={text}" for text in after
            ]
    return "\n".join(line for line in lines if not line.startswith("@@"))


def _name(mistake: Mistake) -> str:
    return mistake.case.rpartition("/")[2].replace("_", "-")


def _picture(title: str, findings: list[Finding]) -> str:
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), highlight=False)
    console.print(Text("$ anymetal run --sanitize program.py", "dim"))
    for finding in findings:
        console.print(as_rich(finding))
    return console.export_svg(title=title, unique_id=re.sub(r"\W", "-", title.lower()))


def main() -> None:
    """Writes the page and its pictures."""
    parser = argparse.ArgumentParser(prog="tests.sanitize.gallery")
    parser.add_argument("--write", action="store_true", help="instead of printing the page")
    if not parser.parse_args().write:
        print(page())
        return
    PAGE.write_text(page())
    _PICTURES.mkdir(exist_ok=True)
    for name, text in pictures().items():
        (_PICTURES / name).write_text(text)


if __name__ == "__main__":
    main()
