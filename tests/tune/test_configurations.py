"""`autotune`: what is tried, what is kept, and what a call gets."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.tune import configurations as module

_scale = anymetal.metal_kernel(
    name="scale",
    input_names=["x"],
    output_names=["y"],
    source="uint i = thread_position_in_grid.x; y[i] = FACTOR * x[i];",
)


def _launch(x, factor=2, width=64):
    return _scale(
        inputs=[x],
        template=[("FACTOR", factor)],
        grid=(x.size, 1, 1),
        threadgroup=(width, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[x.dtype],
    )[0]


@pytest.fixture(autouse=True)
def _folder(monkeypatch, tmp_path):
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path))


@pytest.fixture
def races(monkeypatch):
    """Who took part in races; the last one wins."""
    seen = []

    def race(right, seconds, clock):
        seen.append(list(right))
        for run in right.values():
            run()
        return [_Timing(name, len(right) - place) for place, name in enumerate(right)]

    monkeypatch.setattr(module, "race", race)
    monkeypatch.setattr(module, "relative_times", lambda all_: {t.name: t.seconds for t in all_})
    return seen


class _Timing:
    def __init__(self, name, seconds):
        self.name, self.seconds = name, float(seconds)


def _doubling(configs, **options):
    @anymetal.autotune(configs, seconds=0.01, **options)
    def double(x, *, width, factor=2):
        return _launch(x, factor, width)

    return double


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.int32, mx.uint8])
@pytest.mark.parametrize("size", [1, 77, 0])
def test_results_are_those_of_the_function(dtype, size):
    double = _doubling([{"width": 32}, {"width": 256}])
    x = mx.arange(size).astype(dtype)
    assert np.array_equal(np.array(double(x)), np.array(2 * x))
    (entry,) = double.entries()
    assert set(entry.seconds) == {"width=32", "width=256"}
    assert entry.case == f"x=({size},) {str(dtype).rpartition('.')[2]}, factor=None"


def test_each_key_is_measured_once(races):
    double = _doubling([{"width": 32}, {"width": 64}], key=["x"])
    for _ in range(3):
        double(mx.ones(5))
        double(mx.ones(6))
        double(mx.ones(6, dtype=mx.float16))
    assert races == [["width=32", "width=64"]] * 3
    assert double.best(mx.ones(5)) == {"width": 64}


def test_values_are_keys_too(races):
    @anymetal.autotune([{"width": 32}])
    def scaled(x, factor, names=(), *, width):
        return _launch(x, factor, width)

    x = mx.ones(5)
    for factor in (2, 3, 2):
        assert scaled(x, factor).sum().item() == 5 * factor
        scaled(x, factor=factor, names=[x, x])
    assert len(races) == 4
    cases = [entry.case for entry in scaled.entries()]
    assert cases[1] == "x=(5,) float32, factor=2, names=[(5,) float32, (5,) float32]"


def test_another_process_finds_what_was_measured(races):
    x = mx.ones(5)
    _doubling([{"width": 32}, {"width": 64}])(x)
    again = _doubling([{"width": 32}, {"width": 64}])
    assert again.best(x) == {"width": 64}
    assert len(races) == 1


def test_other_configurations_or_kernels_are_measured_anew(races):
    def tuned(kernel, widths):
        @anymetal.autotune([{"width": width} for width in widths])
        def run(x, *, width):
            return kernel(
                inputs=[x],
                template=[("FACTOR", 2)],
                grid=(x.size, 1, 1),
                threadgroup=(width, 1, 1),
                output_shapes=[x.shape],
                output_dtypes=[x.dtype],
            )

        return run

    other = anymetal.metal_kernel(
        name="scale",
        input_names=["x"],
        output_names=["y"],
        source="uint i = thread_position_in_grid.x; y[i] = x[i] * FACTOR;",
    )
    x = mx.ones(5)
    for kernel, widths in ((_scale, [32]), (_scale, [32]), (_scale, [64]), (other, [32])):
        tuned(kernel, widths)(x)
    assert len(races) == 3


def test_wrong_pruned_and_failing_configurations_are_left_out(races):
    configs = [
        {"width": width, "factor": factor} for width, factor in ((64, 2), (32, 3), (9999, 2))
    ]
    double = _doubling(
        [*configs, {"width": 1, "factor": 2}], prune=lambda x, width, factor: width > 1
    )
    x = mx.ones(5)
    assert double(x).sum().item() == 10
    (entry,) = double.entries()
    assert races == [["width=64, factor=2"]]
    assert entry.wrong["width=32, factor=3"].startswith("the relative error is 5.0e-01")
    assert "9999" in entry.wrong["width=9999, factor=2"]
    assert entry.wrong["width=1, factor=2"] == "pruned"


def test_a_reference_says_what_is_right(races):
    configs = [{"width": 32, "factor": 2}, {"width": 32, "factor": 3}]
    assert _doubling(configs, reference=lambda x: 3 * x).best(mx.ones(5)) == configs[1]
    none = _doubling(configs, reference=lambda x: 4 * x)
    with pytest.raises(
        ValueError, match=r"\[autotune\] double, x=\(5,\) float32: none works.\n  w"
    ):
        none(mx.ones(5))
    with pytest.raises(ValueError, match="there are 1 arrays instead of 2"):
        _doubling(configs, reference=lambda x: [x, x])(mx.ones(5))


def test_who_gives_tuned_values_gets_them(races):
    double = _doubling([{"width": 32}])
    assert double(mx.ones(3), width=1).sum().item() == 6
    assert not races


def test_nothing_is_measured_in_transformations(races, capfd, monkeypatch):
    monkeypatch.setenv("ANYMETAL_DEBUG", "1")
    double = _doubling([{"width": 32}, {"width": 64}])
    compiled = mx.compile(double)
    x = mx.ones(3)
    assert compiled(x).sum().item() == 6
    assert not races
    assert "double x=(3,) float32, factor=None: width=32 (not measured)" in capfd.readouterr().err
    double(x)
    assert races
    assert mx.compile(lambda x: double(x) + 0)(x).sum().item() == 6
    assert "width=64 (measured here)" in capfd.readouterr().err


def test_measuring_can_be_switched_off(races, monkeypatch):
    monkeypatch.setenv("ANYMETAL_AUTOTUNE", "0")
    double = _doubling([{"width": 32}, {"width": 64}])
    assert double.best(mx.ones(3)) == {"width": 32}
    monkeypatch.delenv("ANYMETAL_AUTOTUNE")
    assert double.best(mx.ones(3)) == {"width": 64}


@pytest.mark.parametrize(
    "configs, key, message",
    [
        ([], None, "at least one configuration"),
        ([{}], None, "at least one configuration"),
        ([{"width": 1}, {"factor": 1}], None, "factor=1 has others than width=1"),
        ([{"with": 1}], None, "`double` has no parameter 'with'; it has: x, width, factor"),
        ([{"x": 1}], None, "must take its tuned parameters behind"),
        ([{"width": 1, "factor": 2}], ["width"], "`key` names 'width'.*there are: x"),
        ([{"width": 1, "factor": 2}], "x", "must be a list of names, not 'x'"),
    ],
)
def test_wrong_arguments(configs, key, message):
    with pytest.raises(ValueError, match=message):

        @anymetal.autotune(configs, key=key)
        def double(x, width, factor):
            raise AssertionError
