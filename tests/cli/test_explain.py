"""`anymetal explain`, as a user's shell sees it."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from anymetal.pipeline import thread
from anymetal.targets.cpu import pipeline as gang
from tests.cli.test_cli import anymetal_command

PROGRAM = """\
import sys
import mlx.core as mx

for name in ("first", "second"):
    kernel = mx.fast.metal_kernel(
        name=name, input_names=["x"], output_names=["y"],
        source='''
        uint i = thread_position_in_grid.x;
        float s = 0;
        for (int k = 0; k < 100; k++) s = s * x[k] + x[i * 7];
        y[i] = s;
        ''',
    )
    mx.eval(kernel(
        inputs=[mx.zeros(1000)], grid=(64, 1, 1), threadgroup=(64, 1, 1),
        output_shapes=[(64,)], output_dtypes=[mx.float32],
    ))
print("ran", sys.argv[1:])
"""

LIBRARY = """\
#include <metal_stdlib>
using namespace metal;
constant int wanted [[function_constant(0)]];

kernel void scale(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = 2 * x[i * 3];
}

kernel void shift(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  y[i] += wanted;
}
"""


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_a_program(tmp_path: Path) -> None:
    done = anymetal_command("explain", write(tmp_path, "p.py", PROGRAM), "--flag", "5")
    assert done.returncode == 0, done.stderr
    output = done.stdout
    assert output.startswith("ran ['--flag', '5']\n")
    assert output.count("kernel first   full SIMD-groups along x") == 1
    assert output.count("kernel second ") == 1
    before, _, after = output.partition("for (int k = 0; k < 100; k++)")
    assert "    2         uint i = thread_position_in_grid.x;" in before
    assert "└ loop uniform: all lanes go round together" in after
    assert "└ load `x`: strided, 28 bytes from lane to lane: gather" in after
    assert "└ store `y`: contiguous" in after
    assert "loop in line 4: " in after and " vector arithmetic" in after


@pytest.mark.parametrize(
    ("line", "complaint", "explained"),
    [
        (
            "// expect: y = z * 2",
            "`// expect: y = z * 2`: NameError: name 'z' is not defined",
            True,
        ),
        ("// where: q = 1 / 0", "`// where: q = 1 / 0`: ZeroDivisionError: division by zero", True),
        ("// input: z = float32[4] many()", "NameError: name 'many' is not defined", False),
        ("// view: x = w[:2]", "`// view: x = w[:2]`: NameError: name 'w' is not defined", False),
        ("// grid: 8", "`// grid:` occurs 2 times", False),
    ],
)
def test_a_case_with_a_wrong_formula(
    line: str, complaint: str, explained: bool, tmp_path: Path
) -> None:
    """The formula is named, without a traceback; what has run is explained."""
    lines = ["// input: x = float32[64] uniform", "// output: y = float32[64]", "// grid: 64"]
    lines += [line, "// expect: y = x", "uint i = thread_position_in_grid.x;", "y[i] = x[i];"]
    done = anymetal_command("explain", write(tmp_path, "a_case.metal", "\n".join(lines)))
    assert complaint in done.stderr and "Traceback" not in done.stderr
    assert ("kernel a_case" in done.stdout) is explained
    assert done.returncode == (0 if explained else 1)


def test_one_kernel_of_a_program(tmp_path: Path) -> None:
    path = write(tmp_path, "p.py", PROGRAM)
    output = anymetal_command("explain", "--kernel", "second", path).stdout
    assert "kernel first " not in output and "kernel second " in output
    done = anymetal_command("explain", "--kernel", "third", path)
    assert done.returncode == 1
    assert "nothing to explain; kernels of" in done.stdout and "first, second" in done.stdout


def test_times(tmp_path: Path) -> None:
    path = write(tmp_path, "p.py", PROGRAM)
    output = anymetal_command("explain", "--times", "--kernel", "first", path).stdout
    _, _, times = " ".join(output.split()).partition("compiled once more, in milliseconds ")
    stages, _, passes = times.partition(" the longest of ")
    number = r"[1-9]\d*|0"
    assert re.fullmatch(
        rf"stages: front end ({number}), optimiser ({number}), passes ({number}), "
        rf"vectorizer ({number}), code generation ({number})",
        stages,
    )
    ran, _, listed = passes.partition(" passes: ")
    longest = [part.rsplit(" ", 1) for part in listed.strip().split(", ")]
    assert int(ran) > len(longest) == 8
    names = {one.name for one in (*thread.PASSES, *gang.PASSES)}
    assert names.issuperset(name for name, _ in longest)
    took = [float(milliseconds) for _, milliseconds in longest]
    assert took == sorted(took, reverse=True)
    assert "milliseconds" not in anymetal_command("explain", "--kernel", "first", path).stdout


def test_a_module(tmp_path: Path) -> None:
    write(tmp_path, "p.py", PROGRAM)
    words = ["explain", "--kernel", "first", "-m", "p", "--kernel", "x"]
    done = anymetal_command(*words, cwd=tmp_path)
    assert done.stdout.startswith("ran ['--kernel', 'x']\n")
    assert "kernel first " in done.stdout and "kernel second " not in done.stdout


def test_what_to_change_comes_last_and_by_cost(tmp_path: Path) -> None:
    text = PROGRAM.replace("x[i * 7];", "x[i * 7 + int(x[k])];\n        s += x[i * 5];")
    path = write(tmp_path, "p.py", text)
    output = anymetal_command("explain", "--kernel", "first", path).stdout
    _, _, found = output.partition("what might be cheaper, by its share of the cost")
    (first, line), (second, other) = re.findall(r"^ +(\d+)%  line (\d)", found, re.M)
    assert (line, other) == ("4", "5") and int(first) > 5 * int(second)
    assert "- s += x[i * 5];" in found
    assert "+ s += x[i];  // x stored as 5 arrays of `rows` elements each" in found


def test_json(tmp_path: Path) -> None:
    done = anymetal_command("explain", "--json", write(tmp_path, "p.py", PROGRAM), "a")
    assert done.returncode == 0 and "ran ['a']" in done.stderr
    first, second = json.loads(done.stdout)["kernels"]
    assert (first["kernel"], second["kernel"]) == ("first", "second")
    assert first["findings"] and first["findings"][0]["kind"] == "load"


def test_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    options = ["--html", str(page), "--kernel", "first"]
    done = anymetal_command("explain", *options, write(tmp_path, "p.py", PROGRAM))
    assert done.returncode == 0 and "kernel first " in done.stdout
    text = page.read_text()
    found = _Page()
    found.feed(text)
    assert not found.open and "<script" not in text and "http" not in text
    (line,) = (one for one in found.summaries if "k &lt; 100" in one or "k < 100" in one)
    assert "%" in line  # its share
    assert found.count["details"] >= 2 and found.count["h2"] == 1
    assert "strided, 28 bytes from lane to lane" in text
    assert re.search(r"<pre>(?:.*\n)*?v?[a-z]+ .*(?:mm\d|v\d)", text)  # instructions
    assert "background: rgba(var(--heat), 0." in text
    done = anymetal_command("explain", "--html", str(tmp_path), write(tmp_path, "p.py", PROGRAM))
    assert done.returncode == 1 and "cannot write the page" in done.stderr


class _Page(HTMLParser):
    """Whether elements are closed in their order, and what summaries say."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.count: Counter[str] = Counter()
        self.summaries: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.count[tag] += 1
        if tag != "meta":
            self.open.append(tag)
        if tag == "summary":
            self.summaries.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "summary" in self.open:
            self.summaries[-1] += data


def test_a_program_that_fails_is_explained_so_far(tmp_path: Path) -> None:
    done = anymetal_command("explain", write(tmp_path, "p.py", PROGRAM + "1 // 0\n"))
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr and "kernel second " in done.stdout
    done = anymetal_command("explain", write(tmp_path, "p.py", PROGRAM + "sys.exit(7)\n"))
    assert done.returncode == 7 and "kernel second " in done.stdout


def test_a_case() -> None:
    path = Path(__file__).parents[1] / "kernels" / "algorithms" / "matmul_tiled.metal"
    output = anymetal_command("explain", str(path)).stdout
    assert "   15 for (int start = 0; start < K; start += TILE) {" in output
    assert "└ barrier 8 SIMD-groups of the threadgroup run as one, nothing to wait for" in output
    assert "known from the lane number" in output


def test_for_nvidia(tmp_path: Path) -> None:
    """A program's kernels, with the threadgroups that they are launched with; once each."""
    text = PROGRAM.replace(
        'print("ran"',
        "mx.eval(kernel(inputs=[mx.zeros(2000)], grid=(64, 1, 1), "
        "threadgroup=(32, 1, 1), output_shapes=[(64,)], output_dtypes=[mx.float32]))\n"
        'print("ran"',
    )
    path = write(tmp_path, "p.py", text)
    words = ["explain", "--target", "cuda", "--arch", "sm_90"]
    output = anymetal_command(*words, path, "a").stdout
    assert output.startswith("ran ['a']\n")
    assert output.count("kernel first   sm_90, threadgroups of 64, all full") == 1
    assert output.count("kernel second   sm_90, threadgroups of 64, all full") == 1
    assert output.count("kernel second   sm_90, threadgroups of 32, all full") == 1
    assert "└ load `x`: strided, 28 bytes from lane to lane: 28 sectors where 4" in output
    assert "what it takes" in output and "instructions for 32 threads" not in output
    assert "what might be cheaper, by its share of the cost" in output
    page = tmp_path / "page.html"
    words += ["--json", "--html", str(page), "--kernel", "first"]
    (first,) = json.loads(anymetal_command(*words, path).stdout)["kernels"]
    assert first["variant"] == "sm_90, threadgroups of 64, all full"
    assert first["findings"][0]["kind"] == "load" and first["instructions"] == []
    assert first["resources"].keys() & {"registers", "unknown"}
    text = page.read_text()
    _Page().feed(text)
    assert "ld.global.nc." in text and "28 sectors where 4 would do" in text


def test_a_metal_file_for_nvidia(tmp_path: Path) -> None:
    path = write(tmp_path, "lib.metal", LIBRARY)
    words = ["explain", "--target", "cuda", "--threadgroup", "16,16"]
    output = anymetal_command(*words, path).stdout
    assert "kernel scale   sm_80, threadgroups of 16 x 16, all full" in output
    assert "kernel shift is left out: " in output
    done = anymetal_command(*words, "--arch", "sm_95", path)
    assert done.returncode == 1 and "There are sm_70, sm_75" in " ".join(done.stdout.split())


def test_a_metal_file(tmp_path: Path) -> None:
    path = write(tmp_path, "lib.metal", LIBRARY)
    done = anymetal_command("explain", "--threadgroup", "32", path)
    assert "kernel scale   full SIMD-groups along x, one a threadgroup" in done.stdout
    assert anymetal_command("explain", path, "--threadgroup", "32").returncode == 2
    done = anymetal_command("explain", "--threadgroup", "32,4", path)
    output = done.stdout
    assert "    5 kernel void scale(device const float* x [[buffer(0)]]" in output
    assert "└ load `x`: strided, 12 bytes from lane to lane: gather" in output
    assert "kernel shift is left out: " in output and "wanted" in output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/no/such.py"], "there is no file /no/such.py"),
        (["--threadgroup", "1,2,3,4", __file__], "one to three numbers"),
        (["--threadgroup", "0", __file__], "one to three numbers"),
        ([], "Missing argument"),
        (["--target", "apple", __file__], "--target is 'apple': cpu or cuda"),
    ],
)
def test_wrong_use(arguments: list[str], words: str) -> None:
    done = anymetal_command("explain", *arguments)
    assert done.returncode == 2 and words in done.stderr


def test_a_file_without_kernels(tmp_path: Path) -> None:
    done = anymetal_command("explain", write(tmp_path, "p.py", "print(1)"))
    assert done.returncode == 1 and "kernels of" in done.stdout and "none" in done.stdout
