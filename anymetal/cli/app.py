"""The commands of `anymetal` other than `run`, as a typer application."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import anymetal
from anymetal.cli import cache

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
def doctor() -> None:
    """Tell which targets this machine has, what was found, and what is missing."""
    from anymetal.cli.doctor import doctor

    raise typer.Exit(doctor())


@app.command()
def demo() -> None:
    """Show what AnyMetal does on this machine, in under a minute."""
    from anymetal.cli.demo import demo

    raise typer.Exit(demo())


@app.command(name="explain", context_settings={"allow_interspersed_args": False})
def explain_(
    file: Annotated[Path, typer.Argument(help="A program, a one-kernel case or a Metal file.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="For the program.")] = None,
    kernel: Annotated[str | None, typer.Option(help="Explain only kernels of this name.")] = None,
    threadgroup: Annotated[
        str, typer.Option(help="For the kernels of a Metal file: threads in x,y,z.")
    ] = "256",
    pretend_gpu: Annotated[
        bool, typer.Option("--pretend-gpu", help="As for `anymetal run`.")
    ] = False,
) -> None:
    """Run a program and tell, line by line, what became of its kernels."""
    from anymetal.cli.explain import explain_file

    numbers = threadgroup.split(",")
    if len(numbers) > 3 or not all(n.isdecimal() and int(n) for n in numbers):
        raise typer.BadParameter("one to three numbers from 1 up, such as 16,16")
    x, y, z = (*map(int, numbers), 1, 1)[:3]
    if not file.is_file():
        raise typer.BadParameter(f"there is no file {file}")
    if arguments and file.suffix == ".metal":
        raise typer.BadParameter("options go in front of the file; a Metal file takes no arguments")
    raise typer.Exit(explain_file(file, arguments or [], kernel, (x, y, z), pretend_gpu))


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
