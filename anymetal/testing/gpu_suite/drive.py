"""Runs what `pack.py` has written on an NVIDIA GPU, and prints a table. Needs NumPy and CuPy.

    python3 drive.py FOLDER [--jobs 8] [--seconds 180] [--kernel-seconds 15] [--tool memcheck]

Each part runs in a process of its own, which prints a line for each trial as it ends. If one ends
its process or never ends itself, that is its result, and a new process goes on behind it. With a
tool of NVIDIA's compute-sanitizer, that looks at each process. Exit status 0: every trial passed,
and nothing was found but what is known.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

#: What is in memory before a launch, where nothing else is asked for.
_GARBAGE = 0xA5
#: Bytes in front of and behind each array that a kernel must leave as they are.
_FENCE = 256

#: By tool and the case's name: what compute-sanitizer is known to find, and why it stays.
KNOWN = {
    ("racecheck", "atomics/spin_lock_of_one_lane.metal"): "fences order what the lock of relaxed "
    "atomics guards, and racecheck takes barriers alone for order",
}
#: The first line of what it finds, and a place in code.
_FINDING = re.compile(r"^=+ (?=Error|Warning|Potential|Invalid|Barrier|Address|Uninit)(.*)", re.M)
_PLACE = re.compile(r"\b(?:at|in) (\w+)(?:\(.*?\))?\+0x")
_SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)")


def run_part(folder: Path, number: int, first: int, alone: bool) -> None:
    """Runs the trials of a part from `first` on; prints `number status text` for each. `alone`:
    each array is an allocation of its own, without fences, so that others see where it ends."""
    import cupy  # type: ignore[import-not-found]  # on the machine with the GPU
    import numpy

    global _FENCE
    if alone:
        _FENCE = 0
        cupy.cuda.set_allocator(None)
    trials = json.loads((folder / f"{number}.json").read_text())
    arrays = numpy.load(folder / f"{number}.npz")
    print("ready", flush=True)
    for index, trial in enumerate(trials[first:], first):
        try:
            status, text = run_trial(cupy, numpy, trial, arrays)
        except Exception as error:
            status, text = "error", f"{type(error).__name__}: {error}"
        print(json.dumps([index, status, text]), flush=True)
        if status == "error":  # a context that has failed once fails for ever
            os._exit(1)


def run_trial(cupy: Any, numpy: Any, trial: Any, arrays: Any) -> tuple[str, str]:
    """Status and text of one trial."""
    # A path of its own: of one that CuPy has seen it gives the module that it has loaded before.
    path = Path(f"/tmp/gpu-suite-{os.getpid()}-{trial['ptx']}.ptx")
    path.write_bytes(arrays[trial["ptx"]].tobytes())
    kernel = cupy.RawModule(path=str(path)).get_function(trial["entry"])
    path.unlink()
    if trial.get("timed"):
        return "ok", timed(cupy, numpy, trial, arrays, kernel)
    inputs = [fenced(cupy, arrays[key]) for key in trial["inputs"]]
    outputs = []
    for output in trial["outputs"]:
        begin = arrays[output["init"]] if "init" in output else None
        if begin is None:
            begin = numpy.full(output["bytes"], _GARBAGE, numpy.uint8)
        outputs.append(fenced(cupy, begin))
    arguments = (*inputs, *outputs)
    bound = [array[_FENCE:] for array in arguments]
    grid = [numpy.int32(number) for number in trial["numbers"]]
    kernel(tuple(trial["blocks"]), tuple(trial["block"]), (*bound, *grid))
    cupy.cuda.Device().synchronize()
    for array in arguments if _FENCE else ():
        edges = cupy.concatenate([array[:_FENCE], array[-_FENCE:]])
        if not bool((edges == _GARBAGE).all()):
            return "wrong", "wrote outside of an array"
    for place, (output, array) in enumerate(zip(trial["outputs"], outputs, strict=True)):
        if "expected" in output:
            found = array[_FENCE : len(array) - _FENCE].get()
            text = difference(numpy, output, found, arrays[output["expected"]])
            if text:
                return "wrong", f"output {place}: {text}"
    return "ok", ""


def timed(cupy: Any, numpy: Any, trial: Any, arrays: Any, kernel: Any) -> str:
    """Milliseconds of a launch on random floats, the median of 20 behind 5 others."""
    inputs = [
        cupy.asarray(arrays[key])
        if isinstance(key, str)
        else cupy.random.uniform(-1, 1, key["bytes"] // 4, cupy.float32)
        for key in trial["inputs"]
    ]
    outputs = [cupy.zeros(output["bytes"], cupy.uint8) for output in trial["outputs"]]
    grid = [numpy.int32(number) for number in trial["numbers"]]
    arguments = (*inputs, *outputs, *grid)
    times = []
    for _ in range(25):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        kernel(tuple(trial["blocks"]), tuple(trial["block"]), arguments)
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return f"{sorted(times[5:])[10]:.3f} ms"


def fenced(cupy: Any, data: Any) -> Any:
    """The bytes on the GPU, between two fences."""
    array = cupy.full(len(data) + 2 * _FENCE, _GARBAGE, cupy.uint8)
    if len(data):
        array[_FENCE : len(array) - _FENCE] = cupy.asarray(data)
    return array


def difference(numpy: Any, output: Any, found: Any, expected: Any) -> str:
    """What is wrong with an output; empty if nothing is."""
    dtype = output["dtype"]
    if dtype == "bfloat16":
        found = (found.view(numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32)
    elif dtype == "float16":
        found = found.view(numpy.float16).astype(numpy.float32)
    else:
        found = found.view({"bool": "bool", "bool_": "bool"}.get(dtype, dtype))
    with numpy.errstate(all="ignore"):
        wrong = ~(found == expected)
        if found.dtype.kind in "fc":
            wrong &= ~(numpy.isnan(found) & numpy.isnan(expected))
            allowed = output["absolute"] + output["relative"] * numpy.abs(expected)
            if output["absolute"] or output["relative"]:
                wrong &= ~(numpy.abs(found - expected) <= allowed)
    if not wrong.any():
        return ""
    places = numpy.flatnonzero(wrong)
    few = ", ".join(f"[{at}] is {found[at]!s}, expected {expected[at]!s}" for at in places[:4])
    return f"{len(places)} of {wrong.size} values: {few}"


def findings(tool: str, log: Path) -> list[tuple[str, str]]:
    """Function and first line of each kind of thing that a log of compute-sanitizer tells."""
    text = log.read_text(errors="replace") if log.exists() else ""
    counted = _SUMMARY.search(text)
    if not counted:
        last = text.strip().splitlines()[-1:]
        return [("", f"{tool} told no summary: {' '.join(last)}")]
    found = []
    for block in re.split(r"^=+[ \t]*$", text, flags=re.MULTILINE):
        begin, place = _FINDING.search(block), _PLACE.search(block)
        if begin and place:
            words = re.sub(r" at \S+\+0x.*", "", begin[1])
            found.append((place[1], words))
    if int(counted[1]) and not found:
        found.append(("", f"{tool} counts {counted[1]} findings, and names no function"))
    return sorted(set(found))


class Watch(threading.Thread):
    """Runs one part, in as many processes as that takes."""

    def __init__(
        self,
        folder: Path,
        number: int,
        limit: float,
        end: float,
        slots: threading.Semaphore,
        tool: str | None = None,
    ) -> None:
        super().__init__()
        self.folder, self.number, self.limit, self.end = folder, number, limit, end
        self.slots, self.tool = slots, tool
        trials = json.loads((folder / f"{number}.json").read_text())
        self.names = [trial["name"] for trial in trials]
        self.entries = [trial["entry"] for trial in trials]
        self.results: list[tuple[str, str, str]] = []

    def run(self) -> None:
        with self.slots:
            first = 0
            while first < len(self.names) and time.time() < self.end:
                first = self._from(first)
            for name in self.names[first:]:
                self.results.append((name, "not run", "out of time"))

    def _from(self, first: int) -> int:
        """Runs a process that begins with a trial; returns the next one."""
        command = [sys.executable, __file__, str(self.folder), "--part", str(self.number)]
        command += ["--first", str(first)]
        log = self.folder / f"{self.number}.{first}.{self.tool}.log"
        if self.tool:
            command = [*_looked_at(self.tool, log), *command, "--alone"]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # compute-sanitizer has a process below its own
        )
        lines: queue.Queue[str] = queue.Queue()
        reader = threading.Thread(target=self._read, args=(process, lines), daemon=True)
        reader.start()
        # To load CuPy and begin with the GPU, first trial included.
        limit = 180.0 if self.tool else 60.0
        while first < len(self.names):
            try:
                line = lines.get(timeout=max(0.1, min(limit, self.end - time.time())))
            except queue.Empty:
                os.killpg(process.pid, signal.SIGKILL)
                late = time.time() >= self.end
                why = "out of time" if late else f"no end within {limit:.0f} s"
                self.results.append((self.names[first], "not run" if late else "hang", why))
                return first + 1
            if not line:
                break
            if line.startswith("["):
                index, status, text = json.loads(line)
                self.results.append((self.names[index], status, text))
                first = index + 1
                limit = self.limit
        process.wait()
        if process.returncode and (not self.results or self.results[-1][1] != "error"):
            words = (process.stderr.read() if process.stderr else "").strip().splitlines()[-1:]
            text = f"status {process.returncode}: {' '.join(words)}"
            self.results.append((self.names[min(first, len(self.names) - 1)], "crash", text))
            first += 1
        if self.tool:
            self._look_at(log)
        return first

    def _look_at(self, log: Path) -> None:
        """Adds what the tool has found in a process."""
        assert self.tool
        for function, text in findings(self.tool, log):
            where = {
                name
                for name, entry in zip(self.names, self.entries, strict=True)
                if entry == function
            }
            known = next((KNOWN[self.tool, one] for one in where if (self.tool, one) in KNOWN), "")
            name = f"{self.tool}: {function or 'process'} of {', '.join(sorted(where)) or 'nobody'}"
            status = "known" if known else "found"
            self.results.append((name, status, f"{text} ({known})" if known else text))

    @staticmethod
    def _read(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
        assert process.stdout
        for line in process.stdout:
            lines.put(line)
        lines.put("")


def _looked_at(tool: str, log: Path) -> list[str]:
    """What stands in front of the command of a process that a tool looks at."""
    command = ["compute-sanitizer", "--tool", tool, "--log-file", str(log)]
    if tool == "memcheck":  # CuPy asks CUDA for things that may not be there
        command += ["--report-api-errors", "no", "--padding", "64"]
    return command


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=8, help="parts that run at a time")
    parser.add_argument("--seconds", type=float, default=180, help="for all of them")
    parser.add_argument("--kernel-seconds", type=float, default=15, help="for one trial")
    parser.add_argument("--tool", choices=("memcheck", "racecheck", "synccheck"), help="looks on")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part is not None:
        run_part(options.folder, options.part, options.first, options.alone)
        return 0
    start = time.time()
    numbers = sorted(int(path.stem) for path in options.folder.glob("*.json"))
    slots = threading.Semaphore(options.jobs)
    end = start + options.seconds
    parts = [
        Watch(options.folder, n, options.kernel_seconds, end, slots, options.tool) for n in numbers
    ]
    for part in parts:
        part.start()
    for part in parts:
        part.join()
    results = [result for part in parts for result in part.results]
    for name, status, text in sorted(results):
        if status != "ok" or text:
            print(f"{status:8} {name}: {text[:300]}")
    counts = Counter(status for _, status, _ in results)
    print(", ".join(f"{count} {status}" for status, count in counts.most_common()))
    trials = sum(len(part.names) for part in parts)
    print(f"{trials} trials in {time.time() - start:.0f} s")
    return 0 if counts["ok"] == trials and set(counts) <= {"ok", "known"} else 1


if __name__ == "__main__":
    sys.exit(main())
