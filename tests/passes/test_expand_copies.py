"""Copies and fills of constant size become loads and stores."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.ir import types as t
from anymetal.ir.spec import Stage
from anymetal.passes import expand_copies
from tests.ir.programs import ops, program
from tests.passes.semantics import assert_same

_PASS = [(expand_copies.run, Stage.SCALAR)]
_COPY = "call void @llvm.mem{kind}.p0.p0.i64(ptr {to}, ptr {source}, i64 {bytes}, i1 false)"
_FILL = "call void @llvm.memset.p0.i64(ptr {to}, i8 {byte}, i64 {bytes}, i1 false)"


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 7, 8, 16, 31, 200])
def test_copies(size: int) -> None:
    line = _COPY.format(kind="cpy", to="%out", source="%a", bytes=size)
    after = assert_same(f"{line}\nret void", _PASS)
    assert "call" not in ops(after)


@pytest.mark.parametrize(("source", "target"), [(0, 4), (4, 0), (0, 1), (1, 0), (3, 3)])
def test_moves_may_overlap(source: int, target: int) -> None:
    line = _COPY.format(kind="move", to="%to", source="%from", bytes=13)
    assert_same(
        f"""
        %from = getelementptr i8, ptr %out, i64 {source}
        %to = getelementptr i8, ptr %out, i64 {target}
        {_COPY.format(kind="cpy", to="%out", source="%a", bytes=32)}
        {line}
        ret void
        """,
        _PASS,
    )


@pytest.mark.parametrize("byte", [0, 1, 127, -1, -128])
@pytest.mark.parametrize("size", [1, 3, 4, 10, 64])
def test_fills(byte: int, size: int) -> None:
    after = assert_same(f"{_FILL.format(to='%out', byte=byte, bytes=size)}\nret void", _PASS)
    assert "call" not in ops(after)


@pytest.mark.parametrize("bits", [24, 40, 48, 56])
def test_odd_sizes_are_put_together(bits: int) -> None:
    after = assert_same(
        f"""
        %x = load i{bits}, ptr %a, align 1
        %y = add i{bits} %x, 12345678
        %to = getelementptr i8, ptr %out, i64 3
        store i{bits} %y, ptr %to, align 1
        ret void
        """,
        _PASS,
    )
    sizes = {i.type.size for i in after.instructions() if i.op == "load"}
    assert sizes <= {1, 2, 4}


def test_pieces_are_words() -> None:
    """Four bytes each, as most elements are: then private arrays can be interleaved."""
    copy = program(f"{_COPY.format(kind='cpy', to='%out', source='%a', bytes=11)}\nret void")
    expand_copies.run(Analyses(copy))
    stored = [i.operands[0].type for i in copy.instructions() if i.op == "store"]
    assert stored == [t.I32, t.I32, t.I16, t.I8]
    assert ops(copy).index("store") > max(n for n, op in enumerate(ops(copy)) if op == "load")


@pytest.mark.parametrize(
    "lines",
    [
        _COPY.format(kind="cpy", to="%out", source="%a", bytes=expand_copies.LIMIT + 1),
        "%n = load i64, ptr %a\n" + _COPY.format(kind="cpy", to="%out", source="%a", bytes="%n"),
        "%b = load i8, ptr %a\n" + _FILL.format(to="%out", byte="%b", bytes=8),
    ],
)
def test_large_and_variable_ones_stay_calls(lines: str) -> None:
    read = program(f"{lines}\nret void")
    before = ops(read)
    expand_copies.run(Analyses(read))
    assert ops(read) == before
