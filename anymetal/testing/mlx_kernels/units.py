"""The `.metal` files of MLX's back end, and how their kernels are launched as far as machine code
depends on it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from anymetal.frontend.code_base import code_base
from anymetal.frontend.library_text import Library, read_library
from anymetal.targets.base import Extent

KERNELS = "mlx/backend/metal/kernels"
Values = Mapping[str, bool | int]


@dataclass(frozen=True)
class Unit:
    """One file, its launches, and the values of function constants other than the usual ones."""

    name: str  #: below the folder of kernels, without its ending
    group: Extent = (256, 1, 1)  #: threads of a threadgroup
    constants: Values | None = None
    memory: int = 4096  #: bytes of each `threadgroup` parameter

    @property
    def short(self) -> str:
        """The name without folders, which is unique."""
        return self.name.rpartition("/")[2]


_GEMM = "steel/gemm/kernels/steel_gemm"
_CONV = "steel/conv/kernels/steel_conv"
_ATTENTION = "steel/attn/kernels/steel_attention"
_MATRICES = (32, 2, 2)  #: what most products of matrices are launched with
#: A transform of 256 numbers by eight at a time, with one prime for Rader's method.
_FFT: Values = {
    "is_power_of_2_": True,
    "elems_per_thread_": 8,
    "rader_m_": 17,
    "radix_8_steps_": 2,
    "radix_4_steps_": 1,
    "rader_4_steps_": 2,
}
_DEPTHWISE: Values = {"ker_h": 3, "ker_w": 3, "str_h": 1, "str_w": 1, "tgp_h": 4, "tgp_w": 8}

#: Small units of all kinds first, then the large ones, and at last those for matrix units, which
#: take longest.
UNITS = (
    Unit("arange"),
    Unit("arg_reduce"),
    Unit("dot", (512, 1, 1)),
    Unit("fence", (32, 1, 1)),
    Unit("random"),
    Unit("rope"),
    Unit("searchsorted"),
    Unit("logsumexp"),
    Unit("softmax"),
    Unit("rms_norm"),
    Unit("layer_norm"),
    Unit("scaled_dot_product_attention", (1024, 1, 1), {"blocks": 128}),
    Unit("fft", (32, 4, 1), _FFT),
    Unit("conv", (8, 8, 4), _DEPTHWISE),
    Unit("sort"),
    Unit("scan", (1024, 1, 1)),
    Unit("gemv", _MATRICES),
    Unit("gemv_masked", _MATRICES),
    Unit("ternary"),
    Unit("binary_two"),
    Unit("unary"),
    Unit(_ATTENTION, (32, 4, 1)),
    Unit(f"{_CONV}", _MATRICES),
    Unit(f"{_CONV}_general", _MATRICES),
    Unit(f"{_CONV}_3d", _MATRICES),
    Unit(f"{_GEMM}_fused", _MATRICES),
    Unit(f"{_GEMM}_gather", _MATRICES),
    Unit(f"{_GEMM}_segmented", _MATRICES),
    Unit(f"{_GEMM}_splitk", _MATRICES),
    Unit(f"{_GEMM}_masked", _MATRICES),
    Unit("reduce"),
    Unit("copy"),
    Unit("binary"),
    Unit("fp_quantized", _MATRICES),
    Unit("quantized", _MATRICES),
    Unit(f"{_ATTENTION}_nax", (32, 4, 1)),
    Unit(f"{_GEMM}_fused_nax", _MATRICES),
    Unit(f"{_GEMM}_segmented_nax", _MATRICES),
    Unit(f"{_GEMM}_splitk_nax", _MATRICES),
    Unit(f"{_GEMM}_gather_nax", _MATRICES),
    Unit("fp_quantized_nax", _MATRICES),
    Unit("quantized_nax", _MATRICES),
)

#: Function constants of `bool` are true, but for those that tell of sizes without a remainder:
#: their kernels have code for edges, too. (That of matrix units is an hour more of machine code.)
_ALIGNED = re.compile(r"align_\w+")
#: In the text as it is compiled (frontend/dialect.py).
_INTEGER = re.compile(r"\bint\s+(\w+)\s*=__am_fc")


def find(names: list[str]) -> list[Unit]:
    """Units by their names, short or long; all of them if there are no names.

    Raises ValueError for a name that no unit has.
    """
    known = {name: unit for unit in UNITS for name in (unit.name, unit.short)}
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"no unit {unknown[0]!r}; there are {', '.join(u.short for u in UNITS)}")
    return [known[name] for name in names] or list(UNITS)


def missing(source: Path) -> list[str]:
    """Units of a checkout that the table above does not have."""
    found = {
        path.relative_to(source / KERNELS).with_suffix("").as_posix()
        for path in (source / KERNELS).rglob("*.metal")
    }
    return sorted(found - {unit.name for unit in UNITS})


def library(source: Path, unit: Unit) -> Library:
    """The kernels of a unit, with MLX's own headers and nothing of ours but Metal's library.

    Raises MetalCompileError if it cannot be read, OSError if it is not there.
    """
    path = source / KERNELS / f"{unit.name}.metal"
    code = code_base(path.read_text(), path.name, path.parent, [source], {}, "metal")
    return read_library(code, "safe")


def constants(unit: Unit, lib: Library) -> dict[int, tuple[bool | int, ...]]:
    """A value for each function constant, by its index."""
    integers = {name for text in lib.code.texts for name in _INTEGER.findall(text)}
    given = unit.constants or {}
    aligned = unit.name.endswith("_nax")
    return {
        index: (
            given.get(name, 0 if name in integers else aligned or not _ALIGNED.fullmatch(name)),
        )
        for name, index in lib.constants.items()
    }
