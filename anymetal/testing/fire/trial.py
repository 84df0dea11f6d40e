"""A text to try, with all that is needed to try it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, cast

import mlx.core as mx

from anymetal.signature import KernelDefinition, SignatureGenerator, TemplateValue
from anymetal.source import KernelSource, MathMode

#: `body`: through the signature that MLX generates; `library`: a whole Metal file;
#: `call`: arguments of `metal_kernel`, which calls.py makes of the seed.
Form = Literal["body", "library", "call"]
Value = int | bool | str


@dataclass(frozen=True)
class Refusal:
    """That a trial must be refused: what the error says, and in which lines of which part."""

    pattern: str
    part: str
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Trial:
    """One kernel."""

    name: str
    body: str  #: or the text of the file
    header: str = ""
    inputs: tuple[tuple[str, str, tuple[int, ...]], ...] = ()  #: name, dtype and shape of each
    outputs: tuple[tuple[str, str], ...] = (("out", "float32"),)
    template: tuple[tuple[str, Value], ...] = ()  #: a str is the name of a dtype
    math_mode: str = "safe"
    atomic: bool = False
    form: Form = "body"
    kind: str = "corpus"  #: the class of its generator
    seed: int = -1
    refusal: Refusal | None = None
    accepted: bool = False  #: whether it must be
    limit: float | None = None  #: seconds after which its compilation is to be given up
    notes: tuple[str, ...] = field(default=(), compare=False)  #: what was done to it

    def with_texts(self, header: str, body: str) -> Trial:
        """The same with other texts."""
        return replace(self, header=header, body=body)

    @property
    def size(self) -> int:
        """Characters of its texts."""
        return len(self.header) + len(self.body)


def source_of(trial: Trial) -> KernelSource:
    """The kernel as the compiler sees it."""
    definition = KernelDefinition(
        trial.name,
        tuple(name for name, _, _ in trial.inputs),
        tuple(name for name, _ in trial.outputs),
        trial.body,
        trial.header,
        atomic_outputs=trial.atomic,
        math_mode=cast(MathMode, trial.math_mode),
    )
    inputs = [mx.zeros(shape, dtype_of(dtype)) for _, dtype, shape in trial.inputs]
    dtypes = [dtype_of(dtype) for _, dtype in trial.outputs]
    template: list[tuple[str, TemplateValue]] = [
        (name, dtype_of(value) if isinstance(value, str) else value)
        for name, value in trial.template
    ]
    return SignatureGenerator(definition).specialization(inputs, dtypes, template).source


def dtype_of(name: str) -> mx.Dtype:
    """`mx.float32` for `float32`."""
    dtype: mx.Dtype = getattr(mx, "bool_" if name == "bool" else name)
    return dtype


def dtype_name(dtype: object) -> str:
    """`float32` for `mx.float32`."""
    return str(dtype).removeprefix("mlx.core.")
