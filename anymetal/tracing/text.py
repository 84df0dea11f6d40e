"""The steps of a thread as lines of text."""

from __future__ import annotations

import contextlib
import math
import struct
from collections.abc import Iterator, Sequence

from anymetal.frontend.dialect import parts_as_written
from anymetal.frontend.variables import Scalar
from anymetal.source import KernelSource
from anymetal.targets.cpu.traced import Step

_WIDEST = 60  #: of the text of a line, behind which values stand


def lines_of(source: KernelSource, steps: Sequence[Step]) -> Iterator[str]:
    """A line for each time that the thread comes to a line of the text."""
    visits = list(_visits(steps))
    shown = _shown(source, {(one.part, one.line) for one in visits})
    width = min(_WIDEST, max(map(len, shown.values()), default=0))
    several = len({one.part for one in visits}) > 1
    for one in visits:
        where = f"{one.part.rsplit('/', 1)[-1]}:{one.line}" if several else str(one.line)
        text = f"{where:>{14 if several else 5}}  {shown[one.part, one.line]:{width}}"
        yield f"{text}  {', '.join(one.told)}".rstrip()


class _Visit:
    """The thread is in a line."""

    def __init__(self, part: str, line: int) -> None:
        self.part, self.line = part, line
        self.seen: set[int] = set()  #: sites, by identity: some are alike
        self.values: list[str] = []
        self.condition = ""  #: the last one, which decides where the thread goes

    @property
    def told(self) -> list[str]:
        return [*self.values, *filter(None, [self.condition])]


def _visits(steps: Sequence[Step]) -> Iterator[_Visit]:
    held: dict[tuple[str, str], str] = {}
    here: _Visit | None = None
    for site, bits in steps:
        if here is None or (here.part, here.line) != site[1:3] or id(site) in here.seen:
            if here is not None:
                yield here
            here = _Visit(site.part, site.line)
        here.seen.add(id(site))
        if site.what == "condition":
            here.condition = "true" if bits[0] & 1 else "false"
        elif site.what != "line":
            name = site.name + "".join(f"[{_signed(one, 8)}]" for one in bits[: site.indices])
            new = _value(site.scalars, bits[site.indices :])
            if site.what == "value" and not (
                site.perhaps and held.get((site.variable, name)) == new
            ):
                if site.perhaps and here.values and here.values[-1].startswith(f"{name} = "):
                    here.values.pop()  # while it was put together
                here.values.append(f"{name} = {new}" if new else f"{name} is set")
            held[site.variable, name] = new
    if here is not None:
        yield here


def _value(scalars: Sequence[Scalar], bits: Sequence[int]) -> str:
    numbers = [_number(*pair) for pair in zip(scalars, bits, strict=False)]
    if len(numbers) == 1 and not scalars[0].path:
        return numbers[0]
    if all(one.path in (".x", ".y", ".z", ".w") for one in scalars):
        return f"({', '.join(numbers)})" if numbers else ""
    if all(one.path == f"[{i}]" for i, one in enumerate(scalars)):
        return f"{{{', '.join(numbers)}}}"
    named = (f"{one.path} {number}" for one, number in zip(scalars, numbers, strict=False))
    return f"{{{', '.join(named)}}}"


def _number(scalar: Scalar, bits: int) -> str:
    if scalar.kind == "boolean":
        return "true" if bits & 1 else "false"
    if scalar.kind == "signed":
        return str(_signed(bits, scalar.size))
    if scalar.kind == "bfloat":
        return _float("<f", (bits & 0xFFFF) << 16, 4)
    if scalar.kind == "float":
        return _float({2: "<e", 4: "<f"}.get(scalar.size, "<d"), bits, scalar.size)
    return str(bits & ((1 << 8 * scalar.size) - 1))


def _float(form: str, bits: int, size: int) -> str:
    """As many digits as tell it from its neighbours."""
    (number,) = struct.unpack(form, (bits & ((1 << 8 * size) - 1)).to_bytes(size, "little"))
    if not math.isfinite(number):
        return str(number)
    for digits in range(1, 17):
        short = float(f"{number:.{digits}g}")
        with contextlib.suppress(OverflowError):  # rounded up to what is none any more
            if struct.pack(form, short) == struct.pack(form, number):
                return repr(short).removesuffix(".0")
    return repr(number)


def _signed(bits: int, size: int) -> int:
    bits &= (1 << 8 * size) - 1
    return bits - (1 << 8 * size) if bits >> (8 * size - 1) else bits


def _shown(source: KernelSource, places: set[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """The lines at these places, without what all lines of a part are indented by."""
    found: dict[tuple[str, int], str] = {}
    for part, text in parts_as_written(source).items():
        lines = text.split("\n")
        mine = {
            number: lines[number - 1].rstrip().expandtabs(4)
            for where, number in places
            if where == part
        }
        margin = min((len(one) - len(one.lstrip()) for one in mine.values() if one), default=0)
        found |= {(part, number): line[margin:] for number, line in mine.items()}
    return found
