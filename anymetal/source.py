"""One kernel as every later stage sees it: the user's text plus the types of one call.

`signature.py` makes a `KernelSource` from the arguments of a call; the Apple target prints it
as Metal (`signature.metal_text`), the other targets print it as a Clang translation unit
(`frontend/unit.py`). It is hashable: equal sources are the same kernel, and the caches rely on it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

ParameterKind = Literal["input", "shape", "strides", "ndim", "size", "output"]
MathMode = Literal["safe", "relaxed", "fast"]
#: What a text finds without including it: Metal's own names, or also MLX's helpers for kernels.
Prelude = Literal["metal", "mlx"]

_LONE_RETURN = re.compile(r"\r(?!\n)")

#: Where Clang finds the files that a Metal file includes.
INCLUDED = "/library/"

#: Kernel attributes and their types, in the order in which they are emitted.
ATTRIBUTES: dict[str, str] = {
    "dispatch_quadgroups_per_threadgroup": "uint",
    "dispatch_simdgroups_per_threadgroup": "uint",
    "dispatch_threads_per_threadgroup": "uint3",
    "grid_origin": "uint3",
    "grid_size": "uint3",
    "quadgroup_index_in_threadgroup": "uint",
    "quadgroups_per_threadgroup": "uint",
    "simdgroup_index_in_threadgroup": "uint",
    "simdgroups_per_threadgroup": "uint",
    "thread_execution_width": "uint",
    "thread_index_in_quadgroup": "uint",
    "thread_index_in_simdgroup": "uint",
    "thread_index_in_threadgroup": "uint",
    "thread_position_in_grid": "uint3",
    "thread_position_in_threadgroup": "uint3",
    "threadgroup_position_in_grid": "uint3",
    "threadgroups_per_grid": "uint3",
    "threads_per_grid": "uint3",
    "threads_per_simdgroup": "uint",
    "threads_per_threadgroup": "uint3",
}


def with_newlines(text: str) -> str:
    """A text whose lines end with a newline, as all that looks at texts takes for granted. For
    Clang's preprocessor, a carriage return alone ends a line, too; for its messages it does not."""
    return _LONE_RETURN.sub("\n", text) if "\r" in text else text


class Parameter(NamedTuple):
    """One buffer parameter of the generated function, in binding order."""

    name: str  #: identifier in the user's body
    kind: ParameterKind
    argument: int  #: index into the call's inputs (or outputs, for kind "output")
    declaration: str  #: Metal text without the binding, e.g. "const device float* inp"


class KernelSource:
    """Everything that decides the machine code of one kernel, apart from the launch shape.

    (No data class: the module `dataclasses` takes long to import. No named tuple: to those nobody
    can refer weakly.)
    """

    name: str  #: the user's name of the kernel
    entry: str  #: MLX's name of the function, custom_kernel_…
    header: str
    body: str
    parameters: tuple[Parameter, ...]
    attributes: tuple[str, ...]  #: e.g. "thread_position_in_grid", alphabetical
    template_parameters: str  #: "typename T, int N", empty without a template
    template_arguments: str  #: "<float, 3>", empty without a template
    math_mode: MathMode
    prologue: str  #: in front of the body, whose lines count from behind it
    prelude: Prelude = "mlx"

    def __init__(
        self,
        name: str,
        entry: str,
        header: str,
        body: str,
        parameters: tuple[Parameter, ...],
        attributes: tuple[str, ...],
        template_parameters: str,
        template_arguments: str,
        math_mode: MathMode = "safe",
        prologue: str = "",
    ) -> None:
        vars(self).update(
            name=name,
            entry=entry,
            header=with_newlines(header),
            body=with_newlines(body),
            parameters=parameters,
            attributes=attributes,
            template_parameters=template_parameters,
            template_arguments=template_arguments,
            math_mode=math_mode,
            prologue=prologue,
        )

    @property
    def outputs(self) -> list[int]:
        """The positions of the outputs among the parameters."""
        return [slot for slot, one in enumerate(self.parameters) if one.kind == "output"]

    @property
    def parts(self) -> dict[str, str]:
        """The texts that the user wrote: "header", "source", and files by their paths for Clang."""
        return {"header": self.header, "source": self.body}

    def with_parts(self, texts: Mapping[str, str]) -> Self:
        """The same with other texts in the place of its `parts`."""
        return self.replaced(header=texts["header"], body=texts["source"])

    def replaced(self, **changes: object) -> Self:
        """The same with other texts."""
        return type(self)(**{**vars(self), **changes})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"the source of a kernel does not change: {name}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({fields})"


class LibrarySource(KernelSource):
    """A kernel that brings its own signature, out of a Metal file: `header` is the whole file.

    The file stands between two texts of ours. It and the files that it includes have been edited
    where Clang does not know Metal (see frontend/library_text.py), which moves no character.
    """

    file: str  #: name of the file in diagnostics
    before: str  #: macros from outside, values of function constants
    after: str  #: the function that calls the kernel
    included: tuple[tuple[str, str], ...]  #: paths at which Clang finds files, and their texts
    search: tuple[str, ...]  #: Clang's arguments that say where it looks for them

    def __init__(
        self,
        *fields: Any,
        file: str,
        before: str,
        after: str,
        included: tuple[tuple[str, str], ...] = (),
        search: tuple[str, ...] = (),
        prelude: Prelude = "metal",
        **more: Any,
    ) -> None:
        super().__init__(*fields, **more)
        vars(self).update(
            file=file,
            before=before,
            after=after,
            included=included,
            search=search,
            prelude=prelude,
        )

    @property
    def parts(self) -> dict[str, str]:
        return super().parts | dict(self.included)

    def with_parts(self, texts: Mapping[str, str]) -> Self:
        included = tuple((path, texts[path]) for path, _ in self.included)
        return super().with_parts(texts).replaced(included=included)
