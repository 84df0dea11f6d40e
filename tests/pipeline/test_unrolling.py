"""Which loops get the hint to be unrolled, and that nothing of it reaches the user."""

from __future__ import annotations

import re

import pytest

from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.optimise import UNROLL, optimise, unrolled
from anymetal.frontend.profile import ANY_PROFILE
from anymetal.pipeline.unrolling import with_hints, with_steps
from anymetal.targets.cuda.compiler import profile_of
from tests.frontend.kernels import kernel_source

_PROFILE = profile_of("sm_80")
_COUNTED = "float m[64]; for (uint k = 0; k < 64; ++k) m[k] = a[i * 64 + k];"
_READ = "for (uint k = 0; k < 64; ++k) out[i * 64 + k] = m[63 - k];"


def _optimised(body: str) -> str:
    source = kernel_source(f"uint i = thread_position_in_grid.x;\n{body}")
    return optimise(compile_to_ir(source, _PROFILE), profile=_PROFILE)


@pytest.mark.parametrize(
    ("body", "loops"),
    [
        ("out[i] = a[i];", 0),
        ("for (uint k = 0; k < uint(a[0]); ++k) out[i] += a[k];", 0),
        (f"{_COUNTED} out[i] = m[i % 64];", 1),
        (f"{_COUNTED} {_READ}", 2),
        (f"{_COUNTED} for (uint k = 0; k < uint(a[0]); ++k) out[k] = m[i % 64];", 1),
    ],
)
def test_loops_through_private_arrays(body: str, loops: int) -> None:
    hinted = with_hints(_optimised(body)) or ""
    assert len(re.findall(rf'^!\d+ = !{{!"{UNROLL}"}}$', hinted, re.M)) == loops


def _loads(body: str) -> int:
    text = _optimised(body)
    hinted = with_hints(text)
    return (unrolled(hinted, _PROFILE) if hinted else text).count(" = load float, ptr")


def test_short_loops_have_four_iterations_under_way() -> None:
    count = "for (uint k = 0; k < a_shape[0]; ++k)"
    assert _loads(f"float t = 0; {count} t += a[k * 64 + i]; out[i] = t;") == 5  # and what is left
    assert _loads(f"float t = 0; {count} t += simd_sum(a[k * 64 + i]); out[i] = t;") == 1
    long = " + ".join(f"sin(a[k * 64 + {n}])" for n in range(4))
    assert _loads(f"float t = 0; {count} t += {long}; out[i] = t;") == 4


def test_loops_over_what_a_threadgroup_shares_are_unrolled_whole() -> None:
    body = "for (uint k = thread_index_in_threadgroup; k < 512; k += 128) out[k] = a[k];"
    source = kernel_source(body)
    text = optimise(compile_to_ir(source, _PROFILE), profile=_PROFILE, threads=128)
    hinted = with_hints(text)
    assert hinted
    text = unrolled(hinted, _PROFILE)
    assert text.count(" = load float, ptr") == 4 and "phi" not in text


def test_the_array_is_gone() -> None:
    hinted = with_hints(_optimised(f"{_COUNTED} {_READ}"))
    assert hinted
    assert " alloca " not in unrolled(hinted, _PROFILE)


def test_loops_of_unknown_length_stay_and_say_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    body = (
        "float m[64]; for (uint k = 0; k < uint(a[0]); ++k) m[k % 64] = a[k]; out[i] = m[i % 64];"
    )
    hinted = with_hints(_optimised(body))
    assert hinted and UNROLL in hinted
    text = unrolled(hinted, _PROFILE)
    assert " alloca " in text and UNROLL not in text
    assert capfd.readouterr() == ("", "")


_EXCHANGE = "tile[l] += tile[l ^ d]; threadgroup_barrier(mem_flags::mem_threadgroup);"
_LARGE = "".join(f"tile[l] += metal::sin(tile[l ^ d] + {n});" for n in range(99))


@pytest.mark.parametrize(
    ("loop", "steps"),
    [
        ("for (uint d = 1; d < 256; d *= 2)", 8),
        ("for (uint d = 128; d > 0; d >>= 1)", 8),
        ("for (int d = 64; d >= 1; d /= 2)", 7),
        ("for (uint d = 2; d <= 256; d <<= 1)", 8),
        ("uint d = 256; while ((d >>= 1) != 0)", 8),
        ("for (uint d = 1; d < 256; d += 1)", 0),
        ("for (uint d = 1; d < 256; d *= 4)", 0),
        ("for (uint d = uint(a[0]); d > 0; d /= 2)", 0),
        ("for (uint d = 1; d < uint(a[0]); d *= 2)", 0),
        ("for (uint d = 1; d < 256 && a[d] > 0; d *= 2)", 0),
    ],
)
@pytest.mark.parametrize("work", [_EXCHANGE, _EXCHANGE.split(";")[0] + ";", _LARGE + _EXCHANGE])
def test_distances_that_double(loop: str, steps: int, work: str) -> None:
    """With barriers, and little in all iterations, so many of them are a straight line."""
    kept = "\n#pragma clang loop unroll(disable)\n"
    before, _, head = loop.rpartition("; while") if "while" in loop else ("", "", loop)
    loop = f"{before};{kept}while{head}" if "while" in loop else f"{kept}{head}"
    source = kernel_source(
        "uint l = thread_position_in_threadgroup.x; threadgroup float tile[256]; tile[l] = a[l];"
        f"threadgroup_barrier(mem_flags::mem_threadgroup); {loop} {{ {work} }} out[l] = tile[l];"
    )
    text = optimise(compile_to_ir(source, ANY_PROFILE))
    hinted = with_steps(text)
    assert bool(hinted) == (steps > 0 and work is _EXCHANGE)
    if hinted:
        text = unrolled(hinted, ANY_PROFILE)
        assert text.count("call void @__am_threadgroup_barrier") == 1 + steps
        assert " phi " not in text
