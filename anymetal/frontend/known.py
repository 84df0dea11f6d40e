"""What is known of launches when a version is made for them alone: LLVM computes with it.

    define void @__am_kernel(ptr %x, ptr %x_shape, ptr %y)
      store ptr %x_shape, ptr %x_shape.addr
    declare i32 @__am_grid_x()

becomes, for an `x` of shape (512, 64) and a grid of 32768 threads,

    @am.known.1 = internal constant [8 x i32] [i32 512, i32 64, i32 0, …]
      store ptr @am.known.1, ptr %x_shape.addr
    define internal i32 @__am_grid_x() alwaysinline { ret i32 32768 }

The parameters stay, so that all versions of a kernel are called alike.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from anymetal.frontend.unit import KERNEL_SYMBOL
from anymetal.ir.calls import IN_THREADGROUP, in_threadgroup
from anymetal.ir.sizes import DESCRIPTION_BYTES, SIMD_GROUP

Extent = tuple[int, int, int]


class Content(NamedTuple):
    """What a buffer holds that no thread writes."""

    slot: int  #: the position of its parameter
    name: str  #: the user's name of that
    held: bytes


class Known(NamedTuple):
    """Facts that a version relies on."""

    grid: Extent
    group: Extent  #: threads per threadgroup, where nothing cuts it short
    contents: tuple[Content, ...]
    #: If no buffer that is written shares memory with another one: positions of the others.
    apart: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The facts in words."""
        sizes = [
            f"{name} {' x '.join(map(str, self[i]))}" for i, name in enumerate(self._fields[:2])
        ]
        values = [f"{name} = {' '.join(map(str, _words(held)))}" for _, name, held in self.contents]
        apart = ["outputs apart"] * bool(self.apart)
        return ", ".join([*sizes, *values, *apart])

    def undivided(self) -> Known:
        """The same launch in one threadgroup."""
        return self._replace(group=self.grid)

    def limits(self) -> dict[str, int]:
        """How many values positions have at most, by the function that gives them."""
        gangs = -(-self.group[0] * self.group[1] * self.group[2] // SIMD_GROUP)
        limits = {**IN_THREADGROUP, "__am_gang": gangs}
        for axis, threads, size in zip("xyz", self.grid, self.group, strict=True):
            limits[f"__am_thread_{axis}"] = size
            limits[f"__am_group_{axis}"] = -(-threads // size)
        return limits


def limits_of(known: Known | None, threads: int) -> dict[str, int]:
    """How many values positions have at most where a threadgroup has at most so many threads, and
    perhaps more is known."""
    return known.limits() if known else in_threadgroup(threads)


def with_known(raw: str, known: Known) -> str:
    """Clang's text of a kernel for launches of which so much is known."""
    text, constants, parameters = raw, [], _parameters(raw)
    for slot in known.apart:
        name = re.escape(parameters[slot])
        text = re.sub(rf"\bptr noundef( {name}[,)])", r"ptr noalias noundef\1", text, count=1)
    for slot, _, held in known.contents:
        # Clang stores each parameter first of all, and nowhere else.
        pattern = rf"^( *store ptr ){re.escape(parameters[slot])}(, )"
        text, count = re.subn(pattern, rf"\1@am.known.{slot}\2", text, count=1, flags=re.M)
        if count:
            constants.append(f"@am.known.{slot} = internal constant {_array(held)}, align 16\n")
    for function, value in _sizes(known).items():
        text = re.sub(
            rf"^declare (.*)i32 @{function}\(\).*$",
            f"define internal i32 @{function}() alwaysinline {{ ret i32 {value} }}",
            text,
            flags=re.M,
        )
    return text + "\n" + "".join(constants)


def _parameters(raw: str) -> list[str]:
    """Clang's names for the parameters of the kernel: `%x`, `%0` in Metal libraries, and in quotes
    with other letters than those of ASCII."""
    (declared,) = re.findall(rf"^define [^\n]*@{KERNEL_SYMBOL}\(([^\n]*)\) ", raw, re.M)
    return re.findall(r'(%(?:"[^"]*"|[\w.]+))(?=,|$)', declared)


def _sizes(known: Known) -> dict[str, int]:
    """Sizes that are the same for all threads, by the function that gives them."""
    sizes = {}
    for axis, threads, size in zip("xyz", known.grid, known.group, strict=True):
        sizes[f"__am_grid_{axis}"] = threads
        sizes[f"__am_full_size_{axis}"] = size
        if threads % size == 0:
            sizes[f"__am_size_{axis}"] = size
    return sizes


def _words(contents: bytes) -> list[int]:
    """Integers of 4 bytes; what is shorter is filled up with zeros."""
    whole = contents.ljust(-(-len(contents) // 4) * 4, b"\0")
    parts = (whole[i : i + 4] for i in range(0, len(whole), 4))
    return [int.from_bytes(part, "little", signed=True) for part in parts]


def _array(contents: bytes) -> str:
    """An LLVM constant, as long as what kernels may read of a description."""
    words = _words(contents.ljust(DESCRIPTION_BYTES, b"\0"))
    return f"[{len(words)} x i32] [{', '.join(f'i32 {word}' for word in words)}]"
