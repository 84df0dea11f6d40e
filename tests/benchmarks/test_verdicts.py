"""What judges passes by kernels of others."""

from __future__ import annotations

from pkgutil import resolve_name

import pytest

from benchmarks import verdicts
from benchmarks.others import kernels


def test_what_changes_machine_code_has_fired() -> None:
    (kernel,) = (k for k in kernels() if k.name == "matmul_16x16_tiles")
    versions = verdicts.Versions(kernel)
    assert versions.fires("tiles")
    assert not versions.fires("own-sums")  # a way of generating code
    assert not versions.fires("keep-memory-order")  # a pass
    assert versions.check("tiles") == ""
    assert versions.gain("tiles", 0) > 0


@pytest.mark.parametrize("name", ["layer_norm_thread_row_vjp", "fft_256_threadgroup"])
def test_kernels_compile_without_each_switch_and_give_the_same(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (kernel,) = (k for k in kernels() if k.name == name)
    switches = [*verdicts.patches(), *verdicts.passes()]
    gains = verdicts.measure(kernel, switches, 0)
    assert "nothing" in gains and 2 <= len(gains) < len(switches)
    assert "differs" not in capsys.readouterr().err


def test_every_kernel_has_a_name_of_its_own() -> None:
    names = [kernel.name for kernel in kernels()]
    assert len(names) == len(set(names)) > 100


def test_means_are_taken_where_a_switch_fires() -> None:
    found = {"a": {"x": 2.0}, "b": {"x": 0.5}, "c": {"y": 1.1}}
    *_, line = verdicts.table(found, ["x"]).splitlines()
    assert line == "| `x` | 2 of 3 | 1.000 | 2.00 `a` | 0.50 `b` |"


def test_what_is_replaced_is_there() -> None:
    for replaced in verdicts.patches().values():
        for name, _ in replaced:
            place, _, function = name.rpartition(".")
            assert callable(getattr(resolve_name(place), function))
