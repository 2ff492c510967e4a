// How weights in fewer bits lie in memory, and how they are widened: blocks of NR outputs, all steps of
// a block one after the other.
//
//   bf16, int8   NR weights of a step side by side
//   q4, q8       groups of GROUP steps: NR scales, NR offsets (q4 only), both float16, then the group's
//                numbers: q4 has two steps in one line of NR bytes, the even one in the low half bytes
#pragma once
#include "narrow.h"
#include "../matmul/register_tile.h"
#include "../rows.h"

#if defined(ARPO_ISA_avx512) || defined(ARPO_ISA_avx2)
#include <immintrin.h>
#pragma GCC diagnostic ignored "-Wuninitialized"        // in GCC's own header
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace ARPO_NS {

enum { GROUP = 32 };  // steps with one scale
inline size_t group_bytes(Format format) { return format == Format::q4 ? NR * (4 + 16) : NR * (2 + 32); }

typedef uint16_t halves __attribute__((vector_size(LANES * 2), aligned(2), may_alias));
typedef int8_t bytes __attribute__((vector_size(LANES), aligned(1), may_alias));
typedef uint8_t ubytes __attribute__((vector_size(LANES), aligned(1), may_alias));

ARPO_INLINE vec widen(const float* p) { return load(p); }
ARPO_INLINE vec widen(const uint16_t* p) {
  return (vec)(__builtin_convertvector(*(const halves*)p, ivec) << 16);
}
// GCC 12 widens bytes one by one unless it is told the instruction.
ARPO_INLINE vec widen(const int8_t* p) {
#if defined(ARPO_ISA_avx512)
  const ivec whole = (ivec)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)p));
#elif defined(ARPO_ISA_avx2)
  const ivec whole = (ivec)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)p));
#else
  const ivec whole = __builtin_convertvector(*(const bytes*)p, ivec);
#endif
  return __builtin_convertvector(whole, vec);
}
// Bytes from 0 to 255, as integers.
ARPO_INLINE ivec widen_bytes(const uint8_t* p) {
#if defined(ARPO_ISA_avx512)
  return (ivec)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)p));
#elif defined(ARPO_ISA_avx2)
  return (ivec)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)p));
#else
  return __builtin_convertvector(*(const ubytes*)p, ivec);
#endif
}
// Finite float16, exactly, on machines that do not know it too.
ARPO_INLINE vec widen_float16(const uint16_t* p) {
#if defined(ARPO_ISA_avx512)
  return (vec)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p));
#else
  const ivec bits = __builtin_convertvector(*(const halves*)p, ivec);
  const vec magnitude = (vec)((bits & 0x7fff) << 13) * 5.192296858534828e33f;  // 2^112
  return (vec)((ivec)magnitude | (bits & 0x8000) << 16);
#endif
}
// The nearest float16, ties to even; the largest one for what is larger.
ARPO_INLINE uint16_t float16_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x477ff000) return (uint16_t)(sign | 0x7bff);
  if (magnitude >= 0x38800000) {
    const uint32_t moved = magnitude - 0x38000000;
    return (uint16_t)(sign | (moved + 0x0fff + (moved >> 13 & 1)) >> 13);
  }
  // Below the normal ones: added to 0.5, whose last bit is the smallest float16.
  float small;
  memcpy(&small, &magnitude, 4);
  small += 0.5f;
  memcpy(&bits, &small, 4);
  return (uint16_t)(sign | (bits - 0x3f000000));
}

// What a product of M rows and one block of outputs gives.
template <int M>
ARPO_INLINE void put_sums(const vec (*sum)[NV], const float* scales, bool add, float* y, int ldy, int columns) {
  float edge[M * NR];
#pragma GCC unroll 8
  for (int i = 0; i < M; i++)
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++)
      store(edge + i * NR + v * LANES, scales ? sum[i][v] * load(scales + v * LANES) : sum[i][v]);
  for (int i = 0; i < M; i++) {
    float* to = y + (ptrdiff_t)i * ldy;
    for (int j = 0; j < columns; j++) to[j] = add ? to[j] + edge[i * NR + j] : edge[i * NR + j];
  }
}

inline float* scales_in(void* narrow, int out, int in) {
  return (float*)((int8_t*)narrow + (size_t)ceil_div(out, NR) * NR * in);
}

}  // namespace ARPO_NS
