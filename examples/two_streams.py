"""Two streams: launches that do not depend on each other run at the same time.

Kernels are nodes of MLX's graph, and each CPU stream has a thread of its own that works its nodes
off in order. A launch of one threadgroup keeps one processor busy; so two such chains on two
streams take as long as one of them, where on one stream they wait for each other. A launch of many
threadgroups uses all processors by itself: then a second stream gains nothing.

    python examples/two_streams.py [timeline.png]     the picture needs matplotlib
"""

import os
import sys
import threading
import time
from statistics import median

import mlx.core as mx

import anymetal

# Streams order the nodes of the graph; until the bridge to MLX is built, kernels run at once.
os.environ.setdefault("ANYMETAL_BRIDGE", "wait")

DEVICE = mx.gpu if mx.metal.is_available() else mx.cpu
FACTOR, STEP = 1664525, 1013904223  # of a generator of random numbers
ROUNDS, LAUNCHES, WIDTH = 1_000_000, 6, 64

kernel = anymetal.metal_kernel(
    name="generator",
    input_names=["seeds", "rounds"],
    output_names=["out"],
    source="""
        uint i = thread_position_in_grid.x;
        uint number = seeds[i];
        for (int k = 0; k < rounds; ++k) {
            number = number * FACTOR + STEP;
        }
        out[i] = number;
    """,
)


def launch(seeds: mx.array, rounds: int, stream: mx.Stream) -> mx.array:
    """Every seed, so many random numbers later; one threadgroup for 64 seeds."""
    return kernel(
        inputs=[seeds, rounds],
        template=[("FACTOR", FACTOR), ("STEP", STEP)],
        grid=(seeds.size, 1, 1),
        threadgroup=(64, 1, 1),
        output_shapes=[seeds.shape],
        output_dtypes=[mx.uint32],
        stream=stream,
    )[0]


def chain(seeds: mx.array, stream: mx.Stream) -> mx.array:
    """Launches that depend on each other."""
    for _ in range(LAUNCHES):
        seeds = launch(seeds, ROUNDS * 64 // seeds.size, stream)
    return seeds


def later(seed: int, rounds: int) -> int:
    """The random number so many rounds later, by squaring the map n -> factor n + step."""
    factor, step = FACTOR, STEP
    while rounds:
        if rounds & 1:
            seed = (factor * seed + step) % 2**32
        factor, step = factor * factor % 2**32, (factor * step + step) % 2**32
        rounds >>= 1
    return seed


def seconds(seeds: list[mx.array], streams: list[mx.Stream]) -> float:
    """How long it takes until all chains are done."""
    start = time.perf_counter()
    mx.eval([chain(s, stream) for s, stream in zip(seeds, streams, strict=True)])
    return time.perf_counter() - start


def compare(what: str, size: int) -> None:
    """Two chains on one stream and on two, in turn."""
    seeds = [mx.arange(size, dtype=mx.uint32), mx.arange(size, dtype=mx.uint32) + size]
    mx.eval(seeds)
    first, second = mx.new_stream(DEVICE), mx.new_stream(DEVICE)
    pairs = [(seconds(seeds, [first, first]), seconds(seeds, [first, second])) for _ in range(7)]
    one, two = (median(times) for times in zip(*pairs, strict=True))
    ratio = median(both / alone for alone, both in pairs)
    print(f"{what}: one stream {one * 1e3:.0f} ms, two {two * 1e3:.0f} ms, ratio {ratio:.2f}")


Bar = tuple[str, str, float, float]  # stream, chain, begin, end


def timeline() -> list[Bar]:
    """When each launch began and ended, as the Python thread that waits for it sees it."""
    bars: list[Bar] = []
    start = time.perf_counter()

    def follow(stream_name: str, names: str) -> None:
        stream = mx.new_stream(DEVICE)
        seeds = {name: mx.arange(WIDTH, dtype=mx.uint32) for name in names}
        for _ in range(LAUNCHES):
            for name in names:
                begin = time.perf_counter() - start
                seeds[name] = launch(seeds[name], ROUNDS, stream)
                mx.eval(seeds[name])
                bars.append((stream_name, name, begin, time.perf_counter() - start))

    follow("one stream", "AB")
    start = time.perf_counter()
    threads = [threading.Thread(target=follow, args=(f"stream {name}", name)) for name in "AB"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return bars


def show(bars: list[Bar]) -> None:
    """A line of characters for each stream: A and B, every other launch in lower case."""
    end = max(bar[3] for bar in bars)
    lines: dict[str, list[str]] = {}
    for stream, name, begin, done in bars:
        line = lines.setdefault(stream, [" "] * 72)
        first, last = int(72 * begin / end), int(72 * done / end)
        letter = name.lower() if name in line[:first] and name == line[first - 1] else name
        line[first:last] = letter * (last - first)
    for stream in sorted(lines):
        print(f"{stream:10} |{''.join(lines[stream]).rstrip()}")


def save(bars: list[Bar], file: str) -> None:
    """The same as a picture."""
    from matplotlib.figure import Figure  # pyright: ignore[reportMissingImports]

    figure = Figure(figsize=(8, 2.2), layout="constrained")
    axes = figure.subplots()
    streams = list(dict.fromkeys(bar[0] for bar in bars))
    for stream, name, begin, end in bars:
        colour = {"A": "#2f6fab", "B": "#d98032"}[name]
        axes.barh(
            streams.index(stream), 1e3 * (end - begin), left=1e3 * begin, height=0.7,
            color=colour, edgecolor="white",
        )  # fmt: skip
    axes.set_yticks(range(len(streams)), streams)
    axes.invert_yaxis()
    axes.set_xlabel("ms")
    axes.set_title("launches of chain A (blue) and chain B (orange)", fontsize=9)
    figure.savefig(file, dpi=150)


if __name__ == "__main__":
    seeds = mx.arange(WIDTH, dtype=mx.uint32)
    for stream in (mx.new_stream(DEVICE), mx.new_stream(DEVICE)):
        out = chain(seeds, stream).tolist()
        assert out == [later(seed, ROUNDS * LAUNCHES) for seed in range(WIDTH)]
    print("both streams compute the right numbers")
    compare("launches of 1 threadgroup", WIDTH)
    compare("launches of 64 threadgroups", 64 * WIDTH)
    bars = timeline()
    show(bars)
    if len(sys.argv) > 1 and sys.argv[1].endswith(".png"):
        save(bars, sys.argv[1])
        print(sys.argv[1])
