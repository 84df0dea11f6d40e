"""Names of any letters, in messages and in what is generated (tests/kernels has what they do)."""

from __future__ import annotations

import mlx.core as mx
import pytest

import anymetal
from anymetal.errors import AnyMetalError, KernelMemoryError
from anymetal.explain.kernels import explain
from anymetal.frontend.clang import compile_to_ir
from anymetal.ir.calls import plain_name
from anymetal.ir.tokens import plain, quoted
from anymetal.targets.cpu.variant import variant_for
from tests.frontend.kernels import kernel_source

_NAMES = (
    "größe", "数据", "ж_1", "é́", "a.b", "x y", 'quo"te', "back\\slash", "tab\t", "plain_1", "1st",
)  # fmt: skip


@pytest.mark.parametrize("name", _NAMES)
def test_names_as_llvm_writes_them(name: str) -> None:
    written = quoted(name)
    assert written.isascii() and written.isprintable()
    assert plain(f"%{written}") == plain(f"@{written}") == name
    assert (written == name) == (name in ("a.b", "plain_1"))


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ('"_Z7gr\\C3\\B6\\C3\\9Fef"', "größe"),
        ('"_ZN2\\C3\\A44\\E6\\95\\B0aEi"', "ä::数a"),
        ('"_ZZN1aEvE2\\C3\\A4"', "ä"),
        ("_ZL1g", "g"),
    ],
)
def test_names_that_c_has_mangled(symbol: str, name: str) -> None:
    assert plain_name(symbol) == name


@pytest.mark.parametrize(
    ("header", "body", "message"),
    [
        ("int größe;", "out[0] = größe++;", "header:1:5: error: program scope variable 'größe'"),
        ("", "static int 数据; out[0] = 数据++;", "source:1:12: error: static variable '数据'"),
        ("float ö(float);", "out[0] = ö(1);", "source:1:10: error: function 'ö' is called, but"),
        ("int ä(int n) { return n ? ä(n - 1) + ä(n / 2) : 0; }", "out[0] = ä(3);", "ä -> ä"),
        ("extern constant int ñ;", "out[0] = ñ;", "source:1:10: error: variable 'ñ' is declared"),
        (
            "float f() { threadgroup float é[4]; return é[0]; }",
            "out[0] = f();",
            "header:1:13: error: 'é': variables in the threadgroup address space",
        ),
    ],
)
def test_restrictions(header: str, body: str, message: str) -> None:
    with pytest.raises(AnyMetalError) as caught:
        compile_to_ir(kernel_source(body, header))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("größe[i * 100000000] = 1;", "`größe` has 64 elements"),
        (
            "threadgroup float é[4]; é[i * 100000000] = 1; größe[i] = é[i & 3];",
            "`é` has 4 elements",
        ),
        ("float 数[4]; 数[i * 100000000] = 1; größe[i] = 数[i & 3];", "`数` has 4 elements"),
    ],
)
def test_stray_accesses(body: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_FAULTS", "raise")
    kernel = anymetal.metal_kernel(
        name="k", input_names=[], output_names=["größe"],
        source=f"uint i = thread_position_in_grid.x; {body}",
    )  # fmt: skip
    with pytest.raises(KernelMemoryError, match=message):
        mx.eval(
            kernel(
                inputs=[], grid=(64, 1, 1), threadgroup=(32, 1, 1),
                output_shapes=[(64,)], output_dtypes=[mx.float32],
            )
        )  # fmt: skip


def test_explanations() -> None:
    body = (
        "uint i = thread_position_in_grid.x; threadgroup float é[32]; é[i % 32] = größe[i * i];\n"
        "threadgroup_barrier(mem_flags::mem_threadgroup); 数据[i] = é[i * i % 32];"
    )
    source = kernel_source(
        body, inputs={"größe": mx.zeros(64)}, outputs={"数据": mx.float32, "o": mx.float32}
    )
    told = explain(source, variant_for((64, 1, 1), (32, 1, 1))).facts
    text = " ".join(fact.text for fact in told)
    assert "`größe`" in text and "`数据`" in text and "`é`" in text
