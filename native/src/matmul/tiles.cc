#include "tiles.h"

#include "../rows.h"

#if defined(ARPO_ISA_avx512)
#include <immintrin.h>
#pragma GCC diagnostic ignored "-Wuninitialized"        // in GCC's own header
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#define ARPO_TILES __attribute__((target("amx-tile,amx-int8")))
extern "C" int arpo_has_tiles();

namespace ARPO_NS {
namespace {

enum {
  SIDE = TILE_SIDE,
  STEPS = 64,           // digits per tile row
  TILE = SIDE * STEPS,  // bytes
  TRIPLE = 3 * TILE,    // tiles of the first, second and third digit
  HEAD = 64,            // the inverse scales of a piece's vectors, before its tiles
  PIECE = 1024,         // steps that share scales: what a second-level cache holds for some blocks
  RIGHT_BYTES = 4 << 20,  // prepared at a time
  CACHED_BYTES = 1 << 20,
};

// A little below three full digits, so that rounding never needs a fourth.
constexpr float LARGEST = 8355700.0f;

// Scales that make the largest of each vector (given by the bits of its absolute value) LARGEST; NaN
// where a number is not finite. The inverse carries 256, half of the digits' common factor.
ARPO_INLINE __m512 scale_of(__m512i largest, float* inverses) {
  const __m512 top = _mm512_castsi512_ps(largest);
  const __mmask16 some = _mm512_cmp_ps_mask(top, _mm512_set1_ps(1e-30f), _CMP_GT_OQ);
  __m512 scale = _mm512_mask_div_ps(_mm512_set1_ps(1.0f), some, _mm512_set1_ps(LARGEST), top);
  const __mmask16 bad = _mm512_cmpge_epu32_mask(largest, _mm512_set1_epi32(0x7f800000));
  scale = _mm512_mask_mov_ps(scale, bad, _mm512_set1_ps(__builtin_nanf("")));
  _mm512_storeu_ps(inverses, _mm512_div_ps(_mm512_set1_ps(256.0f), scale));
  return scale;
}

ARPO_INLINE __m512i magnitude(__m512 x) {
  return _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
}

// Integers whose bytes are the signed digits, lowest first: adding 128 to every digit makes all of
// them positive, so nothing is carried, and flipping the digits' signs takes it away again.
ARPO_INLINE __m512i digits(__m512 x, __m512 scale) {
  const __m512i flip = _mm512_set1_epi32(0x808080);
  return _mm512_xor_si512(_mm512_add_epi32(_mm512_cvtps_epi32(_mm512_mul_ps(x, scale)), flip), flip);
}

// Four integers of each lane as one word of each digit, in the order 0, 2, 1, 3. Left and right have
// the same order, which is all that a sum asks for.
ARPO_INLINE void gather(__m512i q0, __m512i q1, __m512i q2, __m512i q3, __m512i out[3]) {
  const __mmask32 odd = 0xaaaaaaaa;
  const __m512i even = _mm512_set1_epi32(0x00ff00ff);
  const __m512i a = _mm512_mask_blend_epi16(odd, q0, _mm512_slli_epi32(q1, 16));
  const __m512i b = _mm512_mask_blend_epi16(odd, q2, _mm512_slli_epi32(q3, 16));
  const __m512i c = _mm512_mask_blend_epi16(odd, _mm512_srli_epi32(q0, 16), q1);
  const __m512i d = _mm512_mask_blend_epi16(odd, _mm512_srli_epi32(q2, 16), q3);
  enum { CHOOSE = 0xca };  // first ? second : third
  out[2] = _mm512_ternarylogic_epi32(even, a, _mm512_slli_epi32(b, 8), CHOOSE);
  out[1] = _mm512_ternarylogic_epi32(even, _mm512_srli_epi32(a, 8), b, CHOOSE);
  out[0] = _mm512_ternarylogic_epi32(even, c, _mm512_slli_epi32(d, 8), CHOOSE);
}

// A tile of words turned about its diagonal, in place.
ARPO_INLINE void transpose(int8_t* tile) {
  __m512i r[16], t[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i++) r[i] = _mm512_load_si512(tile + i * 64);
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++) {
    _mm512_store_si512(tile + i * 64, _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88));
    _mm512_store_si512(tile + (i + 8) * 64, _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd));
  }
}

ARPO_INLINE __mmask16 first(int count) {
  return count >= 16 ? 0xffff : count <= 0 ? 0 : (__mmask16)((1u << count) - 1);
}

// Vectors whose numbers lie side by side: each gives a row of every digit's tile.
void split_along(const Vectors& v, int block, bool turn, int8_t* out, size_t) {
  const int there = least(SIDE, v.count - block * SIDE), chunks = ceil_div(v.k, STEPS);
  const float* from = v.data + (ptrdiff_t)block * SIDE * v.vector;
  alignas(64) int32_t largest[SIDE] = {};
  for (int i = 0; i < there; i++) {
    const float* x = from + (ptrdiff_t)i * v.vector;
    __m512i top = _mm512_setzero_si512(), second = top;
    int p = 0;
    for (; p + 32 <= v.k; p += 32) {
      top = _mm512_max_epu32(top, magnitude(_mm512_loadu_ps(x + p)));
      second = _mm512_max_epu32(second, magnitude(_mm512_loadu_ps(x + p + 16)));
    }
    for (; p < v.k; p += 16)
      top = _mm512_max_epu32(top, magnitude(_mm512_maskz_loadu_ps(first(v.k - p), x + p)));
    largest[i] = (int32_t)_mm512_reduce_max_epu32(_mm512_max_epu32(top, second));
  }
  alignas(64) float scales[SIDE];
  _mm512_store_ps(scales, scale_of(_mm512_load_si512(largest), (float*)out));
  out += HEAD;
  for (int k = 0; k < chunks; k++, out += TRIPLE) {
    const int steps = v.k - k * STEPS;
    for (int i = 0; i < SIDE; i++) {
      __m512i word[3] = {};
      if (i < there) {
        const float* x = from + (ptrdiff_t)i * v.vector + k * STEPS;
        const __m512 scale = _mm512_set1_ps(scales[i]);
        if (steps >= STEPS) {
          gather(digits(_mm512_loadu_ps(x), scale), digits(_mm512_loadu_ps(x + 16), scale),
                 digits(_mm512_loadu_ps(x + 32), scale), digits(_mm512_loadu_ps(x + 48), scale), word);
        } else {
          __m512i q[4];
          for (int j = 0; j < 4; j++)
            q[j] = digits(_mm512_maskz_loadu_ps(first(steps - j * 16), x + j * 16), scale);
          gather(q[0], q[1], q[2], q[3], word);
        }
      }
      for (int d = 0; d < 3; d++) _mm512_store_si512(out + d * TILE + i * STEPS, word[d]);
    }
    if (turn)
      for (int d = 0; d < 3; d++) transpose(out + d * TILE);
  }
}

// Vectors whose numbers lie a row apart, G blocks of them: sixteen vectors side by side are read
// together, and what one row holds for all blocks while it is in the cache.
template <int G>
void split_across(const Vectors& v, int block, bool turn, int8_t* out, size_t bytes) {
  const int chunks = ceil_div(v.k, STEPS);
  const float* from = v.data + (ptrdiff_t)block * SIDE;
  __mmask16 there[G];
  __m512i top[G];
  __m512 scale[G];
#pragma GCC unroll 4
  for (int g = 0; g < G; g++) {
    there[g] = first(v.count - (block + g) * SIDE);
    top[g] = _mm512_setzero_si512();
  }
  for (int p = 0; p < v.k; p++) {
    const float* x = from + (ptrdiff_t)p * v.step;
#pragma GCC unroll 4
    for (int g = 0; g < G; g++) {
      __builtin_prefetch(x + 8 * v.step + g * SIDE, 0, 2);
      top[g] = _mm512_max_epu32(top[g], magnitude(_mm512_maskz_loadu_ps(there[g], x + g * SIDE)));
    }
  }
#pragma GCC unroll 4
  for (int g = 0; g < G; g++) scale[g] = scale_of(top[g], (float*)(out + g * bytes));
  out += HEAD;
  for (int k = 0; k < chunks; k++, out += TRIPLE) {
    const int steps = v.k - k * STEPS;
#pragma GCC unroll 4
    for (int g = 0; g < G; g++) {
      const float* x = from + (ptrdiff_t)k * STEPS * v.step + g * SIDE;
      int8_t* to = out + g * bytes;
      for (int p = 0; p < STEPS / 4; p++, x += v.step) {
        __m512i q[4], word[3];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
          const __mmask16 inside = j * 16 + p < steps ? there[g] : 0;
          q[j] = digits(_mm512_maskz_loadu_ps(inside, x + j * 16 * v.step), scale[g]);
        }
        gather(q[0], q[1], q[2], q[3], word);
        for (int d = 0; d < 3; d++) _mm512_store_si512(to + d * TILE + p * 64, word[d]);
      }
      if (turn)
        for (int d = 0; d < 3; d++) transpose(to + d * TILE);
    }
  }
}

// Where the piece that begins with step p0 lies in its block.
ARPO_INLINE size_t piece_start(int p0) { return (size_t)p0 / PIECE * (HEAD + PIECE / STEPS * TRIPLE); }

struct alignas(64) TileConfig {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Sums of one or two left blocks with a right one: digit products by order of magnitude, in tiles 0
// to 2 and 3 to 5. After each product come LINES lines of what is needed next from far away: spread
// like this they arrive while the tiles are busy; many at once, or in the order of use, do not. After each
// step comes a piece of other work.
template <bool TWO, int LINES, class Other>
ARPO_TILES ARPO_INLINE void sum_tiles(int chunks, const int8_t* a, ptrdiff_t second, const int8_t* b,
                                      int32_t* sums, const int8_t* next, const Other& other) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  if constexpr (TWO) {
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
  }
#define ARPO_NEXT                                                             \
  _Pragma("GCC unroll 8") for (int line = 0; line < LINES; line++, next += 64) \
      __builtin_prefetch(next, 0, 2);
// The intrinsics are macros that want plain numbers: a sum's tile for either left block.
#define ARPO_DIGIT(DIGIT, SUM, OTHER)                 \
  _tile_loadd(7, a + DIGIT * TILE, STEPS);            \
  _tile_dpbssd(SUM, 7, 6);                            \
  ARPO_NEXT                                           \
  if constexpr (TWO) {                                \
    _tile_loadd(7, a + second + DIGIT * TILE, STEPS); \
    _tile_dpbssd(OTHER, 7, 6);                        \
    ARPO_NEXT                                         \
  }
  for (int k = 0; k < chunks; k++) {
    // In this order a sum is used again after four products at the earliest: one takes 52 cycles, and
    // the next can begin after 16.
    _tile_loadd(6, b, 64);
    ARPO_DIGIT(0, 0, 3)
    ARPO_DIGIT(2, 2, 5)
    ARPO_DIGIT(1, 1, 4)
    _tile_loadd(6, b + TILE, 64);
    ARPO_DIGIT(1, 2, 5)
    ARPO_DIGIT(0, 1, 4)
    _tile_loadd(6, b + 2 * TILE, 64);
    ARPO_DIGIT(0, 2, 5)
    a += TRIPLE;
    b += TRIPLE;
    other();
  }
#undef ARPO_DIGIT
#undef ARPO_NEXT
  _tile_stored(0, sums, 64);
  _tile_stored(1, sums + 256, 64);
  _tile_stored(2, sums + 512, 64);
  if constexpr (TWO) {
    _tile_stored(3, sums + 768, 64);
    _tile_stored(4, sums + 1024, 64);
    _tile_stored(5, sums + 1280, 64);
  }
}

ARPO_INLINE vec as_floats(const int32_t* p) { return __builtin_convertvector(*(const ivec*)p, vec); }

Vectors rows_of(Matrix a, int count, int k) {
  return {a.data, a.transposed ? 1 : a.stride, a.transposed ? a.stride : 1, count, k};
}
Vectors columns_of(Matrix b, int count, int k) {
  return {b.data, b.transposed ? b.stride : 1, b.transposed ? 1 : b.stride, count, k};
}

}  // namespace

bool tiles_here() { return arpo_has_tiles(); }

size_t tile_block_bytes(int k) { return ceil_div(k, PIECE) * HEAD + (size_t)ceil_div(k, STEPS) * TRIPLE; }

void tile_split(const Vectors& vectors, Side side, int from, int to, int8_t* blocks) {
  const bool along = vectors.step == 1, turn = along == (side == Side::right);
  const size_t bytes = tile_block_bytes(vectors.k);
  for (int p0 = 0; p0 < vectors.k; p0 += PIECE) {
    Vectors piece = vectors;
    piece.data += p0 * vectors.step;
    piece.k = least(PIECE, vectors.k - p0);
    int8_t* out = blocks + piece_start(p0);
    int block = from;
    if (!along)
      for (; block + 4 <= to; block += 4) split_across<4>(piece, block, turn, out + block * bytes, bytes);
    for (; block < to; block++)
      (along ? split_along : split_across<1>)(piece, block, turn, out + block * bytes, bytes);
  }
}

// Sums of digit products on their way into C.
struct Unit {
  const int32_t* sums;
  const float *row_scales, *second_row_scales, *column_scales;
  float* c;
  int rows, columns;
  bool add;
};

template <bool ADD, bool WHOLE>
static void finish_block(const int32_t* s, const float* row_scales, vec column_scale, float alpha,
                              int rows, int columns, float* c, int ldc) {
#pragma GCC unroll 4
  for (int i = 0; i < rows; i++, s += SIDE, c += ldc) {
    const vec sum = (as_floats(s) * 256.0f + as_floats(s + SIDE * SIDE)) * 256.0f +
                    as_floats(s + 2 * SIDE * SIDE);
    const vec value = sum * (row_scales[i] * alpha) * column_scale;
    if (WHOLE) store(c, ADD ? load(c) + value : value);
    else store_part(c, ADD ? load_part(c, columns) + value : value, columns);
  }
}

// Rows [from, to), all of them in the same half.
ARPO_INLINE void finish_rows(const Unit& unit, int from, int to, float alpha, int ldc) {
  const bool whole = unit.columns == SIDE;
  auto with = unit.add ? whole ? finish_block<true, true> : finish_block<true, false>
                       : whole ? finish_block<false, true> : finish_block<false, false>;
  const int half = from / SIDE, row = from % SIDE;
  with(unit.sums + half * 3 * SIDE * SIDE + row * SIDE,
       (half ? unit.second_row_scales : unit.row_scales) + row, *(const vec*)unit.column_scales, alpha,
       to - from, unit.columns, unit.c + (ptrdiff_t)from * ldc, ldc);
}

// All rows from the given one on.
ARPO_INLINE void finish(const Unit& unit, int from, float alpha, int ldc) {
  for (int end; from < unit.rows; from = end) {
    end = least(unit.rows, (from / SIDE + 1) * SIDE);
    finish_rows(unit, from, end, alpha, ldc);
  }
}

ARPO_TILES static void multiply(const int8_t* left, int rows, const int8_t* right, int columns, int k,
                                float alpha, bool accumulate, float* c, int ldc) {
  TileConfig config;
  _tile_loadconfig(&config);
  const size_t bytes = tile_block_bytes(k);
  auto nothing = [] {};
  // A unit's floats are made while the tiles are busy with the next one.
  alignas(64) int32_t sums[2][6 * SIDE * SIDE];
  Unit last = {};
  int turn = 0;
  for (int i0 = 0; i0 < rows; i0 += 2 * SIDE) {
    const bool two = i0 + SIDE < rows;
    for (int j0 = 0; j0 < columns; j0 += SIDE) {
      for (int p0 = 0; p0 < k; p0 += PIECE) {
        const int8_t* a = left + i0 / SIDE * bytes + piece_start(p0);
        const int8_t* b = right + j0 / SIDE * bytes + piece_start(p0);
        const int chunks = ceil_div(least(PIECE, k - p0), STEPS);
        int32_t* to = sums[turn];
        turn = !turn;
        if (two) sum_tiles<true, 0>(chunks, a + HEAD, (ptrdiff_t)bytes, b + HEAD, to, b, nothing);
        else sum_tiles<false, 0>(chunks, a + HEAD, 0, b + HEAD, to, b, nothing);
        finish(last, 0, alpha, ldc);
        last = {to, (const float*)a, (const float*)(a + bytes), (const float*)b,
                c + (ptrdiff_t)i0 * ldc + j0, least(2 * SIDE, rows - i0), least(SIDE, columns - j0),
                accumulate || p0 > 0};
      }
    }
  }
  finish(last, 0, alpha, ldc);
  _tile_release();
}

// The sums of a unit; between its steps, rows of the last one go into C.
template <bool TWO, int LINES>
ARPO_TILES static void sum_far(int chunks, const int8_t* a, ptrdiff_t second, const int8_t* b, int32_t* sums,
                               const int8_t* next, const Unit& last, float alpha, int ldc) {
  enum { EACH = 4 };
  int row = 0;
  sum_tiles<TWO, LINES>(chunks, a, second, b, sums, next, [&]() __attribute__((always_inline)) {
    if (row < last.rows) finish_rows(last, row, least(row + EACH, last.rows), alpha, ldc);
    row += EACH;
  });
  finish(last, row, alpha, ldc);
}

// The same where the right blocks come from main memory: each is used for all rows at once, and the
// next one is fetched meanwhile.
ARPO_TILES static void multiply_far(const int8_t* left, int rows, const int8_t* right, int columns, int k,
                                    float alpha, bool accumulate, float* c, int ldc) {
  TileConfig config;
  _tile_loadconfig(&config);
  const size_t bytes = tile_block_bytes(k);
  alignas(64) int32_t sums[2][6 * SIDE * SIDE];
  Unit last = {};
  int turn = 0;
  // Lines after each product so that the first two units of a block fetch all of the next one.
  const bool one_unit = rows <= 2 * SIDE, one_block = rows <= SIDE;
  for (int j0 = 0; j0 < columns; j0 += SIDE) {
    const bool more = j0 + SIDE < columns;
    const int8_t* next = right + (j0 / SIDE + 1) * bytes;
    for (int i0 = 0; i0 < rows; i0 += 2 * SIDE) {
      const bool two = i0 + SIDE < rows, fetch = more && i0 < 4 * SIDE;
      for (int p0 = 0; p0 < k; p0 += PIECE) {
        const int8_t* a = left + i0 / SIDE * bytes + piece_start(p0);
        const int8_t* b = right + j0 / SIDE * bytes + piece_start(p0);
        const int chunks = ceil_div(least(PIECE, k - p0), STEPS);
        int32_t* to = sums[turn];
        turn = !turn;
        auto with = two ? !fetch     ? sum_far<true, 0>
                          : one_unit ? sum_far<true, 4>
                                     : sum_far<true, 2>
                    : !fetch      ? sum_far<false, 0>
                    : one_block   ? sum_far<false, 8>
                                  : sum_far<false, 4>;
        with(chunks, a + HEAD, (ptrdiff_t)bytes, b + HEAD, to, next, last, alpha, ldc);
        if (fetch) next += (size_t)chunks * (one_unit ? TRIPLE : TRIPLE / 2);
        last = {to, (const float*)a, (const float*)(a + bytes), (const float*)b,
                c + (ptrdiff_t)i0 * ldc + j0, least(2 * SIDE, rows - i0), least(SIDE, columns - j0),
                accumulate || p0 > 0};
      }
    }
  }
  finish(last, 0, alpha, ldc);
  _tile_release();
}

void tile_multiply(const int8_t* left, int rows, const int8_t* right, int columns, int k, float alpha,
                   bool accumulate, float* c, int ldc, bool far) {
  (far ? multiply_far : multiply)(left, rows, right, columns, k, alpha, accumulate, c, ldc);
}

void gemm_tiles_prepared(int m, int n, int k, float alpha, Matrix a, const int8_t* right,
                         bool accumulate, float* c, int ldc) {
  const size_t bytes = tile_block_bytes(k);
  const Vectors vectors = rows_of(a, m, k);
  // A task prepares some rows and uses them while they are in its cache; where there are few rows, it
  // takes some columns only.
  const int tasks_wanted = 3 * arpo_pool_threads();
  int rows_each = 4 * SIDE;
  if (ceil_div(m, rows_each) < tasks_wanted || rows_each / SIDE * bytes > CACHED_BYTES) rows_each = 2 * SIDE;
  const int down = ceil_div(m, rows_each);
  int across = down >= tasks_wanted ? 1 : ceil_div(tasks_wanted, down);
  const double work = 3e-5 * n * ceil_div(k, STEPS);  // of a row group, in units of 20 microseconds
  if (across > 1 + work) across = 1 + (int)work;
  const int columns_each = ceil_div(ceil_div(n, SIDE), across) * SIDE;
  across = ceil_div(n, columns_each);
  parallel(down * across, [&](int task, int thread) {
    const int i = task / across * rows_each, j = task % across * columns_each;
    const int rows = least(rows_each, m - i), blocks = ceil_div(rows, SIDE);
    int8_t* left = (int8_t*)arpo_scratch(thread, 0, blocks * bytes);
    Vectors part = vectors;
    part.data += i * vectors.vector, part.count = rows;
    tile_split(part, Side::left, 0, blocks, left);
    tile_multiply(left, rows, right + j / SIDE * bytes, least(columns_each, n - j), k, alpha, accumulate,
                  c + (ptrdiff_t)i * ldc + j, ldc, false);
  });
}

void tile_prepare(int n, int k, Matrix b, int8_t* right) {
  const Vectors vectors = columns_of(b, n, k);
  const int blocks = ceil_div(n, SIDE), group = 4;
  parallel(ceil_div(blocks, group), [&](int task, int) {
    tile_split(vectors, Side::right, task * group, least(blocks, task * group + group), right);
  });
}

void gemm_tiles(int m, int n, int k, float alpha, Matrix a, Matrix b, bool accumulate, float* c,
                int ldc) {
  const size_t bytes = tile_block_bytes(k);
  int across = (int)(RIGHT_BYTES / bytes);
  across = least(across < 1 ? 1 : across, ceil_div(n, SIDE)) * SIDE;
  int8_t* right = (int8_t*)arpo_scratch(0, 1, across / SIDE * bytes);
  for (int j0 = 0; j0 < n; j0 += across) {
    const int columns = least(across, n - j0);
    const ptrdiff_t at = (ptrdiff_t)j0 * (b.transposed ? b.stride : 1);
    tile_prepare(columns, k, {b.data + at, b.stride, b.transposed}, right);
    gemm_tiles_prepared(m, columns, k, alpha, a, right, accumulate, c + j0, ldc);
  }
}

ARPO_TILES double tile_peak(int rounds) {
  enum { UNITS = 100 };
  TileConfig config;
  _tile_loadconfig(&config);
  alignas(64) int8_t digits[3 * TRIPLE];
  alignas(64) int32_t sums[6 * SIDE * SIDE];
  memset(digits, 1, sizeof digits);
  for (int i = 0; i < rounds * UNITS; i++) {
    asm volatile("" : : "r"(digits) : "memory");
    sum_tiles<true, 0>(1, digits, TRIPLE, digits + 2 * TRIPLE, sums, digits, [] {});
  }
  _tile_release();
  return sums[0] != 0 ? 2.0 * 2 * SIDE * SIDE * STEPS * UNITS * rounds : 0;
}

}  // namespace ARPO_NS

#else

namespace ARPO_NS {

bool tiles_here() { return false; }
size_t tile_block_bytes(int) { return 0; }
void tile_split(const Vectors&, Side, int, int, int8_t*) {}
void tile_multiply(const int8_t*, int, const int8_t*, int, int, float, bool, float*, int, bool) {}
void tile_prepare(int, int, Matrix, int8_t*) {}
void gemm_tiles_prepared(int, int, int, float, Matrix, const int8_t*, bool, float*, int) {}
void gemm_tiles(int, int, int, float, Matrix, Matrix, bool, float*, int) {}
double tile_peak(int) { return 0; }

}  // namespace ARPO_NS

#endif
