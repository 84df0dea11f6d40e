"""Decides which 32-bit unsigned indices count as signed.

In an array of fewer elements, an index of 2^31 or more is no element, but may well be a negative
offset that has wrapped: MLX's documentation indexes arrays with negative strides by `uint loc =
elem_to_loc(...)`. Gathers, and address arithmetic on a run of lanes, need signed indices, too.

How many elements an array has depends on their type: 4 GB are 2^30 floats or 2^32 bytes. So an
index counts as unsigned if so many steps of its size stay inside of the largest array.
"""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from anymetal.runtime import locks

#: Clang's own names for the conversion of an array index and of a pointer offset.
_INDEX = re.compile(r"(\n  (%(?:idxprom|idx\.ext)[\w.]*) = )zext(?= i32 )")
_NEGATED = re.compile(r"^  (%idx\.neg[\w.]*) = sub i64 0, (%idx\.ext[\w.]*)", re.M)
_ADDRESS = re.compile(
    r"= getelementptr (?:inbounds |nuw |nusw )*(?P<type>.+?), ptr [^,]+, "
    r"(?P<first>i64 0, )?i64 (?P<index>%[\w.]+)(?:, !dbg.*)?$"
)
_ARRAY = re.compile(r"\[\d+ x (.*)\]")
_FUNCTION = re.compile(r"^define .*?^}$", re.M | re.S)
_LAYOUT = re.compile(r'^target datalayout = "(.*)"$', re.M)
_TYPE = re.compile(r"^%.* = type .*$", re.M)


def with_signed_indices(text: str, large: int) -> str:
    """The module with the extensions of such indices. `large`: how many times 2^31 bytes the
    largest array has."""
    if not large:
        return _INDEX.sub(r"\1sext", f"\n{text}")[1:]
    steps = [step for function in _FUNCTION.findall(text) for step in _steps(function).values()]
    sizes = _sizes(text, steps)

    def function(match: re.Match[str]) -> str:
        steps = _steps(match[0])

        def index(found: re.Match[str]) -> str:
            signed = found[2] in steps and sizes[steps[found[2]]] > large
            return f"{found[1]}{'sext' if signed else 'zext'}"

        return _INDEX.sub(index, match[0])

    return _FUNCTION.sub(function, text)


def _steps(function: str) -> dict[str | None, str]:
    """For each index, the type whose elements it counts."""
    steps: dict[str | None, str] = {}
    negated = dict(_NEGATED.findall(function))
    for line in function.split("\n"):
        if address := _ADDRESS.search(line):
            type_ = address["type"]
            if address["first"] and (array := _ARRAY.fullmatch(type_)):
                type_ = array[1]
            steps[negated.get(address["index"], address["index"])] = type_
    return steps


def _sizes(text: str, types: list[str]) -> dict[str, int]:
    """Bytes from one element to the next, by LLVM's spelling of the type."""
    names = list(dict.fromkeys(types))
    variables = [f"@am.{number} = external global {name}" for number, name in enumerate(names)]
    layout = _LAYOUT.search(text)
    with locks.llvm:
        module = llvm.parse_assembly("\n".join([*_TYPE.findall(text), *variables]))
        target = llvm.create_target_data(layout[1] if layout else "")
        return {
            name: target.get_abi_size(module.get_global_variable(f"am.{number}").global_value_type)
            for number, name in enumerate(names)
        }
