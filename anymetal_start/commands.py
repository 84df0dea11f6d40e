"""The programs of macOS by which libraries ask what Mac they run on; `bin/` leads here.

commands.py sysctl|sw_vers|system_profiler [ARGUMENTS…]
"""

from __future__ import annotations

import os
import sys

# This is run as a file, by an interpreter that looks for nothing in site-packages.
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from anymetal_start import answers

#: Where macOS keeps them; some libraries name these paths.
PATHS = {
    "sysctl": "/usr/sbin/sysctl",
    "sw_vers": "/usr/bin/sw_vers",
    "system_profiler": "/usr/sbin/system_profiler",
}


def _sysctl(arguments: list[str]) -> int:
    table = answers.sysctl()
    flags = {letter for word in arguments if word.startswith("-") for letter in word[1:]}
    names = [word for word in arguments if not word.startswith("-")]
    status = 0
    for name in sorted(table) if flags & {"a", "A", "X"} else names:
        branch = [known for known in sorted(table) if known.startswith(f"{name}.")]
        if "=" in name:
            print(f"sysctl: {name.partition('=')[0]}: Operation not permitted", file=sys.stderr)
            status = 1
        elif name not in table and not branch:
            print(f"sysctl: unknown oid '{name}'", file=sys.stderr)
            status = 1
        for known in [name] if name in table else branch:
            print(table[known] if "n" in flags else f"{known}: {table[known]}")
    return status


def _sw_vers(arguments: list[str]) -> int:
    table = answers.sw_vers()
    wanted = {f"-{name[0].lower()}{name[1:]}": name for name in table}
    for argument in arguments:
        name = wanted.get(f"-{argument.lstrip('-')}")
        if name is None:
            print(f"sw_vers: unknown option {argument}", file=sys.stderr)
            return 1
        print(table[name])
    if not arguments:
        for name, value in table.items():
            print(f"{name}:\t\t{value}")
    return 0


def _system_profiler(arguments: list[str]) -> int:
    kinds = [word for word in arguments if word.startswith("SP")]
    print(answers.system_profiler(kinds, "-json" in arguments))
    return 0


def main(program: str, arguments: list[str]) -> int:
    """What the program prints; its exit status."""
    programs = {"sysctl": _sysctl, "sw_vers": _sw_vers, "system_profiler": _system_profiler}
    return programs[program](arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
