"""`anymetal profile`, as a user's shell sees it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anymetal
from tests.cli.test_cli import anymetal_command

PROGRAM = """\
import sys
import time
import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="square", input_names=["x"], output_names=["y"],
    source="uint i = thread_position_in_grid.x; y[i] = x[i] * x[i];",
)
for _ in range(4):
    mx.eval(kernel(
        inputs=[mx.ones(500)], grid=(500, 1, 1), threadgroup=(32, 1, 1),
        output_shapes=[(500,)], output_dtypes=[mx.float32],
    ))
print("ran", sys.argv[1:], flush=True)
if "wait" in sys.argv:
    time.sleep(60)
sys.exit(3 if "fail" in sys.argv else 0)
"""


def write(folder: Path) -> str:
    (folder / "squares.py").write_text(PROGRAM)
    return str(folder / "squares.py")


def test_a_program_and_its_table(tmp_path: Path) -> None:
    done = anymetal_command("profile", write(tmp_path), "--json", "fail")
    assert done.returncode == 3, done.stderr
    output = done.stdout
    assert output.startswith("ran ['--json', 'fail']\n\n")
    assert "GB/s here" in output and "launches" in output
    (row,) = (line for line in output.split("\n") if line.rstrip().endswith("square"))
    assert row.split()[0] == "4" and "100%" in row


def test_a_module_as_json_with_a_trace(tmp_path: Path) -> None:
    write(tmp_path)
    trace = tmp_path / "trace.json"
    options = ["profile", "--json", "--trace", str(trace), "-m", "squares", "-m", "a"]
    done = anymetal_command(*options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "ran ['-m', 'a']" in done.stderr
    (kernel,) = json.loads(done.stdout)["kernels"]
    assert kernel["kernel"] == "square" and kernel["launches"] == 4
    assert kernel["bytes_read"] == kernel["bytes_written"] == 4 * 4 * 500
    assert kernel["flops"] == 4 * 500
    events = json.loads(trace.read_text())["traceEvents"]
    assert sum(one["name"] == "square" for one in events) == 4


def test_a_narrow_terminal_has_the_columns_that_fit(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "anymetal", "profile", write(tmp_path)],
        env={**os.environ, "COLUMNS": "60"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    table = done.stdout.split("\n")[3:6]
    assert table[0].split() == ["launches", "time", "share", "median", "floor", "kernel"]
    assert max(map(len, table)) <= 60


def test_ctrl_c_ends_the_program_and_shows_what_there_was(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "anymetal", "profile", write(tmp_path), "wait"]
    environment = {**os.environ, "PYTHONPATH": str(Path(anymetal.__file__).parents[1])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as program:
        assert program.stdout is not None
        assert program.stdout.readline().startswith("ran")
        program.send_signal(signal.SIGINT)
        output = program.stdout.read()
    assert program.returncode == -signal.SIGINT
    assert "square" in output


def test_mistakes_on_the_command_line(tmp_path: Path) -> None:
    done = anymetal_command("profile")
    assert done.returncode == 2 and "Give a SCRIPT or -m MODULE" in done.stderr
    done = anymetal_command("profile", str(tmp_path / "nothing.py"))
    assert done.returncode == 2 and "No such file" in done.stderr
    done = anymetal_command("profile", "--trace", str(tmp_path), write(tmp_path))
    assert "cannot write the trace" in done.stderr and "square" in done.stdout
