"""Loads that a GPU lets pass: stray addresses whose value a condition drops.

All arrays lie between fences, so each load that is done although nobody needs it is a fault.
"""

from __future__ import annotations

import numpy as np
import pytest
from mlx import core as mx

from anymetal.source import KernelSource
from anymetal.targets.cpu.variant import gang_width
from anymetal.testing.fenced import Array, run_fenced
from tests.frontend.kernels import kernel_source

_THREADS, _SIZE = 256, 100
_I = "uint e = thread_position_in_grid.x; int i = int(e) * 3 - 150;\n"
_E = np.arange(_THREADS)
_INDEX = _E * 3 - 150
_INSIDE = (_INDEX >= 0) & (_INDEX < _SIZE)
_X = np.random.default_rng(1).integers(1, 90, _SIZE).astype(np.float32)
_V = np.where(_INSIDE, _X[np.clip(_INDEX, 0, _SIZE - 1)], 0)
_T = np.float32  # of all results


def _fed(value: Array) -> Array:
    """Fed back into `i`: x[clip] where inside."""
    return np.where(_INSIDE, value, 0)


#: Name: statements that give `float r`, what `r` must be. x has 100 elements, n is 100.
_BODIES: dict[str, tuple[str, Array]] = {
    "selected": ("float v = x[i]; v = i >= 0 && i < n ? v : 0; float r = v;", _V),
    "negated": ("float v = x[i]; v = i >= 0 && i < n ? v : 0; float r = -v;", -_V),
    "fused": (
        "float v = x[i]; float w = v * v + v; float r = i >= 0 && i < n ? w : 0;",
        _fed(_V * _V + _V),
    ),
    "extreme": (
        "float w = max(x[i], 7.0f) + 1; float r = i >= 0 && i < n ? w : -1;",
        np.where(_INSIDE, np.maximum(_V, 7) + 1, -1),
    ),
    "root": ("float w = sqrt(x[i]); float r = i >= 0 && i < n ? w : 0;", np.sqrt(_V)),
    "two selections": (
        """float v = x[i]; bool in = i >= 0 && i < n;
           float a = in ? v : 1; float b = in ? -v * v : 2; float r = a * 3 + b;""",
        np.where(_INSIDE, _V * 3 - _V * _V, 5),
    ),
    "two conditions": (
        """float v = x[i]; float a = i >= 0 && i < 40 ? v : 0, b = i >= 60 && i < n ? v * v : 0;
           float r = a - b;""",
        np.where((_INDEX >= 0) & (_INDEX < 40), _V, 0)
        - np.where((_INDEX >= 60) & (_INDEX < 100), _V * _V, 0),
    ),
    "nested selections": (
        "float v = x[i] + 1; v = i < n ? v : 3; v = i >= 0 ? v * 2 : 4; float r = v;",
        np.where(_INDEX >= 0, np.where(_INDEX < _SIZE, _V + 1, 3) * 2, 4),
    ),
    "otherwise": ("float v = -x[i]; float r = i < 0 || i >= n ? 1 : v;", np.where(_INSIDE, -_V, 1)),
    "without short cuts": (
        "float v = -x[i]; float r = bool(int(i >= 0) & int(i < n)) ? v : 0;",
        -_V,
    ),
    "a condition of loaded numbers": (
        "bool high = (i >= 0) & (i < n) & (x[i] > 40); float r = high;",
        _fed(_V > 40),
    ),
    "times zero or one": (
        "float r = float(int(x[i]) * int(i >= 0 && i < n));",
        _V,
    ),
    "a mask": ("float r = float(int(x[i]) & -int(i >= 0 && i < n));", _V),
    "an integer quotient": (
        "int w = 1000 / int(x[i]); float r = i >= 0 && i < n ? w : 0;",
        _fed(1000 // np.maximum(_V, 1)),
    ),
    "a long quotient": (
        "long w = 100000l / long(x[i]) + 100 % long(x[i]); float r = i >= 0 && i < n ? w : 0;",
        _fed(100000 // np.maximum(_V, 1) + 100 % np.maximum(_V, 1)),
    ),
    "a chain": (
        "float v = x[int(x[i])]; float r = i >= 0 && i < n ? -v : 0;",
        _fed(-_X[_V.astype(int)]),
    ),
    "a chain in two steps": (
        """int k = int(x[i]); k = i >= 0 && i < n ? k : 1 << 20; float v = x[k];
           float r = k < n ? v + 1 : 0;""",
        _fed(_X[_V.astype(int)] + 1),
    ),
    "a mask in memory": (
        """bool in = i >= 0 && i < n; float m = in ? x[i] : 0; float v = x[i + (m > 0 ? 0 : 900)];
           float r = m > 0 ? v + v : 0;""",
        2 * _V,
    ),
    "two ways": (
        """float v = x[i] + 1; float r = 0;
           if (e % 2) { r = i >= 0 && i < n ? v : 0; } else { r = i >= 0 && i < n ? v * v : 1; }
           if (e % 3 == 0) r += i >= 0 && i < n ? v : 2;""",
        np.where(_E % 2, np.where(_INSIDE, _V + 1, 0), np.where(_INSIDE, (_V + 1) * (_V + 1), 1))
        + np.where(_E % 3 == 0, np.where(_INSIDE, _V + 1, 2), 0),
    ),
    "two branches": (
        """float v = x[i], w = v * v; bool in = i >= 0 && i < n; float r = 0;
           if (in) { r = w; } threadgroup_barrier(mem_flags::mem_none); if (in) { r += w + v; }""",
        _fed(2 * _V * _V + _V),
    ),
    "in a loop": (
        """float r = 0;
           for (int k = i; k < i + s; ++k) { float v = x[k] * 2; r += k >= 0 && k < n ? v : 1; }""",
        sum(
            np.where(
                (_INDEX + k >= 0) & (_INDEX + k < _SIZE), 2 * _X[np.clip(_INDEX + k, 0, 99)], 1
            )
            for k in range(5)
        ),
    ),
    "a vector": (
        """float4 v = ((const device float4*)x)[i]; v = v * 2 + 1; bool in = i >= 0 && i < n / 4;
           v = in ? v : float4(0); float r = v.x + v.y + v.z + v.w;""",
        np.where(
            (_INDEX >= 0) & (_INDEX < 25),
            (2 * _X + 1).reshape(25, 4).sum(1)[np.clip(_INDEX, 0, 24)],
            0,
        ),
    ),
    "a packed vector": (
        """packed_float3 p = ((const device packed_float3*)x)[i]; float3 v = -float3(p);
           v = select(float3(1), v, bool3(i >= 0 && i < 33)); float r = v.x + v.y + v.z;""",
        np.where(
            (_INDEX >= 0) & (_INDEX < 33),
            -_X[:99].reshape(33, 3).sum(1)[np.clip(_INDEX, 0, 32)],
            3,
        ),
    ),
    "a struct": (
        """struct Pair { float a; int b; }; Pair p = ((const device Pair*)x)[i];
           float v = p.a + as_type<float>(p.b); float r = i >= 0 && i < n / 2 ? v : 0;""",
        np.where(
            (_INDEX >= 0) & (_INDEX < 50), _X.reshape(50, 2).sum(1)[np.clip(_INDEX, 0, 49)], 0
        ),
    ),
    "halves of a word": (
        """half h = ((const device half*)x)[2 * i + 1]; float v = float(-h);
           float r = i >= 0 && i < n ? v : 0;""",
        _fed(-_X.view(np.float16)[1::2][np.clip(_INDEX, 0, 99)].astype(np.float32)),
    ),
    "bytes": (
        """uchar b = ((const device uchar*)x)[4 * i + 3]; int v = b + 1;
           float r = i >= 0 && i < n ? v : 0;""",
        _fed(_X.view(np.uint8)[3::4][np.clip(_INDEX, 0, 99)] + 1),
    ),
    "threadgroup memory": (
        """threadgroup float tile[64]; tile[thread_position_in_threadgroup.x] = e;
           threadgroup_barrier(mem_flags::mem_threadgroup); int j = i * 1000000;
           float v = tile[j] * 2; float r = j == 0 ? v + 1 : 0;""",
        np.where(_INDEX == 0, _E // 64 * 64 * 2 + 1, 0),
    ),
    "a private array": (
        """float own[8]; for (int k = 0; k < 8; ++k) own[k] = k * s; int j = i * 10000000;
           float v = own[j] * 2; float r = j == 0 ? v + 1 : 0;""",
        np.where(_INDEX == 0, 1.0, 0),
    ),
    "a table": (
        """constexpr int primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
           int j = i * 10000000; int v = -primes[j]; float r = j == 0 ? v : 0;""",
        np.where(_INDEX == 0, -2.0, 0),
    ),
}


def _source(body: str) -> KernelSource:
    inputs = {"x": mx.zeros(_SIZE), "n": mx.array(_SIZE), "s": mx.array(5)}
    return kernel_source(_I + body + "\nout[e] = r;", inputs=inputs)


@pytest.mark.parametrize("width", [32, 1])
@pytest.mark.parametrize("name", _BODIES)
def test_what_nobody_needs_is_not_loaded(name: str, width: int) -> None:
    body, expected = _BODIES[name]
    inputs = [_X, np.array(_SIZE, np.int32), np.array(5, np.int32)]
    with gang_width(width):
        result = run_fenced(_source(body), inputs, np.zeros(_THREADS, _T), (_THREADS, 1, 1))
    np.testing.assert_allclose(result, expected, rtol=1e-6)
