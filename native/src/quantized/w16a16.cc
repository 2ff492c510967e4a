#include "w16a16.h"

#include "../matmul/bf16_tile.h"
#include "narrow_load.h"

namespace ARPO_NS {
namespace {

// The nth row that came.
bool load_row(uint32_t* to, int in, Stored from, ptrdiff_t nth) {
  uint32_t largest = 0;
  for (int p = 0; p < in; p += 2, to += NR) {
    const uint32_t even = bits_of(from, nth * in + p), odd = bits_of(from, nth * in + p + 1);
    if ((even & 0x7fffffff) > largest) largest = even & 0x7fffffff;
    if ((odd & 0x7fffffff) > largest) largest = odd & 0x7fffffff;
    *to = bf16_of(even) | bf16_of(odd) << 16;
  }
  return largest < 0x7f800000;
}

template <class Add>
double peak(int rounds) {
  enum { STEPS = 1000 };
  // Read from memory, so that the compiler knows nothing of them.
  const volatile int32_t given[] = {0x3f803f81, 0x3f813f80, 0x3f823f80};
  vec sum[MR][NV] = {};
  ivec w[NV];
#pragma GCC unroll 3
  for (int v = 0; v < NV; v++) w[v] = isplat(given[v]);
  int8_t x[MR * 64] = {0, 0, 1, 0, 0, 0, 1, 0};
  for (int step = 0; step < rounds * STEPS; step++) {
    asm volatile("" : : "r"(x) : "memory");  // the row may be another now
    Add::template add<MR>(sum, x, 64, w);
  }
  vec all = {};
#pragma GCC unroll 8
  for (int i = 0; i < MR; i++)
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++) all += sum[i][v];
  return all[0] >= 0 ? 2.0 * 2 * LANES * NV * MR * STEPS * rounds : 0;
}

}  // namespace

double w16a16_peak(int rounds) {
#if defined(ARPO_ISA_avx512)
  if (pairs_here()) return peak<Pairs>(rounds);
#endif
  return peak<Singles>(rounds);
}

size_t w16a16_bytes(int out, int in) { return (size_t)ceil_div(out, NR) * NR * in * 2; }

int w16a16_load(void* weights, int in, int first, int rows, Stored from) {
  return each_row(first, rows, [&](int row, ptrdiff_t nth) {
    uint32_t* block = (uint32_t*)weights + (ptrdiff_t)(row / NR) * NR * (in / 2);
    return load_row(block + row % NR, in, from, nth);
  });
}

size_t w16a16_row_bytes(int in) { return ((size_t)in / 2 * bf16_pair_bytes() + 63) / 64 * 64; }

void w16a16_rows(const float* x, int in, int from, int to, int8_t* rows) {
  const size_t row_bytes = w16a16_row_bytes(in);
  for (int row = from; row < to; row++) bf16_put_steps(x + (ptrdiff_t)row * in, in, rows + row * row_bytes);
}

void w16a16_columns(const void* weights, int out, int in, const int8_t* x, int rows, int from, int to, bool add,
                    float* y, int ldy) {
  const Bf16Product* products = bf16_products();
  const ptrdiff_t row = w16a16_row_bytes(in);
  for (int block = from; block < to; block++) {
    const int column = block * NR;
    const uint32_t* w = (const uint32_t*)weights + (ptrdiff_t)block * NR * (in / 2);
    for (int i = 0; i < rows; i += MR)
      products[least(MR, rows - i) - 1](in / 2, 1, {x + i * row, row, bf16_pair_bytes()}, w, add,
                                        y + (ptrdiff_t)i * ldy + column, ldy, least(NR, out - column));
  }
}

}  // namespace ARPO_NS
