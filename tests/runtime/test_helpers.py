"""Helper processes: what they have of their caller, how they end, and what is left then."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from anymetal.errors import (
    AnyMetalWarning,
    CompilerError,
    KernelLoadError,
    KernelTimeoutError,
    MetalCompileError,
)
from anymetal.runtime import helpers
from tests.runtime.native import ROOT

TASKS = "tests.runtime.helper_tasks"


@pytest.fixture(autouse=True)
def crew(monkeypatch) -> helpers._Crew:
    """Helpers of the test's own."""
    crew = helpers._Crew(2 + len(helpers._alive))  # those of other tests rest
    monkeypatch.setattr(helpers, "_crew", crew)
    yield crew
    crew.rest()


def ask(task: str, *arguments: Any, **options: Any) -> Any:
    return helpers.do(f"{TASKS}:{task}", *arguments, **options)


def program(text: str, **variables: str) -> subprocess.Popen[str]:
    """A process that asks helpers."""
    head = (
        "import os, signal, sys, threading, time\nfrom anymetal.runtime import helpers\n"
        f"def ask(task, *arguments, **options):\n"
        f"    return helpers.do('{TASKS}:' + task, *arguments, **options)\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", head + text],
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def printed_by(text: str, **variables: str) -> str:
    with program(text, **variables) as process:
        try:
            return process.communicate(timeout=60)[0]
        finally:
            process.kill()


def processes_in(log: Path, patience: float = 60) -> list[int]:
    """The processes that a task has told, once it has."""
    end = time.monotonic() + patience
    while not log.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    return [int(word) for word in log.read_text().split()]


def runs(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"  # dead, but nobody has asked how


def left_of(processes: list[int], patience: float = 10) -> list[int]:
    """Those that still run after a moment (this machine may be busy)."""
    end = time.monotonic() + patience
    while (left := [p for p in processes if runs(p)]) and time.monotonic() < end:
        time.sleep(0.01)
    return left


# -- what a helper has of its caller --------------------------------------------------------


def test_one_helper_serves_many_requests() -> None:
    assert len({ask("process") for _ in range(3)}) == 1


def test_what_takes_long_to_import_is_left_out() -> None:
    """The first kernel of a process waits for it; what llvmlite needs is its own business."""
    modules = ask("compiler")
    assert "anymetal.targets.cpu.compiler" in modules
    program = "import sys, llvmlite.binding; print(*sys.modules)"
    llvm = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    slow = {"mlx", "numpy", "dataclasses", "inspect"} - set(llvm.stdout.split())
    assert {"mlx", "numpy"} <= slow and not slow & set(modules)


def test_no_mlx_no_foreign_files_no_site(monkeypatch, tmp_path) -> None:
    with open(tmp_path / "open", "w") as file:
        os.set_inheritable(file.fileno(), True)
        found = ask("surroundings")
    assert not [name for name in found["modules"] if name.split(".")[0] in ("mlx", "site")]
    kinds = sorted(file.partition(":")[0] for file in found["files"])
    assert [k for k in kinds if not k.startswith("/proc/")] == [
        "/dev/null",
        "/dev/null",
        "/memfd",
        "socket",
    ]
    assert found["group"] != os.getpgrp()


def test_the_environment_is_that_of_the_moment(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("ANYMETAL_TRIAL", "one")
    assert ask("surroundings")["environment"]["ANYMETAL_TRIAL"] == "one"
    monkeypatch.delenv("ANYMETAL_TRIAL")
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "other"))
    environment = ask("surroundings")["environment"]
    assert "ANYMETAL_TRIAL" not in environment
    assert environment["ANYMETAL_CACHE_DIR"] == str(tmp_path / "other")


def test_notes_come_in_order_and_prints_do_not_come(capfd) -> None:
    notes: list[Any] = []
    ask("speak", note=notes.append)
    assert notes == ["a note", {"another": 1}]
    assert capfd.readouterr() == ("", "")


def test_errors_keep_class_and_attributes() -> None:
    with pytest.raises(MetalCompileError, match="source:1:2: error: no") as user:
        ask("fail", "user")
    assert user.value.kernel == "k" and user.value.diagnostics == "source:1:2: error: no"
    assert user.value.__notes__ == ["a note"] and user.value.__cause__ is None
    with pytest.raises(KernelLoadError, match="too much"):
        ask("fail", "load")
    with pytest.raises(CompilerError, match="a problem") as defect:
        ask("fail", "defect")
    assert "helper_tasks.py" in str(defect.value.__cause__)
    with pytest.raises(KeyError, match="key") as unexpected:
        ask("fail", "unexpected")
    assert "helper_tasks.py" in str(unexpected.value.__cause__)
    with pytest.raises(RuntimeError, match="LocalError: cannot be sent"):
        ask("fail", "local")


def test_several_work_side_by_side(tmp_path) -> None:
    with ThreadPoolExecutor(2) as threads:
        pairs = [("one", "two"), ("two", "one")]
        jobs = [threads.submit(ask, "meet", str(tmp_path), *names) for names in pairs]
        assert all(job.result() for job in jobs)
        assert len(set(threads.map(lambda _: ask("process"), range(20)))) <= 2


# -- how helpers end ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "how"),
    [("crash", "SIGSEGV\nLLVM ERROR: something is wrong"), ("leave", "status 3")],
)
def test_a_crash_is_an_error_and_the_next_request_works(task, how) -> None:
    before = ask("process")
    with pytest.raises(helpers.Ended, match=how):
        ask(task)
    with pytest.raises(CompilerError, match="`mine`: the process that compiled it was lost"):
        helpers.compile("mine", f"{TASKS}:{task}")
    assert ask("process") != before


@pytest.mark.parametrize("task", ["tool", "endless"])
def test_a_time_limit(task, tmp_path, monkeypatch) -> None:
    log = tmp_path / "log"
    with ThreadPoolExecutor(1) as threads:
        monkeypatch.setenv("ANYMETAL_COMPILE_LIMIT", "5")
        start = time.monotonic()
        job = threads.submit(helpers.compile, "mine", f"{TASKS}:{task}", str(log))
        processes = processes_in(log)
        text = r"`mine` took longer than 5.0 s \(ANYMETAL_COMPILE_LIMIT\) to compile"
        with pytest.raises(KernelTimeoutError, match=text):
            job.result()
        assert time.monotonic() - start < 50
    assert not left_of(processes)
    assert ask("process")


@pytest.mark.parametrize("task", ["tool", "endless"])
def test_ctrl_c(task, tmp_path) -> None:
    log = tmp_path / "log"
    text = (
        f"try:\n    ask({task!r}, {str(log)!r})\n"
        "except KeyboardInterrupt:\n    print('interrupted', ask('process') > 0)\n"
    )
    with program(text) as running:
        processes = processes_in(log)
        running.send_signal(signal.SIGINT)
        assert running.communicate(timeout=60)[0] == "interrupted True\n"
    assert not left_of(processes)


@pytest.mark.parametrize("task", ["tool", "endless"])
def test_nothing_outlives_a_killed_process(task, tmp_path) -> None:
    log = tmp_path / "log"
    with program(f"ask({task!r}, {str(log)!r})") as running:
        processes = processes_in(log)
        assert all(map(runs, processes))
        running.kill()
    assert not left_of(processes)


def test_nothing_outlives_a_process_whose_child_lives_on(tmp_path) -> None:
    log, child = tmp_path / "log", tmp_path / "child"
    text = (
        "ask('process')\n"  # the helper is there when the child is forked
        f"if (child := os.fork()) == 0:\n    time.sleep(60); os._exit(0)\n"
        f"open({str(child)!r}, 'w').write(str(child))\nask('endless', {str(log)!r})"
    )
    with program(text) as running:
        processes = processes_in(log)
        running.kill()
        assert not left_of(processes)
        os.kill(int(child.read_text()), signal.SIGKILL)


def test_nothing_outlives_a_process_that_ends_beside_a_daemon(tmp_path) -> None:
    log = str(tmp_path / "log")
    text = (
        f"threading.Thread(target=ask, args=('tool', {log!r}), daemon=True).start()\n"
        f"while not os.path.exists({log!r}): time.sleep(0.01)\nprint('end')"
    )
    assert printed_by(text) == "end\n"
    assert not left_of(processes_in(Path(log)))


def test_an_ended_process_has_no_dead_children() -> None:
    text = "helper = ask('process'); helpers._crew.rest(); print(os.path.exists(f'/proc/{helper}'))"
    assert printed_by(text) == "False\n"


def test_a_helper_is_replaced_when_it_has_grown(monkeypatch) -> None:
    monkeypatch.setattr(helpers, "_MOST_BYTES", 100 << 20)
    before = ask("process")
    ask("grow", 1 << 20)
    assert ask("process") == before
    ask("grow", 200 << 20)
    assert ask("process") != before
    assert not left_of([before])


def test_a_helper_is_replaced_after_many_requests(monkeypatch) -> None:
    monkeypatch.setattr(helpers, "_MOST_REQUESTS", 3)
    assert len({ask("process") for _ in range(6)}) == 2


def test_an_idle_helper_ends(monkeypatch) -> None:
    monkeypatch.setattr(helpers, "_IDLE", 0.05)
    before = ask("process")
    assert not left_of([before])
    assert ask("process") != before


def test_a_helper_that_somebody_kills_is_replaced() -> None:
    for _ in range(3):
        before = ask("process")
        os.kill(before, signal.SIGKILL)
        assert ask("process") != before


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_helpers_of_its_own() -> None:
    text = (
        "before = ask('process')\n"
        "if (child := os.fork()) == 0:\n"
        "    print(ask('process') != before, flush=True); os._exit(0)\n"
        "os.waitpid(child, 0); print(ask('process') == before)"
    )
    assert printed_by(text) == "True\nTrue\n"


# -- odd surroundings -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "signal.signal(signal.SIGPIPE, signal.SIG_DFL)",
        "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))",
        "signal.signal(signal.SIGCHLD, lambda *_: os.waitpid(-1, 0))",
        "os.close(0); sys.stdin = None",
        "sys.path += ['', 5, None, b'bytes', '/nowhere', 'relative', '/dev/null']",
        "sys.argv = []",
        "os.environ.clear()",
        "import tempfile; folder = tempfile.mkdtemp(); os.chdir(folder); os.rmdir(folder)",
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))",
    ],
)
def test_helpers_work(text) -> None:
    asked = "ask('process') != os.getpid()"
    kill = "os.kill(ask('process'), signal.SIGKILL)"
    assert printed_by(f"{text}\nprint({asked})\n{kill}\nprint({asked})") == "True\nTrue\n"


def test_closed_standard_streams(tmp_path) -> None:
    log = tmp_path / "log"
    text = f"for stream in range(3): os.close(stream)\nask('process'); ask('tool', {str(log)!r})"
    with program(text) as running:
        processes = processes_in(log)
        running.kill()
    assert not left_of(processes)


def test_modules_that_shadow_those_of_python(tmp_path) -> None:
    for name in ("socket", "pickle", "signal", "types"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('not me')")
    text = f"sys.path.insert(0, {str(tmp_path)!r})\nprint(ask('process') > 0)"
    assert printed_by(text) == "True\n"


def test_an_interpreter_that_does_not_work(monkeypatch, tmp_path, crew) -> None:
    broken = tmp_path / "python3"
    broken.write_text("#!/bin/sh\necho no library >&2\nexit 7\n")
    broken.chmod(0o755)
    monkeypatch.setattr(helpers, "interpreter", lambda: str(broken))
    with pytest.warns(AnyMetalWarning, match="in this process: .*status 7\nno library"):
        assert ask("process") == os.getpid()
    assert "status 7" in helpers.unavailable()
    assert ask("process") == os.getpid()


def test_another_python(monkeypatch) -> None:
    monkeypatch.setattr(helpers.helper_main, "version", lambda: ("cpython", 0x02070000))
    assert ask("process") == os.getpid()
    assert "is another Python" in helpers.unavailable()


def test_without_an_interpreter_all_is_done_here(no_helpers) -> None:
    notes: list[Any] = []
    assert ask("process") == os.getpid()
    with pytest.raises(MetalCompileError):
        ask("fail", "user", note=notes.append)
    assert helpers.unavailable() == "there is no Python interpreter to start"
