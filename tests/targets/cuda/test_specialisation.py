"""Versions with a launch's sizes compiled in, as far as they can be seen without a GPU."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator

import mlx.core as mx
import pytest

import anymetal
from anymetal import targets
from anymetal.targets import versions
from anymetal.targets.base import Launch
from anymetal.targets.cuda import specialisation
from anymetal.targets.cuda.code_lookup import Version, texts_of
from anymetal.targets.cuda.launch import CudaTarget

_FLAT = """
    uint i = thread_position_in_grid.x;
    int columns = x_shape[1];
    y[i] = x[i / columns * columns] + x[i % columns] + s;
"""
_PLAIN = "uint i = thread_position_in_grid.x; y[i] = x[i] * s;"


class _Spy(CudaTarget):
    def __init__(self) -> None:
        super().__init__("sm_80")
        self.seen: list[Launch] = []

    def run(self, launch: Launch) -> list[mx.array]:
        self.seen.append(launch)
        return [mx.zeros(shape) for shape in launch.output_shapes]

    def keep(self, cache: object, launch: Launch, call: object) -> None:
        return None


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Spy]:
    monkeypatch.setattr(targets, "has_cuda", lambda: True)
    monkeypatch.setattr(targets, "is_of_cpu", lambda s: s is not None and s == mx.cpu)
    spy = _Spy()
    targets.select(spy)
    yield spy
    targets.select(None)


def _launch(spy: _Spy, source: str, shape: tuple[int, int]) -> Launch:
    kernel = anymetal.metal_kernel(
        name="flat", input_names=["x", "s"], output_names=["y"], source=source
    )
    kernel(
        inputs=[mx.zeros(shape), 2.0], output_shapes=[shape], output_dtypes=[mx.float32],
        grid=(shape[0] * shape[1], 1, 1), threadgroup=(64, 1, 1),
    )  # fmt: skip
    return spy.seen[-1]


def test_what_is_known(spy: _Spy) -> None:
    launch = _launch(spy, _FLAT, (6, 40))
    known = specialisation.known_of(launch)
    assert known and (known.grid, known.group) == ((240, 1, 1), (64, 1, 1))
    (shape,) = known.contents
    assert shape.name == "x_shape" and shape.held == struct.pack("ii", 6, 40)


def test_a_kernel_that_asks_for_no_size_has_no_versions(spy: _Spy) -> None:
    launch = _launch(spy, _PLAIN, (6, 40))
    assert specialisation.known_of(launch) is None


def test_divisions_by_sizes_are_gone(spy: _Spy) -> None:
    launch = _launch(spy, _FLAT, (6, 40))
    known = specialisation.known_of(launch)
    general, special = (
        texts_of(Version(launch.source, "sm_80", known=one))[1] for one in (None, known)
    )
    assert "div.u32" in general and "div.u32" not in special
    assert general.split("{")[0] == special.split("{")[0]  # they are called alike


def test_a_version_comes_in_the_background_and_there_are_few(
    spy: _Spy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "MOST_VERSIONS", 2)
    launch = _launch(spy, _FLAT.replace("+ s", "- s"), (6, 40))
    texts: list[bytes] = []
    for rows in (6, 7, 8):
        came = threading.Event()
        grown = _launch(spy, _FLAT.replace("+ s", "- s"), (rows, 40))
        assert grown.source == launch.source
        known = specialisation.known_of(grown)

        def take(text: bytes, came: threading.Event = came) -> None:
            texts.append(text)
            came.set()

        version = Version(launch.source, "sm_80", known=known)
        specialisation.Special().wanted(version, take)
        assert came.wait(60 if rows < 8 else 0.2) == (rows < 8)
    assert len(texts) == 2 and b"div.u32" not in texts[0]


def test_all_who_asked_get_the_version(spy: _Spy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(specialisation, "_ENOUGH", 3)
    launch = _launch(spy, _FLAT.replace("+ s", "* s"), (6, 40))
    version = Version(launch.source, "sm_80", known=specialisation.known_of(launch))
    special, came = specialisation.Special(), threading.Event()
    special.called(version)
    special.called(version)
    assert not special._begun
    special.called(version)
    special.wanted(version, lambda text: came.set())
    assert came.wait(60) and special.text
    again: list[bytes] = []
    special.wanted(version, again.append)
    assert again == [special.text]


def test_nobody_waits_for_a_version_that_never_comes(
    spy: _Spy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "MOST_VERSIONS", 0)
    launch = _launch(spy, _FLAT.replace("+ s", "/ s"), (6, 40))
    version = Version(launch.source, "sm_80", known=specialisation.known_of(launch))
    special = specialisation.Special()
    for _ in range(3):
        special.wanted(version, lambda text: pytest.fail("there is no version"))
    assert special.text is None and not special._waiting
