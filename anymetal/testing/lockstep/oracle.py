"""The oracle: kernels as they stand, compiled as C++ by an ordinary compiler, in lockstep.

A batch of kernels is one translation unit, which costs little a kernel. Nothing is shared with the
compiler under test: metal.h, lockstep.h and lanes.h are a second reading of Metal.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import itertools
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from anymetal.testing.lockstep.arrays import Arrays
from anymetal.testing.lockstep.case import Case, Input, Output

_HEADERS = Path(__file__).parent
_FLAGS = (
    "-std=c++17 -O1 -fPIC -w -fwrapv -fno-strict-aliasing -ffp-contract=off "
    "-fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-stack-protector "
    "-fno-delete-null-pointer-checks"
).split()
#: C++ words for template values that are types, and for element types of arrays.
_WORDS = {"char": "schar"}
_ATTRIBUTE = re.compile(
    r"\b(?:dispatch_)?(?:thread|simdgroup|quadgroup)(?:s|group|groups)?_"
    r"(?:position|index|per)_(?:in_)?(?:grid|threadgroup|simdgroup|quadgroup)\b"
)


_numbers = itertools.count()


class OracleError(Exception):
    """The oracle cannot compile or run a kernel: a defect of a generator, or of the oracle."""


@functools.cache
def compiler() -> tuple[str, ...]:
    """An ordinary C++ compiler: that of the machine, else Clang out of the ziglang wheel."""
    for name in ("g++", "clang++"):
        if path := shutil.which(name):
            return (path,)
    return clang_of_the_wheel()


def clang_of_the_wheel() -> tuple[str, ...]:
    """Clang as the ziglang wheel has it: without a linker's driver, and without a C++ library."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise OracleError("there is neither g++ nor clang++ nor the package ziglang")
    return (
        str(Path(spec.origin).with_name("zig")),
        "clang",
        f"--target={platform.machine()}-linux-gnu",
    )


def _build(source: Path, library: Path) -> None:
    """Compiles one C++ file; what it takes from the C library is found when it is loaded."""
    code = source.with_suffix(".o")
    _run(*compiler(), *_FLAGS, f"-I{_HEADERS}", "-c", str(source), "-o", str(code))
    if compiler()[1:]:  # Clang alone: the linker beside it needs no libraries
        _run(compiler()[0], "ld.lld", "-shared", str(code), "-o", str(library))
    else:
        _run(*compiler(), "-shared", str(code), "-o", str(library))
    source.unlink()
    code.unlink()


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise OracleError(f"{' '.join(command)}:\n{done.stderr[:4000]}")


class Oracle:
    """A batch of cases, compiled."""

    def __init__(self, cases: Sequence[Case], folder: Path) -> None:
        text = '#include "metal.h"\n#include "lockstep.h"\n#include "lanes.h"\n'
        text += "".join(_function(case, number) for number, case in enumerate(cases))
        # The loader knows libraries by their names, so each has its own.
        source = folder / f"oracle-{next(_numbers)}.cpp"
        library = source.with_suffix(".so")
        source.write_text(text)
        _build(source, library)
        self._library = ctypes.CDLL(str(library))
        library.unlink()
        self._numbers = {case.name: number for number, case in enumerate(cases)}

    def run(self, case: Case, arrays: Arrays) -> None:
        """Runs one of the cases on these arrays."""
        run = self._library[f"am_run_{self._numbers[case.name]}"]
        size = (ctypes.c_uint32 * 6)(*case.grid, *case.threadgroup)
        addresses = arrays.addresses
        run((ctypes.c_void_p * len(addresses))(*addresses), size)

    def close(self) -> None:
        """Unloads the code: its threadgroup variables are large, and never needed again."""
        import _ctypes

        _ctypes.dlclose(self._library._handle)


def _function(case: Case, number: int) -> str:
    """One kernel in a namespace of its own."""
    lines = []
    arrays: list[Input | Output] = [*case.inputs, *case.outputs]
    for slot, array in enumerate(arrays):
        type_ = _WORDS.get(array.element, array.element)
        if isinstance(array, Input):
            type_ = f"const {type_}"
        elif case.atomic:
            type_ = f"::atomic<{type_}>"
        value = f"({type_}*)am_buffers[{slot}]"
        if isinstance(array, Input) and array.checked:
            lines.append(
                f"const am::Checked<{type_}> {array.name} = {{{value}, {array.data.size}}};"
            )
        else:
            lines.append(f"{type_}* const {array.name} = {value};")
    for name in sorted(set(_ATTRIBUTE.findall(case.body))):
        lines.append(f"const auto {name} = am_attributes.{name};")
    head = ", ".join(_parameter(name, value) for name, value in case.template)
    values = ", ".join(_argument(value) for _, value in case.template)
    head, values = (f"template <{head}> ", f"<{values}>") if case.template else ("", "")
    return (
        f"namespace am_{number} {{\n{_plain(case.header)}\n"
        f"{head}static void body(void* const* am_buffers, const am::Attributes& am_attributes) {{\n"
        f"{chr(10).join(lines)}\n{{\n{_plain(case.body)}\n}}\n}}\n}}\n"
        f'extern "C" void am_run_{number}(void* const* buffers, const uint* size) {{\n'
        f"  am::run(am_{number}::body{values}, buffers, size, {str(case.meets).lower()});\n}}\n"
    )


def _plain(text: str) -> str:
    """Pointers to threadgroup memory are pointers; its variables are static, as one threadgroup
    runs at a time. `char` is signed in Metal, as `schar` is."""
    text = re.sub(r"\bthreadgroup\b(?=[^;,(){}=\[]*[*&])", "", text)
    return re.sub(r"(?<!unsigned )\bchar\b", "schar", text)


def _parameter(name: str, value: int | bool | str) -> str:
    if isinstance(value, bool):
        return f"bool {name}"
    return f"int {name}" if isinstance(value, int) else f"class {name}"


def _argument(value: int | bool | str) -> str:
    if isinstance(value, str):
        return _WORDS.get(value, value)
    return str(int(value)) if value > -(2**31) else f"(-{-value - 1} - 1)"
