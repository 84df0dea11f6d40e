"""A program for each rank that never ends by itself. Argument: how long to wait for others."""

import sys

import mlx.core as mx

from anymetal.linalg import distributed

with distributed.patience(float(sys.argv[1])):
    rows = mx.random.normal((64, 8), key=mx.random.key(mx.distributed.init().rank()))
    mx.eval(distributed.qr(rows))
    print("going", flush=True)
    while True:
        mx.eval(distributed.qr(rows))
        mx.eval(distributed.norm(rows.reshape(-1)))
