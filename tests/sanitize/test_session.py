"""Sessions: which launch belongs to which, and what comes at the end."""

from __future__ import annotations

import asyncio
import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal import targets, transforms
from anymetal.errors import KernelMemoryError, SanitizerError, UnsupportedFeatureError
from anymetal.sanitizer import Session, launches, session
from tests.conftest import _mlx_metal_kernel
from tests.sanitize.fake import FakePlan, finding, raw, twice

X = mx.arange(8.0)
mx.eval(X)  # other threads cannot
ERROR = raw("bounds-read", site=0, object=0, offset=32, thread=(7, 0, 0))
WARNING = raw("shift-count", site=0, object=2**31 - 2)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    assert session.current() is None and not session._open
    assert not type(targets.active()).__name__.startswith("Sanitizing")


def test_errors_are_raised_at_the_end_and_results_are_there() -> None:
    with finding(ERROR), pytest.raises(SanitizerError) as raised, anymetal.sanitize():
        y = twice()(X)
    assert y.tolist() == (2 * X).tolist()
    (found,) = raised.value.findings
    assert (found.code, found.severity, found.kernel) == ("bounds-read", "error", "twice")
    assert "1 error found in 1 kernel launch" in str(raised.value)


def test_an_error_survives_pickling() -> None:
    with finding(ERROR), pytest.raises(SanitizerError) as raised, anymetal.sanitize():
        twice()(X)
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value) and again.findings == raised.value.findings


def test_warnings_are_told_and_do_not_raise(capsys: pytest.CaptureFixture[str]) -> None:
    with finding(WARNING), anymetal.sanitize():
        twice()(X)
    assert "[shift-count]" in capsys.readouterr().err


def test_a_report_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with finding(ERROR, WARNING), anymetal.sanitize(action="report") as found:
        twice()(X)
        assert len(found.findings) == 2
    assert [one.code for one in found.findings] == ["bounds-read", "shift-count"]
    assert [one.code for one in found.errors] == ["bounds-read"]
    assert capsys.readouterr() == ("", "")


def test_findings_come_once_per_place_and_are_counted() -> None:
    again = ERROR._replace(thread=(3, 0, 0), count=5)
    with finding(ERROR, again), anymetal.sanitize(action="report") as found:
        call = twice()
        call(X)
        call(X)
    (only,) = found.findings
    assert only.count == 12 and only.details["thread"] == (7, 0, 0)
    assert found.launches == 2


def test_launches_outside_are_not_observed() -> None:
    call = twice()
    with finding(ERROR) as plans:
        before = call(X)
        with anymetal.sanitize(action="report") as found:
            mx.eval(before)
        after = call(X)
        assert after.tolist() == before.tolist() == (2 * X).tolist()
    assert not plans and not found.findings


def test_calls_that_were_kept_are_observed_inside_and_kept_again_outside() -> None:
    call = twice()
    for _ in range(3):
        mx.eval(call(X))
    with finding(ERROR) as plans:
        with anymetal.sanitize(action="report"):
            mx.eval(call(X), call(X))
        mx.eval(call(X))
    assert sum(len(plan.runs) for plan in plans) == 2


def test_functions_that_were_compiled_before_are_observed() -> None:
    call = mx.compile(twice())
    mx.eval(call(X))
    with finding(ERROR), anymetal.sanitize(action="report") as found:
        mx.eval(call(X))
    assert found.launches == 1
    runs = []
    compiled = mx.compile(lambda x: runs.append(1) or x)
    compiled(X), compiled(X)
    assert len(runs) == 1  # it compiles again


def test_what_is_traced_inside_is_refused_when_it_would_run_unobserved() -> None:
    call = twice()

    def body(x: mx.array) -> mx.array:
        with anymetal.sanitize(action="report"):
            return call(x)

    with pytest.raises(UnsupportedFeatureError, match="around the call"):
        mx.eval(mx.compile(body)(X))


def test_what_is_traced_is_known_without_the_bridge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transforms, "_bridge", lambda: SimpleNamespace(loaded=lambda: None))
    seen = []

    def look(x: mx.array) -> mx.array:
        seen.append((transforms.is_transformed([x]), transforms.is_transformed([X])))
        return x.sum()

    for _ in range(2):
        with anymetal.sanitize():
            mx.grad(look)(X)
            mx.vmap(look)(X.reshape(2, 4))
            look(X)
        mx.compile(look)(X)
    assert seen == [(True, False), (True, False), (False, False), (True, False)] * 2


def test_gradients_of_functions_with_kernels() -> None:
    @mx.custom_function
    def double(x: mx.array) -> mx.array:
        return twice()(x)

    @double.vjp
    def _(primals: mx.array, cotangent: mx.array, output: mx.array) -> mx.array:
        return twice("backward")(cotangent)

    with finding(), anymetal.sanitize() as found:
        gradient = mx.grad(lambda x: double(x).sum())(X)
    assert gradient.tolist() == [2.0] * 8 and found.launches >= 2


def test_inner_sessions_take_their_launches() -> None:
    with finding(ERROR), anymetal.sanitize(action="report") as outer:
        with anymetal.sanitize(action="report") as inner:
            twice("a")(X)
        twice("b")(X)
    assert [one.kernel for one in inner.findings] == ["a"]
    assert [one.kernel for one in outer.findings] == ["b"]


def test_a_thread_has_its_own_session_or_takes_part_in_the_latest() -> None:
    with finding(ERROR), ThreadPoolExecutor(1) as pool:

        def own() -> list[str]:
            with anymetal.sanitize(action="report") as found:
                twice("own")(X)
            return [one.kernel for one in found.findings]

        with anymetal.sanitize(action="report") as found:
            assert pool.submit(own).result() == ["own"]
            pool.submit(lambda: mx.eval(twice("shared")(X))).result()
    assert [one.kernel for one in found.findings] == ["shared"]


def test_many_threads() -> None:
    def one(number: int) -> tuple[str, list[str]]:
        with anymetal.sanitize(action="report") as found:
            for _ in range(3):
                twice(f"k{number}")(X)
        return f"k{number}", [one.kernel for one in found.findings]

    with finding(ERROR), ThreadPoolExecutor(4) as pool:
        for name, kernels in pool.map(one, range(8)):
            assert kernels == [name]


def test_one_object_entered_in_two_threads() -> None:
    both, found = anymetal.sanitize(action="report"), {}
    meet = threading.Barrier(2)

    def one(name: str) -> None:
        with both as mine:
            meet.wait(10)
            twice(name)(X)
            meet.wait(10)
        found[name] = [one.kernel for one in mine.findings]

    with finding(ERROR), ThreadPoolExecutor(2) as pool:
        list(pool.map(one, "ab"))
    assert found == {"a": ["a"], "b": ["b"]}


def test_tasks_have_their_own_sessions() -> None:
    async def one(name: str) -> list[str]:
        with anymetal.sanitize(action="report") as found:
            await asyncio.sleep(0)
            twice(name)(X)
            await asyncio.sleep(0)
        return [one.kernel for one in found.findings]

    async def outside() -> None:
        await asyncio.sleep(0)
        twice("outside")(X)

    async def both() -> list[list[str] | None]:
        return await asyncio.gather(one("a"), one("b"), outside())

    with finding(ERROR) as plans:
        assert asyncio.run(both())[:2] == [["a"], ["b"]]
    assert len(plans) == 2


def test_decorated_functions_have_a_session_for_each_call() -> None:
    @anymetal.sanitize()
    def run(x: mx.array) -> mx.array:
        """Documented."""
        return twice()(x)

    assert run.__doc__ == "Documented."
    for _ in range(2):
        with finding(ERROR), pytest.raises(SanitizerError, match="in 1 kernel launch"):
            run(X)
    with finding():
        assert run(X).tolist() == (2 * X).tolist()


def test_decorated_coroutine_functions_and_generators() -> None:
    @anymetal.sanitize()
    async def run() -> None:
        await asyncio.sleep(0)
        twice()(X)

    with finding(ERROR), pytest.raises(SanitizerError):
        asyncio.run(run())
    with pytest.raises(TypeError, match="is a generator"):

        @anymetal.sanitize()
        def steps() -> Iterator[int]:
            yield 1


def test_another_exception_goes_on_with_the_report() -> None:
    with finding(ERROR), pytest.raises(ZeroDivisionError) as raised, anymetal.sanitize():
        twice()(X)
        1 / 0  # noqa: B018
    notes = getattr(raised.value, "__notes__", None)
    assert notes is None or "bounds-read" in notes[0]


@pytest.mark.parametrize("error", [KeyboardInterrupt, KernelMemoryError, MemoryError])
def test_findings_of_a_launch_that_is_stopped_are_kept(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(self: FakePlan, *_: object) -> None:
        self.found.append(ERROR)
        raise error

    monkeypatch.setattr(FakePlan, "run", stopped)
    with finding(), pytest.raises(error), anymetal.sanitize(action="report") as found:
        twice()(X)
    assert [one.code for one in found.findings] == ["bounds-read"]
    monkeypatch.undo()
    with finding(), anymetal.sanitize() as found:
        assert twice()(X).tolist() == (2 * X).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"action": "ignore"}, "`action` must be"),
        ({"order": "random"}, "`order` must be"),
        ({"checks": ["bounds", "spelling"]}, "got 'spelling'"),
        ({"seed": -1}, "`seed` must be"),
        ({"seed": 1.5}, "`seed` must be"),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        anymetal.sanitize(**arguments)  # type: ignore[arg-type]


def test_only_the_groups_that_were_asked_for() -> None:
    def found(**arguments: object) -> list[str]:
        session = anymetal.sanitize(action="report", **arguments)  # type: ignore[arg-type]
        with finding(ERROR, WARNING, raw("nan")), session as found:
            twice()(X)
        return [one.code for one in found.findings]

    assert found() == ["bounds-read", "shift-count"]
    assert found(checks=["portability"]) == ["shift-count"]
    assert found(checks="bounds", nan=True) == ["bounds-read", "nan"]


def test_kernels_in_place_of_those_of_mlx() -> None:
    anymetal.install()
    try:
        kernel = mx.fast.metal_kernel(
            name="one", input_names=[], output_names=["y"], source="y[0] = 1;"
        )
        with finding(raw("bounds-write", site=1)), anymetal.sanitize(action="report") as found:
            kernel(
                inputs=[],
                grid=(1, 1, 1),
                threadgroup=(1, 1, 1),
                output_shapes=[(1,)],
                output_dtypes=[mx.float32],
            )
    finally:
        anymetal.uninstall()
    assert [one.code for one in found.findings] == ["bounds-write"]


def test_kernels_of_mlx_on_a_mac(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mx.fast, "metal_kernel", mx.fast.metal_kernel)
    before = mx.fast.metal_kernel
    launches.take_over()
    assert mx.fast.metal_kernel is before
    monkeypatch.setattr(targets, "HAS_METAL", True)
    launches.take_over()
    assert mx.fast.metal_kernel is anymetal.metal_kernel


def test_kernels_of_libraries() -> None:
    library = anymetal.metal_library(
        "kernel void inc(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) "
        "{ x[i] += 1; }"
    )
    with finding(raw("bounds-write", object=0)), anymetal.sanitize(action="report") as found:
        (y,) = library.inc(mx.zeros(4), grid=4, threadgroup=4)
    assert y.tolist() == [1.0] * 4
    assert [one.details["buffer"] for one in found.findings] == ["x"]


@pytest.mark.parametrize(("type_", "elements"), [("float", 16), ("float4", 4), ("Two", 64)])
def test_threadgroup_parameters_have_their_names(type_: str, elements: int) -> None:
    """And indices in elements, of structs in bytes."""
    library = anymetal.metal_library(
        "struct Two { int a, b; };\n"
        f"kernel void last(device int* y, threadgroup {type_}* kept,\n"
        "  uint i [[thread_position_in_grid]])\n"
        f"{{ kept[i] = {type_}(); y[i] = *(threadgroup int*)(kept + 64 / sizeof({type_})); }}"
    )
    with anymetal.sanitize(action="report", checks=["bounds"]) as found:
        library.last(((4,), mx.int32), grid=4, threadgroup=4, threadgroup_memory={0: 64})
    (one,) = found.findings
    assert one.details["array"] == "kept"
    assert (list(one.details["shape"]), list(one.details["index"])) == ([elements], [elements])


def test_kernels_of_imported_functions_are_said_not_to_be_observed(tmp_path: Path) -> None:
    kernel = _mlx_metal_kernel(
        name="one", input_names=["x"], output_names=["y"], source="y[0] = x[0];"
    )

    def function(x: mx.array) -> mx.array:
        return kernel(
            inputs=[x],
            grid=(1, 1, 1),
            threadgroup=(1, 1, 1),
            output_shapes=[(1,)],
            output_dtypes=[mx.float32],
        )[0]

    path = str(tmp_path / "one.mlxfn")
    mx.export_function(path, function, X)
    imported = anymetal.import_function(path)
    for _ in range(2):
        with anymetal.sanitize() as found:
            mx.eval(imported(X))
        assert "not observed: kernel `custom_kernel_one" in found.text()


def test_what_a_session_gives() -> None:
    with finding(), anymetal.sanitize() as found:
        pass
    assert isinstance(found, Session)
    assert found.text() == "anymetal: nothing found in 0 kernel launches"


def test_buffers_of_libraries_that_share_memory() -> None:
    """An array under two names is one: threads that read the one race with those that write the
    other, also where they begin at different places."""
    library = anymetal.metal_library(
        "kernel void blur(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],\n"
        "                 uint i [[thread_position_in_grid]]) {\n"
        "  float left = i > 0 ? x[i - 1] : 0;\n"
        "  y[i] = left + x[i];\n"
        "}\n"
        "kernel void twice(device float* x [[buffer(0)]], device float* y [[buffer(1)]],\n"
        "                  uint i [[thread_position_in_grid]]) { y[i] = 2 * x[i]; }"
    )
    data = np.arange(64, dtype=np.float32)

    def found(kernel: str, x: np.ndarray, y: np.ndarray) -> list[Any]:
        with anymetal.sanitize("report") as report:
            library[kernel](x, y, grid=len(x), threadgroup=32)
        return report.findings

    assert not found("blur", data, data.copy())
    assert not found("blur", data[:32], data[32:])
    assert not found("twice", data, data)  # each thread its own element
    races = found("blur", data, data)
    assert {(one.code, one.place.line) for one in races} == {("race-device", 4), ("race-groups", 3)}
    (race,) = [one for one in races if one.code == "race-device"]
    assert (race.details["buffer"], tuple(race.details["index"])) == ("y", (0,))
    shifted = found("blur", data[:48], data[16:])
    assert {one.code for one in shifted} == {"race-device", "race-groups"}
    assert all(one.details["index"][0] < 48 for one in shifted)
