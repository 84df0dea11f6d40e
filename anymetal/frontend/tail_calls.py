"""Functions that end by calling themselves are loops: LLVM makes them so, here already, as all
recursion that is left is refused (restrictions.py)."""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from anymetal.frontend.optimise import host_machine
from anymetal.frontend.profile import Profile
from anymetal.runtime import locks

_FUNCTION = re.compile(r"^define .*?@(?P<name>\"[^\"]+\"|[\w.$]+)\(.*?^}$", re.M | re.S)
_LIFETIME = re.compile(r"^ *call void @llvm\.lifetime\.end.*\n", re.M)
#: A block that does nothing, and where it leads.
_EMPTY = re.compile(
    r"^(?P<block>[\w.$-]+):[^\n]*\n  br label %(?P<next>[\w.$-]+)(?:, [^\n]*)?$", re.M
)
_TAIL = re.compile(r"(?<= )tail (?=call )")


def with_loops(raw: str, profile: Profile) -> str:
    """Raw IR, made for `profile`, in which no function calls itself at its end."""
    text = _FUNCTION.sub(_with_short_ways, raw)
    if text == raw:
        return raw
    with locks.llvm:
        module = llvm.parse_assembly(text)
        options = llvm.create_pipeline_tuning_options()
        builder = llvm.create_pass_builder(host_machine(profile), options)
        passes = llvm.create_new_module_pass_manager()
        passes.add_tail_call_elimination_pass()
        passes.run(module, builder)
        return _TAIL.sub("", str(module))


def _with_short_ways(match: re.Match[str]) -> str:
    """A function that calls itself, with nothing between its calls and its end but one jump."""
    text = match[0]
    if text.count(f"@{match['name']}(") < 2:
        return text
    text = _LIFETIME.sub("", text)
    for empty in _EMPTY.finditer(text):
        if f"%{empty['block']} ]" not in text:  # no phi asks whether this way was taken
            way = re.compile(rf"label %{re.escape(empty['block'])}(?![\w.$-])")
            text = way.sub(f"label %{empty['next']}", text)
    return text
