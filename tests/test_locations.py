"""Errors say where their kernel was called and made, in the lines of the program."""

from __future__ import annotations

import pickle
import subprocess
import sys
import traceback
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal import linalg
from anymetal.errors import AnyMetalWarning, KernelMemoryError, MetalCompileError
from anymetal.locations import PACKAGE
from anymetal.runtime.bridge import loader
from tests.runtime.native import ROOT

HERE = Path(__file__)
BROKEN = "out[thread_position_in_grid.x] = nothing;"
#: Writes where its input says.
WRITER = "out[int(x[0])] = 1;"


def make(source, name="k"):
    return anymetal.metal_kernel(name, ["x"], ["out"], source)  # made here


def launch(kernel, x, **changes):
    arguments = {
        "inputs": [x],
        "output_shapes": [(3,)],
        "output_dtypes": [mx.float32],
        "grid": (1, 1, 1),
        "threadgroup": (1, 1, 1),
        **changes,
    }
    return kernel(**arguments)  # called here


def line_of(mark):
    lines = HERE.read_text().splitlines()
    (number,) = [i for i, line in enumerate(lines, 1) if line.endswith(f"  # {mark}")]
    return number


def ours(error):
    return [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(PACKAGE)]


@pytest.fixture(params=["a node of the graph", "at once"])
def both_ways(request, monkeypatch):
    if request.param == "at once":
        monkeypatch.setattr(loader, "native", lambda: None)
    elif loader.native() is None:
        pytest.skip("there is no bridge")
    return request.param


def test_an_error_of_a_compilation(both_ways):
    with pytest.raises(MetalCompileError) as caught:
        mx.eval(launch(make(BROKEN), mx.ones(3)))
    error = caught.value
    assert (error.called.file, error.called.line) == (__file__, line_of("called here"))
    assert (error.made.file, error.made.line) == (__file__, line_of("made here"))
    shown = "".join(traceback.format_exception(error))
    assert f'File "{__file__}", line {line_of("made here")}, in make\n' in shown
    assert "\n    return kernel(**arguments)  # called here\n" in shown
    assert len(ours(error)) == (1 if both_ways == "at once" else 0)
    assert error.__cause__ is None and error.__suppress_context__ is (error.__context__ is not None)


def test_an_error_of_a_launch_that_is_like_an_earlier_one(both_ways):
    """The line is that of the call that failed, though its kernel was called elsewhere before."""
    kernel, inside, outside = make(WRITER), mx.array([1.0, 0, 0]), mx.array([1e9, 0, 0])
    call = {
        "output_shapes": [(3,)],
        "output_dtypes": [mx.float32],
        "grid": (1, 1, 1),
        "threadgroup": (1, 1, 1),
    }
    mx.eval(kernel(inputs=[inside], **call))
    mx.eval(kernel(inputs=[inside], **call))
    with pytest.raises(KernelMemoryError) as caught:
        mx.eval(kernel(inputs=[outside], **call))  # called elsewhere
    assert caught.value.called.line == line_of("called elsewhere")
    assert caught.value.made.line == line_of("made here")
    assert len(ours(caught.value)) <= 1


def test_an_error_of_the_library_names_the_line_that_called_it():
    with pytest.raises(ValueError, match="At least 2 axes") as caught:
        linalg.gram(mx.ones(3))
    assert len(ours(caught.value)) == 1


def test_errors_of_calls_have_one_frame_of_ours(both_ways):
    with pytest.raises(TypeError, match="grid") as caught:
        launch(make(WRITER), mx.ones(3), grid="x")
    assert len(ours(caught.value)) == 1
    with pytest.raises(ValueError, match="at least one output") as caught:
        anymetal.metal_kernel("k", [], [], "")
    assert len(ours(caught.value)) == 1


def test_what_the_program_does_in_between_stays():
    class Odd:
        def __mlx_array__(self):
            raise ValueError("odd")

    with pytest.raises(ValueError, match=r"odd|Invalid") as caught:
        launch(make(WRITER), Odd())
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[0] == "test_what_the_program_does_in_between_stays"


def test_all_frames_can_be_had(monkeypatch, both_ways):
    monkeypatch.setenv("ANYMETAL_TRACEBACK", "full")
    with pytest.raises(MetalCompileError) as caught:
        mx.eval(launch(make(BROKEN), mx.ones(3)))
    assert len(ours(caught.value)) > 3


def test_errors_keep_their_lines_on_their_way_to_another_process():
    with pytest.raises(MetalCompileError) as caught:
        mx.eval(launch(make(BROKEN), mx.ones(3)))
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.made == caught.value.made and str(copy) == str(caught.value)


def test_cells_of_notebooks():
    """IPython's own printer shows the cells by their numbers, and no frame of ours."""
    program = f"""
import os; os.environ["ANYMETAL_BRIDGE"] = "wait"
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="NoColor")
shell.run_cell("import anymetal, mlx.core as mx", store_history=True)
shell.run_cell('''k = anymetal.metal_kernel("k", ["x"], ["out"], {BROKEN!r})''', store_history=True)
shell.run_cell('''
y, = k(inputs=[mx.ones(3)], output_shapes=[(3,)], output_dtypes=[mx.float32],
       grid=(1, 1, 1), threadgroup=(1, 1, 1))
''', store_history=True)
shell.run_cell("mx.eval(y)", store_history=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=120
    )
    text = done.stdout
    assert "MetalCompileError" in text and "undeclared identifier 'nothing'" in text, done
    assert "called\n  Cell In[3], line 1, in <module>\n    y, = k(" in text
    assert "made\n  Cell In[2], line 1, in <module>\n    k = anymetal.metal_kernel(" in text
    assert PACKAGE not in text


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"template": [("T", 1.5)]}, "`T` of kernel `k` is 1.5 (float): pass it as an input"),
        ({"template": [("N", 2**31)]}, "`N` of kernel `k` is 2147483648 (int), which does not fit"),
        ({"template": [("N", np.int32(3))]}, "(int32): convert it with int()"),
        ({"output_dtypes": [mx.float64]}, "GPU: output `out` of kernel `k`. Use mx.float32"),
        ({"inputs": [[1, 2]]}, "Input `x` of kernel `k` is [1, 2] (list): pass an mx.array"),
    ],
)
def test_arguments_that_are_refused_are_named(changes, told):
    with pytest.raises(ValueError) as caught:
        launch(make(WRITER), mx.ones(3), **changes)
    assert told in str(caught.value)


def test_threadgroups_that_are_too_large_are_named():
    with pytest.raises(ValueError, match=r"Kernel `k` was launched with threadgroup=\(2000, 1, 1"):
        mx.eval(launch(make(WRITER), mx.ones(3), threadgroup=(2000, 1, 1)))


def test_numbers_and_arrays_that_are_taken_for_each_other_are_named():
    with pytest.raises(MetalCompileError, match=r"the input x is a number, without elements"):
        mx.eval(launch(make("out[0] = x[0];"), 2.0))
    for body in ("float v = x; out[0] = v;", "out[0] = x;", "out[0] = 2 * x;"):
        with pytest.raises(MetalCompileError, match=r"x is an array, even of one element: write"):
            mx.eval(launch(make(body), mx.array([2.0])))


GROUPS = "uint i = threadgroup_position_in_grid.x * 256 + thread_position_in_threadgroup.x;"


def test_grids_that_count_threadgroups_are_told():
    kernel = make(f"{GROUPS} if (i < 1000) out[i] = x[0];")
    groups = {"threadgroup": (256, 1, 1), "output_shapes": [(1000,)]}
    with pytest.warns(AnyMetalWarning, match=r"4 threadgroups pass\s+grid=\(1024, 1, 1\)") as told:
        launch(kernel, mx.ones(3), grid=(4, 1, 1), **groups)
    assert told[0].filename == __file__ and told[0].lineno == line_of("called here")


@pytest.mark.parametrize("grid", [(1000, 1, 1), (1024, 1, 1), (1, 1, 1), (5, 1, 1), (0, 1, 1)])
@pytest.mark.filterwarnings("error")
def test_other_grids_are_not(grid):
    kernel = make(f"{GROUPS} if (i < 1000) out[i] = x[0];")
    launch(kernel, mx.ones(3), grid=grid, threadgroup=(256, 1, 1), output_shapes=[(1000,)])


@pytest.mark.parametrize("name", ["qr", "cholesky", "norm", "gram"])
def test_arrays_of_numpy_are_called_so(name):
    with pytest.raises(TypeError, match=rf"\[{name}\] . must be an mx.array, not numpy.ndarray of"):
        getattr(linalg, name)(np.eye(4, dtype=np.float32))
    with pytest.raises(TypeError, match=rf"\[{name}\] . must be an mx.array, not list\. Convert"):
        getattr(linalg, name)([[1.0]])
