"""`anymetal compile`: what goes into the cache and is found there, and what is told of failures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from typer.testing import CliRunner

import anymetal
from anymetal.cli.app import app
from anymetal.runtime import disk_cache, helpers
from anymetal.targets.cpu import ahead

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
LIBRARY = (
    '#include "scale.h"\n'
    "namespace ns { kernel void twice(device float* x, uint i [[thread_position_in_grid]])\n"
    "{ x[i] *= FACTOR; } }\n"
    'template [[host_name("scale_float")]] [[kernel]] decltype(scale<float>) scale<float>;\n'
    'template [[host_name("scale_int")]] [[kernel]] decltype(scale<int>) scale<int>;\n'
    "kernel void shared(device float* x, threadgroup float* a [[threadgroup(0)]],\n"
    "threadgroup float4& b [[threadgroup(1)]], uint i [[thread_position_in_threadgroup]]) {\n"
    "a[i] = x[i]; if (i == 0) b = 1; threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "x[i] = a[31 - i] + b.x; }\n"
)
SCALE = (
    HEAD + "constant int by [[function_constant(0)]];\n"
    "template <typename T>\n"
    "kernel void scale(device T* x, uint i [[thread_position_in_grid]]) {\n"
    "  x[i] = x[i] * T(by);\n"
    "}\n"
)
OPTIONS = ("-D", "FACTOR=2", "--constant", "by=3", "--threadgroup-memory", "0=128")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The library, its header in another folder, and an empty cache."""
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "scale.h").write_text(SCALE)
    (tmp_path / "main.metal").write_text(LIBRARY)
    return tmp_path / "main.metal"


def compile_(file: Path, *options: str, status: int = 0) -> str:
    given = ["compile", str(file), "-I", str(file.parent / "include"), "-j", "2", *options]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == status, result.output
    return result.output


def loaded(file: Path) -> anymetal.MetalLibrary:
    folders = [file.parent / "include"]
    return anymetal.metal_library(file, include_dirs=folders, defines={"FACTOR": "2"})


def kernels() -> list[str]:
    found = (entry.name for entry in disk_cache.entries())
    return sorted(name.removeprefix("kernel ") for name in found if name.startswith("kernel "))


def test_later_launches_find_all_in_the_cache(file: Path) -> None:
    told = compile_(file, *OPTIONS, "--threadgroup", "32")
    assert "4 kernels, 4 versions compiled, 0 kernels failed" in told
    assert kernels() == ["ns::twice", "scale_float", "scale_int", "shared"]
    library, x = loaded(file), mx.arange(128, dtype=mx.float32)
    (twice,) = library["ns::twice"](x, grid=128, threadgroup=32)
    (scaled,) = library.scale_float(x, grid=128, threadgroup=32, constants={"by": 3})
    memory = {"threadgroup_memory": {0: 128}}
    (shared,) = library.shared(x[:32], grid=32, threadgroup=32, **memory)
    assert twice.tolist() == (2 * x).tolist()
    assert scaled.tolist() == (3 * x).tolist()
    assert shared.tolist() == [32 - i for i in range(32)]
    assert len(kernels()) == 4
    assert "0 versions compiled, 4 were in the cache" in compile_(
        file, *OPTIONS, "--threadgroup=32"
    )


def test_what_is_asked_for(file: Path) -> None:
    compile_(file, *OPTIONS, "-k", "scale_*", "--kernel", "ns::twice")
    assert kernels() == ["ns::twice", "scale_float", "scale_int"]
    compile_(
        file, *OPTIONS, "-k", "shared", "--threadgroup", "32", "--threadgroup", "8,8", "--edges"
    )
    assert kernels().count("shared") == 4
    told = compile_(file, *OPTIONS, "-k", "unknown", status=1)
    assert "no kernel of these names" in told
    assert "scale_int" in told


FAILURES: dict[str, tuple[str, tuple[str, ...], str, list[str]]] = {
    "a template": ("x[i] * T(by)", OPTIONS, "scale.h:6:", ["ns::twice", "shared"]),
    "a constant": ("", OPTIONS[:2] + OPTIONS[4:], "without a value: by", ["ns::twice", "shared"]),
    "a length": ("", OPTIONS[:4], "`a` is missing", ["ns::twice", "scale_float", "scale_int"]),
}


@pytest.mark.parametrize("case", FAILURES.values(), ids=FAILURES.keys())
def test_what_fails_is_listed_and_all_else_is_there(case: Any, file: Path) -> None:
    old, options, reason, rest = case
    header = file.parent / "include" / "scale.h"
    header.write_text(header.read_text().replace(old, "x[i].size") if old else SCALE)
    told = compile_(file, *options, status=1)
    assert reason in told
    assert kernels() == rest
    failed = {"ns::twice", "scale_float", "scale_int", "shared"} - set(rest)
    assert all(f"kernel {name}: " in told for name in failed)
    assert f"{len(failed)} kernels failed" in told


def test_kernels_with_textures_fail_alone(file: Path) -> None:
    file.write_text(
        LIBRARY + "kernel void blur(metal::texture2d<float> image, device float* x) {}\n"
    )
    told = compile_(file, *OPTIONS, status=1)
    assert "kernel blur: cannot run: main.metal:10:25: parameter `image`" in told
    assert "1 kernels failed" in told
    assert kernels() == ["ns::twice", "scale_float", "scale_int", "shared"]


def test_a_file_with_errors(file: Path) -> None:
    file.write_text(LIBRARY.replace("x[i] *= FACTOR", "x[i] *= "))
    told = compile_(file, *OPTIONS, status=1)
    assert "main.metal:3:11: error: expected expression" in told
    assert kernels() == []
    assert "No such file" in compile_(file.with_name("other.metal"), status=1)


def test_wrong_options(file: Path) -> None:
    for options, problem, status in (
        (("--constant", "what=1"), "no function constant what; there are: by", 1),
        (("--threadgroup-memory", "7=64"), "no threadgroup argument 7; there are: 0, 1", 1),
        (("--math-mode", "sloppy"), "math_mode", 1),
        (("--constant", "by=much"), "not a number", 2),
        (("--constant", "by"), "a name, =, and a value", 2),
        (("--threadgroup", "0"), "from 1 up", 2),
        (("--all", "-k", "shared"), "either", 2),
    ):
        assert problem in compile_(file, "-D", "FACTOR=2", *options, status=status)


def test_one_that_brings_a_helper_down_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the helper of the batch is lost after its first kernel; those left go alone."""
    do = helpers.do

    def lost(name: str, *arguments: Any, note: Any, limit: Any = None) -> Any:
        if name != ahead._BUILD:
            return do(name, *arguments, note=note, limit=limit)
        do(name, arguments[0][:1], note=note, limit=limit)
        raise helpers.Ended("killed")

    monkeypatch.setattr(helpers, "do", lost)
    monkeypatch.setattr(ahead, "_TOGETHER", 4)
    assert "4 versions compiled, 0 kernels failed" in compile_(file, *OPTIONS, "-j", "1")
    assert len(kernels()) == 4
