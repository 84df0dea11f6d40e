"""C++ of our own in kernels: compiled once, and for no processor in particular."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import llvmlite.binding as llvm
import pytest

from anymetal.errors import ToolchainError
from anymetal.runtime import zig
from anymetal.runtime.zig import host_triple
from anymetal.targets.cpu import support
from anymetal.targets.cpu.assemble import optimised
from anymetal.targets.cpu.llvm_target import machine_for

_KERNEL = """\
declare hidden void @am_hand_over(ptr, ptr, i64, ptr, ptr)
define void @am_entry(ptr %own, ptr %array) {
  call void @am_hand_over(ptr %own, ptr %array, i64 16, ptr null, ptr null)
  ret void
}
"""


@pytest.fixture(autouse=True)
def _nothing_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path))
    support._compiled.cache_clear()
    yield
    support._compiled.cache_clear()


def test_clang_runs_once_for_all_processes() -> None:
    """What one has compiled is there for the next, which knows nothing yet."""
    with mock.patch.object(zig, "run", side_effect=zig.run) as run:
        for _ in range(2):
            assert len(support.support_files(_KERNEL, host_triple())) == 1
            support._compiled.cache_clear()
    assert run.call_count == 1


def test_who_calls_nothing_of_ours_compiles_nothing() -> None:
    with mock.patch.object(zig, "run") as run:
        assert support.support_files("define void @am_entry() {\n}", host_triple()) == []
    run.assert_not_called()


def test_what_is_linked_is_not_exported() -> None:
    module = llvm.parse_assembly(optimised(_KERNEL, machine_for("")))
    defined = {f.name: f.linkage.name for f in module.functions if not f.is_declaration}
    assert defined.pop("am_entry") == "external"
    assert set(defined.values()) == {"internal"}


@pytest.mark.parametrize("source", sorted({s for files in support._FILES.values() for s in files}))
@pytest.mark.parametrize("cpu", ["x86-64-v2", "aarch64"])
def test_any_processor(source: str, cpu: str) -> None:
    """Which instructions there are is decided when code is generated."""
    module = llvm.parse_bitcode(support._compiled(source, machine_for(cpu).triple))
    assert "target-features" not in str(module) and "target-cpu" not in str(module)
    module.verify()


def test_clang_does_not_work() -> None:
    with (
        mock.patch.object(zig, "run", return_value=(1, b"", "no memory")),
        pytest.raises(ToolchainError, match=r"Clang failed on additions\.cpp.*\nno memory"),
    ):
        optimised(_KERNEL, machine_for(""))
