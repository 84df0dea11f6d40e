"""The commands of `anymetal` other than `run`, as a typer application."""

from __future__ import annotations

from typing import Annotated

import typer

import anymetal

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
