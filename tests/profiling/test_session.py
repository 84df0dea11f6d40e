"""`anymetal.profile`: what it says of kernels, against what was launched."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import mlx.core as mx
import pytest

import anymetal
from anymetal import targets
from anymetal.errors import UnsupportedFeatureError
from anymetal.profiling.kernels import FILLS, KernelProfile
from tests.profiling.programs import HEADER, launch_heavy, run_double, run_heavy


def titles(profile: anymetal.profiling.Profile) -> dict[str, KernelProfile]:
    return {kernel.title: kernel for kernel in profile.kernels}


@pytest.fixture(scope="module")
def taken() -> anymetal.profiling.Profile:
    run_heavy(1000, 10)  # its code is there before the profile begins
    with anymetal.profile() as found:
        for _ in range(3):
            run_heavy(64_000, 60_000)  # long enough for dozens of samples
        run_double(1001, mx.float32)
        run_double(1001, mx.float32)
        run_double(512, mx.float16)
    run_double(77, mx.bfloat16)  # behind the end
    return found


def test_launches_bytes_and_operations_by_kernel(taken: anymetal.profiling.Profile) -> None:
    found = titles(taken)
    assert set(found) == {"heavy", "double<float>", "double<float16_t>"}
    assert taken.kernels[0].title == "heavy"  # which took the most time
    heavy, single, half = (found[name] for name in ("heavy", "double<float>", "double<float16_t>"))
    assert [heavy.launches, single.launches, half.launches] == [3, 2, 1]
    assert heavy.bytes_read == 3 * (4 * 64_000 + 4) and heavy.bytes_written == 3 * 6 * 64_000
    assert single.bytes_read == single.bytes_written == 2 * 4 * 1001
    assert half.bytes_read == half.bytes_written == 2 * 512
    assert heavy.flops is None  # as often as `n` says
    assert single.flops == 2 * 1001 * 2 and half.flops == 512 * 2
    assert single.variant.startswith("full and partial SIMD-groups along x")
    assert half.variant.startswith("full SIMD-groups along x")


def test_times_fit_into_the_clocks(taken: anymetal.profiling.Profile) -> None:
    assert taken.threads >= 1 and taken.lost == 0
    total = sum(kernel.total_seconds for kernel in taken.kernels)
    assert 0 < total <= taken.seconds
    for kernel in taken.kernels:
        assert 0 < min(kernel.seconds) <= kernel.median_seconds <= max(kernel.seconds)
        assert kernel.failed == 0
        moved = kernel.bytes_read + kernel.bytes_written
        assert kernel.floor_share is not None
        shortest = moved / taken.bytes_per_second
        assert kernel.floor_share == pytest.approx(shortest / kernel.total_seconds)
    assert 1e8 < taken.bytes_per_second < 1e13


def test_the_slowest_line_is_that_of_the_loop(taken: anymetal.profiling.Profile) -> None:
    heavy = taken.kernels[0]
    assert heavy.samples == sum(line.samples for line in heavy.lines) > 12
    lines = HEADER.split("\n")
    loop = lines.index("    v = v * v - 0.7f;") + 1
    header = [one for one in heavy.lines if one.file == "heavy.header.metal"]
    inside = [one for one in header if one.number in (loop - 1, loop)]
    assert all(one.text == lines[one.number - 1].strip() for one in inside)
    assert sum(one.samples for one in inside) > heavy.samples / 2


def test_values_of_json(taken: anymetal.profiling.Profile) -> None:
    told = json.loads(json.dumps(taken.to_dict()))
    first = told["kernels"][0]
    assert first["kernel"] == "heavy" and first["launches"] == 3 and first["flops"] is None
    assert first["lines"][0].keys() == {"file", "number", "text", "samples"}
    assert told["bytes_per_second"] == taken.bytes_per_second


def test_the_table(taken: anymetal.profiling.Profile) -> None:
    text = str(taken)
    assert max(map(len, text.split("\n"))) <= 100
    head, *rows = text.split("\n")[1:]
    assert head.split() == ("launches time share median read written GFLOP/s floor kernel".split())
    assert rows[0].startswith("       3") and "heavy" in rows[0]
    assert "double<float>" in text and "heavy.header.metal:4  v = v * v - 0.7f;" in text


def test_the_trace_has_each_launch(taken: anymetal.profiling.Profile, tmp_path: Path) -> None:
    taken.write_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    launches = [one for one in events if one.get("cat") == "kernel"]
    assert [one["name"] for one in launches].count("heavy") == 3 and len(launches) == 6
    assert {one["pid"] for one in events} == {os.getpid()}
    threads = {one["tid"] for one in events if one["ph"] == "M"}
    for one in launches:
        assert one["ph"] == "X" and one["tid"] in threads
        assert 0 <= one["ts"] <= one["ts"] + one["dur"] <= taken.seconds * 1e6
    heavy = next(one for one in launches if one["name"] == "heavy")
    assert heavy["args"] == {
        "grid": [64_000, 1, 1],
        "threadgroup": [64, 1, 1],
        "bytes": 10 * 64_000 + 4,
    }
    lengths = sum(one["dur"] for one in launches if one["name"] == "heavy")
    assert lengths * 1e-6 == pytest.approx(taken.kernels[0].total_seconds, rel=1e-3)


def test_fills_are_told_apart_from_kernels() -> None:
    if not targets.active().lazy:  # type: ignore[attr-defined]
        pytest.skip("without the bridge MLX fills arrays")
    with anymetal.profile() as found:
        run_double(1 << 20, mx.float32, threads=1 << 19, init_value=0)
    (fill,) = (kernel for kernel in found.kernels if kernel.title == FILLS.kernel)
    assert fill.launches == 1 and fill.flops is None and not fill.bytes_read


def test_nothing_is_filled_that_the_kernel_stores_anyway() -> None:
    with anymetal.profile() as found:
        run_double(1 << 20, mx.float32, init_value=0)
    assert set(titles(found)) == {"double<float>"}


def test_compilations_are_in_the_trace(tmp_path: Path) -> None:
    text = f"uint i = thread_position_in_grid.x; y[i] = {os.urandom(4).hex()!r}[i % 8];"
    kernel = anymetal.metal_kernel("fresh", [], ["y"], text.replace("'", '"'))
    with anymetal.profile() as found:
        mx.eval(
            kernel(
                inputs=[],
                grid=(8, 1, 1),
                threadgroup=(8, 1, 1),
                output_shapes=[(8,)],
                output_dtypes=[mx.uint8],
            )
        )
    found.write_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    (one,) = (event for event in events if event.get("cat") == "compile")
    assert one["name"] == "compile fresh" and one["args"] == {"where": "compiled"}
    (launch,) = (event for event in events if event.get("cat") == "kernel")
    assert one["ts"] + one["dur"] <= launch["ts"]


def test_launches_of_other_threads_count() -> None:
    def work() -> None:
        with mx.stream(mx.new_stream(mx.cpu)):
            run_double(300, mx.float32)

    with anymetal.profile() as found:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert titles(found)["double<float>"].launches == 4


def test_what_async_eval_has_begun_counts() -> None:
    with anymetal.profile() as found:
        mx.async_eval(*launch_heavy(64_000, 3000))
    assert titles(found)["heavy"].launches == 1


def test_nothing_launched() -> None:
    with anymetal.profile() as found:
        pass
    assert found.kernels == [] and "no kernel was launched" in str(found)


def test_one_profile_at_a_time_and_another_one_after_an_error() -> None:
    one_at_a_time = pytest.raises(RuntimeError, match="one at a time")
    with anymetal.profile(), one_at_a_time, anymetal.profile():
        pass
    with pytest.raises(ZeroDivisionError), anymetal.profile() as found:
        run_double(300, mx.float32)
        raise ZeroDivisionError
    assert titles(found)["double<float>"].launches == 1


def test_where_kernels_run_on_apples_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(targets.active()), "name", "apple")
    refused = pytest.raises(UnsupportedFeatureError, match=r"Apple's GPUs\. Take a Metal capture")
    with refused, anymetal.profile():
        pass
