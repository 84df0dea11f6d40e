"""Discrete Fourier transforms of rows, with the steps, threads and tables of MLX's host code.

A length whose prime factors are at most 13 is divided by radices of up to 13. For one larger prime
there is Rader's method, for all else Bluestein's, a convolution of a length that is a power of two.
Lengths above 4,096 take two kernels, for columns and rows. Transforms of real numbers do two rows
at a time. `mem_512` in a name: so many complex numbers fit into the threadgroup's memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.data import (
    DTYPES,
    Array,
    Random,
    Unused,
    array,
    error,
    match,
)
from anymetal.testing.mlx_kernels.families.matrices import threads

#: In the order in which they are tried.
_RADICES = (13, 11, 8, 7, 6, 5, 4, 3, 2)
#: Lengths for which the host code has a number of its own in the place of its rules.
_TUNED = (1982, 3159, 3645, 3969)
_LEAST_MEMORY, _MOST_RADER = 256, 2048
_TABLE = 584  #: entries of the table for 4,096 numbers by radix 8
_TYPE = r"(float|float2|complex32_t)"
#: Errors allowed, relative to the root of the mean square of a row, in epsilons of the type.
_ULPS = {"float32": 64.0, "float16": 32.0}


def _steps(n: int) -> Counter[int]:
    """How many times each radix divides a length; 0 stands for a rest that none divides."""
    small = n < 512 and n & (n - 1) == 0
    found: Counter[int] = Counter()
    for radix in (4, 2) if small else _RADICES:
        while n % radix == 0:
            found[radix] += 1
            n //= radix
    if n > 1:
        found[0] = n
    return found


def _primes(n: int) -> Iterator[int]:
    factor = 2
    while n > 1:
        if n % factor:
            factor += 1
        else:
            yield factor
            n //= factor


@dataclass(frozen=True)
class _Plan:
    """How a transform is divided."""

    kind: str  #: "fft", "rader", "bluestein"
    n: int
    size: int  #: of what radices divide
    stockham: Counter[int]
    rader: Counter[int]
    prime: int = 1

    @staticmethod
    def of(n: int) -> _Plan:
        """That of the host code; ValueError if it takes two kernels for it."""
        large = [prime for prime in _primes(n) if prime not in _RADICES]
        if not large:
            return _Plan("fft", n, n, _steps(n), Counter())
        if n > _MOST_RADER:
            raise ValueError(n)
        if len(large) == 1 and 0 not in (rader := _steps(large[0] - 1)):
            return _Plan("rader", n, n, _steps(n // large[0]), rader, large[0])
        size = 1 << (2 * n - 2).bit_length()
        return _Plan("bluestein", n, size, _steps(size), Counter())

    @property
    def per_thread(self) -> int:
        """Numbers for a thread, by the rules of the host code."""
        used = sorted({*self.stockham, *self.rader})
        if 7 in used and (11 in used or 13 in used):
            return 7
        if 11 in used and 13 in used:
            return 11
        if len(used) == 2 and used[1] in (11, 13):
            return sum(used) // 2
        return used[min(1, len(used) - 1)]

    def rows(self, least: int = 1) -> int:
        """Transforms that a threadgroup does."""
        return max(_LEAST_MEMORY // self.size, least)

    @property
    def memory(self) -> int:
        return 1 << (self.rows() * self.size - 1).bit_length()

    def constants(self, inverse: bool, **more: bool) -> dict[str | int, bool | int]:
        given: dict[str | int, bool | int] = {
            "inv_": inverse,
            "is_power_of_2_": self.size & (self.size - 1) == 0,
            "elems_per_thread_": self.per_thread,
            "rader_m_": self.n // self.prime,
            "use_bluestein_twiddle_table_": False,
        }
        for radix in _RADICES:
            given[f"radix_{radix}_steps_"] = self.stockham[radix]
            given[f"rader_{radix}_steps_"] = self.rader[radix]
        return given | more

    def launch(self, groups: int, rows: int) -> dict[str, Any]:
        return threads((groups, 1, 1), (1, rows, -(-self.size // self.per_thread)))


def _plan(rng: Random, kind: str, memory: int) -> _Plan:
    """One with so much memory."""
    found = []
    for n in range(2, memory + 1):
        try:
            plan = _Plan.of(n)
        except ValueError:
            continue
        if (plan.kind, plan.memory) == (kind, memory) and n not in _TUNED:
            found.append(plan)
    if not found:
        raise Unused("MLX takes Rader's method for lengths of up to 2,048 only")
    return found[int(rng.integers(len(found)))]


def fft(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`rader_fft_mem_512_float_float2`, `four_step_mem_256_float2_float2_1_false`."""
    if name == "generate_bluestein_twiddles":
        got = kernel(_new(_table(), "float2"), grid=_TABLE, threadgroup=_TABLE)[0]
        return error(got, _parts(_table(), "float2"), "float32", 16)
    if name.startswith("four_step"):
        return _four_steps(kernel, name, rng)
    how, memory, taken, given = match(rf"(\w+_)?fft_mem_(\d+)_{_TYPE}_{_TYPE}", name)
    plan = _plan(rng, how.removesuffix("_") or "fft", int(memory))
    real = taken != given
    inverse = given == "float" if real else bool(rng.random() < 0.5)
    rows = plan.rows()
    count = int(rng.integers(1, 2 * rows + 4))
    x, want = _transform(rng, (count, plan.n), real, inverse)
    groups = -(-count // rows)
    tabled = plan.size == 4096 and taken == "float2" == given and bool(rng.random() < 0.5)
    got = kernel(
        _memory(x, taken),
        _new(want, given),
        *_tables(plan, taken == "complex32_t", tabled),
        *([plan.n, plan.size] if plan.kind == "bluestein" else [plan.n]),
        count,
        *([plan.prime] if plan.kind == "rader" else []),
        constants=plan.constants(inverse, use_bluestein_twiddle_table_=tabled),
        **plan.launch(-(-groups // 2) if real else groups, rows),
    )[0]
    return _compared(got, want, given)


def _transform(rng: Random, shape: tuple[int, int], real: bool, inverse: bool) -> tuple[Any, Any]:
    """Numbers, and what becomes of them."""
    x = rng.uniform(-1, 1, shape)
    if real:
        back = np.fft.rfft(x)
        return (back, x) if inverse else (x, back)
    x = x + 1j * rng.uniform(-1, 1, shape)
    return x, (np.fft.ifft if inverse else np.fft.fft)(x)


def _scalar(kind: str) -> str:
    return "float16" if kind == "complex32_t" else "float32"


def _parts(x: Array, kind: str) -> Array:
    """Complex numbers as pairs of real ones."""
    return x if kind == "float" else np.stack([x.real, x.imag], axis=-1)


def _memory(x: Array, kind: str) -> mx.array:
    """Numbers as the kernel has them."""
    return array(_parts(x, kind), _scalar(kind))


def _new(like: Array, kind: str) -> tuple[tuple[int, ...], mx.Dtype]:
    return _parts(like, kind).shape, DTYPES[_scalar(kind)]


def _compared(got: mx.array, want: Array, kind: str) -> float:
    size = np.sqrt((np.abs(want) ** 2).mean(axis=-1, keepdims=True))
    size = np.broadcast_to(np.maximum(size, 2.0**-14), want.shape)
    dtype, want = _scalar(kind), _parts(want, kind)
    return error(got, want, dtype, _ULPS[dtype], size if kind == "float" else size.repeat(2))


def _tables(plan: _Plan, narrow: bool, tabled: bool) -> list[mx.array]:
    """What the host code works out for a plan."""
    kind = "complex32_t" if narrow else "float2"
    if plan.kind == "rader":
        forward, back = _powers(plan.prime)
        waves = np.fft.fft(np.exp(-2j * np.pi * back / plan.prime))
        return [_memory(waves, kind), array(forward, "int16"), array(back, "int16")]
    if plan.kind == "bluestein":
        places = np.arange(1 - plan.n, plan.n)
        chirp = np.exp(1j * np.pi * places**2 / plan.n)
        spectrum = np.fft.fft(np.pad(chirp, (0, plan.size - len(chirp))))
        more = _table() if tabled else []
        return [_memory(np.append(spectrum, more), kind), _memory(chirp[plan.n - 1 :].conj(), kind)]
    return []


def _table() -> Array:
    """The factors of three steps by radix 8, one behind the other."""
    return np.concatenate([np.exp(-2j * np.pi * np.arange(p) / (8 * p)) for p in (8, 64, 512)])


def _powers(prime: int) -> tuple[Array, Array]:
    """Those of the least primitive root of a prime, and of its inverse."""
    factors = set(_primes(prime - 1))
    root = next(
        r for r in range(2, prime) if all(pow(r, (prime - 1) // f, prime) > 1 for f in factors)
    )
    powers = np.array([pow(root, i, prime) for i in range(prime - 1)])
    return powers, np.roll(powers[::-1], 1)


# --- two kernels for one transform ---------------------------------------------------------------


def _four_steps(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """A matrix of n1 rows and n2 columns: first its columns, times a factor for each number, then
    its rows, which are the columns of the result."""
    memory, taken, given, step, real_ = match(
        rf"four_step_mem_(\d+)_{_TYPE}_{_TYPE}_([01])_(true|false)", name
    )
    real, first = real_ == "true", step == "0"
    plan = _Plan.of(int(memory) // 4)
    n1, n2 = (plan.n, 64) if first else (128, plan.n)
    if real:
        inverse = (taken, given) == ("float2", "float2" if first else "float")
    else:
        inverse = bool(rng.random() < 0.5)
    count, rows = 2, plan.rows(4)
    x, want = (_columns if first else _rows)(rng, (count, n1, n2), real, inverse, taken)
    transforms = count * (n2 if first else n1)
    got = kernel(
        _memory(x, taken),
        _new(want, given),
        n1,
        n2,
        transforms,
        constants=plan.constants(inverse),
        **plan.launch(transforms // rows, rows),
    )[0]
    return _compared(got, want, given)


def _complex(rng: Random, shape: tuple[int, ...]) -> Array:
    return rng.uniform(-1, 1, shape) + 1j * rng.uniform(-1, 1, shape)


def _columns(
    rng: Random, shape: tuple[int, int, int], real: bool, inverse: bool, taken: str
) -> tuple[Array, Array]:
    """Inverse transforms begin with the conjugate; of one that will be real there is half."""
    count, n1, n2 = shape
    x: Array
    if real and inverse:
        x = np.fft.rfft(rng.uniform(-1, 1, (count, n1 * n2)))
        whole = np.concatenate([x, x[:, -2:0:-1].conj()], axis=1)
    else:
        x = whole = rng.uniform(-1, 1, shape) if taken == "float" else _complex(rng, shape)
    columns = np.fft.fft((whole.conj() if inverse else whole).reshape(shape), axis=1)
    turns = np.arange(n1)[:, None] * np.arange(n2) / (n1 * n2)
    want = columns * np.exp(-2j * np.pi * turns)
    if inverse and taken == "complex32_t":
        want = want / n1
    return x, want.reshape(count, -1)


def _rows(
    rng: Random, shape: tuple[int, int, int], real: bool, inverse: bool, taken: str
) -> tuple[Array, Array]:
    """Inverse transforms end with the conjugate, and are divided by the length."""
    count, n1, n2 = shape
    x = _complex(rng, shape)
    want = np.fft.fft(x, axis=2).swapaxes(1, 2).reshape(count, -1)
    if inverse:
        want = want.conj() / (n2 if taken == "complex32_t" else n1 * n2)
    if not real:
        return x, want
    return x, want.real if inverse else want[:, : n1 * n2 // 2 + 1]
