"""From a trial to a verdict: is the outcome one that is promised?"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from anymetal import errors
from anymetal.frontend.code_base import code_base
from anymetal.frontend.library_contents import read_contents
from anymetal.frontend.library_text import read_library
from anymetal.pipeline.program import thread_program
from anymetal.runtime import helpers
from anymetal.source import KernelSource, with_newlines
from anymetal.testing.fire import calls
from anymetal.testing.fire.trial import Trial, source_of

#: What may become of a text: it compiles, or one of these is raised.
DOCUMENTED = (
    errors.MetalCompileError,
    errors.UnsupportedFeatureError,
    errors.KernelLoadError,
    errors.KernelTimeoutError,
)
#: What odd arguments of a call raise: built-in errors whose texts begin as those of MLX.
_OF_CALLS = re.compile(
    r"\[metal_kernel\] |metal_kernel\(\): incompatible |__call__\(\): incompatible |std::bad_cast|"
    r"float64 is not supported|Invalid type |Unsupported compilation type|Thread group size "
)
#: What no message may show, unless the user's text has it: our names, and where we are.
_INTERNAL = (
    re.compile(r"\b_?_?am_\w+|__am\b|\bam::"),
    re.compile(r"\b_Float16\b|\b__bf16\b|\bthreadspace\b"),
    re.compile(r"/proc/self/fd|umbrella\.h|frontend/include|site-packages"),
    re.compile(re.escape(str(Path(errors.__file__).parent))),
    re.compile(r"\banymetal/\w+\.h\b|<command line>|<scratch space>|<stdin>|PLEASE submit a bug"),
    re.compile(r"\b(?:wrapper|__unused__)(?=:\d)"),
)
_LINE_DIRECTIVE = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(?:line\b|\d)", re.M)
#: What no line of the text is to blame for: our own signature, a library without a kernel.
_PLACELESS = re.compile(r": signature:|^library\.metal: error: no kernel found", re.M)
_SHOWN = 1500


@dataclass(frozen=True)
class Verdict:
    """What became of a trial; `key` tells one failure from another."""

    status: str  #: "compiled", "refused", "limit", or how it failed
    detail: str = ""
    key: str = ""

    @property
    def failed(self) -> bool:
        return self.status not in ("compiled", "refused", "limit")


def check(trial: Trial) -> Verdict:
    """Compiles the trial as far as all targets do, in this process."""
    try:
        attempt(trial)
    except DOCUMENTED as error:
        return _refused(trial, error)
    except Exception as error:
        if trial.form == "call" and _OF_CALLS.match(str(error)):
            return Verdict("refused")
        name = type(error).__name__
        return Verdict("error", f"{name}: {str(error)[:_SHOWN]}", _key(name, error))
    if trial.refusal:
        return Verdict(
            "accepted", f"must be refused: {trial.refusal.pattern}", trial.refusal.pattern
        )
    if trial.limit:
        return Verdict("compiled in time", "", "")
    return Verdict("compiled")


def attempt(trial: Trial) -> None:
    """Compiles the trial; raises what users would see."""
    if trial.form == "library":
        return _library(trial)
    if trial.form == "call":
        calls.call(trial.seed)
        return
    source = source_of(trial)
    if trial.limit is None:
        thread_program(source)
        return
    with mock.patch.dict(os.environ, {"ANYMETAL_COMPILE_LIMIT": str(trial.limit)}):
        helpers.compile(trial.name, f"{__name__}:in_helper", source)


def in_helper(note: object, source: KernelSource) -> None:
    """What a helper does for `attempt`."""
    thread_program(source)


def _library(trial: Trial) -> None:
    code = code_base(trial.body, "library.metal")
    found = read_contents(None, code, "safe")
    with mock.patch.object(helpers, "compile", lambda *given: found):
        library = read_library(code, "safe")
    for kernel in library.kernels.values():
        if kernel.refusal:
            raise errors.UnsupportedFeatureError(kernel.refusal)
        values = tuple((number, (1,)) for number in library.constants.values())
        memory = {p.number: 1024 for p in kernel.bound("threadgroup")}
        thread_program(library.source(kernel, values, memory))


def _refused(trial: Trial, error: Exception) -> Verdict:
    text = str(error)
    name = type(error).__name__
    if isinstance(error, errors.KernelTimeoutError):
        return Verdict("limit") if trial.limit else Verdict("error", text, name)
    if trial.accepted:
        return Verdict("not accepted", text[:_SHOWN], text.split("error: ")[-1][:60])
    if leak := _leak(trial, text):
        return Verdict("leak", f"{leak!r} in {text[:_SHOWN]}", leak)
    if problem := _misplaced(trial, error):
        return Verdict("place", f"{problem}: {text[:_SHOWN]}", f"{name} {problem}")
    if trial.refusal and not re.search(trial.refusal.pattern, text):
        return Verdict("other reason", f"not for {trial.refusal.pattern!r}: {text[:_SHOWN]}")
    return Verdict("refused")


def _leak(trial: Trial, text: str) -> str:
    own = calls.RESERVED if trial.form == "call" else trial.header + trial.body
    for pattern in _INTERNAL:
        for found in pattern.finditer(text):
            if found[0] not in own:
                return found[0]
    return ""


def _misplaced(trial: Trial, error: Exception) -> str:
    """What is wrong with the place that the error names."""
    if isinstance(error, errors.KernelLoadError) or trial.form == "call":
        return ""
    texts = {f"{trial.name}: header": trial.header, f"{trial.name}: source": trial.body}
    if trial.form == "library":
        texts = {"library.metal": trial.body}
    if _LINE_DIRECTIVE.search("\n".join(texts.values())):
        return ""
    text = str(error)
    for part, written in texts.items():
        for found in re.finditer(rf"{re.escape(part)}:(\d+):(\d+): ", text):
            lines = with_newlines(written).split("\n")
            line, column = int(found[1]), int(found[2])
            if trial.refusal and part.endswith(trial.refusal.part or part):
                if line in trial.refusal.lines:
                    return ""
                continue
            if not 0 < line <= len(lines) + 1:
                return "no such line"
            if line <= len(lines) and column > len(lines[line - 1]) + 1:
                return "no such column"
            if not trial.refusal:
                return ""
    if trial.refusal:
        return f"not in lines {trial.refusal.lines} of {trial.refusal.part}"
    return "" if _PLACELESS.search(text) else "no place"


def _key(name: str, error: Exception) -> str:
    """The kind of error, and where in our code it was raised."""
    trace = error.__traceback__
    place = ""
    while trace:
        file = trace.tb_frame.f_code.co_filename
        if "/anymetal/" in file and "/testing/" not in file:
            place = f"{Path(file).name}:{trace.tb_frame.f_code.co_name}"
        trace = trace.tb_next
    return f"{name} in {place}: {re.sub('[0-9]+', 'N', str(error))[:80]}"
