"""What a kernel's text cannot name: files of this machine, assembly, functions of the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from anymetal.errors import AnyMetalError, MetalCompileError
from anymetal.frontend.clang import compile_to_ir
from tests.frontend.kernels import kernel_source


def error(header: str, body: str = "out[0] = 1;") -> str:
    with pytest.raises(MetalCompileError) as caught:
        compile_to_ir(kernel_source(body, header))
    return str(caught.value)


_FILE = "/etc/passwd"
_UP = "../" * 20 + _FILE[1:]


@pytest.mark.parametrize(
    ("header", "place"),
    [
        (f'#include "{_FILE}"', "1:10"),
        (f"#include <{_FILE}>", "1:10"),
        (f'#include "{_UP}"', "1:10"),
        (f'#import "{_FILE}"', "1:9"),
        (f'#include_next "{_FILE}"', "1:15"),
        (f'#define FILE "{_FILE}"\n#include FILE', "2:10"),
        (f'??=include "{_FILE}"', "1:1"),
        (f'%:include "{_FILE}"', "1:11"),
        (f'_Pragma("GCC dependency \\"{_FILE}\\"")', "1:1"),
        (f'constant uchar e[] = {{\n#embed "{_FILE}"\n}};', "2:8"),
        (f"constant uchar e[] = {{\n#embed <{_FILE}>\n}};", "2:8"),
        (f'#define FILE "{_FILE}"\nconstant uchar e[] = {{\n#embed FILE limit(4)\n}};', "3:8"),
        ('#include "/proc/self/environ"', "1:10"),
        ('#include "/dev/stdin"', "1:10"),
        ("#include <stdio.h>", "1:10"),
    ],
)
def test_files_of_the_machine_are_not_there(header: str, place: str) -> None:
    text = error(header)
    assert f"k: header:{place}: error: " in text
    assert "root:" not in text


def test_nor_is_what_lies_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.h").write_text("constant int mine = 1;")
    monkeypatch.chdir(tmp_path)
    for name in ("mine.h", tmp_path / "mine.h"):
        assert f"'{name}' file not found" in error(f'#include "{name}"')


@pytest.mark.parametrize("question", ["__has_include", "__has_include_next", "__has_embed"])
@pytest.mark.parametrize("file", [f'"{_FILE}"', f"<{_FILE}>", '"/proc/self/maps"'])
def test_nobody_learns_whether_they_exist(question: str, file: str) -> None:
    compile_to_ir(kernel_source("", f"#if {question}({file})\n#error there it is\n#endif"))


def test_metals_headers_are_there() -> None:
    header = (
        "#include <metal_stdlib>\n#import <metal_math>\n"
        "#if !__has_include(<metal_atomic>)\n#error\n#endif"
    )
    compile_to_ir(kernel_source("out[0] = metal::exp(a[0]);", header))


@pytest.mark.parametrize(
    ("header", "place"),
    [
        ('void f() { asm("nop"); }', "1:12"),
        ('void f() { __asm("nop"); }', "1:12"),
        ('void f() { __asm__ volatile ("nop"); }', "1:12"),
        ('__asm(".globl f");', "1:1"),
        ('extern "C" int f(int) __asm("system");', "1:23"),
        ('#define JOIN(a, b) a##b\nJOIN(__a, sm)("nop");', "2:1"),
        ("void f() { __asm { nop } }", "1:12"),
    ],
)
def test_assembly_in_any_spelling(header: str, place: str) -> None:
    text = error(header)
    assert f"k: header:{place}: error: " in text
    assert "is not supported in Metal" in text


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ('extern "C" int system(const char*);', 'out[0] = system("ls");'),
        ('extern "C" int system(const char*) __attribute__((weak));', 'out[0] = system("ls");'),
        (
            'static int f(const char*) __attribute__((weakref("system")));',
            'out[0] = f("ls");',
        ),
        ("", 'out[0] = __builtin_printf("");'),
        ("", "out[0] = (ulong)__builtin_malloc(8) != 0;"),
        ('extern "C" char** environ;', "out[0] = environ[0][0];"),
        ("extern constant int n;", "out[0] = n;"),
        ("", 'out[0] = __builtin_cpu_supports("avx2");'),
    ],
)
def test_nothing_of_the_host_by_name(header: str, body: str) -> None:
    assert "declare" in error(header, body)


@pytest.mark.parametrize(
    "body",
    [
        "out[0] = (ulong)&system;",
        'int (*f)(const char*) = system; out[0] = f("ls");',
    ],
)
def test_nor_by_address(body: str) -> None:
    import anymetal

    kernel = anymetal.metal_kernel(
        name="k", input_names=[], output_names=["out"], source=body,
        header='extern "C" int system(const char*);',
    )  # fmt: skip
    with pytest.raises(AnyMetalError, match="`system`"):
        import mlx.core as mx

        mx.eval(
            kernel(
                inputs=[], grid=(1, 1, 1), threadgroup=(1, 1, 1),
                output_shapes=[(1,)], output_dtypes=[mx.float32],
            )
        )  # fmt: skip
