"""Kernels of others: their texts, and where those of MLX come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from anymetal.testing import metal_case
from benchmarks.others import mlx, texts


def test_every_text_is_a_case_that_expects_nothing() -> None:
    for name, text in texts().items():
        case = metal_case.read(Path(name), text)
        assert case.all("output") and not case.all("expect"), name


def test_what_the_package_lacks_comes_from_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(mlx.NotAvailable, match=r"rms_norm\.metal is in MLX's repository only"):
        mlx._text("rms_norm.metal")
    folder = tmp_path / mlx.MLX_HEADERS
    folder.mkdir(parents=True)
    (folder / "utils.h").write_text("#pragma once\nint utility;\n")
    (folder / "rms_norm.metal").write_text(
        f'#include "{mlx.MLX_HEADERS}/utils.h"\nint norm;\n// clang-format off\nint instances;\n'
    )
    monkeypatch.setattr(mlx, "sources", tmp_path)
    text = mlx._text("rms_norm.metal")
    assert "int norm;" in text and "int instances;" not in text
