// Mathematical constants and the limits that C keeps in <float.h> and <limits.h>.
#pragma once

#define MAXFLOAT __FLT_MAX__
#define HUGE_VALF __builtin_inff()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define MAXHALF (static_cast<metal::half>(65504.0f))
#define HUGE_VALH (static_cast<metal::half>(__builtin_inff()))
#define MAXBFLOAT (static_cast<metal::bfloat>(0x1.fep127f))
#define HUGE_VALBF (static_cast<metal::bfloat>(__builtin_inff()))

#define M_E_F 2.71828182845904523536f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.434294481903251827651f
#define M_LN2_F 0.693147180559945309417f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.785398163397448309616f
#define M_1_PI_F 0.318309886183790671538f
#define M_2_PI_F 0.636619772367581343076f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.707106781186547524401f

#define M_E_H (static_cast<metal::half>(M_E_F))
#define M_LOG2E_H (static_cast<metal::half>(M_LOG2E_F))
#define M_LOG10E_H (static_cast<metal::half>(M_LOG10E_F))
#define M_LN2_H (static_cast<metal::half>(M_LN2_F))
#define M_LN10_H (static_cast<metal::half>(M_LN10_F))
#define M_PI_H (static_cast<metal::half>(M_PI_F))
#define M_PI_2_H (static_cast<metal::half>(M_PI_2_F))
#define M_PI_4_H (static_cast<metal::half>(M_PI_4_F))
#define M_1_PI_H (static_cast<metal::half>(M_1_PI_F))
#define M_2_PI_H (static_cast<metal::half>(M_2_PI_F))
#define M_2_SQRTPI_H (static_cast<metal::half>(M_2_SQRTPI_F))
#define M_SQRT2_H (static_cast<metal::half>(M_SQRT2_F))
#define M_SQRT1_2_H (static_cast<metal::half>(M_SQRT1_2_F))

#define M_E_BF (static_cast<metal::bfloat>(M_E_F))
#define M_LOG2E_BF (static_cast<metal::bfloat>(M_LOG2E_F))
#define M_LOG10E_BF (static_cast<metal::bfloat>(M_LOG10E_F))
#define M_LN2_BF (static_cast<metal::bfloat>(M_LN2_F))
#define M_LN10_BF (static_cast<metal::bfloat>(M_LN10_F))
#define M_PI_BF (static_cast<metal::bfloat>(M_PI_F))
#define M_PI_2_BF (static_cast<metal::bfloat>(M_PI_2_F))
#define M_PI_4_BF (static_cast<metal::bfloat>(M_PI_4_F))
#define M_1_PI_BF (static_cast<metal::bfloat>(M_1_PI_F))
#define M_2_PI_BF (static_cast<metal::bfloat>(M_2_PI_F))
#define M_2_SQRTPI_BF (static_cast<metal::bfloat>(M_2_SQRTPI_F))
#define M_SQRT2_BF (static_cast<metal::bfloat>(M_SQRT2_F))
#define M_SQRT1_2_BF (static_cast<metal::bfloat>(M_SQRT1_2_F))

#define FLT_RADIX 2
#define FLT_DIG __FLT_DIG__
#define FLT_MANT_DIG __FLT_MANT_DIG__
#define FLT_MAX_10_EXP __FLT_MAX_10_EXP__
#define FLT_MAX_EXP __FLT_MAX_EXP__
#define FLT_MIN_10_EXP (__FLT_MIN_10_EXP__)
#define FLT_MIN_EXP (__FLT_MIN_EXP__)
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define HALF_DIG 3
#define HALF_MANT_DIG 11
#define HALF_MAX_10_EXP 4
#define HALF_MAX_EXP 16
#define HALF_MIN_10_EXP (-4)
#define HALF_MIN_EXP (-13)
#define HALF_RADIX 2
#define HALF_MAX MAXHALF
#define HALF_MIN (static_cast<metal::half>(0x1p-14f))
#define HALF_EPSILON (static_cast<metal::half>(0x1p-10f))

#define FP_ILOGB0 (-__INT_MAX__ - 1)
#define FP_ILOGBNAN __INT_MAX__

#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define CHAR_MAX SCHAR_MAX
#define CHAR_MIN SCHAR_MIN
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2U + 1U)
#define LONG_MAX __LONG_MAX__
#define LONG_MIN (-__LONG_MAX__ - 1L)
#define ULONG_MAX (__LONG_MAX__ * 2UL + 1UL)
