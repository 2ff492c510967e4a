#include "narrow.h"

#include "gemm.h"
#include "linear.h"
#include "rows.h"

#if defined(ARPO_ISA_avx512) || defined(ARPO_ISA_avx2)
#include <immintrin.h>
#pragma GCC diagnostic ignored "-Wuninitialized"        // in GCC's own header
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace ARPO_NS {
namespace {

#if ARPO_LANES == 16 || defined(__aarch64__)
enum { MR = 8, NV = 3 };
#elif ARPO_LANES == 8
enum { MR = 4, NV = 3 };
#else
enum { MR = 4, NV = 2 };
#endif
enum { NR = NV * LANES };  // outputs side by side: linear_width()

typedef uint16_t halves __attribute__((vector_size(LANES * 2), aligned(2), may_alias));
typedef int8_t bytes __attribute__((vector_size(LANES), aligned(1), may_alias));

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

// M rows by one block of outputs.
template <int M, class E>
__attribute__((noinline)) void product(int k, const float* x, const E* w, const float* scales, bool add,
                                       float* y, int ldy, int columns) {
  vec sum[M][NV] = {};
  for (int p = 0; p < k; p++, w += NR) {
    // The processor's own prefetch stops at every page.
    __builtin_prefetch((const char*)w + 4096, 0, 2);
    vec wv[NV];
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++) wv[v] = widen(w + v * LANES);
#pragma GCC unroll 8
    for (int i = 0; i < M; i++) {
      const vec xv = splat(x[(ptrdiff_t)i * k + p]);
#pragma GCC unroll 3
      for (int v = 0; v < NV; v++) sum[i][v] += xv * wv[v];
    }
  }
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

template <class E>
void columns_of(const E* w, const float* scales, int out, int in, const float* x, int rows, int from,
                int to, bool add, float* y, int ldy) {
  typedef void (*Product)(int, const float*, const E*, const float*, bool, float*, int, int);
  static const Product products[] = {product<1, E>, product<2, E>, product<3, E>, product<4, E>,
                                     product<MR == 8 ? 5 : 1, E>, product<MR == 8 ? 6 : 1, E>,
                                     product<MR == 8 ? 7 : 1, E>, product<MR == 8 ? 8 : 1, E>};
  for (int block = from; block < to; block++) {
    const int column = block * NR, columns = least(NR, out - column);
    for (int i = 0; i < rows; i += MR)
      products[least(MR, rows - i) - 1](in, x + (ptrdiff_t)i * in, w + (ptrdiff_t)column * in,
                                        scales ? scales + column : nullptr, add,
                                        y + (ptrdiff_t)i * ldy + column, ldy, columns);
  }
}

uint32_t bits_of(Stored from, ptrdiff_t i) {
  if (from.half) return (uint32_t)from.half[i] << 16;
  uint32_t bits;
  memcpy(&bits, from.whole + i, 4);
  return bits;
}
float value_of(Stored from, ptrdiff_t i) {
  const uint32_t bits = bits_of(from, i);
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

float* scales_in(void* narrow, int out, int in) {
  return (float*)((int8_t*)narrow + (size_t)ceil_div(out, NR) * NR * in);
}

// One row of the matrix into its place among the outputs of a block; whether all of it is finite.
bool load_row(Format format, void* narrow, int out, int in, int row, Stored from, ptrdiff_t at) {
  const ptrdiff_t to = (ptrdiff_t)(row / NR) * NR * in + row % NR;
  uint32_t largest = 0;
  for (int p = 0; p < in; p++) {
    const uint32_t magnitude = bits_of(from, at + p) & 0x7fffffff;
    largest = magnitude > largest ? magnitude : largest;
  }
  if (largest >= 0x7f800000) return false;
  if (format == Format::bf16) {
    uint16_t* data = (uint16_t*)narrow + to;
    for (int p = 0; p < in; p++) {
      const uint32_t bits = bits_of(from, at + p);
      data[(ptrdiff_t)p * NR] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
    return true;
  }
  float top;
  memcpy(&top, &largest, 4);
  const bool some = top > 1e-30f;
  scales_in(narrow, out, in)[row] = some ? top / 127.0f : 0.0f;
  if (!some) top = 1.0f;
  int8_t* data = (int8_t*)narrow + to;
  for (int p = 0; p < in; p++) {
    // Divided, so that what lies half-way between two integers is seen to.
    const float x = value_of(from, at + p) * 127.0f / top;
    data[(ptrdiff_t)p * NR] = (int8_t)(int)(x + (x < 0 ? -0.5f : 0.5f));
  }
  return true;
}

}  // namespace

size_t narrow_bytes(Format format, int out, int in) {
  const size_t padded = (size_t)ceil_div(out, NR) * NR;
  return format == Format::bf16 ? padded * in * 2 : padded * in + padded * sizeof(float);
}

int narrow_load(Format format, void* narrow, int out, int in, int first, int rows, Stored from) {
  int32_t bad = rows;
  // Rows of one block go to one task, so that its cache lines have one writer at a time.
  const int from_block = first / NR, blocks = ceil_div(first + rows, NR) - from_block;
  parallel(blocks, [&](int task, int) {
    const int begin = (from_block + task) * NR;
    for (int row = begin < first ? first : begin; row < least(begin + NR, first + rows); row++) {
      if (load_row(format, narrow, out, in, row, from, (ptrdiff_t)(row - first) * in)) continue;
      int32_t known = __atomic_load_n(&bad, __ATOMIC_RELAXED);
      while (row - first < known &&
             !__atomic_compare_exchange_n(&bad, &known, row - first, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED)) {
      }
    }
  });
  return bad < rows ? bad : -1;
}

void narrow_columns(Format format, const void* narrow, int out, int in, const float* x, int rows,
                    int from, int to, bool add, float* y, int ldy) {
  if (format == Format::bf16) {
    columns_of((const uint16_t*)narrow, nullptr, out, in, x, rows, from, to, add, y, ldy);
  } else {
    columns_of((const int8_t*)narrow, scales_in((void*)narrow, out, in), out, in, x, rows, from, to, add,
               y, ldy);
  }
}

}  // namespace ARPO_NS
