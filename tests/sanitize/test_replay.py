"""Replay files: they have all that a launch needs, and nothing else is read as one."""

from __future__ import annotations

from pathlib import Path

import mlx.core as mx
import pytest

import anymetal
from anymetal.sanitizer import replay
from anymetal.sanitizer.execution import run
from anymetal.sanitizer.replay import Job
from anymetal.sanitizer.session import Options, Session
from tests.sanitize.fake import finding, raw, twice

X = mx.arange(8.0)


def replayed(path: Path) -> tuple[Job, Options, Session, list[object]]:
    job, options, _ = replay.load(path)
    session = Session(options)
    return job, options, session, run(job, session, None)


def test_a_launch_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "one.safetensors"
    with finding(raw("bounds-read")):
        with anymetal.sanitize("report", replay=file, order="shuffle", seed=5) as found:
            twice()(X)
        assert any(str(file) in note for note in found.notes)
        job, options, session, (y,) = replayed(file)
    assert (job.grid, job.threadgroup) == ((8, 1, 1), (32, 1, 1))
    assert job.inputs[0].tolist() == X.tolist()
    assert (options.order, options.seed, options.replay) == ("shuffle", 5, None)
    assert y.tolist() == (2 * X).tolist()  # type: ignore[attr-defined]
    assert [one.code for one in session.findings] == [one.code for one in found.findings]


#: Inputs that a file must bring back as they were, with strides where the kernel sees them.
INPUTS = [
    mx.array(3.5),
    mx.zeros((0, 4)),
    mx.array([True, False]),
    mx.array([1.5, -2], mx.bfloat16),
    mx.array([1 + 2j]),
    mx.array([2**62], mx.uint64),
    mx.arange(24).reshape(4, 6).T,
    mx.arange(24).reshape(4, 6)[::2, 1::2],
    mx.arange(6)[::-1],
    mx.broadcast_to(mx.array([1, 2]), (3, 2)),
]


@pytest.mark.parametrize("x", INPUTS, ids=lambda x: f"{x.dtype}{x.shape}")
@pytest.mark.parametrize("contiguous", [True, False])
def test_inputs(x: mx.array, contiguous: bool, tmp_path: Path) -> None:
    kernel = anymetal.metal_kernel(
        name="strides",
        input_names=["x"],
        output_names=["y"],
        source="y[0] = x_strides[0] * 100 + x_strides[1];" if x.ndim > 1 else "y[0] = 1;",
        ensure_row_contiguous=contiguous,
    )

    def call() -> mx.array:
        return kernel(
            inputs=[x], grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(1,)],
            output_dtypes=[mx.int32],
        )[0]  # fmt: skip

    with finding(raw("bounds-read")):
        with anymetal.sanitize("report", replay=tmp_path / "f.safetensors"):
            expected = call()
        job, _, _, (y,) = replayed(tmp_path / "f.safetensors")
    assert job.inputs[0].dtype == x.dtype and job.inputs[0].tolist() == x.tolist()
    assert y.tolist() == expected.tolist()  # type: ignore[attr-defined]


@pytest.mark.parametrize("init_value", [None, 0.0, -0.0, 1e-30, float("inf")])
def test_init_values(init_value: float | None, tmp_path: Path) -> None:
    kernel = anymetal.metal_kernel(
        name="nothing", input_names=[], output_names=["y"], source="(void)y;"
    )
    with finding(raw("unwritten-output", object=0)):
        with anymetal.sanitize("report", replay=tmp_path / "f.safetensors"):
            kernel(
                inputs=[], grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(2,)],
                output_dtypes=[mx.float32], init_value=init_value,
            )  # fmt: skip
        _, _, _, (y,) = replayed(tmp_path / "f.safetensors")
    expected = mx.array([init_value or 0.0] * 2) if init_value is None else mx.full(2, init_value)
    assert mx.view(y, mx.uint32).tolist() == mx.view(expected, mx.uint32).tolist()  # type: ignore[arg-type]


def test_kernels_of_libraries_come_back_with_what_their_arrays_held(tmp_path: Path) -> None:
    library = anymetal.metal_library(
        "kernel void inc(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) "
        "{ x[i] += 1; }"
    )
    with finding(raw("bounds-write")):
        with anymetal.sanitize("report", replay=tmp_path / "f.safetensors"):
            library.inc(mx.array([1.0, 2.0]), grid=2, threadgroup=2)
        _, _, _, (y,) = replayed(tmp_path / "f.safetensors")
    assert y.tolist() == [2.0, 3.0]  # type: ignore[attr-defined]


def test_a_folder_has_a_file_for_each_launch_with_new_findings(tmp_path: Path) -> None:
    folder = tmp_path / "found"
    with finding(raw("bounds-read")), anymetal.sanitize("report", replay=folder):
        for name in "aab":
            twice(name)(X)
    assert sorted(path.name for path in folder.iterdir()) == ["a-0.safetensors", "b-1.safetensors"]


def test_nothing_found_nothing_written(tmp_path: Path) -> None:
    with finding(), anymetal.sanitize(replay=tmp_path / "f.safetensors"):
        twice()(X)
    assert not list(tmp_path.iterdir())


def test_the_environment_names_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_SANITIZE_REPLAY", str(tmp_path / "here"))
    with finding(raw("bounds-read")), anymetal.sanitize("report"):
        twice()(X)
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["twice-0.safetensors"]


def test_large_launches_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "LARGEST", 16)
    file = tmp_path / "f.safetensors"
    with finding(raw("bounds-read")), anymetal.sanitize("report", replay=file) as found:
        twice()(X)
    assert not list(tmp_path.iterdir()) and "no replay file" in found.text()


def test_other_files_are_refused(tmp_path: Path) -> None:
    empty, other, damaged = (tmp_path / f"{name}.safetensors" for name in ("e", "o", "d"))
    empty.write_bytes(b"")
    mx.save_safetensors(str(other), {"x": X})
    mx.save_safetensors(
        str(damaged), {"x": X}, {"anymetal-replay": "1", "launch": "[]", "findings": "{}"}
    )
    for file in (empty, other, damaged):
        with pytest.raises(ValueError, match=r"no replay file|damaged"):
            replay.load(file)
    with pytest.raises(FileNotFoundError):
        replay.load(tmp_path / "none.safetensors")
