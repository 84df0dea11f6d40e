"""`anymetal run SCRIPT [ARGS…]`: an unmodified program, with our kernels in the place of MLX's.

The program must not notice: its `sys.argv`, `sys.path`, `__main__` and tracebacks are those that
`python SCRIPT ARGS…` (or `python -m MODULE ARGS…`) would give it.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import runpy
import signal
import sys
from collections.abc import Callable, Iterator
from types import TracebackType

import anymetal


def run(arguments: list[str], finish: Callable[[], object] = lambda: None) -> int:
    """Parse the command line after `run`, install AnyMetal and run the program.

    `finish`: what is to be done if Ctrl-C ends the program, and with it this process.
    """
    options, program = _parse(arguments)
    anymetal.install(
        pretend_gpu=options.pretend_gpu,
        clamp_indices=True,
        pretend_mac=options.pretend_mac,
        children_too=True,
    )
    if not options.sanitize:
        return _run(options.module, program, finish)
    from anymetal.sanitizer import process

    process.begin_run()
    try:
        status = _run(options.module, program, lambda: process.end_run(0))
    except SystemExit as end:
        if process.end_run(_status_of(end)) == _status_of(end):
            raise
        return process.STATUS
    return process.end_run(status)


def run_to_end(arguments: list[str], finish: Callable[[], object] = lambda: None) -> int:
    """The same for those who go on afterwards, whichever way the program ends; its exit status."""
    try:
        return run(arguments, finish)
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return _status_of(end)


def program_words(
    script: str | None, module: str | None, arguments: list[str], pretend_gpu: bool
) -> list[str]:
    """The command line for `run`, of a command that takes programs beside other things."""
    pretend = ["--pretend-gpu"] if pretend_gpu else []
    words = [] if script is None else [script]
    return [*pretend, *(["-m", module] if module else []), *words, *arguments]


@contextlib.contextmanager
def output_on_stderr() -> Iterator[None]:
    """What anybody writes to stdout, C++ included, goes to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _status_of(end: SystemExit) -> int:
    """The exit status that Python would end with."""
    return 0 if end.code is None else end.code if isinstance(end.code, int) else 1


def _run(module: str | None, program: list[str], finish: Callable[[], object]) -> int:
    """Runs the program. `finish`: what is to be done if a signal then ends this process."""
    try:
        if module is not None:
            _run_module(module, program)
        else:
            _run_script(program)
    except SystemExit:
        raise
    except BaseException as error:
        return _report(error, finish)
    return 0


def _parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Our options, and the program's own words: its arguments, after its path if it is a script."""
    parser = argparse.ArgumentParser(
        prog="anymetal run",
        usage="anymetal run [--pretend-gpu | --pretend-mac] [--sanitize] (SCRIPT | -m MODULE) "
        "[ARGS...]",
        description="Run a Python program that uses mx.fast.metal_kernel, as it is.",
        epilog="SCRIPT is a file, folder or zip file, as for python. "
        "Everything after it, or after -m MODULE, belongs to the program.",
    )
    parser.add_argument(
        "--pretend-gpu",
        action="store_true",
        help="answer the questions of libraries (mx.metal.is_available, mx.default_device, ...) "
        "as an Apple GPU would",
    )
    parser.add_argument(
        "--pretend-mac",
        action="store_true",
        help="also answer as a Mac would where the program or its MLX libraries ask sys.platform, "
        "platform, os.uname or sysctl",
    )
    parser.add_argument(
        "--sanitize",
        action="store_true",
        help="run all kernels under observation, report what they do wrong at the end, and exit "
        "with 66 if that includes errors",
    )
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m")
    start = _program_start(arguments)
    options = parser.parse_args(arguments[:start])
    program = arguments[start:]
    if options.module is None and not program:
        parser.error("which program? Give a SCRIPT or -m MODULE")
    return options, program


def _program_start(arguments: list[str]) -> int:
    """Where our options end: argparse itself would look for more of them behind the script."""
    for index, argument in enumerate(arguments):
        if argument == "-m":
            return index + 2
        if argument.startswith("-m"):
            return index + 1
        if not argument.startswith("-"):
            return index
    return len(arguments)


def _run_script(program: list[str]) -> None:
    path = program[0]
    if not os.path.exists(path):
        # The words and the exit status of `python`.
        where, reason = os.path.abspath(path), os.strerror(errno.ENOENT)
        message = f"can't open file {where!r}: [Errno {errno.ENOENT}] {reason}"
        print(f"anymetal run: {message}", file=sys.stderr)
        raise SystemExit(2)
    sys.argv = program
    if os.path.isfile(path):
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    else:
        del sys.path[0]  # runpy puts the folder there
    runpy.run_path(path, run_name="__main__")


def _run_module(module: str, program: list[str]) -> None:
    sys.argv = [module, *program]  # runpy replaces the first by the path of the module
    sys.path[0] = os.getcwd()
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _report(error: BaseException, finish: Callable[[], object]) -> int:
    """Print the traceback as Python would, without the frames that brought us here."""
    error.__traceback__ = _program_frames(error.__traceback__)
    sys.excepthook(type(error), error, error.__traceback__)
    if isinstance(error, KeyboardInterrupt):
        finish()
        # Die by the signal, as Python does: shells stop their loops then.
        sys.stdout.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return 1


def _program_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that begins in the program."""
    ours = {__file__, runpy.__file__, "<frozen runpy>"}
    while traceback is not None and traceback.tb_frame.f_code.co_filename in ours:
        traceback = traceback.tb_next
    return traceback
