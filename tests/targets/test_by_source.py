"""What is kept of a kernel goes with it."""

import gc

from anymetal.targets.by_source import BySource
from tests.frontend.kernels import kernel_source


def test_what_is_kept_goes_with_its_source() -> None:
    known: BySource[int, str] = BySource()
    first, second = (kernel_source("y[0] = 1;") for _ in range(2))
    assert first == second
    known.keep(known.of(first), 1, "one")
    known.keep(known.of(second), 1, "other")
    assert (known.of(first), known.of(second)) == ({1: "one"}, {1: "other"})
    del first
    gc.collect()
    assert len(known._known) == 1 and known.of(second) == {1: "other"}
