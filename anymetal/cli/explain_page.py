"""The page that `anymetal explain --html` writes: lines coloured by cost, to be unfolded.

One file without scripts, in the manner of what `cython --annotate` writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from math import sqrt
from pathlib import Path
from textwrap import dedent

from anymetal.explain.facts import Fact
from anymetal.explain.kernels import Explanation, Finding

_MOST_INSTRUCTIONS = 400  #: of a line
_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1c1c1c; --faint: #777; --heat: 255, 176, 0;
        --low: #18794e; --open: #8a5a00; --high: #b42318; --box: #f4f4f4; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181c; --ink: #e4e4e4; --faint: #909090; --heat: 220, 130, 0;
          --low: #5fc48f; --open: #e0b050; --high: #ff8a7a; --box: #22252b; }
}
body { background: var(--paper); color: var(--ink); margin: 1.5rem auto; max-width: 75rem;
       padding: 0 1rem; font: 15px/1.45 system-ui, sans-serif; }
code, pre, .line, summary { font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
h2 small { font-weight: normal; color: var(--faint); }
.text { overflow-x: auto; font-size: 13px; border: 1px solid var(--box); }
.line, summary { white-space: pre; display: block; padding: 1px 6px; min-width: max-content; }
.line::before, summary::before { content: " "; display: inline-block; width: 1.2em; }
summary::before { content: "▸"; color: var(--faint); }
details[open] > summary::before { content: "▾"; }
summary { cursor: pointer; }
summary:hover, summary:focus-visible { outline: 1px solid var(--faint); }
.number, .share { color: var(--faint); display: inline-block; text-align: right; width: 3.2em;
                  margin-right: 1em; user-select: none; }
.inside { background: var(--box); padding: .4rem 1rem .6rem 4rem; max-width: 60rem; }
.inside pre { overflow-x: auto; max-height: 22rem; font-size: 12px; margin: .4rem 0; }
.inside ul { margin: .2rem 0; padding-left: 1.2rem; font-family: system-ui, sans-serif; }
.low { color: var(--low); } .open { color: var(--open); } .high { color: var(--high); }
del { color: var(--high); text-decoration: none; } ins { color: var(--low); text-decoration: none; }
"""
_ABOUT = (
    "The darker a line, the larger its share of what the kernel costs: its machine code, with "
    "roughly the cycles of each instruction, loops of unknown length ten times. Unfold a line for "
    "the decisions about it, what might be changed, and its instructions."
)


def write_page(path: Path, explained: Sequence[Explanation]) -> None:
    """Write the page. Raises OSError if that is not possible."""
    names = ", ".join(dict.fromkeys(one.source.name for one in explained))
    body = "\n".join(part for one in explained for part in _kernel(one))
    path.write_text(
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(names)}: anymetal explain</title>\n<style>{_STYLE}</style>\n"
        f"<body>\n<p>{escape(_ABOUT)}</p>\n{body}\n</body>\n</html>\n",
        encoding="utf-8",
    )


def _kernel(explanation: Explanation) -> Iterator[str]:
    source = explanation.source
    title = escape(f"{source.name}{source.template_arguments}")
    yield f"<h2>{title} <small>{escape(explanation.launch)}</small></h2>"
    for where, (part, lines) in explanation.texts.items():
        known = {place[1] for place in explanation.weights.lines if place[0] == where}
        if known or any(_is_at(fact, where) for fact in explanation.facts):
            yield f"<h3>{escape(part)}</h3>\n<div class='text'>"
            shown = dedent("\n".join(lines).expandtabs(4)).split("\n")
            yield from (_line(explanation, where, *pair) for pair in enumerate(shown, 1))
            yield "</div>"
    yield from (f"<p>{escape(line)}</p>" for line in explanation.resources)
    lost = [fact for fact in explanation.facts if fact.location is None]
    if lost:
        yield "<h3>of several lines, or moved by LLVM</h3>"
        yield _facts(lost)


def _is_at(fact: Fact, where: str, line: int = 0) -> bool:
    place = fact.location
    return place is not None and place.where == where and line in (0, place.line)


def _line(explanation: Explanation, where: str, number: int, text: str) -> str:
    share = explanation.share(where, number)
    percent = f"{share:.0%}" if share >= 0.005 else ""
    code = (
        f"<span class='number'>{number}</span><span class='share'>{percent}</span>"
        f"{escape(text.rstrip()) or ' '}"
    )
    facts = [fact for fact in explanation.facts if _is_at(fact, where, number)]
    instructions = explanation.weights.code.get((where, number), [])
    if not facts and not instructions:
        return f"<div class='line'>{code}</div>"
    heat = f" style='background: rgba(var(--heat), {0.8 * sqrt(share):.2f})'" if percent else ""
    findings = [one for one in explanation.findings if _is_at(one.fact, where, number)]
    inside = "\n".join([_facts(facts), *map(_advice, findings), _code(instructions)])
    return f"<details><summary{heat}>{code}</summary>\n<div class='inside'>{inside}</div></details>"


def _facts(facts: Sequence[Fact]) -> str:
    """Equal ones once, with their number."""
    items = []
    for fact, count in Counter(fact._replace(location=None) for fact in facts).items():
        times = f" × {count}" if count > 1 else ""
        text = escape(f"{fact.kind}{times} {fact.text}")
        items.append(f"<li class='{fact.price}'>{text}</li>")
    return f"<ul>{''.join(items)}</ul>" if items else ""


def _advice(finding: Finding) -> str:
    said = finding.advice
    change = ""
    if said.before:
        lines = [("del", "-", line) for line in said.before.split("\n")]
        lines += [("ins", "+", line) for line in said.after]
        changed = (f"<{tag}>{mark} {escape(line.strip())}</{tag}>\n" for tag, mark, line in lines)
        change = f"<pre>{''.join(changed)}</pre>"
    return f"<p>{finding.share:.0%} {escape(finding.fact.kind)}: {escape(said.text)}</p>{change}"


def _code(instructions: Sequence[str]) -> str:
    if not instructions:
        return ""
    shown = "\n".join(map(escape, instructions[:_MOST_INSTRUCTIONS]))
    more = len(instructions) - _MOST_INSTRUCTIONS
    rest = f"\n… and {more} more" if more > 0 else ""
    return f"<pre>{shown}{rest}</pre>"
