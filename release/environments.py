"""Python environments to build in, and to try in what was built: each has what it needs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.10", "3.11", "3.12", "3.13")


class Environment:
    """A virtual environment of one interpreter."""

    def __init__(self, folder: Path, interpreter: str) -> None:
        self.folder = folder
        run([interpreter, "-m", "venv", str(folder)])
        self.python = str(folder / "bin" / "python")

    def install(self, *requirements: str) -> None:
        """With pip, in the versions of the lock file."""
        constraints = self.folder / "constraints.txt"
        constraints.write_text(locked_versions())
        options = ["--quiet", "--disable-pip-version-check", "--constraint", str(constraints)]
        run([self.python, "-m", "pip", "install", *options, *requirements])

    def run(
        self, *arguments: str, status: int = 0, variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Python with these arguments, outside of the repository and without its variables."""
        kept = {name: value for name, value in os.environ.items() if "PYTHON" not in name}
        return run(
            [self.python, *arguments], {**kept, **(variables or {})}, cwd=self.folder, status=status
        )


@contextmanager
def environment(interpreter: str) -> Iterator[Environment]:
    """A new one, which goes at the end."""
    with TemporaryDirectory(prefix="anymetal-release-") as folder:
        yield Environment(Path(folder) / "environment", interpreter)


def run(
    command: Sequence[str],
    variables: dict[str, str] | None = None,
    cwd: Path = ROOT,
    status: int = 0,
) -> subprocess.CompletedProcess[str]:
    """A program that must end with this status; if it does not, its words and SystemExit."""
    done = subprocess.run(command, env=variables, cwd=cwd, capture_output=True, text=True)
    if done.returncode != status:
        print(done.stdout + done.stderr, file=sys.stderr)
        raise SystemExit(f"{' '.join(command)}\nended with status {done.returncode}")
    return done


def interpreters(given: Sequence[str]) -> dict[str, str]:
    """Versions of Python, and a program for each: those given, or all that are on the PATH."""
    found = {}
    for program in given or [f"python{version}" for version in VERSIONS]:
        ask = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
        try:
            done = subprocess.run([program, "-c", ask], capture_output=True, text=True)
        except FileNotFoundError:
            continue
        if done.returncode == 0:
            version, path = done.stdout.split(maxsplit=1)
            found[version] = path.strip()
        elif given:
            raise SystemExit(f"{program} does not run: {done.stderr}")
    return found


def locked_versions() -> str:
    """requirements.lock as constraints: without hashes, which wheels of our own cannot have."""
    lines = (ROOT / "requirements.lock").read_text().replace("\\\n", " ").splitlines()
    return "".join(line.partition(" --hash")[0].rstrip() + "\n" for line in lines)
