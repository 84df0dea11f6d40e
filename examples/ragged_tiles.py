"""A 2-D kernel at a ragged edge: an image as a mosaic of its average colours.

One threadgroup is one tile. `grid` counts threads, so where the image is no whole number of tiles
the threadgroups at the edge are smaller: `threads_per_threadgroup` tells the real size of this one.
Nothing has to be padded, and no thread lies outside of the image.
"""

import mlx.core as mx

import anymetal

TILE = (16, 8)  # width, height

kernel = anymetal.metal_kernel(
    name="mosaic",
    input_names=["image"],
    output_names=["out", "tile_sizes"],
    source="""
        threadgroup float4 colours[TILE_WIDTH * TILE_HEIGHT];
        uint2 at = thread_position_in_grid.xy;
        uint own = thread_index_in_threadgroup;
        uint count = threads_per_threadgroup.x * threads_per_threadgroup.y;
        uint place = 3 * (at.y * threads_per_grid.x + at.x);

        colours[own] = float4(image[place], image[place + 1], image[place + 2], 0.0f);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float4 sum = 0.0f;
        for (uint i = 0; i < count; ++i) {
            sum += colours[i];
        }
        float3 mean = sum.xyz / count;
        out[place] = mean.x;
        out[place + 1] = mean.y;
        out[place + 2] = mean.z;

        if (own == 0) {
            uint2 tile = threadgroup_position_in_grid.xy;
            tile_sizes[tile.y * threadgroups_per_grid.x + tile.x] = count;
        }
    """,
)


def mosaic(image: mx.array) -> list[mx.array]:
    """The mosaic of a (height, width, 3) image, and the number of pixels of every tile."""
    height, width, _ = image.shape
    tiles = (-(-height // TILE[1]), -(-width // TILE[0]))
    return kernel(
        inputs=[image],
        template=[("TILE_WIDTH", TILE[0]), ("TILE_HEIGHT", TILE[1])],
        grid=(width, height, 1),
        threadgroup=(*TILE, 1),
        output_shapes=[image.shape, tiles],
        output_dtypes=[mx.float32, mx.uint32],
    )


def mosaic_ops(image: mx.array) -> mx.array:
    """The same, tile by tile, with MLX's operations."""
    height, width, _ = image.shape
    out = mx.zeros_like(image)
    for top in range(0, height, TILE[1]):
        for left in range(0, width, TILE[0]):
            tile = slice(top, top + TILE[1]), slice(left, left + TILE[0])
            out[tile] = image[tile].mean(axis=(0, 1))
    return out


if __name__ == "__main__":
    image = mx.random.uniform(shape=(45, 70, 3))
    out, tile_sizes = mosaic(image)
    print("pixels per tile of a 70 × 45 image in tiles of 16 × 8:")
    for row in tile_sizes:
        print("  ", *(f"{int(size):4}" for size in row))
    assert tile_sizes.sum().item() == 45 * 70
    assert mx.allclose(out, mosaic_ops(image), atol=1e-6)
    print("the mosaic is right, edges included")
