// Scalar types and literals. `long` has 64 bits and `int8_t` is plain (signed) `char`, as in Metal,
// so that int8_t and char select the same overloads and the same vectors.
#pragma once

namespace metal {

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;
typedef __bf16 bfloat;

typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long ptrdiff_t;
typedef unsigned long size_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;

static_assert(sizeof(long) == 8 && char(-1) < 0, "AnyMetal needs LP64 and a signed char");

constexpr half operator""h(long double value) { return static_cast<half>(value); }
constexpr half operator""h(unsigned long long value) { return static_cast<half>(value); }

// (Clang reserves suffixes without an underscore: frontend/unit.py spells bfloat literals anew.)

}  // namespace metal
