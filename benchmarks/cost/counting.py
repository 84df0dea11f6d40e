"""What this rank sends: by a wrapper around MLX's collectives, and by what the sockets have got."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import mlx.core as mx

NAMES = ("all_sum", "all_max", "all_gather", "send", "recv")


class Sent(NamedTuple):
    operation: str
    words: int  #: of four bytes, of this rank's argument or result


@contextmanager
def counted() -> Iterator[list[Sent]]:
    """The collectives that are asked for inside of the `with`, in order."""
    found: list[Sent] = []

    def wrapper(name: str, function: Callable[..., mx.array]) -> Callable[..., mx.array]:
        def call(*arguments: Any, **options: Any) -> mx.array:
            result = function(*arguments, **options)
            about = result if name == "recv" else arguments[0]
            found.append(Sent(name, about.nbytes // 4))
            return result

        return call

    originals = {name: getattr(mx.distributed, name) for name in NAMES}
    for name, function in originals.items():
        setattr(mx.distributed, name, wrapper(name, function))
    try:
        yield found
    finally:
        for name, function in originals.items():
            setattr(mx.distributed, name, function)


def ring_words(sent: list[Sent], ranks: int) -> int:
    """Words that all ranks of a ring receive together for the collectives of one of them.

    A sum is cut into p segments, each of which passes p - 1 links as it is added and p - 1 as it is
    spread; fewer words than ranks are filled up. Messages from rank to rank are not among them.
    """
    total = 0
    for operation, words in sent:
        if operation in ("all_sum", "all_max"):
            total += 2 * (ranks - 1) * max(words, ranks)
        elif operation == "all_gather":
            total += ranks * (ranks - 1) * words
    return total


def received_words(sent: list[Sent]) -> int:
    """Words of the messages that this rank has received from one other."""
    return sum(words for operation, words in sent if operation == "recv")


def received_bytes() -> int:
    """What all TCP connections of this process have received, says Linux (tcpi_bytes_received)."""
    total = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            with socket.socket(fileno=os.dup(int(name))) as one:
                if one.family == socket.AF_INET and one.type == socket.SOCK_STREAM:
                    info = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
                    total += struct.unpack_from("Q", info, 128)[0]
        except OSError:
            continue
    return total
