"""From a seed to a trial, of one class or of any."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from anymetal import signature
from anymetal.dtypes import DTYPES
from anymetal.testing.fire import corpus, forbidden, hostile, mutate
from anymetal.testing.fire.trial import Trial, dtype_name, source_of
from anymetal.testing.fuzz import generate as fuzz_generate
from anymetal.testing.fuzz import printer
from anymetal.testing.fuzz.types import mlx_name
from anymetal.testing.lockstep import generators as lockstep
from anymetal.testing.lockstep.dialect import HEADER

Generator = Callable[[random.Random], Trial]
_FEW = (1, 1, 1, 2, 2, 3, 4, 6)


def _in_either(
    trial: Trial, rng: random.Random, edit: Callable[[str], str], header: float = 0.3
) -> Trial:
    """The trial with its header or body edited."""
    if trial.header and rng.random() < header:
        return trial.with_texts(edit(trial.header), trial.body)
    return trial.with_texts(trial.header, edit(trial.body))


def tokens(rng: random.Random) -> Trial:
    """A kernel with a few edits of its tokens."""
    edits = rng.choice(_FEW)
    return _in_either(corpus.any_kernel(rng), rng, lambda text: mutate.mutated(text, rng, edits))


def characters(rng: random.Random) -> Trial:
    """A kernel with a few edits of its characters."""
    edits = rng.choice(_FEW)
    return _in_either(corpus.any_kernel(rng), rng, lambda text: mutate.scratched(text, rng, edits))


def pieces(rng: random.Random) -> Trial:
    """A kernel with hostile statements, and declarations in front."""
    trial = corpus.any_kernel(rng)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if rng.random() < 0.4:
            new = hostile.declaration(rng)
            header = rng.choice((trial.header + "\n" + new, new + trial.header))
            trial = trial.with_texts(header, trial.body)
        else:
            trial = trial.with_texts(trial.header, _with_line(trial.body, rng, hostile.statement))
    return trial


def directives(rng: random.Random) -> Trial:
    """A kernel with declarations and directives in its body."""
    trial = corpus.any_kernel(rng)
    return trial.with_texts(trial.header, _with_line(trial.body, rng, hostile.declaration))


def sizes(rng: random.Random) -> Trial:
    """A kernel with something long, deep or wide."""
    return _in_either(
        corpus.any_kernel(rng), rng, lambda text: _with_line(text, rng, hostile.large), 0.2
    )


def soup(rng: random.Random) -> Trial:
    """Tokens of the corpus in any order."""
    text = mutate.soup(rng, rng.choice((1, 3, 10, 30, 100)))
    trial = corpus.any_kernel(rng)
    if rng.random() < 0.3:
        return trial.with_texts(text, trial.body)
    return trial.with_texts(trial.header if rng.random() < 0.5 else "", text)


def grammar(rng: random.Random) -> Trial:
    """A random kernel of one of the other fuzzers, as it is or with edits."""
    trial = _of_fuzz(rng) if rng.random() < 0.6 else _of_lockstep(rng)
    edits = rng.choice((0, 0, 1, 1, 2, 4))
    return _in_either(trial, rng, lambda text: mutate.mutated(text, rng, edits))


def library(rng: random.Random) -> Trial:
    """A whole Metal file: one of the corpus, or what MLX would make of a kernel; edited."""
    if rng.random() < 0.6:
        text, trial = rng.choice(corpus.LIBRARIES), Trial("library", "")
    else:
        trial = corpus.any_kernel(rng)
        text = "using namespace metal;\n" + signature.metal_text(source_of(trial))
    how = rng.random()
    if how < 0.5:
        text = mutate.mutated(text, rng, rng.choice(_FEW))
    elif how < 0.65:
        text = mutate.scratched(text, rng, rng.choice(_FEW))
    elif how < 0.75:
        text = _with_line(text, rng, hostile.large)
    else:
        text = _with_line(text, rng, hostile.declaration)
    return replace(trial, header="", body=text, form="library")


def arguments(rng: random.Random) -> Trial:
    """Odd arguments, which calls.py makes of the seed."""
    return Trial("k", "", form="call")


def bombs(rng: random.Random) -> Trial:
    """A text whose compilation has to be given up."""
    header, body = rng.choice(hostile.BOMBS)
    return Trial("bomb", body, header, limit=4.0)


#: Classes by name, each with how often it is drawn.
CLASSES: dict[str, tuple[float, Generator]] = {
    "tokens": (30, tokens),
    "characters": (10, characters),
    "pieces": (16, pieces),
    "directives": (6, directives),
    "sizes": (6, sizes),
    "soup": (6, soup),
    "grammar": (6, grammar),
    "library": (10, library),
    "forbidden": (8, forbidden.generate),
    "hidden": (3, forbidden.hidden),
    "allowed": (4, forbidden.allowed),
    "arguments": (6, arguments),
    "bombs": (0.05, bombs),
}


def generate(seed: int, only: str = "") -> Trial:
    """The trial of a seed, of one class or of any."""
    rng = random.Random(f"fire {seed} {only}")
    kinds = [only] if only else list(CLASSES)
    kind = rng.choices(kinds, [CLASSES[k][0] for k in kinds])[0]
    return replace(CLASSES[kind][1](rng), kind=kind, seed=seed)


def _with_line(text: str, rng: random.Random, line: Callable[[random.Random], str]) -> str:
    """The text with one more line somewhere, now and then in the middle of another."""
    if rng.random() < 0.2:
        at = rng.randint(0, len(text))
        return text[:at] + line(rng) + text[at:]
    lines = text.splitlines(keepends=True)
    at = rng.randint(0, len(lines))
    return "".join([*lines[:at], line(rng), *lines[at:]])


def _of_fuzz(rng: random.Random) -> Trial:
    case = fuzz_generate.generate(rng.randrange(1 << 30))
    return Trial(
        "fuzz",
        printer.body(case),
        printer.header(case),
        inputs=tuple(
            (b.name, mlx_name(b.type), (b.size,) if b.size else ()) for b in case.inputs()
        ),
        outputs=tuple((b.name, mlx_name(b.type)) for b in case.outputs()),
        math_mode=case.math_mode,
    )


def _of_lockstep(rng: random.Random) -> Trial:
    case = lockstep.generate(rng.randrange(1 << 30))
    return Trial(
        "lockstep",
        case.body,
        HEADER + case.header,
        inputs=tuple((a.name, _name(a.element), (a.data.size,)) for a in case.inputs),
        outputs=tuple((a.name, _name(a.element)) for a in case.outputs),
        template=tuple((n, _name(v) if isinstance(v, str) else v) for n, v in case.template),
        atomic=case.atomic,
    )


def _name(element: str) -> str:
    """`float32` for `float`."""
    return dtype_name(DTYPES[element])
