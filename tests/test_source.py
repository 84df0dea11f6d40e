"""Sources of kernels are values: equal ones are the same kernel."""

from __future__ import annotations

import pickle
from weakref import ref

import pytest

from anymetal.source import KernelSource, LibrarySource, Parameter

_X = Parameter("x", "input", 0, "const device float* x")
_ONE = KernelSource("k", "custom_kernel_k", "", "x[0];", (_X,), (), "", "")
_FILE = LibrarySource("k", "k", "text", "", (_X,), (), "", "", file="a.metal", before="", after="f")


def test_equal_sources_are_one() -> None:
    same = _ONE.replaced(header="h").replaced(header="")
    assert same == _ONE and hash(same) == hash(_ONE) and same is not _ONE
    assert _ONE.replaced(body="x[1];") != _ONE
    assert KernelSource("k", "k", "text", "", (_X,), (), "", "") != _FILE


@pytest.mark.parametrize("source", [_ONE, _FILE])
def test_another_process_has_the_same(source: KernelSource) -> None:
    copy = pickle.loads(pickle.dumps(source))
    assert (copy, repr(copy), ref(copy)()) == (source, repr(source), source)
    assert f"parameters={source.parameters!r}" in repr(source)


def test_a_source_does_not_change() -> None:
    with pytest.raises(AttributeError, match="does not change: body"):
        _ONE.body = ""
    assert _ONE.body == "x[0];"
