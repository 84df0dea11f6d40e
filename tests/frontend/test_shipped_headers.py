"""Every Metal header of the installed MLX, just included: the table of those that compile.

Some want others first, here and in Metal. The ones for Apple's matrix units (`nax`) need what no
CPU has; those that do not compile must say so with their own line.
"""

from __future__ import annotations

from pathlib import Path

import mlx.core as mx
import pytest

from anymetal.errors import MetalCompileError
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.dialect import without_repetitions
from anymetal.runtime.identity import MLX_HEADERS, included
from tests.frontend.kernels import kernel_source

_FOLDER = Path(mx.__file__).parent / "include" / MLX_HEADERS
_ALL = sorted(str(file.relative_to(_FOLDER)) for file in _FOLDER.rglob("*.h"))

_GEMM = ("utils.h", "steel/gemm/gemm.h")
_QUANTIZED = (*_GEMM, "quantized_utils.h")
_REDUCE = ("utils.h", "atomic.h", "reduction/ops.h")
_CONV_PARAMS = ("steel/defines.h", "steel/conv/params.h")
_CONV = ("utils.h", "steel/gemm/mma.h", "steel/conv/conv.h", "steel/conv/params.h")
#: What to include before.
_FIRST: dict[str, tuple[str, ...]] = {
    "fp_quantized.h": _QUANTIZED,
    "indexing/scatter.h": ("atomic.h", "indexing/indexing.h"),
    "indexing/scatter_axis.h": ("atomic.h",),
    "quantized.h": _QUANTIZED,
    "reduce.h": _REDUCE,
    "reduction/ops.h": ("atomic.h",),
    "reduction/reduce_all.h": _REDUCE,
    "reduction/reduce_col.h": _REDUCE,
    "reduction/reduce_row.h": _REDUCE,
    "searchsorted.h": ("utils.h", "sort.h"),
    "steel/conv/kernels/steel_conv.h": _CONV,
    "steel/conv/kernels/steel_conv_3d.h": _CONV,
    "steel/conv/kernels/steel_conv_general.h": _CONV,
    "steel/conv/loader.h": _CONV_PARAMS,
    "steel/conv/loaders/loader_channel_l.h": _CONV_PARAMS,
    "steel/conv/loaders/loader_channel_n.h": _CONV_PARAMS,
    "steel/conv/loaders/loader_general.h": _CONV_PARAMS,
    "steel/gemm/kernels/steel_gemm_fused.h": _GEMM,
    "steel/gemm/kernels/steel_gemm_gather.h": _GEMM,
    "steel/gemm/kernels/steel_gemm_masked.h": _GEMM,
    "steel/gemm/kernels/steel_gemm_segmented.h": _GEMM,
    "steel/gemm/kernels/steel_gemm_splitk.h": _GEMM,
}


def _including(*names: str) -> str:
    return "".join(f'#include "{MLX_HEADERS}/{name}"\n' for name in names)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in _ALL if "nax" not in n])
def test_header_compiles(name: str) -> None:
    compile_to_ir(kernel_source("out[0] = 1;", _including(*_FIRST.get(name, ()), name)))


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in _ALL if "nax" in n])
def test_header_for_matrix_units(name: str) -> None:
    """Either it compiles, or its own line is named."""
    try:
        compile_to_ir(kernel_source("out[0] = 1;", _including(*_QUANTIZED, name)))
    except MetalCompileError as error:
        assert f"{MLX_HEADERS}/" in str(error)


#: Headers that may stand in one text, in an order that works: most of the package in one go.
_TOGETHER = (
    *("utils.h", "atomic.h", "unary_ops.h", "binary_ops.h", "ternary_ops.h", "reduction/ops.h"),
    *("reduce.h", "scan.h", "sort.h", "searchsorted.h", "softmax.h", "logsumexp.h", "arange.h"),
    *("steel/gemm/gemm.h", "quantized_utils.h", "quantized.h", "hadamard.h"),
    *("copy.h", "fft.h", "sdpa_vector.h", "indexing/scatter.h"),
)


def test_most_headers_together() -> None:
    compile_to_ir(kernel_source("out[0] = Exp{}(a[0]);", _including(*_TOGETHER)))


def test_an_error_names_the_line_of_the_header() -> None:
    source = kernel_source("out[0] = 1;", "// first\n" + _including("reduction/ops.h"))
    with pytest.raises(MetalCompileError) as caught:
        compile_to_ir(source)
    text = str(caught.value)
    assert f"\n{MLX_HEADERS}/reduction/ops.h:" in text and "'mlx_atomic'" in text
    assert "k: header:2:1: note: included here\n    2 | #include" in text
    assert "mlx-for-anymetal" not in text


def test_conversions_for_each_address_space_are_one() -> None:
    one = "struct A {\n  operator bool() thread { return true; }\n"
    other = "  operator bool() const device { return true; }\n"
    different = "  operator bool() const device { return false; }\n"
    assert without_repetitions(one + other + "};") == one + " " * (len(other) - 1) + "\n};"
    assert without_repetitions(one + different + "};") == one + different + "};"


def test_the_cache_knows_which_headers_there_are() -> None:
    assert included("y[0] = 1;") == ""
    assert str(_FOLDER / "fp8.h") in included(_including("fp8.h"))
