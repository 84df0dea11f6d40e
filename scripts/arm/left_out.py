"""Tests that say nothing about Arm where they are emulated, and why: they are skipped."""

from __future__ import annotations

_ONE_USER = "the namespace that the emulator is registered in has one user, and this needs two"
_THREADS = "QEMU has threads of its own, and this counts those of the process"
_HELPERS = "helper processes are those of the host, which are begun otherwise"
_CLOSED = "Python 3.11.2 of Debian ends with status 120 if nobody reads its errors; why, is open"
_TCP = "QEMU tells nothing of TCP's bytes, which the test counts"
_MOUNT = "the root has no program `mount`"

#: By the beginning of their names.
LEFT_OUT = {
    "tests/runtime/test_cache_folder.py::test_a_folder_that_cannot_be_used[of_some": _ONE_USER,
    "tests/runtime/test_cache_folder.py::test_a_warm_cache_that_is_read_only": _ONE_USER,
    "tests/runtime/test_cache_folder.py::test_a_process_that_becomes_somebody_else": _ONE_USER,
    "tests/runtime/test_trust.py::test_a_folder_of_somebody_else": _ONE_USER,
    "tests/runtime/test_trust.py::test_a_link_of_somebody_else": _ONE_USER,
    "tests/runtime/test_trust.py::test_containers_without_root_show_its_files": _ONE_USER,
    "tests/runtime/test_cache_folder.py::test_a_file_system_that_is_full": _MOUNT,
    "tests/runtime/test_cache_folder.py::test_nobody_listens": _CLOSED,
    "tests/runtime/test_helpers.py::test_no_mlx_no_foreign_files_no_site": _HELPERS,
    "tests/linalg/distributed/test_ranks.py::test_three_ranks": _TCP,
    "tests/runtime/test_pool_process.py::test_a_forked_child_has_a_pool_of_its_own": _THREADS,
    "tests/runtime/test_pool_process.py::test_small_launches_start_no_thread": _THREADS,
}


def reason(test: str) -> str:
    """Why it is left out; empty if it is not."""
    return next((why for begin, why in LEFT_OUT.items() if test.startswith(begin)), "")
