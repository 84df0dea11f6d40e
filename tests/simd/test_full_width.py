"""Code for ordinary kernels is as wide as the machine: nothing falls back to scalars unnoticed."""

from __future__ import annotations

import functools
import re

import pytest

from anymetal.ir.cfg import find_loops
from anymetal.ir.model import Block, Instr
from anymetal.ir.types import VOID
from anymetal.pipeline.program import thread_program
from anymetal.targets.cpu.assemble import assembly
from anymetal.targets.cpu.llvm_target import machine_for
from tests import compiling
from tests.simd.full_width import KERNELS, Kernel

#: What kinds of accesses the version for full gangs does to memory, and the functions it calls. A
#: masked access is one of consecutive elements, too. How many there are is up to other passes.
EXPECTED = {
    "exp": "load 32 float, store 32 float",
    "half": "load 32 i16, store 32 i16",
    "bytes": "load 32 i8, store 32 i8",
    "saxpy": "load 32 float, store 32 float",
    # Without masks where no thread is outside.
    "guarded": "load 32 float, store 32 float, masked load v32f32, masked store v32f32",
    "strided": "load 32 float, store 32 float",
    "projection": "load 32 float, store 32 float, masked load v32f32, masked store v32f32",
    "softmax": "load 32 float, store 32 float",
    "stencil": "masked load v32f32, masked store v32f32",
    "gelu": "load 32 float, store 32 float",
    "block sum": "load 32 float, store 32 float, masked load v32f32, masked store v32f32",
    "matmul": "load 32 float, store 32 float",
    "complex numbers": "load 32 float, store 32 float",
}
_ACCESS = re.compile(
    r"(?P<op>load|store) <(?P<lanes>\d+) x (?P<type>\w+)>(?: %\S+)?, ptr %\S+, align \d+$"
    r"|@llvm\.masked\.(?P<masked>\w+)\.(?P<vector>\w+)"
    r"|@(?P<call>_ZGV\w+|\w+f)\(",
    re.M,
)


@functools.cache
def vector_ir(name: str) -> str:
    return vector_ir_of(KERNELS[name])


def vector_ir_of(kernel: Kernel, cpu: str = "x86-64-v4") -> str:
    variant = kernel.variant(cpu)
    program = thread_program(kernel.source())
    return compiling.vector_ir(program, variant, machine_for(variant.cpu))


@pytest.mark.parametrize("name", KERNELS)
def test_accesses_of_a_full_gang(name: str) -> None:
    text = vector_ir(name)
    start = text.index("@gang.full(", text.index("define internal"))
    found = set()
    for access in _ACCESS.finditer(text[start : text.index("\n}", start)]):
        if access["op"]:
            found.add(f"{access['op']} {access['lanes']} {access['type']}")
        elif access["masked"]:
            found.add(f"masked {access['masked']} {access['vector']}")
        else:
            found.add(access["call"])
    assert found == set(EXPECTED[name].split(", "))


@pytest.mark.parametrize("name", KERNELS)
def test_no_lane_is_handled_alone(name: str) -> None:
    """Neither for full nor for partial gangs."""
    text = vector_ir(name)
    assert not re.search(r"masked\.(gather|scatter)", text)
    assert "llvm.cttz" not in text  # loops over lanes count them off with it
    picked = re.findall(r"extractelement <32 x \w+> \S+, i64 (\d+)", text)
    assert len(set(picked)) < 4


@pytest.mark.parametrize("name", KERNELS)
def test_inner_loops_use_the_widest_registers(name: str) -> None:
    code = assembly(vector_ir(name), machine_for("x86-64-v4"))
    found = re.findall(r"^(\w[\w.]*):\n(.*?)^\.Lfunc_end", code, re.M | re.S)
    functions = {function: lines.split("\n") for function, lines in found}
    if "gang.full.resume" in functions:  # am_entry only wakes gangs
        loops = [functions["gang.full.resume"]]
    else:
        loops = deepest_loops(functions["am_entry"])
    assert loops
    for loop in loops:
        widest = "%ymm" if name == "bytes" else "%zmm"  # 32 bytes are no more than that
        assert any(widest in line for line in loop), "\n".join(loop)


@pytest.mark.parametrize("name", ["exp", "gelu"])
def test_mathematical_functions_stay_in_registers(name: str) -> None:
    """Neither calls nor values on the stack in the inner loop."""
    code = assembly(vector_ir(name), machine_for("x86-64-v4"))
    entry = re.search(r"^am_entry:\n(.*?)^\.Lfunc_end", code, re.M | re.S)
    assert entry
    for loop in deepest_loops(entry[1].split("\n")):
        vectors = [line for line in loop if "mm" in line]
        assert not [line for line in loop if "\tcall" in line]
        assert not [line for line in vectors if "(%rsp)" in line or "gather" in line]


def deepest_loops(lines: list[str]) -> list[list[str]]:
    """The instructions of those loops in a function that the most others are around."""
    blocks: dict[str, Block] = {"": Block("")}
    texts: dict[str, list[str]] = {"": []}
    targets: dict[str, list[str]] = {"": []}
    name, falls = "", True
    for line in lines:
        label = re.match(r"(\.LBB\w+):", line)
        jump = re.match(r"\s+(j\w+|ret\w)\s*(\.LBB\w+)?", line)
        if label or jump:
            following = label[1] if label else f"{name}'"
            if jump and jump[2]:
                targets[name].append(jump[2])
            falls = falls and (not jump or jump[1] not in ("jmp", "retq"))
            if falls:
                targets[name].append(following)
            name, falls = following, True
            blocks[name], texts[name], targets[name] = Block(name), [], []
        else:
            texts[name].append(line)
    for name, block in blocks.items():
        block.append(Instr(VOID, "br", [], [blocks[t] for t in targets[name]]))
    loops = find_loops(list(blocks.values()))
    depth = {loop: sum(loop.header in other.blocks for other in loops) for loop in loops}
    return [
        [line for block in loop.ordered for line in texts[block.name]]
        for loop, level in depth.items()
        if level == max(depth.values())
    ]
