// Words of 32 bits turned from rows into columns.
#pragma once
#include "../platform.h"

namespace ARPO_NS {

typedef float four __attribute__((vector_size(16)));
typedef float four_loose __attribute__((vector_size(16), aligned(4), may_alias));

// Writes the transpose of the 4 x 4 numbers at `from` into rows `apart` from each other.
ARPO_INLINE void transpose4(const float* from, ptrdiff_t stride, float* to, ptrdiff_t apart) {
  four a = *(const four_loose*)from, b = *(const four_loose*)(from + stride);
  four c = *(const four_loose*)(from + 2 * stride), d = *(const four_loose*)(from + 3 * stride);
#if defined(__clang__) || __GNUC__ >= 12
  four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  four AB = __builtin_shufflevector(a, b, 2, 6, 3, 7), CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  *(four_loose*)to = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
  *(four_loose*)(to + apart) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  *(four_loose*)(to + 2 * apart) = __builtin_shufflevector(AB, CD, 0, 1, 4, 5);
  *(four_loose*)(to + 3 * apart) = __builtin_shufflevector(AB, CD, 2, 3, 6, 7);
#else
  for (int i = 0; i < 4; i++)
    to[i * apart] = a[i], to[i * apart + 1] = b[i], to[i * apart + 2] = c[i], to[i * apart + 3] = d[i];
#endif
}

// to[p * apart + j] = from[j * stride + p], j below `rows` and p below `count`.
inline void turn(int rows, int count, const float* from, ptrdiff_t stride, float* to, ptrdiff_t apart) {
  int p = 0;
  for (; p + 4 <= count; p += 4) {
    int j = 0;
    for (; j + 4 <= rows; j += 4) transpose4(from + j * stride + p, stride, to + p * apart + j, apart);
    for (; j < rows; j++)
      for (int q = p; q < p + 4; q++) to[q * apart + j] = from[j * stride + q];
  }
  for (; p < count; p++)
    for (int j = 0; j < rows; j++) to[p * apart + j] = from[j * stride + p];
}

}  // namespace ARPO_NS
