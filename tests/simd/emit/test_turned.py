"""Lanes whose elements lie before each other: one access, turned around."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from mlx import core as mx

from anymetal.testing.fenced import run_fenced
from tests.frontend.kernels import kernel_source

Array = npt.NDArray[Any]

_TYPES = ["bool_", "uint8", "int16", "float16", "uint32", "float32", "int64"]
#: Conditions under which lanes take part, and the same in NumPy, of threads and what they load.
_WHERE: dict[str, tuple[str, Callable[[Array, Array], Array]]] = {
    "all": ("true", lambda i, x: i >= 0),
    "the last lanes": ("i % 32 > 11", lambda i, x: i % 32 > 11),
    "by the data": ("int(x[i]) % 3 == 1", lambda i, x: x.astype(np.int64) % 3 == 1),
}
_LOAD, _STORE = "out[i] = x[n - 1 - i]", "out[n - 1 - i] = x[i]"


@pytest.mark.parametrize("where", _WHERE)
@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("statement", [_LOAD, _STORE])
def test_turned_around(statement: str, dtype: str, where: str) -> None:
    """All of an array between fences, for sizes in which gangs lack lanes or none."""
    condition, active = _WHERE[where]
    for size in (1, 31, 64, 300):
        body = f"int i = thread_position_in_grid.x, n = {size}; if ({condition}) {statement};"
        kind = getattr(mx, dtype)
        source = kernel_source(body, inputs={"x": mx.zeros(size, kind)}, outputs={"out": kind})
        random = np.random.default_rng(size)
        x, out = (random.integers(0, 2 if dtype == "bool_" else 99, size) for _ in range(2))
        x, out = x.astype(dtype), out.astype(dtype)
        found = run_fenced(source, [x], out, (size, 1, 1))
        i = np.arange(size)
        takes_part = active(i, x)
        expected = out.copy()
        if statement is _LOAD:
            expected[takes_part] = x[::-1][takes_part]
        else:
            expected[::-1][takes_part] = x[takes_part]
        np.testing.assert_array_equal(found, expected)
