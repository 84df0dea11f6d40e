"""`make wheels`: a wheel with the bridge to MLX inside for each Python, tried in a bare place.

    python release/wheels.py [PYTHON…]

Without arguments for each of Python 3.10 to 3.13 that is on the PATH. The wheels go to dist/.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from release.environments import ROOT, VERSIONS, environment, interpreters, run

DIST = ROOT / "dist"
_TO_BUILD = ("mlx[cpu]", "nanobind", "hatchling", "editables")

#: Nodes of MLX's graph from the first call on, though no bridge can be built here.
_TRIAL = """
import anymetal, mlx.core as mx
kernel = anymetal.metal_kernel("twice", ["x"], ["y"],
                               "uint i = thread_position_in_grid.x; y[i] = 2 * x[i];")
call = dict(grid=(8, 1, 1), threadgroup=(8, 1, 1), output_shapes=[(8,)], output_dtypes=[mx.float32])
compiled = mx.compile(lambda x: mx.exp(kernel(inputs=[x], **call)[0]))
assert mx.allclose(compiled(mx.ones((8,))), mx.exp(mx.full((8,), 2.0))).item()
"""


def build(python: str) -> Path:
    """The wheel for this interpreter."""
    with environment(python) as place, TemporaryDirectory() as folder:
        place.install(*_TO_BUILD)
        command = [place.python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--no-build-isolation", "--wheel-dir", folder, str(ROOT)]
        run(command, {**os.environ, "ANYMETAL_SHIP_BRIDGE": "1"})
        # Else this tree would have a bridge for one MLX, and its tests would meet it.
        shutil.rmtree(ROOT / "anymetal" / "runtime" / "bridge" / "shipped", ignore_errors=True)
        (made,) = Path(folder).glob("*.whl")
        DIST.mkdir(exist_ok=True)
        return Path(shutil.move(made, DIST / made.name))


def attempt(wheel: Path, python: str) -> str:
    """Install the wheel where nothing is, without a C++ compiler, and run kernels; its bridge."""
    with environment(python) as place:
        place.install(f"{wheel}[cpu]")
        alone = {"CXX": "/nonexistent/c++", "XDG_CACHE_HOME": str(place.folder / "cache")}
        place.run("-c", _TRIAL, variables=alone)
        done = place.run("-m", "anymetal", "doctor", "--json", variables=alone)
    report = json.loads(done.stdout)
    found = {finding["name"]: finding["value"] for finding in report["findings"]}
    if not report["works"] or found["bridge"] != "came with the package":
        raise SystemExit(f"{wheel.name} does not work: {done.stdout}")
    return str(found["compiled and run"])


def main(given: list[str]) -> None:
    """Build and try a wheel for each interpreter."""
    chosen = interpreters(given)
    if not given and (missing := [one for one in VERSIONS if one not in chosen]):
        print(f"not on the PATH, so without a wheel: Python {', '.join(missing)}")
    for version, python in chosen.items():
        wheel = build(python)
        size = wheel.stat().st_size / 1e6
        result = attempt(wheel, python)
        print(f"Python {version}: {wheel.name}, {size:.1f} MB; {result}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
