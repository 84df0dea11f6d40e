"""Shapes of programs that single passes look for, with random parts: each pass is met often."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from anymetal.testing.lockstep.case import Case, Extent, Input, Output
from anymetal.testing.lockstep.generators.barriers import BARRIER
from anymetal.testing.lockstep.generators.common import input_of
from anymetal.testing.lockstep.generators.floats import small
from anymetal.testing.lockstep.text import Text, Variable

_X = "uint i = thread_position_in_grid.x;"
_KEPT = "#pragma clang loop unroll(disable)"
_LANE = "uint lane = thread_index_in_simdgroup;"


def generate(rng: random.Random) -> Case:
    """A case."""
    return rng.choice(_PATTERNS)(rng)


def _case(
    lines: list[str], inputs: list[Input], outputs: list[Output], grid: Extent, group: Extent,
    header: str = "", atomic: bool = False,
) -> Case:  # fmt: skip
    body = "\n".join(lines) + "\n"
    return Case("", "", 0, body, tuple(inputs), tuple(outputs), grid, group, header, atomic=atomic)


def _touch(rng: random.Random, *names: str, count: int = 3) -> list[str]:
    """Some random arithmetic with variables of `uint`."""
    text = Text(rng)
    for name in names:
        text.variables.append(Variable(name, "uint"))
    text.line("")
    for _ in range(rng.randint(0, count)):
        name = rng.choice(names)
        text.line(f"{name} {text.choose('=', '^=', '+=')} (uint)({text.integer('uint', 2)});")
    return text.lines[1:]


def _named_rows(rng: random.Random) -> Case:
    """Rows of a table that another array names: a program that runs ahead."""
    rows, width, high = rng.choice((20, 300)), rng.choice((64, 128, 256)), rng.choice((8, 24))
    which = np.random.default_rng(rng.getrandbits(64)).integers(0, rows, high, dtype=np.uint32)
    lines = [
        _X,
        "uint row = thread_position_in_grid.y;",
        "uint at = which[row];",
        f"uint s = (uint)table[at * {width}u + i];",
        *_touch(rng, "s"),
    ]
    if rng.random() < 0.4:
        lines.append(f"s += (uint)table[(at ^ 1u) % {rows}u * {width}u + i];")
    if rng.random() < 0.3:
        lines.append("if ((at & 1u) != 0u) s = s * 3u;")
    lines.append(f"y[row * {width}u + i] = s;")
    element = rng.choice(("uint", "int", "ushort"))
    inputs = [Input("which", "uint", which), input_of(rng, "table", element, rows * width)]
    group = (rng.choice((32, 64)), rng.choice((1, 1, 4)), 1)
    case = _case(lines, inputs, [Output("y", "uint", width * high)], (width, high, 1), group)
    return replace(case, low_limits=rng.random() < 0.8)


def _long_turn(rng: random.Random) -> Case:
    """Much is loaded in one go, and computed with for long."""
    count = rng.choice((8, 16))
    threads = 32 * rng.choice((1, 2, 6))
    apart = rng.random() < 0.5
    lines = [_X]
    for k in range(count):
        place = f"i * {count}u + {k}u" if apart else f"i + {k * threads}u"
        lines.append(f"uint v{k} = x[{place}];")
    steps = 16 * 2 * count + rng.randrange(200)
    for n in range(steps):
        a, b, c = (rng.randrange(count) for _ in range(3))
        lines.append(f"v{a} = (v{a} {rng.choice('+-^*')} v{b}) {rng.choice('+^|')} (v{c} + {n}u);")
    lines.append("y[i] = " + " ^ ".join(f"v{k}" for k in range(count)) + ";")
    inputs = [input_of(rng, "x", "uint", threads * count)]
    return _case(lines, inputs, [Output("y", "uint", threads)], (threads, 1, 1), (32, 1, 1))


def _run_ends(rng: random.Random) -> Case:
    """Runs that are written at places which follow from data."""
    groups, most = rng.choice((8, 40)), rng.choice((64, 100, 32))
    numbers = np.random.default_rng(rng.getrandbits(64))
    counts = numbers.integers(0, most + 1, groups).astype(np.uint32)
    starts = (numbers.permutation(groups) * most).astype(np.uint32)
    lines = [
        _LANE,
        "uint g = threadgroup_position_in_grid.x;",
        "uint begin = place[g];",
        "uint n = count[g];",
        _KEPT,
        "for (uint k = lane; k < n; k += 32u) {",
        f"uint v = x[g * {most}u + k];",
        *_touch(rng, "v"),
        "y[begin + k] = v;",
        "}",
    ]
    inputs = [
        Input("place", "uint", starts),
        Input("count", "uint", counts),
        input_of(rng, "x", "uint", groups * most),
    ]
    outputs = [Output("y", "uint", groups * most)]
    # Where SIMD-groups lack lanes, no program runs ahead instead.
    threads = 32 * groups - rng.choice((0, 5, 9))
    return _case(lines, inputs, outputs, (threads, 1, 1), (32, 1, 1))


def _short_runs(rng: random.Random) -> Case:
    """A little of many rows."""
    rows, wide = rng.choice((17, 20, 33)), rng.choice((128, 256))
    lines = [_X, "uint s = 0;"]
    for k in range(rows):
        lines.append(f"s = s * 3u + (uint)x[i + {k * wide}u];")
    lines += [*_touch(rng, "s"), "y[i] = s;"]
    element = rng.choice(("uint", "ushort", "int"))
    inputs = [input_of(rng, "x", element, rows * wide)]
    group = (rng.choice((32, 32, 64)), 1, 1)
    return _case(lines, inputs, [Output("y", "uint", wide)], (wide, 1, 1), group)


def _nest(rng: random.Random) -> Case:
    """Sums in a private array, in a loop around a loop."""
    outer, most = rng.choice((4, 8, 6, 12, 7)), rng.choice((16, 32))
    bound = rng.choice(("(uint)n[0]", f"{most}u"))
    lines = [
        _X,
        f"uint sums[{most}];",
        f"for (uint d = 0; d < {most}u; d++) sums[d] = d * i;",
        _KEPT,
        f"for (uint j = 0; j < {outer}u; j++) {{",
        f"uint weight = x[(i + j * 3u) % 512u]{rng.choice(('', ' + j'))};",
        _KEPT,
        f"for (uint d = 0; d < {bound}; d++) {{",
        f"sums[d] += weight * w[j * {most}u + d];",
        "}",
        "}",
        "uint s = 0;",
        f"for (uint d = 0; d < {most}u; d++) s = s * 5u + sums[d];",
        "y[i] = s;",
    ]
    inputs = [input_of(rng, "x", "uint", 512), input_of(rng, "w", "uint", outer * most)]
    inputs.append(Input("n", "int", np.array([rng.choice((most, most // 2, 3))] * 8, np.int32)))
    threads = rng.choice((64, 96, 128))
    return _case(lines, inputs, [Output("y", "uint", threads)], (threads, 1, 1), (32, 1, 1))


def _transposed(rng: random.Random) -> Case:
    """A tile is turned over in threadgroup memory, a few rows at a time."""
    high = rng.choice((4, 8, 16))
    columns, rows = 32 * rng.choice((2, 3)), 32 * rng.choice((1, 2))
    element = rng.choice(("uint", "uint", "ushort", "float"))
    lines = [
        f"threadgroup {element} tile[32][{rng.choice((32, 33))}];",
        "uint x = thread_position_in_threadgroup.x;",
        "uint y = thread_position_in_threadgroup.y;",
        "uint gx = threadgroup_position_in_grid.x * 32u;",
        "uint gy = threadgroup_position_in_grid.y * 32u;",
        f"for (uint k = 0; k < 32u; k += {high}u)",
        f"  tile[y + k][x] = a[(gy + y + k) * {columns}u + gx + x];",
        BARRIER,
        f"for (uint k = 0; k < 32u; k += {high}u)",
        f"  b[(gx + y + k) * {rows}u + gy + x] = tile[x][y + k];",
    ]
    size = rows * columns
    grid = (columns, rows // 32 * high, 1)
    outputs = [Output("b", element, size)]
    return _case(lines, [_numbers(rng, "a", element, size)], outputs, grid, (32, high, 1))


def _matrices(rng: random.Random) -> Case:
    """A product of matrices by tiles in threadgroup memory."""
    side, depth = rng.choice((8, 16, 32)), rng.choice((2, 3))
    columns = side * rng.choice((2, 4))
    kind = rng.choice(("uint", "float", "int"))
    k = side * depth
    lines = [
        f"threadgroup {kind} left[{side}][{side}];",
        f"threadgroup {kind} right[{side}][{side}];",
        "uint x = thread_position_in_threadgroup.x;",
        "uint y = thread_position_in_threadgroup.y;",
        "uint c = thread_position_in_grid.x;",
        "uint r = thread_position_in_grid.y;",
        f"{kind} sum = 0;",
        f"for (uint t = 0; t < {k}u; t += {side}u) {{",
        f"left[y][x] = a[r * {k}u + t + x];",
        f"right[y][x] = b[(t + y) * {columns}u + c];",
        BARRIER,
        f"for (uint j = 0; j < {side}u; j++) sum += left[y][j] * right[j][x];",
        BARRIER,
        "}",
        f"y0[r * {columns}u + c] = sum;",
    ]
    inputs = [_numbers(rng, "a", kind, side * k), _numbers(rng, "b", kind, k * columns)]
    outputs = [Output("y0", kind, side * columns)]
    return _case(lines, inputs, outputs, (columns, side, 1), (side, side, 1))


def _products(rng: random.Random) -> Case:
    """Products that are there anyway."""
    lines = [
        _X, "float a = x[i];", "float b = w[i];", "float s = 0.0f;",
        f"for (int k = 0; k < {rng.choice((3, 5))}; k++) {{",
        "float p = a * a;", "float q = b * b;",
        f"if (p + q > {rng.choice(('100.0f', '40.0f'))}) break;",
        f"float r = a * a - {rng.choice(('b * b', 'q', '(b * b + 1.0f)'))};",
        f"b = b * a + {rng.choice(('1.0f', 'w[i]', 'p'))};",
        "a = r;", "s += a * a + b;", "}", "y[i] = s;",
    ]  # fmt: skip
    inputs = [
        Input("x", "float", small(rng, "float", 128)),
        Input("w", "float", small(rng, "float", 128)),
    ]
    return _case(
        lines, inputs, [Output("y", "float", 128)], (128, 1, 1), (rng.choice((32, 64)), 1, 1)
    )


def _parts(rng: random.Random) -> Case:
    """Each SIMD-group stores its part, and a few lanes load the parts side by side."""
    groups = rng.choice((2, 4, 8))
    kind = rng.choice(("uint", "int"))
    call = rng.choice(("simd_sum", "simd_max", "simd_xor"))
    lines = [
        f"threadgroup {kind} part[{groups}];",
        _X, _LANE, "uint g = simdgroup_index_in_threadgroup;",
        f"{kind} v = {call}(({kind})x[i]);",
        f"if (lane == {rng.choice((0, 31, 5))}u) part[g] = v;",
        BARRIER,
        f"{kind} s = {rng.choice((0, 7))};",
        f"if (lane < {groups}u) s = part[lane];",
        f"s = {call}(s);",
        f"y[i] = s + ({kind})lane;",
    ]  # fmt: skip
    threads = 32 * groups * rng.choice((1, 3))
    inputs = [input_of(rng, "x", kind, threads)]
    return _case(lines, inputs, [Output("y", kind, threads)], (threads, 1, 1), (32 * groups, 1, 1))


def _copies(rng: random.Random) -> Case:
    """Structs are copied as wholes: small, of odd sizes, and large."""
    size = rng.choice((3, 5, 6, 7, 12, 20, 100, 600, 1000))
    field = rng.choice(("uchar", "ushort", "uint"))
    width = {"uchar": 1, "ushort": 2, "uint": 4}[field]
    count = max(size // width, 1)
    header = f"struct Block {{\n  {field} part[{count}];\n}};\n"
    threads = 64
    lines = [
        _X,
        "device Block* to = (device Block*)y;",
        "const device Block* from = (const device Block*)x;",
    ]
    index = rng.choice(("i", f"{threads - 1}u - i", "(i ^ 1u)"))
    lines.append(f"to[i] = from[{index}];")
    if rng.random() < 0.5:
        lines += [
            f"Block own = from[(i * 3u) % {threads}u];",
            f"own.part[i % {count}u] = ({field})i;",
        ]
        lines += ["if ((i & 3u) == 1u) to[i] = own;"]
    if rng.random() < 0.4:
        lines += [f"{field} zeros[{count}] = {{}};", f"zeros[(i * 7u) % {count}u] = ({field})x[i];"]
        lines += [f"z[i] = zeros[i % {count}u];"]
    inputs = [input_of(rng, "x", field, threads * count)]
    outputs = [Output("y", field, threads * count), Output("z", field, threads)]
    return _case(lines, inputs, outputs, (threads, 1, 1), (rng.choice((32, 64)), 1, 1), header)


def _appended(rng: random.Random) -> Case:
    """Threads take numbers from a counter, each another one."""
    lines = [_X, "uint v = x[i];"]
    condition = rng.choice(("true", "(v & 1u) == 0u", "(v & 7u) < 3u"))
    step = rng.choice((1, 1, 3))
    lines += [
        f"if ({condition}) {{",
        f"uint at = atomic_fetch_add_explicit(&c[0], {step}u, memory_order_relaxed);",
        f"atomic_store_explicit(&y[at], at * 5u + {step}u, memory_order_relaxed);",
        "}",
    ]
    threads = rng.choice((64, 100, 256))
    outputs = [Output("c", "uint", 8, 0), Output("y", "uint", threads * 3)]
    group = (rng.choice((32, 64)), 1, 1)
    inputs = [input_of(rng, "x", "uint", threads)]
    return _case(lines, inputs, outputs, (threads, 1, 1), group, atomic=True)


def _own_bins(rng: random.Random) -> Case:
    """Atomics in threadgroup memory: each lane has its own element, whose old value is used."""
    threads = rng.choice((64, 128))
    operation = rng.choice(("add", "xor", "max", "or", "sub"))
    lines = [
        f"threadgroup atomic_uint bins[{threads}];",
        _X, "uint t = thread_index_in_threadgroup;",
        "atomic_store_explicit(&bins[t], x[i], memory_order_relaxed);",
        f"uint old = atomic_fetch_{operation}_explicit(&bins[t], i * 3u, memory_order_relaxed);",
        BARRIER,
        f"old += atomic_load_explicit(&bins[{rng.choice(('t', '0'))}], memory_order_relaxed);",
        "y[i] = old;",
    ]  # fmt: skip
    if rng.random() < 0.4:
        lines[4] = (
            f"uint old = i;\nif ((i & 3u) != 1u) {{\n{lines[4].replace('uint old', 'old')}\n}}"
        )
    inputs = [input_of(rng, "x", "uint", threads * 2)]
    grid = (threads * 2, 1, 1)
    return _case(lines, inputs, [Output("y", "uint", threads * 2)], grid, (threads, 1, 1))


def _numbers(rng: random.Random, name: str, element: str, size: int) -> Input:
    """Random integers, or small floats."""
    if element == "float":
        return Input(name, element, small(rng, element, size))
    return input_of(rng, name, element, size)


def _float_runs(rng: random.Random) -> Case:
    """Floats are added to neighbours: one a lane, or four; to arrays that are also looked at."""
    threads, count = rng.choice((64, 128, 256)), rng.choice((1, 2, 4, 4, 4))
    lines = [_X]
    value = "w[i]"
    if rng.random() < 0.5:
        lines.append(
            f"float base = atomic_load_explicit(&y[{threads * count}], memory_order_relaxed);"
        )
        value = "(w[i] + base)"
    place = rng.choice((f"i * {count}u", f"(i ^ 32u) * {count}u", f"(i / 2u) * {count}u"))
    adds = [
        f"atomic_fetch_add_explicit(&y[{place} + {k}u], {value} * {k + 1}, memory_order_relaxed);"
        for k in range(count)
    ]
    if rng.random() < 0.4:
        adds = [f"if (w[i] != {rng.randint(-2, 2)}.0f) {{", *adds, "}"]
    inputs = [Input("w", "float", small(rng, "float", threads))]
    outputs = [Output("y", "float", threads * count + 16, 0)]
    group = (rng.choice((32, 64)), 1, 1)
    return _case(lines + adds, inputs, outputs, (threads, 1, 1), group, atomic=True)


def _gaps(rng: random.Random) -> Case:
    """Neighbours in each lane, and gaps between the lanes."""
    count, gap = rng.choice((2, 4, 4, 8)), rng.choice((1, 2, 4, 7))
    element = rng.choice(("uint", "int", "ushort", "float"))
    threads, stride = rng.choice((64, 96)), count + gap
    size = threads * stride
    lines = [_X]
    for k in range(count):
        lines.append(f"{element} v{k} = x[i * {stride}u + {k}u];")
    for _ in range(rng.randint(0, 3)):
        lines.append(f"v{rng.randrange(count)} {rng.choice('+-')}= v{rng.randrange(count)};")
    if rng.random() < 0.5:
        lines += [f"y[i * {stride}u + {k}u] = v{k};" for k in range(count)]
    else:
        lines.append("y[i] = " + " - ".join(f"v{k}" for k in range(count)) + ";")
    outputs = [Output("y", element, size)]
    return _case(lines, [_numbers(rng, "x", element, size)], outputs, (threads, 1, 1), (32, 1, 1))


def _scaled(rng: random.Random) -> Case:
    """Vectors times numbers that are the same for all, in the order of memory."""
    element, width = rng.choice(("float", "uint", "int")), rng.choice((2, 4))
    vector, threads = f"{element}{width}", rng.choice((64, 128))
    lines = [
        _X,
        f"{vector} a = ((const device {vector}*)x)[i];",
        f"{vector} s = ((const device {vector}*)w)[{rng.choice(('0', '1', 'i / 64u'))}];",
        f"a = a {rng.choice('*+-')} s;",
        f"((device {vector}*)y)[i] = a {rng.choice('+-*')} {rng.choice(('s', 'a'))};",
    ]
    inputs = [_numbers(rng, name, element, threads * width) for name in ("x", "w")]
    outputs = [Output("y", element, threads * width)]
    return _case(lines, inputs, outputs, (threads, 1, 1), (rng.choice((32, 64)), 1, 1))


def _many_words(rng: random.Random) -> Case:
    """16 or 32 words side by side, of which each lane makes something of its own."""
    count, threads = rng.choice((16, 16, 32)), rng.choice((32, 64))
    element = rng.choice(("uint", "float", "int"))
    lines = [_X]
    lines += [f"{element} v{k} = x[i * {count}u + {k}u];" for k in range(count)]
    for _ in range(rng.randint(2, 12)):
        a, b = rng.sample(range(count), 2)
        lines.append(f"v{a} = v{a} {rng.choice('+-')} v{b};")
    if rng.random() < 0.5:
        order = rng.sample(range(count), count)
        lines += [f"y[i * {count}u + {k}u] = v{order[k]};" for k in range(count)]
    else:
        lines.append("y[i] = " + " - ".join(f"v{k}" for k in range(count)) + ";")
    size = threads * count
    outputs = [Output("y", element, size)]
    return _case(lines, [_numbers(rng, "x", element, size)], outputs, (threads, 1, 1), (32, 1, 1))


def _looked_up(rng: random.Random) -> Case:
    """Lanes take from lanes that follow from data."""
    lines = [_X, _LANE, "uint v = x[i];", "uint s = 0;"]
    for _ in range(rng.randint(1, 4)):
        lines.append(f"s = s * 3u + simd_shuffle(v, (v >> {rng.randrange(27)}) & 31u);")
        lines += _touch(rng, "v", "s", count=1)
    lines.append("y[i] = s + v;")
    threads = rng.choice((64, 128))
    inputs = [input_of(rng, "x", "uint", threads)]
    return _case(lines, inputs, [Output("y", "uint", threads)], (threads, 1, 1), (32, 1, 1))


def _elimination(rng: random.Random) -> Case:
    """A factorisation within a SIMD-group, unrolled: lanes known when compiling."""
    count = rng.choice((6, 8, 10, 16, 16, 22))
    kind = rng.choice(("int", "uint"))
    lines = [_LANE, "uint g = threadgroup_position_in_grid.x;"]
    lines += [f"{kind} r{k} = x[(g * 32u + lane) * {count}u + {k}u];" for k in range(count)]
    for k in range(count):
        lines.append(f"r{k} = r{k} * {rng.randrange(3, 99, 2)};")
        for j in range(k + 1, count):
            lines.append(f"r{j} = r{j} - r{k} * simd_shuffle(r{k}, {j}u);")
    lines += [f"y[(g * 32u + lane) * {count}u + {k}u] = r{k};" for k in range(count)]
    inputs = [input_of(rng, "x", kind, 64 * count)]
    return _case(lines, inputs, [Output("y", kind, 64 * count)], (64, 1, 1), (32, 1, 1))


def _divided(rng: random.Random) -> Case:
    """The lane number comes out of divisions of the index."""
    part = rng.choice((2, 4, 8, 16))
    lines = [
        _X,
        "uint t = thread_position_in_threadgroup.x;",
        f"uint row = t / {part}u;",
        f"uint column = t % {part}u * {rng.choice((1, 2, 4))}u;",
        f"uint s = x[row * {rng.choice((16, 40, 64))}u + column];",
        f"s += x[(row & 63u) * 64u + column + {rng.randrange(4)}u] * i;",
        "y[i] = s;",
    ]
    inputs = [input_of(rng, "x", "uint", 8192 + 64)]
    threads = rng.choice((128, 256))
    return _case(
        lines, inputs, [Output("y", "uint", threads)], (threads, 1, 1), (rng.choice((32, 64)), 1, 1)
    )


def _tiles(rng: random.Random) -> Case:
    """Rows of small blocks, which follow from the lane number; in loops over blocks."""
    part = rng.choice((4, 8, 16))
    columns = rng.choice((32, 64))
    lines = [
        _LANE, "uint g = threadgroup_position_in_grid.x;",
        f"uint row = lane / {part}u;", f"uint column = lane % {part}u;", "uint s = 0;",
        f"for ({rng.choice(('uint', 'int'))} k = 0; k < {rng.choice(('8', '4', 'n[0]'))}; k++) {{",
        f"s = s * 3u + x[(row + (uint)k * {32 // part}u) * {columns}u + column + g * {part}u];",
    ]  # fmt: skip
    if rng.random() < 0.5:
        lines.append(f"y[((uint)k * {32 // part}u + row) * {columns}u + column + g * {part}u] = s;")
    lines += ["}", "z[g * 32u + lane] = s;"]
    groups = columns // part
    inputs = [input_of(rng, "x", "uint", columns * 8 * 8)]
    inputs.append(Input("n", "int", np.array([rng.choice((8, 3))] * 8, np.int32)))
    outputs = [Output("y", "uint", columns * 8 * 8), Output("z", "uint", 32 * groups)]
    return _case(lines, inputs, outputs, (32 * groups, 1, 1), (32, 1, 1))


def _often(rng: random.Random) -> Case:
    """A block under a condition with several runs: it is there twice."""
    count = rng.choice((3, 4, 6))
    lines = [_X, f"if (i {rng.choice(('< 200u', '>= 5u', '% 64u < 40u'))} && x[i % 64u] != 3u) {{"]
    for k in range(count):
        lines.append(f"uint2 v{k} = ((const device uint2*)w)[i + {k * 300}u];")
        lines.append(f"y[i + {k * 256}u] = v{k}.x - v{k}.y;")
    lines.append("}")
    inputs = [input_of(rng, "x", "uint", 64), input_of(rng, "w", "uint", 2 * (256 + 300 * count))]
    outputs = [Output("y", "uint", 256 * count)]
    return _case(lines, inputs, outputs, (256, 1, 1), (rng.choice((32, 256)), 1, 1))


def _walks(rng: random.Random) -> Case:
    """Lanes walk along bounds that come from memory, in steps of 32."""
    rows, columns = rng.choice((4, 9)), rng.choice((64, 100, 96, 33))
    lines = [
        _LANE, "uint r = threadgroup_position_in_grid.x;", "uint m = (uint)n[0];", "uint s = 0;",
        "for (uint k = lane; k < m; k += 32u) {",
        f"s += x[r * m + k] * {rng.choice(('3u', 'w[k]', '(k + 1u)'))};",
        *(["y[r * m + k] = s;"] if rng.random() < 0.5 else []),
        "}",
        f"s = {rng.choice(('simd_sum', 'simd_max'))}(s);",
        "z[r * 32u + lane] = s;",
    ]  # fmt: skip
    inputs = [input_of(rng, "x", "uint", rows * columns), input_of(rng, "w", "uint", columns)]
    inputs.append(Input("n", "int", np.array([columns] * 8, np.int32)))
    outputs = [Output("y", "uint", rows * columns), Output("z", "uint", rows * 32)]
    return _case(lines, inputs, outputs, (32 * rows, 1, 1), (32, 1, 1))


def _histogram(rng: random.Random) -> Case:
    """Counts of small keys, of several widths of keys."""
    element = rng.choice(("uchar", "uint", "ushort"))
    size = 256 if element == "uchar" else rng.choice((16, 64, 1024))
    threads = rng.choice((256, 2048))
    key = "x[i]" if element == "uchar" else f"(x[i] & {size - 1}u)"
    lines = [_X, f"uint k = (uint){key};"]
    value = rng.choice(("1u", "i", "(k | 1u)"))
    add = f"atomic_fetch_add_explicit(&y[k], {value}, memory_order_relaxed);"
    if rng.random() < 0.4:
        add = f"if ((i & 3u) != {rng.randrange(4)}u) {add}"
    lines.append(add)
    inputs = [input_of(rng, "x", element, threads)]
    outputs = [Output("y", "uint", size, 0)]
    return _case(
        lines, inputs, outputs, (threads, 1, 1), (rng.choice((64, 256)), 1, 1), atomic=True
    )


def _neighbour_rows(rng: random.Random) -> Case:
    """Runs of several rows, side by side: what the next gang reads can be asked for."""
    rows, columns = rng.choice((8, 16)), rng.choice((128, 256, 96))
    row = rng.choice(("threadgroup_position_in_grid.x", "(threadgroup_position_in_grid.x + 2u)"))
    second = rng.choice(("(row | 1u)", "(row + 3u)", "(row + 5u)"))
    lines = [
        _LANE, f"uint row = {row};", f"uint n = {rng.choice(('(uint)n0[0]', f'{columns}u'))};",
        "uint s = 0;",
        _KEPT,
        "for (uint k = lane; k < n; k += 32u) {",
        f"s += x[row * n + k] * w[{second} * n + k];",
        *(["s ^= w[row * n + k];"] if rng.random() < 0.4 else []),
        "}",
        "y[threadgroup_position_in_grid.x * 32u + lane] = s;",
    ]  # fmt: skip
    size = (rows + 16) * columns
    inputs = [input_of(rng, "x", "uint", size), input_of(rng, "w", "uint", size)]
    inputs.append(Input("n0", "int", np.array([columns] * 8, np.int32)))
    outputs = [Output("y", "uint", rows * 32)]
    return _case(lines, inputs, outputs, (rows * 32, 1, 1), (32, 1, 1))


#: Some several times: they have shapes of which a pass likes only one.
_PATTERNS: tuple[Callable[[random.Random], Case], ...] = (
    _named_rows, _long_turn, _run_ends, _short_runs, _nest, _transposed, _matrices, _products,
    _parts, _copies, _appended, _own_bins, _float_runs, _gaps, _scaled, _many_words, _looked_up,
    _elimination, _divided, _tiles, _often, _walks, _histogram, _neighbour_rows,
    _float_runs, _float_runs, _float_runs, _scaled, _copies, _copies, _nest, _neighbour_rows,
)  # fmt: skip
