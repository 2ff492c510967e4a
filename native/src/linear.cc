#include "linear.h"

#include "gemm.h"
#include "pool.h"
#include "vec.h"

#if defined(ARPO_ISA_avx512)
#include <immintrin.h>
#pragma GCC diagnostic ignored "-Wuninitialized"        // in GCC's own header
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#define ARPO_TILES __attribute__((target("amx-tile,amx-int8")))
extern "C" int arpo_has_tiles();
#endif

namespace ARPO_NS {
namespace {

inline int least(int a, int b) { return a < b ? a : b; }
inline int ceil_div(int a, int b) { return (a + b - 1) / b; }

#if defined(ARPO_ISA_avx512)

enum {
  AHEAD = 16 << 10,     // bytes of weights fetched ahead of their use
  SIDE = 16,            // rows of a tile, columns of a product tile
  STEPS = 64,           // digits per tile row
  TILE = SIDE * STEPS,  // bytes
  TRIPLE = 3 * TILE,    // tiles of the first, second and third digit
  LARGEST = 127 * 65536 + 127 * 256 + 127,
};

typedef int8_t digits16 __attribute__((vector_size(16), aligned(16)));

// What a row is multiplied by to fill the integers; NaN when a value is not finite.
float row_scale(const float* x, int n) {
  vec top = {}, check = {};
  int i = 0;
  for (; i < n; i += LANES) {
    vec v = n - i >= LANES ? load(x + i) : load_part(x + i, n - i);
    top = vmax(top, vmax(v, -v));
    check += v * 0.0f;
  }
  float largest = lane_max(top);
  return (largest > 1e-30f ? LARGEST / largest : 1.0f) + lane_sum(check);
}

// 16 values as three signed digits each: x scale = 65536 first + 256 second + third.
ARPO_INLINE void split16(vec x, float scale, int8_t* first, int8_t* second, int8_t* third) {
  // Rounding may pass the largest by one.
  ivec q = (ivec)_mm512_cvtps_epi32((__m512)vmin(vmax(x * scale, splat(-LARGEST)), splat(LARGEST)));
  ivec low = (q << 24) >> 24;
  q = (q - low) >> 8;
  ivec middle = (q << 24) >> 24;
  q = (q - middle) >> 8;
  *(digits16*)first = __builtin_convertvector(q, digits16);
  *(digits16*)second = __builtin_convertvector(middle, digits16);
  *(digits16*)third = __builtin_convertvector(low, digits16);
}

// 64 values, of which `count` are there, as one row of each digit's tile.
ARPO_INLINE void split_steps(const float* x, int count, float scale, int8_t* row) {
  for (int i = 0; i < STEPS; i += 16) {
    vec v = count - i >= 16 ? load(x + i) : count > i ? load_part(x + i, count - i) : (vec){};
    split16(v, scale, row + i, row + TILE + i, row + 2 * TILE + i);
  }
}

// Tiles of weights, 16 columns by 64 steps, as the tile product reads them: fours of steps by column.
void pack_tiles(const float* w, int in, int columns, int steps, const float* scales, int8_t* out) {
  alignas(64) int8_t rows[TRIPLE];
  for (int j = 0; j < SIDE; j++)
    split_steps(w + (ptrdiff_t)least(j, columns - 1) * in, j < columns ? steps : 0, scales[j],
                rows + j * STEPS);
  for (int digit = 0; digit < 3; digit++)
    for (int p = 0; p < STEPS / 4; p++)
      for (int j = 0; j < SIDE; j++)
        memcpy(out + digit * TILE + (p * SIDE + j) * 4, rows + digit * TILE + j * STEPS + p * 4, 4);
}

// One column tile's weights: the inverse scales of its columns, then its triples.
inline ptrdiff_t column_bytes(int in) { return 64 + (ptrdiff_t)ceil_div(in, STEPS) * TRIPLE; }

struct alignas(64) TileConfig {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Sums of one or two row tiles with a column tile: digit products by order of magnitude, in tiles 0
// to 2 and 3 to 5. Three of the nine products are below what float32 would keep and are left out.
template <bool TWO>
ARPO_TILES void tile_product(int chunks, const int8_t* a, ptrdiff_t a_step, const int8_t* b,
                             int32_t* sums) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  if constexpr (TWO) {
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
  }
// The intrinsics are macros that want plain numbers: a sum's tile in either row tile.
#define ARPO_DIGIT(DIGIT, SUM, SECOND)                \
  _tile_loadd(7, a + DIGIT * TILE, STEPS);          \
  _tile_dpbssd(SUM, 7, 6);                          \
  if constexpr (TWO) {                              \
    _tile_loadd(7, a + TRIPLE + DIGIT * TILE, STEPS); \
    _tile_dpbssd(SECOND, 7, 6);                     \
  }
  for (int k = 0; k < chunks; k++) {
    // Weights come from far away; the processor's own prefetch stops at every 4 KB.
    for (int i = 0; i < TRIPLE; i += 64) __builtin_prefetch(b + AHEAD + i, 0, 2);
    _tile_loadd(6, b, 64);
    ARPO_DIGIT(2, 2, 5)
    ARPO_DIGIT(1, 1, 4)
    ARPO_DIGIT(0, 0, 3)
    _tile_loadd(6, b + TILE, 64);
    ARPO_DIGIT(1, 2, 5)
    ARPO_DIGIT(0, 1, 4)
    _tile_loadd(6, b + 2 * TILE, 64);
    ARPO_DIGIT(0, 2, 5)
    a += a_step;
    b += TRIPLE;
  }
#undef ARPO_DIGIT
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

// The 16 columns of one column tile for all rows.
ARPO_TILES void tile_columns(const Linear& linear, const Input& input, int tile, bool add, float* y,
                             int ldy) {
  int chunks = ceil_div(linear.in, STEPS), row_tiles = ceil_div(input.rows, SIDE);
  const int8_t* b = (const int8_t*)linear.data + tile * column_bytes(linear.in);
  vec column_scale = *(const vec*)b;
  int columns = least(SIDE, linear.out - tile * SIDE);
  alignas(64) int32_t sums[6 * SIDE * SIDE];
  for (int t = 0; t < row_tiles; t += 2) {
    bool two = t + 1 < row_tiles;
    const int8_t* a = input.digits + (ptrdiff_t)t * TRIPLE;
    (two ? tile_product<true> : tile_product<false>)(chunks, a, (ptrdiff_t)row_tiles * TRIPLE,
                                                     b + 64, sums);
    int rows = least(2 * SIDE, input.rows - t * SIDE);
    for (int i = 0; i < rows; i++) {
      const int32_t* s = sums + i / SIDE * 3 * SIDE * SIDE + i % SIDE * SIDE;
      vec sum = as_floats(s) * 65536.0f + as_floats(s + SIDE * SIDE) * 256.0f +
                as_floats(s + 2 * SIDE * SIDE);
      vec value = sum * (column_scale * input.scales[t * SIDE + i]);
      float* to = y + (ptrdiff_t)(t * SIDE + i) * ldy + tile * SIDE;
      if (columns == SIDE) store(to, add ? load(to) + value : value);
      else store_part(to, add ? load_part(to, columns) + value : value, columns);
    }
  }
}

ARPO_TILES void tile_blocks(const Linear& linear, const Input& input, int from, int to, bool add,
                            float* y, int ldy) {
  TileConfig config;
  _tile_loadconfig(&config);
  int per_block = linear_width() / SIDE, tiles = ceil_div(linear.out, SIDE);
  for (int tile = from * per_block; tile < least(tiles, to * per_block); tile++)
    tile_columns(linear, input, tile, add, y, ldy);
  _tile_release();
}

void split_rows(const Input& input, int from, int to) {
  int chunks = ceil_div(input.in, STEPS), row_tiles = ceil_div(input.rows, SIDE);
  for (int i = from; i < to; i++) {
    bool there = i < input.rows;
    const float* x = input.x + (ptrdiff_t)(there ? i : 0) * input.in;
    float scale = there ? row_scale(x, input.in) : 1;
    // 65536 squared is the weight of the first order; 65536 of it is in the sum above.
    input.scales[i] = 65536.0f / scale;
    for (int k = 0; k < chunks; k++)
      split_steps(x + k * STEPS, there ? least(STEPS, input.in - k * STEPS) : 0, scale,
                  input.digits + ((ptrdiff_t)k * row_tiles + i / SIDE) * TRIPLE + i % SIDE * STEPS);
  }
}

#endif

}  // namespace

bool linear_splits() {
#if defined(ARPO_ISA_avx512)
  return arpo_has_tiles();
#else
  return false;
#endif
}

int linear_width() { return (int)gemm_packed_size(1, 1); }

void linear_load(Linear& linear, const float* w, int out, int in) {
  if (!linear.data) {
    linear.out = out, linear.in = in, linear.split = linear_splits();
    size_t bytes = gemm_packed_size(out, in) * sizeof(float);
#if defined(ARPO_ISA_avx512)
    if (linear.split) bytes = ceil_div(out, SIDE) * column_bytes(in);
#endif
    linear.data = (float*)arpo_alloc(bytes);
  }
#if defined(ARPO_ISA_avx512)
  if (linear.split) {
    int chunks = ceil_div(in, STEPS);
    parallel(ceil_div(out, SIDE), [&](int tile, int) {
      int8_t* to = (int8_t*)linear.data + tile * column_bytes(in);
      const float* from = w + (ptrdiff_t)tile * SIDE * in;
      int columns = least(SIDE, out - tile * SIDE);
      float scales[SIDE];
      for (int j = 0; j < SIDE; j++) {
        scales[j] = j < columns ? row_scale(from + (ptrdiff_t)j * in, in) : 1;
        ((float*)to)[j] = 1.0f / scales[j];
      }
      for (int k = 0; k < chunks; k++)
        pack_tiles(from + k * STEPS, in, columns, least(STEPS, in - k * STEPS), scales,
                   to + 64 + (ptrdiff_t)k * TRIPLE);
    });
    return;
  }
#endif
  gemm_pack(out, in, {w, in, true}, linear.data);
}

void linear_free(Linear& linear) {
  arpo_free(linear.data);
  linear.data = nullptr;
}

size_t linear_input_floats(int rows, int in) {
  size_t all = (rows + 15) / 16 * 16;
  return all + all * ((in + 63) / 64 * 64) * 3 / 4;
}

Input linear_input(const float* x, int rows, int in, float* room) {
  Input input = {x, rows, in, nullptr, nullptr};
#if defined(ARPO_ISA_avx512)
  if (linear_splits()) {
    int all = ceil_div(rows, SIDE) * SIDE;
    input.scales = room;
    input.digits = (int8_t*)(room + all);
    if ((double)all * in < 65536) {
      split_rows(input, 0, all);
    } else {
      parallel(all / SIDE, [&](int t, int) { split_rows(input, t * SIDE, t * SIDE + SIDE); });
    }
  }
#endif
  (void)room;
  return input;
}

void linear_columns(int thread, const Linear& linear, const Input& input, int from, int to,
                    bool add, float* y, int ldy) {
#if defined(ARPO_ISA_avx512)
  if (linear.split) {
    tile_blocks(linear, input, from, to, add, y, ldy);
    return;
  }
#endif
  int width = linear_width(), column = from * width;
  gemm_packed_serial(thread, input.rows, least(linear.out, to * width) - column, linear.in, 1,
                     {input.x, input.in, false}, linear.data + (ptrdiff_t)column * linear.in, add,
                     y + column, ldy);
}

int linear_blocks_per_task(const Linear& linear, int rows) {
  int blocks = ceil_div(linear.out, linear_width());
  int per_task = ceil_div(blocks, 4 * arpo_pool_threads());
  // Tasks of a few microseconds cost more to hand out than they save.
  double least_work = linear.split ? 2e6 : 5e5;
  while (per_task < blocks && (double)per_task * linear_width() * linear.in * rows < least_work)
    per_task++;
  return per_task;
}

void linear_all(const Linear& linear, const Input& input, bool add, float* y, int ldy) {
  int blocks = ceil_div(linear.out, linear_width());
  int per_task = linear_blocks_per_task(linear, input.rows);
  parallel(ceil_div(blocks, per_task), [&](int task, int thread) {
    linear_columns(thread, linear, input, task * per_task, least(blocks, task * per_task + per_task),
                   add, y, ldy);
  });
}

}  // namespace ARPO_NS
