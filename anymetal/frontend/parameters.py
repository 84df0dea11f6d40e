"""The parameters of a kernel that brings its own signature: what each is bound to, and its type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from anymetal.errors import UnsupportedFeatureError
from anymetal.frontend.expanded import SourceFile, Token
from anymetal.frontend.scan import Attribute, Declared, Function
from anymetal.frontend.unit import TEXTURE_TYPES
from anymetal.source import ATTRIBUTES

Role = Literal["buffer", "threadgroup", "attribute", "texture"]

#: Scalar types under the numbers that include/anymetal/library.h gives them; "" is any other type.
ELEMENTS = (
    *("", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "bfloat16", "float32", "complex64"),
)
#: How many numbers the table of a library has for each parameter.
PROPERTIES = 5

_BINDINGS: dict[str, Role] = {"buffer": "buffer", "threadgroup": "threadgroup"}
_SPACES: dict[str, Role] = {
    "device": "buffer",
    "constant": "buffer",
    "threadgroup": "threadgroup",
}
#: Arguments of Metal that are no memory, by their attribute or type. Texts with a kernel that takes
#: one of the first can be read; there are no types for the others.
_TEXTURES = tuple(
    (re.compile(pattern), what)
    for pattern, what in (
        (rf"texture|{TEXTURE_TYPES}", "a texture"),
        (r"sampler", "a sampler"),
    )
)
_NO_MEMORY = tuple(
    (re.compile(pattern), what)
    for pattern, what in (
        (r"stage_in", "stage-in data"),
        (r"imageblock(?:_data)?", "an imageblock"),
        (r"payload|object_data", "mesh data"),
        (r"(?:primitive_|instance_)?acceleration_structure", "ray tracing data"),
        (r"(?:visible|intersection)_function_table", "a function table"),
        (r"command_buffer|compute_command", "a command buffer"),
    )
)
_WITHOUT_EFFECT = ("function_constant", "user_annotation", "maybe_unused")
_POSITION_ELEMENTS = ("uint16", "uint32")


@dataclass(frozen=True, slots=True)
class LibraryParameter:
    """One parameter of a kernel. Its type is known when Clang has been asked."""

    name: str
    role: Role
    number: int = -1  #: of the buffer or threadgroup memory; -1: the first that is free
    attribute: str = ""  #: "thread_position_in_grid", for that role
    unchanging: bool = False  #: in the address space `constant`
    optional: bool = False  #: under a function constant: None may be passed
    form: int = 0  #: 0 value, 1 pointer, 2 reference
    constant: bool = False  #: the kernel cannot write through it
    element: str = ""  #: dtype of its scalars, "" for structs and void
    lanes: int = 1
    size: int = 0  #: bytes of one T, 0 for void
    refusal: str = ""  #: of a texture: its place in the text, and what it is

    @property
    def type_name(self) -> str:
        """The type as an error may call it: `const float32 x 4*`."""
        base = self.element or ("struct" if self.size else "void")
        lanes = f" x {self.lanes}" if self.lanes > 1 else ""
        return f"{'const ' if self.constant else ''}{base}{lanes}{('', '*', '&')[self.form]}"

    @property
    def declaration(self) -> str:
        """The same, saying whether it lies in the address space `constant`."""
        if not self.unchanging:
            return self.type_name
        return f"const constant {self.type_name.removeprefix('const ')}"


@dataclass(frozen=True, slots=True)
class LibraryKernel:
    """A kernel that can be called."""

    name: str  #: its host name
    scope: str  #: the namespaces that it was made in, "a::b"
    call: str  #: how C++ names the function there: "f<float>"
    parameters: tuple[LibraryParameter, ...]
    constants: tuple[str, ...]  #: function constants that it may use

    @property
    def refusal(self) -> str:
        """Why it cannot be called, though its text can be read; empty if it can."""
        for parameter in self.bound("texture"):
            return (
                f"kernel `{self.name}` cannot run: {parameter.refusal}, and AnyMetal has buffers "
                "and threadgroup memory only. Pass the data as a buffer."
            )
        return ""

    def bound(self, role: Role) -> list[LibraryParameter]:
        """The parameters of one role, in the order of their numbers."""
        return sorted((p for p in self.parameters if p.role == role), key=lambda p: p.number)


def untyped(function: Function, source: SourceFile) -> tuple[LibraryParameter, ...]:
    """The parameters as the text has them, all buffers and threadgroup memory numbered."""
    parameters = [_parameter(declared, function, source) for declared in function.parameters]
    for role in ("buffer", "threadgroup"):
        given = [p.number for p in parameters if p.role == role and p.number >= 0]
        for declared, parameter in zip(function.parameters, parameters, strict=True):
            if parameter.role == role and given.count(parameter.number) > 1:
                problem = f"[[{role}({parameter.number})]] is given to several parameters"
                source.fail(declared.name, problem)
        free = (number for number in range(len(parameters) + len(given)) if number not in given)
        parameters = [
            replace(p, number=next(free)) if p.role == role and p.number < 0 else p
            for p in parameters
        ]
    return tuple(parameters)


def typed(
    function: Function,
    parameters: Sequence[LibraryParameter],
    properties: Sequence[Sequence[int]],
    source: SourceFile,
) -> tuple[LibraryParameter, ...]:
    """The parameters with what Clang says about their types."""
    result = []
    for declared, parameter, numbers in zip(
        function.parameters, parameters, properties, strict=True
    ):
        form, constant, element, lanes, size = numbers
        parameter = replace(
            parameter,
            form=form,
            constant=bool(constant),
            element=ELEMENTS[element],
            lanes=lanes,
            size=size,
        )
        _check_type(parameter, declared.name, source)
        result.append(parameter)
    return tuple(result)


def _parameter(declared: Declared, function: Function, source: SourceFile) -> LibraryParameter:
    _refuse_no_memory(declared, function, source)
    name = declared.name.text
    for token, what in _matching(declared, _TEXTURES):
        refusal = f"{source.place(token)}: parameter `{name}` is {what}"
        return LibraryParameter(name, "texture", refusal=refusal)
    spaces = [word.text for word in declared.words if word.text in _SPACES]
    unchanging = spaces[:1] == ["constant"]
    optional = any(a.name.text == "function_constant" for a in declared.attributes)
    for attribute in declared.attributes:
        word = attribute.name.text
        if word in _BINDINGS:
            role, number = _BINDINGS[word], _binding(attribute, source)
            return LibraryParameter(name, role, number, unchanging=unchanging, optional=optional)
        if word in ATTRIBUTES:
            return LibraryParameter(name, "attribute", attribute=word)
        if word not in _WITHOUT_EFFECT:
            source.fail(attribute.name, _unknown(word))
    if not spaces:
        source.fail(
            declared.name,
            f"parameter '{name}' has neither an attribute such as [[thread_position_in_grid]] nor "
            "an address space: memory is device, constant or threadgroup",
        )
    return LibraryParameter(name, _SPACES[spaces[0]], unchanging=unchanging, optional=optional)


def _binding(attribute: Attribute, source: SourceFile) -> int:
    number = attribute.number(source)
    if not 0 <= number < 31:  # as many as Metal has
        source.fail(attribute.name, f"[[{attribute.name.text}({number})]]: Metal has 0 to 30")
    return number


def _refuse_no_memory(declared: Declared, function: Function, source: SourceFile) -> None:
    for word, what in _matching(declared, _NO_MEMORY):
        raise UnsupportedFeatureError(
            f"{source.place(word)}: parameter '{declared.name.text}' of kernel "
            f"'{function.path}' is {what}, which AnyMetal does not have: only buffers and "
            "threadgroup memory. Pass the data as a buffer."
        )


def _matching(
    declared: Declared, kinds: Sequence[tuple[re.Pattern[str], str]]
) -> Iterator[tuple[Token, str]]:
    """The words of a parameter's type and attributes that say that it is one of these."""
    memory = any(word.text in _SPACES for word in declared.words)
    type_ = () if memory else declared.words
    for word in (*type_, *(a.name for a in declared.attributes)):
        for pattern, what in kinds:
            if pattern.fullmatch(word.text) and word is not declared.name:
                yield word, what


def _unknown(word: str) -> str:
    import difflib

    near = difflib.get_close_matches(word, [*ATTRIBUTES, *_BINDINGS], 1)
    meant = f"; did you mean '{near[0]}'?" if near else ""
    return f"unknown attribute '{word}' of a kernel parameter{meant}"


def _check_type(parameter: LibraryParameter, name: Token, source: SourceFile) -> None:
    if parameter.role == "texture":
        return
    if parameter.role != "attribute":
        if parameter.form == 0:
            source.fail(name, f"[[{parameter.role}]] '{name.text}' must be a pointer or reference")
        return
    widths = (1, 2, 3) if ATTRIBUTES[parameter.attribute] == "uint3" else (1,)
    if (
        parameter.form != 0
        or parameter.element not in _POSITION_ELEMENTS
        or parameter.lanes not in widths
    ):
        names = [f"{base}{n if n > 1 else ''}" for base in ("uint", "ushort") for n in widths]
        source.fail(name, f"[[{parameter.attribute}]] must be one of {', '.join(names)}")
