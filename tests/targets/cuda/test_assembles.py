"""PTX of the `.metal` cases passes NVIDIA's assembler; what does not become PTX is in a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from anymetal.errors import UnsupportedFeatureError
from anymetal.source import KernelSource
from anymetal.targets.cuda import compiler
from anymetal.testing.gpu_suite.pack import case_trials
from tests.targets.cuda.ptxas import assemble
from tests.targets.cuda.registers import without_values

_KERNELS = Path(__file__).parents[2] / "kernels"
#: Why cases do not become PTX, by the beginnings of their names.
_REFUSED = {
    "logging/around_a_barrier": "os_log",
    "logging/in_a_branch": "os_log",
    "logging/in_a_loop": "os_log",
    "logging/loggers": "os_log",
}
_SAMPLE = [
    "algorithms/bitonic_sort",
    "atomics/ulong_min_max",
    "attributes/ragged_sizes",
    "bfloat/one_argument_precise",
    "control/counter_at_the_head_of_a_divergent_loop",
    "half/rounds_after_each_operation",
    "matrix/multiply_accumulate",
    "quads/under_mask",
    "simd/scan_under_divergence",
    "strided/elem_to_loc",
]
_ALL = [str(path.relative_to(_KERNELS))[: -len(".metal")] for path in _KERNELS.rglob("*.metal")]


def _sources(name: str) -> list[KernelSource]:
    return [launch.source for _, launch, _ in case_trials([_KERNELS / f"{name}.metal"], False)]


@pytest.mark.parametrize("name", _SAMPLE)
def test_sample(name: str) -> None:
    for source in _sources(name):
        text = compiler.compiled(source, "sm_80")
        assert not without_values(text)
        assemble(text, "sm_80")


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("name", sorted(_ALL))
def test_every_case(name: str, architecture: str) -> None:
    for source in _sources(name):
        if name in _REFUSED:
            with pytest.raises(UnsupportedFeatureError, match=_REFUSED[name]):
                compiler.compiled(source, architecture)
        else:
            assemble(compiler.compiled(source, architecture), architecture)


@pytest.mark.parametrize("name", sorted(_REFUSED))
def test_what_is_refused(name: str) -> None:
    (source,) = _sources(name)
    with pytest.raises(UnsupportedFeatureError, match=_REFUSED[name]):
        compiler.compiled(source, "sm_80")
