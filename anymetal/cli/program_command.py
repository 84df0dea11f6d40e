"""Commands whose last words belong to a program: `anymetal profile [OPTIONS] SCRIPT [ARGS…]`."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class ProgramCommand(TyperCommand):
    """Options end with the first word that is none, or behind `-m MODULE`, as python's do."""

    allow_interspersed_args = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the command line apart."""
        return super().parse_args(ctx, self._with_end(args))

    def _with_end(self, words: list[str]) -> list[str]:
        """The words, with `--` where the program's begin."""
        with_value = {
            name
            for one in self.params
            if one.param_type_name == "option" and not getattr(one, "is_flag", False)
            for name in one.opts
        }
        at = 0
        while at < len(words) and words[at].startswith("-") and words[at] != "--":
            at += 2 if words[at] in with_value else 1
            if words[at - 2 : at - 1] == ["-m"] or words[at - 1].startswith("-m"):
                return [*words[:at], "--", *words[at:]]
        return words
