"""The commands of `anymetal` other than `run`, as a typer application."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import anymetal
from anymetal.cli import cache
from anymetal.cli.program_command import ProgramCommand

app = typer.Typer(
    name="anymetal",
    help="Runs Metal kernels written for MLX's mx.fast.metal_kernel on any machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command(
    context_settings={
        "ignore_unknown_options": True,
        "allow_extra_args": True,
        "help_option_names": [],
    }
)
def run(context: typer.Context) -> None:
    """Run an unmodified program (SCRIPT or -m MODULE) that uses mx.fast.metal_kernel."""
    from anymetal.cli.run import run

    raise typer.Exit(run(context.args))


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Tell which targets this machine has, what is missing, and whether a kernel runs."""
    from anymetal.cli.doctor import doctor

    raise typer.Exit(doctor(as_json))


@app.command()
def demo() -> None:
    """Show what AnyMetal does on this machine, in under a minute."""
    from anymetal.cli.demo import demo

    raise typer.Exit(demo())


@app.command(name="check")
def check_(
    files: Annotated[
        list[Path], typer.Argument(help="Python programs and Metal files, or folders of them.")
    ],
    form: Annotated[
        str, typer.Option("--format", metavar="FORM", help="text, json, github or sarif.")
    ] = "text",
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Only rules that begin like this; repeatable."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Not these rules; repeatable.")
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Repair what can safely be repaired.")] = False,
) -> None:
    """Find mistakes in kernels without running the program."""
    from anymetal.cli.check import FORMATS, check, unknown_codes

    if form not in FORMATS:
        raise typer.BadParameter(f"one of {', '.join(FORMATS)}", param_hint="--format")
    chosen, left_out = (
        [code for given in codes or () for code in given.upper().split(",") if code]
        for codes in (select, ignore)
    )
    if unknown := unknown_codes([*chosen, *left_out]):
        raise typer.BadParameter(f"there is no rule {unknown[0]}; docs/lint.md lists them")
    raise typer.Exit(check(files, form, chosen, left_out, fix))


@app.command(name="compile")
def compile_(
    file: Annotated[Path, typer.Argument(help="A Metal file.")],
    include: Annotated[
        list[Path] | None,
        typer.Option("-I", "--include", metavar="FOLDER", help="Where #include looks; repeatable."),
    ] = None,
    define: Annotated[
        list[str] | None,
        typer.Option("-D", "--define", metavar="NAME[=VALUE]", help="A macro; repeatable."),
    ] = None,
    kernel: Annotated[
        list[str] | None,
        typer.Option("-k", "--kernel", help="A kernel, or several as gemv_*; repeatable."),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All kernels: the default.")] = False,
    constant: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A function constant; repeatable."),
    ] = None,
    threadgroup: Annotated[
        list[str] | None,
        typer.Option(help="Threads in x,y,z of launches to compile for; repeatable. [256]"),
    ] = None,
    edges: Annotated[
        bool, typer.Option("--edges", help="Also for grids that no whole threadgroups fill.")
    ] = False,
    threadgroup_memory: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER=BYTES", help="Length of a threadgroup argument; repeatable."),
    ] = None,
    prelude: Annotated[str | None, typer.Option(help="metal or mlx.")] = None,
    math_mode: Annotated[str, typer.Option(help="safe, relaxed or fast.")] = "safe",
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=0, help="At a time; 0: all.")] = 0,
    target: Annotated[str, typer.Option(help="cpu, or cuda for PTX in a folder.")] = "cpu",
    arch: Annotated[str, typer.Option(help="With cuda: sm_75, sm_90 …")] = "sm_80",
    out: Annotated[Path, typer.Option(help="With cuda: the folder to write.")] = Path("ptx"),
) -> None:
    """Compile the kernels of a Metal file ahead of their first launch, into the cache."""
    from anymetal.cli.compile import Request, compile_file, value_of
    from anymetal.runtime import processors

    if kernel and all_:
        raise typer.BadParameter("either --kernel or --all")
    macros = dict(_pair(one, "-D") if "=" in one else (one, "1") for one in define or ())
    options = {
        "include_dirs": include or (),
        "defines": macros,
        "prelude": prelude,
        "compile_options": {"math_mode": math_mode},
    }
    constants = (_pair(one, "--constant") for one in constant or ())
    lengths = (_pair(one, "--threadgroup-memory") for one in threadgroup_memory or ())
    try:
        request = Request(
            kernel or (),
            {name: value_of(text) for name, text in constants},
            {int(number): int(size) for number, size in lengths},
            [_threads(one) for one in threadgroup or ("256",)],
            edges,
            jobs or processors.count(),
        )
    except ValueError as error:
        raise typer.BadParameter(f"not a number: {error}") from None
    if target not in ("cpu", "cuda"):
        raise typer.BadParameter(f"--target is {target!r}: cpu or cuda")
    if target == "cuda":
        from anymetal.cli.compile_cuda import write_ptx

        raise typer.Exit(write_ptx(file, options, request, arch, out))
    raise typer.Exit(compile_file(file, options, request))


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise typer.BadParameter(f"{option} {text}: a name, =, and a value")
    return name, value


def _threads(text: str) -> tuple[int, int, int]:
    numbers = text.split(",")
    if len(numbers) > 3 or not all(n.isdecimal() and int(n) for n in numbers):
        raise typer.BadParameter("one to three numbers from 1 up, such as 16,16")
    x, y, z = (*map(int, numbers), 1, 1)[:3]
    return x, y, z


# What several commands that run a program have.
_Arguments = Annotated[list[str] | None, typer.Argument(help="For the program.")]
_Module = Annotated[
    str | None, typer.Option("-m", metavar="MODULE", help="A module, as python -m.")
]
_Json = Annotated[
    bool, typer.Option("--json", help="For programs; what the program prints goes to stderr.")
]
_PretendGpu = Annotated[bool, typer.Option("--pretend-gpu", help="As for `anymetal run`.")]


@app.command(name="init", cls=ProgramCommand)
def init_(
    script: Annotated[
        str | None,
        typer.Argument(help="A Python program whose kernels become files; so does -m MODULE."),
    ] = None,
    arguments: _Arguments = None,
    module: _Module = None,
    folder: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where to write; by default here.")
    ] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    pretend_gpu: _PretendGpu = False,
) -> None:
    """Write what editors need to complete and check Metal texts: .clangd, compile_flags.txt."""
    from anymetal.cli.init import init
    from anymetal.cli.run import program_words

    words = None
    if script is not None or module is not None:
        words = program_words(script, module, arguments or [], pretend_gpu)
    raise typer.Exit(init(folder, force, words))


@app.command(name="explain", cls=ProgramCommand)
def explain_(
    file: Annotated[
        str | None,
        typer.Argument(help="A program, a one-kernel case or a Metal file; or -m names a module."),
    ] = None,
    arguments: _Arguments = None,
    module: _Module = None,
    kernel: Annotated[str | None, typer.Option(help="Explain only kernels of this name.")] = None,
    threadgroup: Annotated[
        str, typer.Option(help="For the kernels of a Metal file: threads in x,y,z.")
    ] = "256",
    as_json: _Json = False,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also a page: lines by cost, with reasons and code."),
    ] = None,
    pretend_gpu: _PretendGpu = False,
    times: Annotated[
        bool, typer.Option("--times", help="Also how long stages and passes of the compiler take.")
    ] = False,
    target: Annotated[str, typer.Option(help="cpu, or cuda: as PTX, without a GPU.")] = "cpu",
    arch: Annotated[str, typer.Option(help="With cuda: sm_75, sm_90 …")] = "sm_80",
) -> None:
    """Run a program and tell, line by line, what became of its kernels, and what to change."""
    from anymetal.cli.explain import Options, explain_program

    extent = _threads(threadgroup)
    words = arguments or []
    if module is not None:
        words, file = [*([file] if file is not None else []), *words], None
    elif file is None:
        raise typer.BadParameter("Missing argument: a file, or -m MODULE")
    elif not Path(file).is_file():
        raise typer.BadParameter(f"there is no file {file}")
    elif words and file.endswith(".metal"):
        raise typer.BadParameter("options go in front of the file; a Metal file takes no arguments")
    if target not in ("cpu", "cuda"):
        raise typer.BadParameter(f"--target is {target!r}: cpu or cuda")
    architecture = arch if target == "cuda" else ""
    options = Options(kernel, extent, pretend_gpu, times, as_json, html, architecture)
    raise typer.Exit(explain_program(file, module, words, options))


@app.command(name="profile", cls=ProgramCommand)
def profile_(
    script: Annotated[
        str | None, typer.Argument(help="A Python program, unless -m names a module.")
    ] = None,
    arguments: _Arguments = None,
    module: _Module = None,
    as_json: _Json = False,
    trace: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also all launches, for chrome://tracing or Perfetto."),
    ] = None,
    pretend_gpu: _PretendGpu = False,
) -> None:
    """Run a program and tell where the time of its kernels goes."""
    from anymetal.cli.profile import profile_program
    from anymetal.cli.run import program_words

    if script is None and module is None:
        raise typer.BadParameter("which program? Give a SCRIPT or -m MODULE")
    words = program_words(script, module, arguments or [], pretend_gpu)
    raise typer.Exit(profile_program(words, as_json, trace))


@app.command(name="replay")
def replay_(
    file: Annotated[Path, typer.Argument(help="A file that a sanitized run has written.")],
    format: Annotated[
        str, typer.Option("--format", help="text, json or sarif.", metavar="FORMAT")
    ] = "text",
) -> None:
    """Run a launch again that the sanitizer found something in, and tell what is found now."""
    from anymetal.cli.replay import replay

    if format not in ("text", "json", "sarif"):
        raise typer.BadParameter("--format must be text, json or sarif")
    raise typer.Exit(replay(file, format))


@app.command(name="tune")
def tune_(
    only: Annotated[
        list[str] | None, typer.Option(metavar="OP", help="Only this operation; repeatable.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer cases, less time each.")] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Measure again what is measured already.")
    ] = False,
    modules: Annotated[
        list[str] | None,
        typer.Option(
            "--import", metavar="MODULE", help="A module that registers operations; repeatable."
        ),
    ] = None,
) -> None:
    """Measure which path of each routine is the fastest on this machine, and keep that."""
    from anymetal.cli.tune import import_modules, tune

    import_modules(modules or [])
    raise typer.Exit(tune(only or [], quick, fresh))


@app.command(name="spot")
def spot_(
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this pair; repeatable.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0, help="For each pair.")] = 1.0,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A picture of the ratios (.png, .svg …).")
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(metavar="PAGE", help="Put the table into a page with marks for it."),
    ] = None,
) -> None:
    """Run small pairs of kernels that show what costs what on this machine."""
    from anymetal.cli.spot import spot

    raise typer.Exit(spot(only or [], seconds, plot, write=write))


app.add_typer(cache.app, name="cache")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"anymetal {anymetal.__version__}")
        raise typer.Exit


@app.callback()
def _anymetal(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
