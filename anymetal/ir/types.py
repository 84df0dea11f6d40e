"""Types of the thread program, with LLVM's spelling and the sizes of Metal's memory layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

#: All types that exist, by class and fields.
_known: dict[tuple[Any, ...], Any] = {}


class Type:
    """Base of all types. `size` and `align` are in bytes.

    Equal types are one object, so comparing them costs nothing.
    """

    size: int
    align: int
    lanes = 1
    space = ""  #: of a pointer
    is_int = False
    is_float = False
    is_ptr = False
    is_vector = False

    def __new__(cls, *fields: Any) -> Self:
        key = cls, *fields
        known: Self | None = _known.get(key)
        if known is None:
            known = _known.setdefault(key, object.__new__(cls))
        return known

    @property
    def scalar(self) -> Type:
        """The element type of a vector, else the type itself."""
        return self


class Void(Type):
    size = 0
    align = 1

    def __str__(self) -> str:
        return "void"


class Int(Type):
    is_int = True

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.size = 1  # store size, rounded up to a power of two as LLVM allocates it
        while self.size * 8 < bits:
            self.size *= 2
        self.align = min(self.size, 8)

    def __str__(self) -> str:
        return f"i{self.bits}"


class Float(Type):
    is_float = True

    def __init__(self, name: str) -> None:
        self.name = name  # half, bfloat, float, double
        self.size = self.align = {"half": 2, "bfloat": 2, "float": 4, "double": 8}[name]

    def __str__(self) -> str:
        return self.name


#: Address spaces; what may lead to several of them is generic.
DEVICE, CONSTANT, THREADGROUP, THREAD = "device", "constant", "threadgroup", "thread"
GENERIC = ""


class Ptr(Type):
    size = 8
    align = 8
    is_ptr = True

    def __init__(self, space: str) -> None:
        self.space = space

    def __str__(self) -> str:
        return "ptr"


class Vector(Type):
    is_vector = True

    def __init__(self, count: int, element: Type) -> None:
        self.count = self.lanes = count
        self.element = element
        bits = count * (element.bits if isinstance(element, Int) else 0)
        size = (bits + 7) // 8 if bits else count * element.size
        self.size = self.align = 1 << (size - 1).bit_length() if size else 0

    @property
    def scalar(self) -> Type:
        return self.element

    def __str__(self) -> str:
        return f"<{self.count} x {self.element}>"


class Array(Type):
    def __init__(self, count: int, element: Type) -> None:
        self.count = count
        self.element = element
        self.size = count * element.size
        self.align = element.align

    def __str__(self) -> str:
        return f"[{self.count} x {self.element}]"


class Struct(Type):
    def __new__(cls, fields: tuple[Type, ...], packed: bool = False) -> Self:
        return super().__new__(cls, fields, packed)

    def __init__(self, fields: tuple[Type, ...], packed: bool = False) -> None:
        self.fields = fields
        self.packed = packed
        at, offsets = 0, []
        for field in fields:
            if not packed:
                at = -(-at // field.align) * field.align
            offsets.append(at)
            at += field.size
        self.offsets = (*offsets, at)  #: of every field in bytes, then the unpadded end
        self.align = 1 if packed else max((f.align for f in fields), default=1)
        self.size = -(-at // self.align) * self.align

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.fields))
        return f"<{{ {inner} }}>" if self.packed else f"{{ {inner} }}"


VOID = Void()
PTR = Ptr(GENERIC)
I1, I8, I16, I32, I64 = (Int(bits) for bits in (1, 8, 16, 32, 64))
HALF, BFLOAT, FLOAT, DOUBLE = (Float(name) for name in ("half", "bfloat", "float", "double"))
#: Floats that are computed in float where a processor has no arithmetic of them.
NARROW = (HALF, BFLOAT)
#: By LLVM's names of them.
COMMON = {str(t): t for t in (VOID, I1, I8, I16, I32, I64, HALF, BFLOAT, FLOAT, DOUBLE)}
