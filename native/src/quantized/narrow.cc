#include "narrow_tile.h"

namespace ARPO_NS {
namespace {

template <int M>
ARPO_INLINE void add_step(vec (*sum)[NV], const float* x, ptrdiff_t k, const vec* wv) {
#pragma GCC unroll 8
  for (int i = 0; i < M; i++) {
    const vec xv = splat(x[i * k]);
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++) sum[i][v] += xv * wv[v];
  }
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
    add_step<M>(sum, x + p, k, wv);
  }
  put_sums<M>(sum, scales, add, y, ldy, columns);
}

// A group's scales and offsets, and its weights by steps.
template <Format F>
struct Group {
  vec scale[NV], offset[NV];
  const uint8_t* numbers;

  __attribute__((always_inline)) inline void open(const uint8_t* at) {
    const uint16_t* heads = (const uint16_t*)at;
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++) {
      scale[v] = widen_float16(heads + v * LANES);
      if (F == Format::q4) offset[v] = widen_float16(heads + NR + v * LANES);
    }
    numbers = at + (F == Format::q4 ? 4 : 2) * NR;
  }
  // Two steps. The product is exact in single precision, so a weight is rounded once.
  __attribute__((always_inline)) inline void two(int p, vec* first, vec* second) const {
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++) {
      if (F == Format::q8) {
        const int8_t* line = (const int8_t*)numbers + p * NR + v * LANES;
        first[v] = widen(line) * scale[v], second[v] = widen(line + NR) * scale[v];
      } else {
        const ivec both = widen_bytes(numbers + p / 2 * NR + v * LANES);
        first[v] = __builtin_convertvector(both & 15, vec) * scale[v] + offset[v];
        second[v] = __builtin_convertvector(both >> 4, vec) * scale[v] + offset[v];
      }
    }
  }
};

template <int M, Format F>
__attribute__((noinline)) void group_product(int k, const float* x, const uint8_t* w, bool add, float* y,
                                             int ldy, int columns) {
  vec sum[M][NV] = {};
  Group<F> group;
  for (int p0 = 0; p0 < k; p0 += GROUP, w += group_bytes(F)) {
    group.open(w);
    for (int p = 0; p < GROUP; p += 2) {
      __builtin_prefetch((const char*)group.numbers + p * NR + 4096, 0, 2);
      vec first[NV], second[NV];
      group.two(p, first, second);
      add_step<M>(sum, x + p0 + p, k, first);
      add_step<M>(sum, x + p0 + p + 1, k, second);
    }
  }
  put_sums<M>(sum, nullptr, add, y, ldy, columns);
}

enum { PIECE = 256 };  // steps that are widened at a time, for the nearest cache

template <Format F>
void widen_groups(const uint8_t* w, int from, int steps, float* to) {
  Group<F> group;
  w += from / GROUP * group_bytes(F);
  for (int p0 = 0; p0 < steps; p0 += GROUP, w += group_bytes(F)) {
    group.open(w);
    for (int p = 0; p < GROUP; p += 2) {
      vec first[NV], second[NV];
      group.two(p, first, second);
#pragma GCC unroll 3
      for (int v = 0; v < NV; v++) {
        store(to + (p0 + p) * NR + v * LANES, first[v]);
        store(to + (p0 + p + 1) * NR + v * LANES, second[v]);
      }
    }
  }
}

void widen_piece(Format format, const uint8_t* w, int from, int steps, float* to) {
  if (format == Format::bf16) {
    const uint16_t* at = (const uint16_t*)w + (ptrdiff_t)from * NR;
    for (int i = 0; i < steps * NR; i += LANES) store(to + i, widen(at + i));
  } else if (format == Format::int8) {
    const int8_t* at = (const int8_t*)w + (ptrdiff_t)from * NR;
    for (int i = 0; i < steps * NR; i += LANES) store(to + i, widen(at + i));
  } else if (format == Format::q4) {
    widen_groups<Format::q4>(w, from, steps, to);
  } else {
    widen_groups<Format::q8>(w, from, steps, to);
  }
}

// Widened weights are used by all rows; the sums go on from piece to piece.
template <int M>
__attribute__((noinline)) void piece_product(int steps, const float* x, ptrdiff_t k, const float* w,
                                             float* sums) {
  vec sum[M][NV];
#pragma GCC unroll 8
  for (int i = 0; i < M; i++)
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++) sum[i][v] = load(sums + i * NR + v * LANES);
  for (int p = 0; p < steps; p++, w += NR) {
    vec wv[NV];
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++) wv[v] = load(w + v * LANES);
    add_step<M>(sum, x + p, k, wv);
  }
#pragma GCC unroll 8
  for (int i = 0; i < M; i++)
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++) store(sums + i * NR + v * LANES, sum[i][v]);
}

#define BY_ROWS(f, ...)                                                                          \
  {f<1 __VA_ARGS__>, f<2 __VA_ARGS__>, f<3 __VA_ARGS__>, f<4 __VA_ARGS__>, f<MR == 8 ? 5 : 1 __VA_ARGS__>, \
   f<MR == 8 ? 6 : 1 __VA_ARGS__>, f<MR == 8 ? 7 : 1 __VA_ARGS__>, f<MR == 8 ? 8 : 1 __VA_ARGS__>}
#define AND ,

void by_pieces(int thread, Format format, const uint8_t* w, const float* scales, int in, const float* x,
               int rows, bool add, float* y, int ldy, int columns) {
  typedef void (*Product)(int, const float*, ptrdiff_t, const float*, float*);
  static const Product products[] = BY_ROWS(piece_product);
  float* piece = (float*)arpo_scratch(thread, 0, sizeof(float) * NR * (PIECE + (size_t)rows));
  float* sums = piece + NR * PIECE;
  memset(sums, 0, sizeof(float) * NR * rows);
  for (int from = 0; from < in; from += PIECE) {
    const int steps = least(PIECE, in - from);
    widen_piece(format, w, from, steps, piece);
    for (int i = 0; i < rows; i += MR)
      products[least(MR, rows - i) - 1](steps, x + (ptrdiff_t)i * in + from, in, piece, sums + i * NR);
  }
  for (int i = 0; i < rows; i++) {
    vec sum[1][NV];
    for (int v = 0; v < NV; v++) sum[0][v] = load(sums + i * NR + v * LANES);
    put_sums<1>(sum, scales, add, y + (ptrdiff_t)i * ldy, ldy, columns);
  }
}

// Below so many rows, widening into memory costs more than widening again for the next few rows.
int direct_rows(Format format) { return format == Format::q4 || format == Format::q8 ? 2 : 2 * MR; }

template <class E>
void direct(const E* w, const float* scales, int in, const float* x, int rows, bool add, float* y, int ldy,
            int columns) {
  typedef void (*Product)(int, const float*, const E*, const float*, bool, float*, int, int);
  static const Product products[] = BY_ROWS(product, AND E);
  for (int i = 0; i < rows; i += MR)
    products[least(MR, rows - i) - 1](in, x + (ptrdiff_t)i * in, w, scales, add, y + (ptrdiff_t)i * ldy, ldy,
                                      columns);
}

}  // namespace

void narrow_columns(int thread, Format format, const void* narrow, int out, int in, const float* x, int rows,
                    int from, int to, bool add, float* y, int ldy) {
  const float* scales = format == Format::int8 ? scales_in((void*)narrow, out, in) : nullptr;
  const size_t block_bytes = narrow_bytes(format, NR, in) - (scales ? NR * sizeof(float) : 0);
  for (int block = from; block < to; block++) {
    const int column = block * NR, columns = least(NR, out - column);
    const uint8_t* w = (const uint8_t*)narrow + block * block_bytes;
    const float* scale = scales ? scales + column : nullptr;
    float* result = y + column;
    if (rows > direct_rows(format)) {
      by_pieces(thread, format, w, scale, in, x, rows, add, result, ldy, columns);
    } else if (format == Format::bf16) {
      direct((const uint16_t*)w, nullptr, in, x, rows, add, result, ldy, columns);
    } else if (format == Format::int8) {
      direct((const int8_t*)w, scale, in, x, rows, add, result, ldy, columns);
    } else {
      auto run = format == Format::q4 ? rows == 1 ? group_product<1, Format::q4> : group_product<2, Format::q4>
                 : rows == 1          ? group_product<1, Format::q8>
                                      : group_product<2, Format::q8>;
      run(in, x, w, add, result, ldy, columns);
    }
  }
}

}  // namespace ARPO_NS
