// The register tile of products of bfloat16: pairs of steps, multiplied and added in float32, of each pair the
// odd step first. The processor's own sums of pairs and float32's give the same bytes, since a product of two
// bfloat16 numbers is exact in float32. Numbers below the normal ones count as zero, as the processor takes them.
//
// The right side lies in blocks of NR columns: for each pair of steps two numbers of each column side by side, the
// even step's in the lower half. The left side's pair is Pairs::BYTES or Singles::BYTES long.
#pragma once
#include "register_tile.h"

#if defined(ARPO_ISA_avx512)
#include <immintrin.h>
extern "C" int arpo_has_bf16_pairs();
#endif

namespace ARPO_NS {

// The nearest bfloat16, ties to even.
ARPO_INLINE uint32_t bf16_of(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return bits >> 16 | 0x40;
  if (magnitude < 0x00800000) return bits >> 16 & 0x8000;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
// The same in the upper half of each lane.
ARPO_INLINE ivec bf16_above(vec x) {
  const ivec bits = (ivec)x, magnitude = bits & 0x7fffffff;
  const ivec rounded = (bits + 0x7fff + ((bits >> 16) & 1)) & (int32_t)0xffff0000;
  const ivec small = magnitude < 0x00800000, nan = magnitude > 0x7f800000;
  const ivec kept = (bits & (int32_t)0xffff0000) | 0x00400000;
  return (rounded & ~small & ~nan) | (bits & small & (int32_t)0x80000000) | (kept & nan);
}
ARPO_INLINE ivec lower_half(ivec x) { return (x >> 16) & 0xffff; }

// Numbers side by side, rounded.
typedef uint16_t loose_half __attribute__((may_alias));
inline void bf16_line(const float* x, int count, loose_half* to) {
  int i = 0;
#if defined(ARPO_ISA_avx512)
  for (; i + LANES <= count; i += LANES)
    _mm256_storeu_si256((__m256i*)(to + i), _mm512_cvtepi32_epi16((__m512i)lower_half(bf16_above(load(x + i)))));
#endif
  for (; i < count; i++) {
    uint32_t bits;
    memcpy(&bits, x + i, 4);
    to[i] = (uint16_t)bf16_of(bits);
  }
}

// Whether the processor multiplies and adds pairs of bfloat16.
ARPO_INLINE bool pairs_here() {
#if defined(ARPO_ISA_avx512)
  return arpo_has_bf16_pairs();
#else
  return false;
#endif
}

typedef ivec ivec_loose __attribute__((aligned(4), may_alias));
typedef int32_t loose_int __attribute__((may_alias));
typedef float loose_float __attribute__((may_alias));

#if defined(ARPO_ISA_avx512)
// A pair of the left side is two bfloat16 numbers.
struct Pairs {
  enum { BYTES = 4 };
  ARPO_INLINE void put(uint32_t even, uint32_t odd, int8_t* to) { *(loose_int*)to = (int32_t)(even | odd << 16); }
  // Steps side by side; `steps` is even.
  static inline void put_steps(const float* x, int steps, int8_t* to) { bf16_line(x, steps, (loose_half*)to); }
  template <int M>
  ARPO_INLINE void add(vec (*sum)[NV], const int8_t* x, ptrdiff_t row, const ivec* w) {
#pragma GCC unroll 8
    for (int i = 0; i < M; i++) {
      const ivec xi = isplat(*(const loose_int*)(x + i * row));
      // Written out, since a function for processors that know it could not be called inline from here.
#pragma GCC unroll 3
      for (int v = 0; v < NV; v++) asm("vdpbf16ps %2, %1, %0" : "+v"(sum[i][v]) : "v"(w[v]), "v"(xi));
    }
  }
};
#endif

// A pair of the left side is two float32 numbers, the odd step's first.
struct Singles {
  enum { BYTES = 8 };
  ARPO_INLINE void put(uint32_t even, uint32_t odd, int8_t* to) {
    const uint32_t bits[2] = {odd << 16, even << 16};
    memcpy(to, bits, 8);
  }
  static inline void put_steps(const float* x, int steps, int8_t* to) {
    for (int p = 0; p < steps; p += 2) {
      uint32_t bits[2];
      memcpy(bits, x + p, 8);
      put(bf16_of(bits[0]), bf16_of(bits[1]), to + 4 * p);
    }
  }
  template <int M>
  ARPO_INLINE void add(vec (*sum)[NV], const int8_t* x, ptrdiff_t row, const ivec* w) {
    half<M>(sum, x, row, w, true);
    half<M>(sum, x + 4, row, w, false);
  }
  template <int M>
  ARPO_INLINE void half(vec (*sum)[NV], const int8_t* x, ptrdiff_t row, const ivec* w, bool odd) {
    vec wide[NV];
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++) wide[v] = (vec)(odd ? w[v] & (int32_t)0xffff0000 : w[v] << 16);
#pragma GCC unroll 8
    for (int i = 0; i < M; i++) {
      const vec xi = splat(*(const loose_float*)(x + i * row));
#pragma GCC unroll 3
      for (int v = 0; v < NV; v++) sum[i][v] += xi * wide[v];
    }
  }
};

// The left side: M rows, `row` bytes from one to the next, `step` from a pair to the next. `pairs` of them with a
// block of columns; y = alpha sums, or += if `add`.
struct Left {
  const int8_t* x;
  ptrdiff_t row, step;
};
template <int M, class Add>
__attribute__((noinline)) void bf16_product(int pairs, float alpha, Left left, const uint32_t* w, bool add, float* y,
                                            int ldy, int columns) {
  vec sum[M][NV] = {};
  const int8_t* x = left.x;
  for (int p = 0; p < pairs; p++, w += NR, x += left.step) {
    // The processor's own prefetch stops at every page.
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++) __builtin_prefetch((const char*)(w + v * LANES) + 4096, 0, 2);
    ivec wv[NV];
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++) wv[v] = *(const ivec_loose*)(w + v * LANES);
    Add::template add<M>(sum, x, left.row, wv);
  }
  float edge[M * NR];
#pragma GCC unroll 8
  for (int i = 0; i < M; i++)
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++) {
      const vec scaled = sum[i][v] * alpha;
      if (columns < NR) {
        store(edge + i * NR + v * LANES, scaled);
      } else {
        float* to = y + (ptrdiff_t)i * ldy + v * LANES;
        store(to, add ? load(to) + scaled : scaled);
      }
    }
  if (columns == NR) return;
  for (int i = 0; i < M; i++) {
    float* to = y + (ptrdiff_t)i * ldy;
    for (int j = 0; j < columns; j++) to[j] = add ? to[j] + edge[i * NR + j] : edge[i * NR + j];
  }
}

typedef void (*Bf16Product)(int, float, Left, const uint32_t*, bool, float*, int, int);

template <class Add>
const Bf16Product* bf16_products_of() {
  static const Bf16Product all[] = {bf16_product<1, Add>,
                                    bf16_product<2, Add>,
                                    bf16_product<3, Add>,
                                    bf16_product<4, Add>,
                                    bf16_product<MR == 8 ? 5 : 1, Add>,
                                    bf16_product<MR == 8 ? 6 : 1, Add>,
                                    bf16_product<MR == 8 ? 7 : 1, Add>,
                                    bf16_product<MR == 8 ? 8 : 1, Add>};
  return all;
}

// For one to MR rows, with the best that there is here.
inline const Bf16Product* bf16_products() {
#if defined(ARPO_ISA_avx512)
  if (pairs_here()) return bf16_products_of<Pairs>();
#endif
  return bf16_products_of<Singles>();
}

// Bytes of a pair of the left side here.
inline int bf16_pair_bytes() {
#if defined(ARPO_ISA_avx512)
  if (pairs_here()) return Pairs::BYTES;
#endif
  return Singles::BYTES;
}
inline void bf16_put_steps(const float* x, int steps, int8_t* to) {
#if defined(ARPO_ISA_avx512)
  if (pairs_here()) return Pairs::put_steps(x, steps, to);
#endif
  Singles::put_steps(x, steps, to);
}
inline void bf16_put(uint32_t even, uint32_t odd, int8_t* to) {
#if defined(ARPO_ISA_avx512)
  if (pairs_here()) return Pairs::put(even, odd, to);
#endif
  Singles::put(even, odd, to);
}

}  // namespace ARPO_NS
