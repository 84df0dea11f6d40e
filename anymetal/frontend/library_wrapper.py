"""What stands around the text of a library when one of its kernels is compiled: the values of
function constants in front of it, behind it the function that a launch calls."""

from __future__ import annotations

from collections.abc import Mapping

from anymetal.frontend.parameters import LibraryKernel, LibraryParameter
from anymetal.frontend.unit import KERNEL_SYMBOL, THREADGROUP_MEMORY

Number = bool | int | float
#: Values of function constants by index, each with as many numbers as the constant has components.
Constants = tuple[tuple[int, tuple[Number, ...]], ...]


def function_constants(known: Mapping[str, int], values: Constants) -> str:
    """The values of function constants, as their initialisers look for them (dialect.py)."""
    given = dict(values)
    lines = [
        f"constexpr bool __am_is_defined_{name} = {str(index in given).lower()};\n"
        for name, index in known.items()
    ]
    for index, numbers in values:
        arguments = ", ".join(map(_literal, numbers))
        lines.append(
            f"template <> struct __am_fc<{index}> {{ template <typename T> "
            f"constexpr operator T() const {{ return T({arguments}); }} }};\n"
        )
    return "".join(lines)


def _literal(number: Number) -> str:
    if isinstance(number, bool):
        return str(number).lower()
    if isinstance(number, int):  # C++ has no literal for the lowest number
        return f"{number}ull" if number >= 0 else f"({number + 1}ll - 1)"
    if number != number:
        return '__builtin_nanf("")'
    if number in (float("inf"), float("-inf")):
        return f"{'-' if number < 0 else ''}__builtin_inff()"
    return float(number).hex()


def caller(kernel: LibraryKernel, threadgroup: Mapping[int, int]) -> str:
    """The function that a launch calls: buffers in the order of their numbers, nothing else."""
    buffers = kernel.bound("buffer")
    # Constant memory is never written, so LLVM need not read it again after each store. Behind
    # `device const T*` may be an array that the kernel writes to through another parameter.
    declarations = ", ".join(
        f"const void* {'__restrict ' if p.unchanging else ''}__am_buffer_{p.number}"
        for p in buffers
    )
    signature = f"::__am::library::signature<decltype({kernel.call})>"
    memory = "".join(
        _threadgroup_memory(f"{signature}::at<{i}>", p, _length(p, threadgroup))
        for i, p in enumerate(kernel.parameters)
        if p.role == "threadgroup"
    )
    arguments = ",\n    ".join(_argument(i, p) for i, p in enumerate(kernel.parameters))
    return in_scope(
        kernel.scope,
        f'{memory}extern "C" void {KERNEL_SYMBOL}({declarations}) {{\n'
        f"  using __am_signature = {signature};\n"
        f"  {kernel.call}(\n    {arguments});\n}}\n",
    )


def _threadgroup_memory(type_: str, parameter: LibraryParameter, length: int) -> str:
    """A function that returns an array of so many bytes. Findings tell its name: the parameter's.

    Threadgroup variables become globals (optimise.py), so their address may leave the function."""
    element, name = f"::__am::library::memory<{type_}>", parameter.name or "memory"
    return (
        f"static void* {THREADGROUP_MEMORY}{parameter.number}() {{\n"
        f"  threadgroup {element} {name}[{length} / sizeof({element})] "
        f"__attribute__((aligned(16)));\n  return {name};\n}}\n"
    )


def _length(parameter: LibraryParameter, threadgroup: Mapping[int, int]) -> int:
    """Bytes of threadgroup memory: what the call says, and room for one T."""
    length = max(threadgroup.get(parameter.number, 0), parameter.size, 1)
    return -(-length // 16) * 16  # Metal counts in steps of 16


def _argument(place: int, parameter: LibraryParameter) -> str:
    type_ = f"__am_signature::at<{place}>"
    if parameter.role == "attribute":
        return f"::__am::position<{type_}>(__am_attr_{parameter.attribute}())"
    memory = f"__am_{parameter.role}_{parameter.number}"
    call = "()" if parameter.role == "threadgroup" else ""
    return f"::__am::library::argument<{type_}>::at({memory}{call})"


def in_scope(scope: str, text: str) -> str:
    """A text inside of these namespaces."""
    return f"namespace {scope} {{ {text}}}\n" if scope else text
