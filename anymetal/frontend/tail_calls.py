"""Functions that end by calling themselves are loops: LLVM makes them so, here already, as all
recursion that is left is refused (restrictions.py)."""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from anymetal.frontend.optimise import host_machine
from anymetal.frontend.profile import Profile
from anymetal.ir.tokens import plain
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
    if not any(map(_calls_itself, _FUNCTION.finditer(raw))):
        return raw
    text = _FUNCTION.sub(_with_short_ways, raw)
    with locks.llvm:
        module = llvm.parse_assembly(text)
        options = llvm.create_pipeline_tuning_options()
        builder = llvm.create_pass_builder(host_machine(profile), options)
        loops = llvm.create_new_function_pass_manager()
        loops.add_tail_call_elimination_pass()
        # Where results meet in a variable, calls are at the end only once it is a value.
        values = llvm.create_new_function_pass_manager()
        values.add_sroa_pass()
        values.add_simplify_cfg_pass()
        values.add_tail_call_elimination_pass()
        for passes in (loops, values):
            for function in _FUNCTION.finditer(str(module)):
                if _calls_itself(function):
                    passes.run(module.get_function(plain(function["name"])), builder)
        return _TAIL.sub("", str(module))


def _calls_itself(function: re.Match[str]) -> bool:
    return function[0].count(f"@{function['name']}(") > 1


def _with_short_ways(match: re.Match[str]) -> str:
    """A function that calls itself, with nothing between its calls and its end but one jump."""
    text = match[0]
    if not _calls_itself(match):
        return text
    text = _LIFETIME.sub("", text)
    for empty in _EMPTY.finditer(text):
        if f"%{empty['block']} ]" not in text:  # no phi asks whether this way was taken
            way = re.compile(rf"label %{re.escape(empty['block'])}(?![\w.$-])")
            text = way.sub(f"label %{empty['next']}", text)
    return text
