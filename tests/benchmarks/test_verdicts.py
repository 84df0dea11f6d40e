"""What judges passes by kernels of others."""

from __future__ import annotations

from pkgutil import resolve_name

from benchmarks import verdicts
from benchmarks.others import kernels


def test_what_changes_machine_code_has_fired() -> None:
    (kernel,) = (k for k in kernels() if k.name == "matmul_16x16_tiles")
    versions = verdicts.Versions(kernel)
    assert versions.fires("tiles") and not versions.fires("own-sums")
    assert versions.check("tiles") == ""
    assert versions.gain("tiles", 0) > 0


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
