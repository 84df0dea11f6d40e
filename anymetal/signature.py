"""The generated kernel function: from a body and the arguments of a call to a `KernelSource`.

`metal_text` prints exactly what MLX 0.32.4 generates, except where MLX's text cannot compile:
its signature closes too early when a kernel names no attribute, has several outputs and takes
shape infos, and it glues a header without a final newline to the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import mlx.core as mx

from anymetal.dtypes import METAL_NAMES, metal_name
from anymetal.size_extension import (
    SIZE_CLASS,
    size_buffer,
    size_definition,
    size_variable,
    sized_inputs,
)
from anymetal.source import ATTRIBUTES, KernelSource, MathMode, Parameter, ParameterKind

#: What a template parameter may be bound to.
TemplateValue = bool | int | mx.Dtype
Template = Sequence[tuple[str, TemplateValue]]

#: Inputs with fewer elements than this are passed in the `constant` address space.
CONSTANT_LIMIT = 8

_SHAPE_INFOS: tuple[tuple[ParameterKind, str], ...] = (
    ("shape", "const constant int* {}_shape"),
    ("strides", "const constant int64_t* {}_strides"),
    ("ndim", "const constant int& {}_ndim"),
)

# How an input is passed; also its suffix in the kernel's name.
_SCALAR, _CONSTANT, _DEVICE = "s", "c", ""

_SPECIALIZATIONS_PER_KERNEL = 1024


@dataclass(frozen=True, slots=True)
class KernelDefinition:
    """The arguments of `metal_kernel`, checked."""

    name: str
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    source: str
    header: str = ""
    ensure_row_contiguous: bool = True
    atomic_outputs: bool = False
    math_mode: MathMode = "safe"
    prologue: str = ""  #: lines of ours in front of the source


@dataclass(frozen=True, slots=True)
class Specialization:
    """What a kernel needs to know about calls with arguments of the same types."""

    source: KernelSource
    uses_float64: bool  #: in an input or output; no GPU has it
    sizes: tuple[str, ...]  #: the `<input>_size` names that it is given


class SignatureGenerator:
    """Makes the `KernelSource` of each call of one kernel.

    Scanning the body for names is done once, here; a call whose types were seen before costs one
    dictionary lookup.
    """

    __slots__ = (
        "_attributes",
        "_definition",
        "_shape_infos",
        "_sized",
        "_specializations",
        "warned_about_sizes",
    )

    def __init__(self, definition: KernelDefinition) -> None:
        body = definition.prologue + definition.source
        self._definition = definition
        self._specializations: dict[tuple[object, ...], Specialization] = {}
        self.warned_about_sizes = False
        # Plain substrings, as in MLX: comments count, and `max_shape` gives input `x` a shape.
        self._attributes = tuple(name for name in ATTRIBUTES if name in body)
        self._shape_infos = tuple(
            tuple((kind, text) for kind, text in _SHAPE_INFOS if f"{name}_{kind}" in body)
            for name in definition.input_names
        )
        self._sized = sized_inputs(
            definition.input_names,
            ATTRIBUTES.keys() | set(definition.output_names),
            body,
            definition.header,
        )

    def specialization(
        self, inputs: Sequence[mx.array], output_dtypes: Sequence[mx.Dtype], template: Template
    ) -> Specialization:
        """The kernel for a call with these arguments, whose number has been checked."""
        key: list[object] = []
        for array in inputs:
            key.append(array.dtype)
            if array.size >= CONSTANT_LIMIT:
                key.append(_DEVICE)
            else:
                key.append(_CONSTANT if array.ndim else _SCALAR)
        key.extend(output_dtypes)
        for name, value in template:
            key += (name, value, type(value))  # the type, because True == 1
        known = self._specializations.get(tuple(key))
        if known is None:
            if len(self._specializations) >= _SPECIALIZATIONS_PER_KERNEL:
                self._specializations.clear()
            classes = [str(passing) for passing in key[1 : 2 * len(inputs) : 2]]
            dtypes = [array.dtype for array in inputs]
            known = self._make(dtypes, classes, output_dtypes, template)
            self._specializations[tuple(key)] = known
        return known

    def _make(
        self,
        dtypes: Sequence[mx.Dtype],
        classes: Sequence[str],
        output_dtypes: Sequence[mx.Dtype],
        template: Template,
    ) -> Specialization:
        definition = self._definition
        parameters: list[Parameter] = []
        suffixes: list[str] = []

        for index, name in enumerate(definition.input_names):
            type_name, passing = metal_name(dtypes[index]), classes[index]
            space = "device" if passing == _DEVICE else "constant"
            mark = "&" if passing == _SCALAR else "*"
            declaration = f"const {space} {type_name}{mark} {name}"
            parameters.append(Parameter(name, "input", index, declaration))
            suffixes.append(type_name + passing)
            if passing != _SCALAR:
                for kind, text in self._shape_infos[index]:
                    parameters.append(Parameter(f"{name}_{kind}", kind, index, text.format(name)))

        template_names = [name for name, _ in template]
        for index in self._sized:
            variable = size_variable(definition.input_names[index])
            if variable not in template_names:
                declaration = f"const constant uint32_t* {size_buffer(variable)}"
                parameters.append(Parameter(variable, "size", index, declaration))
                suffixes.append("uint32_t" + _CONSTANT)

        for index, name in enumerate(definition.output_names):
            type_name = metal_name(output_dtypes[index])
            element = f"atomic<{type_name}>" if definition.atomic_outputs else type_name
            parameters.append(Parameter(name, "output", index, f"device {element}* {name}"))
            suffixes.append(type_name)

        arguments = ", ".join(_template_argument(value) for _, value in template)
        arguments = f"<{arguments}>" if template else ""
        source = KernelSource(
            name=definition.name,
            entry="_".join(["custom_kernel", definition.name, *_hash(arguments), *suffixes]),
            header=definition.header,
            body=definition.source,
            parameters=tuple(parameters),
            attributes=self._attributes,
            template_parameters=", ".join(_template_parameter(*pair) for pair in template),
            template_arguments=arguments,
            math_mode=definition.math_mode,
            prologue=definition.prologue,
        )
        return Specialization(
            source,
            uses_float64=mx.float64 in [*dtypes, *output_dtypes],
            sizes=tuple(p.name for p in parameters if p.kind == "size"),
        )


@lru_cache(maxsize=1024)
def generator_of(definition: KernelDefinition) -> SignatureGenerator:
    """The generator of a definition, shared by all kernel objects with equal definitions.

    Much code builds its kernel object anew on every call.
    """
    return SignatureGenerator(definition)


def metal_text(source: KernelSource) -> str:
    """The generated Metal source, without MLX's prelude."""
    parameters = [
        f"{parameter.declaration} [[buffer({slot})]]"
        for slot, parameter in enumerate(source.parameters)
    ]
    parameters += [f"{ATTRIBUTES[name]} {name} [[{name}]]" for name in source.attributes]
    signature = ",\n  ".join(parameters)
    text = f"[[kernel]] void {source.entry}(\n  {signature}) {{\n{metal_body(source)}\n}}\n"
    if source.template_parameters:
        instance = source.entry + source.template_arguments
        text = (
            f"template <{source.template_parameters}>\n{text}\n"
            f'template [[host_name("{source.entry}")]] [[kernel]] '
            f"decltype({instance}) {instance};\n"
        )
    return metal_header(source) + text


def metal_header(source: KernelSource) -> str:
    """The header as it stands in the Metal text: ends its last line, and has the size class."""
    header = source.header
    if header and not header.endswith("\n"):
        header += "\n"
    if any(parameter.kind == "size" for parameter in source.parameters):
        header += SIZE_CLASS
    return header


def metal_body(source: KernelSource) -> str:
    """The body as it stands in the Metal text: opens with the size constants and the prologue."""
    sizes = [size_definition(p.name) for p in source.parameters if p.kind == "size"]
    return "\n".join([*sizes, source.prologue + source.body])


def _template_parameter(name: str, value: TemplateValue) -> str:
    if isinstance(value, bool):
        return f"bool {name}"
    return f"int {name}" if isinstance(value, int) else f"typename {name}"


def _template_argument(value: TemplateValue) -> str:
    return str(int(value)) if isinstance(value, int) else METAL_NAMES[value]


def _hash(template_arguments: str) -> list[str]:
    """The template's part of the kernel name: punctuation becomes `_`, the last `>` goes."""
    text = template_arguments[:-1].replace(", ", "_")
    return [text.replace("<", "_").replace("-", "_")] if text else []
