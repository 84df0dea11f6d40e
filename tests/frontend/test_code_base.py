"""Files that a text may include: which they are, how Clang and messages call them."""

from __future__ import annotations

from pathlib import Path

import pytest

import anymetal
from anymetal.frontend.code_base import CodeBase, code_base

LIBRARY = {
    "src/kernels/main.metal": '#include "near.h"\n#include <metal_stdlib>\n#include "lib/far.h"\n',
    "src/kernels/near.h": '#pragma once\n#include "../common.h"\n',
    "src/common.h": "int common();\n",
    "include/lib/far.h": '#include "beside.h"\n# if __has_include(<lib/asked.h>)\n#endif\n',
    "include/lib/beside.h": '#include <near.h>\n#include "near.h"\n',
    "include/lib/asked.h": '#import "lib/far.h"\n',
    "include/lib/unused.h": "",
}


def written(folder: Path) -> Path:
    for name, text in LIBRARY.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "src" / "kernels" / "main.metal"


def read(folder: Path) -> CodeBase:
    main = written(folder)
    return code_base(main.read_text(), main.name, main.parent, [folder / "include"])


def test_all_files_that_may_be_included_and_no_others(tmp_path: Path) -> None:
    code = read(tmp_path)
    assert dict(code.included) == {
        f"/library/{name}": text
        for name, text in LIBRARY.items()
        if name not in ("src/kernels/main.metal", "include/lib/unused.h")
    }
    assert code.search == ("-iquote", "/library/src/kernels", "-I", "/library/include")


def test_another_place_is_the_same_code(tmp_path: Path) -> None:
    assert read(tmp_path / "one") == read(tmp_path / "other" / "place")


def test_contents_and_macros_are_a_part_of_it(tmp_path: Path) -> None:
    before = read(tmp_path)
    assert before != before._replace(defines=(("A", "1"),))
    main = written(tmp_path)
    (tmp_path / "src" / "common.h").write_text("int other();\n")
    after = code_base(main.read_text(), main.name, main.parent, [tmp_path / "include"])
    assert before != after


def test_the_first_folder_that_has_it(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.h").write_text(f"// {name}\n")
    folders = [tmp_path / "a", tmp_path / "b"]
    for order in (folders, folders[::-1]):
        code = code_base('#include "x.h"\n', "text", include_dirs=order)
        assert code.texts[1] == f"// {order[0].name}\n"
        assert code.search == ("-I", "/library/")  # the other one says nothing to Clang


@pytest.mark.parametrize(
    ("text", "prelude"),
    [
        ("kernel void k() {}\n", "mlx"),
        ("#include <metal_stdlib>\n", "metal"),
        ("  #  include  <metal_stdlib>\n", "metal"),
        ("// include what you like\n", "mlx"),
    ],
)
def test_a_text_that_includes_nothing_has_mlx_in_front(text: str, prelude: str) -> None:
    assert code_base(text, "text").prelude == prelude
    assert code_base(text, "text", prelude="mlx").prelude == "mlx"


def test_names_that_lead_out_of_their_folder_and_back(tmp_path: Path) -> None:
    """Folders that no file is in are there for Clang, too: it looks for `../` from them."""
    fields, curves = tmp_path / "fields", tmp_path / "curves"
    for folder in (fields, curves):
        folder.mkdir()
    (fields / "one.h").write_text('#include "../fields/two.h"\n')
    (fields / "two.h").write_text("constant int two = 2;\n")
    head = '#include <metal_stdlib>\n#include "../fields/{}.h"\n'
    kernel = "kernel void k(device int* a) { a[0] = two; }\n"
    for folder, name in ((fields, "two"), (fields, "one"), (curves, "one"), (curves, "two")):
        path = folder / "main.metal"
        path.write_text(head.format(name) + kernel)
        code = code_base(path.read_text(), path.name, folder)
        assert ("/library/fields/two.h", "constant int two = 2;\n") in code.included
        assert code.search == ("-iquote", f"/library/{folder.name}")
        assert anymetal.metal_library(path).kernel_names == ["k"]
