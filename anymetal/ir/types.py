"""Types of the thread program, with LLVM's spelling and the sizes of Metal's memory layout."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


class Type:
    """Base of all types. `size` and `align` are in bytes."""

    size: int
    align: int

    @property
    def is_int(self) -> bool:
        return isinstance(self, Int)

    @property
    def is_float(self) -> bool:
        return isinstance(self, Float)

    @property
    def is_ptr(self) -> bool:
        return isinstance(self, Ptr)

    @property
    def is_vector(self) -> bool:
        return isinstance(self, Vector)

    @property
    def scalar(self) -> Type:
        """The element type of a vector, else the type itself."""
        return self.element if isinstance(self, Vector) else self

    @property
    def lanes(self) -> int:
        return self.count if isinstance(self, Vector) else 1


@dataclass(frozen=True)
class Void(Type):
    size = 0
    align = 1

    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True)
class Int(Type):
    bits: int

    @cached_property
    def size(self) -> int:  # type: ignore[override]
        """Store size, rounded up to a power of two as LLVM allocates it."""
        size = 1
        while size * 8 < self.bits:
            size *= 2
        return size

    @property
    def align(self) -> int:  # type: ignore[override]
        return min(self.size, 8)

    def __str__(self) -> str:
        return f"i{self.bits}"


@dataclass(frozen=True)
class Float(Type):
    name: str  # half, bfloat, float, double

    @property
    def size(self) -> int:  # type: ignore[override]
        return {"half": 2, "bfloat": 2, "float": 4, "double": 8}[self.name]

    @property
    def align(self) -> int:  # type: ignore[override]
        return self.size

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Ptr(Type):
    size = 8
    align = 8

    def __str__(self) -> str:
        return "ptr"


@dataclass(frozen=True)
class Vector(Type):
    count: int
    element: Type

    @cached_property
    def size(self) -> int:  # type: ignore[override]
        bits = self.count * (self.element.bits if isinstance(self.element, Int) else 0)
        size = (bits + 7) // 8 if bits else self.count * self.element.size
        return 1 << (size - 1).bit_length() if size else 0

    @property
    def align(self) -> int:  # type: ignore[override]
        return self.size

    def __str__(self) -> str:
        return f"<{self.count} x {self.element}>"


@dataclass(frozen=True)
class Array(Type):
    count: int
    element: Type

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.count * self.element.size

    @property
    def align(self) -> int:  # type: ignore[override]
        return self.element.align

    def __str__(self) -> str:
        return f"[{self.count} x {self.element}]"


@dataclass(frozen=True)
class Struct(Type):
    fields: tuple[Type, ...]
    packed: bool = False

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Byte offset of every field, then the unpadded end."""
        at, result = 0, []
        for field in self.fields:
            if not self.packed:
                at = -(-at // field.align) * field.align
            result.append(at)
            at += field.size
        return (*result, at)

    @cached_property
    def align(self) -> int:  # type: ignore[override]
        return 1 if self.packed else max((f.align for f in self.fields), default=1)

    @cached_property
    def size(self) -> int:  # type: ignore[override]
        return -(-self.offsets[-1] // self.align) * self.align

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.fields))
        return f"<{{ {inner} }}>" if self.packed else f"{{ {inner} }}"


VOID = Void()
PTR = Ptr()
I1, I8, I16, I32, I64 = (Int(bits) for bits in (1, 8, 16, 32, 64))
HALF, BFLOAT, FLOAT, DOUBLE = (Float(name) for name in ("half", "bfloat", "float", "double"))
FLOAT_NAMES = {str(t): t for t in (HALF, BFLOAT, FLOAT, DOUBLE)}
