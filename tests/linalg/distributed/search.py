"""A program for each rank: singular values of a file, with a journal. Arguments: file, journal."""

import sys

import mlx.core as mx
import numpy as np

from anymetal.linalg import distributed
from anymetal.linalg.distributed.journal import Journal

# Every band of a product is recorded, so that there is much to go on with.
Journal.__init__.__defaults__ = (0.0,)  # type: ignore[misc]

matrix = distributed.open_matrix(sys.argv[1], band_bytes=4 * 60 * 4)
print("going", flush=True)
found = distributed.svd_topk(matrix, 2, path="lanczos", tol=1e-6, journal=sys.argv[2])
mx.eval(found)
print("bits", *(np.array(x).tobytes().hex() for x in found))
