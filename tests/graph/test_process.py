"""Kernels and the process around them: Ctrl-C, the end of the program, forks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from tests.graph.kernels import answer, program

# The programs say nothing about a build.
pytestmark = pytest.mark.usefixtures("built_bridge")

WORKS = "print(double(x).tolist() == [2] * 8)\n"


def interrupted(work: str, prepare: str = "", gates: str = "gate") -> str:
    """A program that is interrupted while it does this, and says with what that ended."""
    return (
        f"gate, second_gate = Gate(), Gate()\n{prepare}\nctrl_c({gates})\ntry:\n    {work}\n"
        "except BaseException as error:\n"
        f"    print(type(error).__name__)\n{WORKS}"
    )


@pytest.mark.parametrize(
    ("work", "prepare"),
    [
        ("mx.eval(y)", "y = gate(x)"),
        ("y.tolist()", "y = double(gate(x) + 1)"),
        ("print(y)", "y = mx.compile(gate)(x)"),
        ("mx.eval(y)", "y = gate(x, stream=mx.new_stream(mx.cpu))"),
        ("mx.synchronize(s)", "s = mx.new_stream(mx.cpu); mx.async_eval(gate(x, stream=s))"),
    ],
    ids=["eval", "tolist", "compiled", "other stream", "synchronize"],
)
def test_ctrl_c_stops_a_kernel(work, prepare):
    """AnyMetal: Ctrl-C stops a kernel that the main thread waits for, and others work later."""
    assert answer(interrupted(work, prepare)) == ["KeyboardInterrupt", "True"]


def test_ctrl_c_stops_one_kernel_after_the_other():
    """AnyMetal: each Ctrl-C stops what runs; the evaluation ends with KeyboardInterrupt."""
    work = "mx.eval(double(second_gate(gate(x))))"
    assert answer(interrupted(work, gates="gate, second_gate")) == ["KeyboardInterrupt", "True"]


def test_ctrl_c_while_python_runs_beside_a_kernel():
    """AnyMetal: Ctrl-C interrupts Python as ever, and the kernel with it."""
    lines = answer(interrupted("time.sleep(30)", "y = gate(x); mx.async_eval(y)").replace(
        WORKS, f"try:\n    mx.synchronize()\nexcept KeyboardInterrupt:\n    pass\n{WORKS}"
    ))  # fmt: skip
    assert lines == ["KeyboardInterrupt", "True"]


def test_a_handler_of_ones_own_decides():
    """AnyMetal: a program that handles SIGINT itself has its handler called, and goes on."""
    text = (
        "seen = []\nsignal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
        "gate = Gate()\nctrl_c(gate)\nthreading.Timer(2, gate.open).start()\n"
        "print(gate(x).tolist() == [1] * 8, len(seen))\n"
    )
    assert answer(text + WORKS) == ["True 1", "True"]


def test_a_time_limit():
    """AnyMetal: ANYMETAL_TIME_LIMIT holds for lazy kernels."""
    text = "try:\n    mx.eval(endless(x))\nexcept anymetal.errors.KernelTimeoutError as error:\n"
    lines = answer(text + f"    print(error)\n{WORKS}", ANYMETAL_TIME_LIMIT="0.2")
    assert lines[0].startswith("kernel `endless` ran longer than 0.2 s (ANYMETAL_TIME_LIMIT)")
    assert lines[1] == "True"


def test_ctrl_c_while_a_kernel_is_compiled():
    """AnyMetal: Ctrl-C while mx.eval compiles a kernel interrupts it; the next one works."""
    text = (
        "from anymetal.targets.cpu import plan\n"
        "code_of = plan.code_of\n"
        "def slow_code(*_):\n    waiting.reached = True\n    time.sleep(20)\n"
        "class waiting: reached = False\n"
        "plan.code_of = slow_code\n"
        "y = double(x)\n"
        + interrupted("mx.eval(y)", gates="waiting")
        + "print(y.tolist() == [2] * 8)\n"
    ).replace(WORKS, f"plan.code_of = code_of\n{WORKS}")
    assert answer(text) == ["KeyboardInterrupt", "True", "True"]


@pytest.mark.parametrize(
    "text",
    [
        "y = double(x)",
        "y = broken(x)",
        "y = faulty(x)",
        "f = mx.compile(double); y = f(x)",
        "f = mx.compile(double); mx.eval(f(x)); y = f(x)",
        "y = double(x); anymetal.keep = y; mx.keep = [y]",
        "class A: pass\na = A(); a.y = double(x); a.self = a",
        "fun = mx.custom_function(double); fun.vjp(lambda x, c, _: c); y = fun(x)",
        "y = slow(x, 20_000_000); mx.async_eval(y)",
        "y = slow(x, 20_000_000); mx.async_eval(y); del y",
        "threading.Thread(target=lambda: mx.eval(slow(mx.ones(8), 20_000_000))).start()",
        "threading.Thread(target=lambda: mx.eval(endless(mx.ones(8))), daemon=True).start()",
        "y = endless(x); mx.async_eval(y)",
    ],
    ids=[
        "pending",
        "pending, broken",
        "pending, faulty",
        "pending, compiled",
        "pending, compiled again",
        "held by modules",
        "in a cycle",
        "pending, custom_function",
        "running",
        "running, let go",
        "running in a thread",
        "running in a daemon",
        "endless",
    ],
)
def test_the_end_of_a_program(text):
    """Lazy Evaluation: a program may end with arrays that are not computed, or under way."""
    assert answer(f"mx.eval(double(x))\n{text}\nprint('end')\n") == ["end"]


def test_a_program_ends_as_a_daemon_has_compiled():
    """Lazy Evaluation: letting go of what compiles a kernel needs Python, which is gone."""
    text = (
        "from anymetal.targets.cpu import launch\n"
        "prepared = launch._plan_with_threads\n"
        "def slowly_read(*call):\n"
        "    plan = prepared(*call)\n"
        "    compiled.set()\n"
        # The bridge reads this last, and no other thread runs meanwhile: the main thread is next.
        "    plan.infos = filter(None, bytes(20_000_000))\n"
        "    return plan\n"
        "launch._plan_with_threads = slowly_read\n"
        "compiled = threading.Event()\n"
        "sys.setswitchinterval(0.02)\n"
        "threading.Thread(target=lambda: mx.eval(endless(mx.ones(8))), daemon=True).start()\n"
        "compiled.wait()\n"
    )
    assert answer(f"mx.eval(double(x))\n{text}\nprint('end')\n") == ["end"]


def test_exit_with_a_status_while_a_kernel_runs():
    """async_eval: sys.exit works as ever."""
    done = program("mx.async_eval(slow(x, 20_000_000))\nsys.exit(3)\n")
    assert (done.returncode, done.stderr) == (3, "")


def test_evaluation_while_python_shuts_down():
    """Lazy Evaluation: functions of atexit may evaluate."""
    text = "import atexit\ny = double(x)\natexit.register(lambda: print(y.tolist() == [2] * 8))\n"
    assert answer(text) == ["True"]


def test_an_error_that_nobody_catches_ends_the_program():
    """Evaluation on Metal: an error of an evaluation is an exception like any other."""
    done = program("y = double(broken(x))\nprint('made')\nmx.eval(y)\nprint('never')\n")
    assert done.returncode == 1 and done.stdout == "made\n"
    assert "MetalCompileError" in done.stderr and "nonsense" in done.stderr


CHILD = (
    "child = os.fork()\nif child == 0:\n    {}\n    os._exit(0)\nprint(os.waitpid(child, 0)[1])\n"
)


@pytest.mark.parametrize(
    ("before", "child"),
    [
        ("", "print(double(x).tolist() == [2] * 8, flush=True)"),
        (
            "mx.eval(x, double(x))",
            "s = mx.new_stream(mx.cpu); print(double(x, stream=s).tolist() == [2] * 8, flush=True)",
        ),
        (
            "mx.eval(x, double(x))",
            "with mx.stream(mx.new_stream(mx.cpu)): "
            "print((double(x) + double(x)).tolist() == [4] * 8, flush=True)",
        ),
    ],
    ids=["before MLX's threads", "on a stream of its own", "in a context"],
)
def test_forks(before, child):
    """AnyMetal: a forked child evaluates kernels wherever MLX evaluates operations there. (MLX's
    streams are threads, which a child does not inherit: it needs new ones.)
    """
    assert answer(f"{before}\n{CHILD.format(child)}{WORKS}") == ["True", "0", "True"]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_multiprocessing(method, tmp_path):
    """AnyMetal: worker processes evaluate kernels of their own."""
    script = tmp_path / "workers.py"
    script.write_text(
        "import multiprocessing, sys\n"
        "def work(n):\n"
        "    import mlx.core as mx\n"
        "    from tests.graph.kernels import double\n"
        "    return double(mx.full((3,), float(n))).tolist()\n"
        "if __name__ == '__main__':\n"
        f"    with multiprocessing.get_context({method!r}).Pool(2) as pool:\n"
        "        print(pool.map(work, range(3)))\n"
    )
    text = f"import runpy\nrunpy.run_path({str(script)!r}, run_name='__main__')\n"
    if method == "spawn":  # a child reads the main module again, so it must be a file
        text = f"import subprocess\nsubprocess.run([sys.executable, {str(script)!r}], check=True)\n"
    assert answer(text) == ["[[0.0, 0.0, 0.0], [2.0, 2.0, 2.0], [4.0, 4.0, 4.0]]"]


def test_without_the_bridge_kernels_run_at_once():
    """AnyMetal: ANYMETAL_BRIDGE=0: a call computes, and raises what goes wrong."""
    text = (
        "ticks = Ticks()\ny = ticks(x)\nprint(ticks.count)\n"
        "try:\n    broken(x)\nexcept anymetal.errors.MetalCompileError:\n    print('at the call')\n"
    )
    assert answer(text + WORKS, ANYMETAL_BRIDGE="0") == ["1", "at the call", "True"]


ANY_NAME = """
import anymetal, mlx.core as mx
kernel = anymetal.metal_kernel("k", ["x"], ["y"], "y[0] = x[0] * 3;")
call = dict(grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(1,)], output_dtypes=[mx.int32])
print(kernel(inputs=[mx.array([2])], **call)[0].tolist())
"""


def test_machine_code_in_a_folder_whose_name_is_no_text(built_bridge, tmp_path):
    """AnyMetal: names are bytes, and Python has those that its locale cannot read as surrogates."""
    entries = tmp_path / "m\udc80n" / "entries"
    entries.mkdir(parents=True)
    shutil.copy(built_bridge, entries)
    variables = {"ANYMETAL_CACHE_DIR": str(entries.parent), "ANYMETAL_BRIDGE": "wait"}
    done = subprocess.run(
        [sys.executable, "-c", ANY_NAME],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == ("[6]\n", "")
    assert len(list(entries.iterdir())) > 1
