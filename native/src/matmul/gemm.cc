#include "gemm.h"

#include "bf16_gemm.h"
#include "../kernels.h"
#include "register_tile.h"
#include "../rows.h"
#include "tiles.h"
#include "transpose.h"

namespace ARPO_NS {
namespace {

// Elements of B packed at a time (1 MB): what a second-level cache holds next to the rest.
enum { PACK_LIMIT = 1 << 18 };

// One tile of C from `kc` steps. A is read in place: element (i, p) at a[i * rows + p * steps].
template <int M, int V>
__attribute__((noinline)) void tile(int kc, float alpha, const float* a, ptrdiff_t rows,
                                    ptrdiff_t steps, const float* b, bool accumulate, float* c,
                                    int ldc, int columns) {
  vec sum[M][V] = {};
  for (int p = 0; p < kc; p++) {
    vec bv[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; v++) bv[v] = *(const vec*)(b + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < M; i++) {
      vec av = splat(a[i * rows]);
#pragma GCC unroll 8
      for (int v = 0; v < V; v++) sum[i][v] += av * bv[v];
    }
    a += steps;
    b += NR;
  }
  const vec scale = splat(alpha);
  if (columns < V * LANES) {
    // The edge goes through a buffer, so that the registers above never need an address.
    float edge[M * V * LANES];
#pragma GCC unroll 16
    for (int i = 0; i < M; i++) {
#pragma GCC unroll 8
      for (int v = 0; v < V; v++) store(edge + (i * V + v) * LANES, sum[i][v] * scale);
    }
    for (int i = 0; i < M; i++) {
      float* to = c + (ptrdiff_t)i * ldc;
      for (int j = 0; j < columns; j++)
        to[j] = accumulate ? to[j] + edge[i * V * LANES + j] : edge[i * V * LANES + j];
    }
    return;
  }
#pragma GCC unroll 16
  for (int i = 0; i < M; i++) {
#pragma GCC unroll 8
    for (int v = 0; v < V; v++) {
      float* to = c + (ptrdiff_t)i * ldc + v * LANES;
      vec x = sum[i][v] * scale;
      store(to, accumulate ? load(to) + x : x);
    }
  }
}

typedef void (*Tile)(int, float, const float*, ptrdiff_t, ptrdiff_t, const float*, bool, float*,
                     int, int);
#define ROW(V) \
  { tile<1, V>, tile<2, V>, tile<3, V>, tile<4, V>, TAIL(V) }
#if ARPO_LANES == 16 || defined(__aarch64__)
#define TAIL(V) tile<5, V>, tile<6, V>, tile<7, V>, tile<8, V>
#else
#define TAIL(V)
#endif
const Tile tiles[NV][MR] = {ROW(1), ROW(2),
#if ARPO_LANES == 16 || ARPO_LANES == 8 || defined(__aarch64__)
                            ROW(3)
#endif
};

// Panel j of B (columns j * NR onwards) for all k: NR floats per step, zeros past the edge.
void pack_panel(int n, int k, Matrix b, int panel, float* out) {
  int j0 = panel * NR;
  int columns = least(NR, n - j0);
  if (!b.transposed) {
    for (int p = 0; p < k; p++) {
      const float* from = b.data + (ptrdiff_t)p * b.stride + j0;
      float* to = out + (ptrdiff_t)p * NR;
      int j = 0;
      for (; j + LANES <= columns; j += LANES) store(to + j, load(from + j));
      for (; j < columns; j++) to[j] = from[j];
      for (; j < NR; j++) to[j] = 0;
    }
    return;
  }
  // Transposed: rows of what is stored become columns.
  turn(columns, k, b.data + j0 * (ptrdiff_t)b.stride, b.stride, out, NR);
  if (columns < NR)
    for (int p = 0; p < k; p++)
      for (int j = columns; j < NR; j++) out[p * NR + j] = 0;
}

// What is gathered at a time: whole cache lines of each step, which are written as few streams.
enum { GATHER = 32 };

// `kc` steps of some rows of a transposed A, as groups of MR rows. KNOWN is their number where the compiler knows it.
template <int KNOWN>
ARPO_INLINE void gather_rows(int count, int kc, const float* from, ptrdiff_t stride, float* to) {
  const int rows = KNOWN ? KNOWN : count;
  for (int p = 0; p < kc; p++, from += stride) {
    int r = 0;
    for (; r < rows; r += 16) __builtin_prefetch(from + 6 * stride + r);
#pragma GCC unroll 8
    for (r = 0; r + MR <= rows; r += MR)
      memcpy(to + (ptrdiff_t)r * kc + p * MR, from + r, sizeof(float) * MR);
    for (float* last = to + (ptrdiff_t)r * kc + p * MR; r < rows; r++) *last++ = from[r];
  }
}

void gather(int rows, int kc, const float* from, ptrdiff_t stride, float* to) {
  if (rows == GATHER) return gather_rows<GATHER>(rows, kc, from, stride, to);
  gather_rows<0>(rows, kc, from, stride, to);
}

// Rows [i0, i1) of C against packed panels [j0, j1): the loop all products share.
void block(int thread, int i0, int i1, int j0, int j1, int n, int k, float alpha, Matrix a,
           const float* packed, int depth, bool accumulate, float* c, int ldc) {
  for (int p0 = 0; p0 < k || p0 == 0; p0 += GEMM_KC) {
    int kc = least(GEMM_KC, k - p0);
    bool add = accumulate || p0 > 0;
    const float* from;
    ptrdiff_t rows, steps, tile_rows;
    if (a.transposed) {
      // Read in place this would touch a new cache line at every step, so it is gathered first.
      float* buffer = (float*)arpo_scratch(thread, 0, sizeof(float) * (i1 - i0 + MR) * GEMM_KC);
      for (int i = i0; i < i1; i += GATHER)
        gather(least(GATHER, i1 - i), kc, a.data + (ptrdiff_t)p0 * a.stride + i, a.stride, buffer + (ptrdiff_t)(i - i0) * kc);
      from = buffer;
      rows = 1, steps = MR, tile_rows = kc;
    } else {
      from = a.data + (ptrdiff_t)i0 * a.stride + p0;
      rows = a.stride, steps = 1, tile_rows = a.stride;
    }
    for (int j = j0; j < j1; j++) {
      const float* b = packed + (ptrdiff_t)j * NR * depth + (ptrdiff_t)p0 * NR;
      int columns = least(NR, n - j * NR);
      const Tile* choice = tiles[ceil_div(columns, LANES) - 1];
      for (int i = i0; i < i1; i += MR) {
        int m = least(MR, i1 - i);
        choice[m - 1](kc, alpha, from + (i - i0) * tile_rows, rows, steps, b, add,
                      c + (ptrdiff_t)i * ldc + (ptrdiff_t)j * NR, ldc, columns);
      }
    }
  }
}

// Rows per task: enough tasks to share out evenly, enough rows to pay for the packed panels.
int rows_per_task(int m, int panels, int k) {
  int rows = 128;
  while (rows > 4 * MR && ceil_div(m, rows) < 8) rows /= 2;
  // Tasks below about 20 microseconds cost more to hand out than they save.
  while (rows < m && (double)rows * panels * NR * k < 1e6) rows *= 2;
  return rows;
}

// Products this small are not worth waking anyone for.
bool tiny(int m, int n, int k) { return (double)m * n * k < 2e5; }

// Must not depend on m: a row has the same bytes alone and in a batch.
bool large(int n, int k) { return n >= 32 && k >= 64; }
bool on_tiles(int n, int k) { return large(n, k) && tiles_here(); }

bool rounds = false;
bool in_bf16(int n, int k) { return rounds && large(n, k); }

}  // namespace

void round_products(int on) { rounds = on != 0; }
bool products_are_rounded() { return rounds; }

size_t gemm_packed_size(int n, int k) { return (size_t)ceil_div(n, NR) * NR * k; }

void gemm_pack_serial(int n, int k, Matrix b, float* packed) {
  for (int j = 0; j < ceil_div(n, NR); j++)
    pack_panel(n, k, b, j, packed + (ptrdiff_t)j * NR * k);
}

void gemm_pack(int n, int k, Matrix b, float* packed) {
  int panels = ceil_div(n, NR);
  if ((double)n * k < 2e4) return gemm_pack_serial(n, k, b, packed);
  const int size = 128, pieces = ceil_div(k, size);
  parallel(panels * pieces, [&](int task, int) {
    const int j = task / pieces, p0 = task % pieces * size;
    const Matrix part = {b.data + (ptrdiff_t)p0 * (b.transposed ? 1 : b.stride), b.stride,
                         b.transposed};
    pack_panel(n, least(size, k - p0), part, j, packed + (ptrdiff_t)j * NR * k + (ptrdiff_t)p0 * NR);
  });
}

void gemm_packed_serial(int thread, int m, int n, int k, float alpha, Matrix a,
                        const float* packed, int depth, bool accumulate, float* c, int ldc) {
  int panels = ceil_div(n, NR);
  for (int i = 0; i < m; i += 128)
    block(thread, i, least(m, i + 128), 0, panels, n, k, alpha, a, packed, depth, accumulate, c, ldc);
}

void gemm_packed(int m, int n, int k, float alpha, Matrix a, const float* packed, int depth,
                 bool accumulate, float* c, int ldc) {
  if (tiny(m, n, k)) {
    gemm_packed_serial(0, m, n, k, alpha, a, packed, depth, accumulate, c, ldc);
    return;
  }
  int panels = ceil_div(n, NR);
  // Few rows: share out the columns as well.
  int across = m >= 8 * MR ? panels : ceil_div(panels, 8);
  if (panels > 64) across = least(across, 64);
  int rows = rows_per_task(m, across, k);
  int down = ceil_div(m, rows), wide = ceil_div(panels, across);
  parallel(down * wide, [&](int task, int thread) {
    int i = task % down * rows, j = task / down * across;
    block(thread, i, least(m, i + rows), j, least(panels, j + across), n, k, alpha, a, packed,
          depth, accumulate, c, ldc);
  });
}

void gemm_serial(int thread, int m, int n, int k, float alpha, Matrix a, Matrix b, bool accumulate,
                 float* c, int ldc) {
  int panels = ceil_div(n, NR);
  int chunk = k > 0 && (double)NR * k * panels > PACK_LIMIT ? PACK_LIMIT / (NR * k) : panels;
  if (chunk < 1) chunk = 1;
  float* packed = (float*)arpo_scratch(thread, 1, sizeof(float) * NR * (size_t)k * chunk);
  for (int j0 = 0; j0 < panels; j0 += chunk) {
    int count = least(chunk, panels - j0);
    int columns = least(n - j0 * NR, count * NR);
    Matrix part = {b.data + (ptrdiff_t)j0 * NR * (b.transposed ? b.stride : 1), b.stride,
                   b.transposed};
    gemm_pack_serial(columns, k, part, packed);
    gemm_packed_serial(thread, m, columns, k, alpha, a, packed, k, accumulate, c + j0 * NR, ldc);
  }
}

void gemm(int m, int n, int k, float alpha, Matrix a, Matrix b, bool accumulate, float* c,
          int ldc) {
  if (m == 0 || n == 0) return;
  if (in_bf16(n, k)) return gemm_bf16(m, n, k, alpha, a, b, accumulate, c, ldc);
  if (on_tiles(n, k)) return gemm_tiles(m, n, k, alpha, a, b, accumulate, c, ldc);
  if (tiny(m, n, k)) {
    gemm_serial(0, m, n, k, alpha, a, b, accumulate, c, ldc);
    return;
  }
  // B is packed a part at a time and used while it is still in the cache: some columns, and as many
  // whole blocks of steps as keep it small.
  const int panels = ceil_div(n, NR);
  const int chunk = least(panels, PACK_LIMIT / (NR * GEMM_KC));
  int depth = PACK_LIMIT / (NR * chunk) / GEMM_KC * GEMM_KC;
  if (depth < GEMM_KC) depth = GEMM_KC;
  float* packed =
      (float*)arpo_scratch(0, 1, sizeof(float) * NR * (size_t)chunk * least(k > 0 ? k : 1, depth));
  for (int j0 = 0; j0 < panels; j0 += chunk) {
    const int count = least(chunk, panels - j0);
    const int columns = least(n - j0 * NR, count * NR);
    for (int p0 = 0; p0 < k || p0 == 0; p0 += depth) {
      const int steps = least(depth, k - p0);
      const ptrdiff_t column = b.transposed ? b.stride : 1, step = b.transposed ? 1 : b.stride;
      const Matrix part = {b.data + (ptrdiff_t)j0 * NR * column + p0 * step, b.stride,
                           b.transposed};
      const Matrix rows = {a.data + (ptrdiff_t)p0 * (a.transposed ? a.stride : 1), a.stride,
                           a.transposed};
      gemm_pack(columns, steps, part, packed);
      gemm_packed(m, columns, steps, alpha, rows, packed, steps, accumulate || p0 > 0,
                  c + j0 * NR, ldc);
    }
  }
}

size_t right_bytes(int n, int k) {
  if (in_bf16(n, k)) return bf16_right_bytes(n, k);
  if (on_tiles(n, k)) return ceil_div(n, TILE_SIDE) * tile_block_bytes(k);
  return gemm_packed_size(n, k) * sizeof(float);
}

void right_pack(int n, int k, Matrix b, void* right) {
  if (in_bf16(n, k)) return bf16_right_pack(n, k, b, (uint32_t*)right);
  if (!on_tiles(n, k)) return gemm_pack(n, k, b, (float*)right);
  tile_prepare(n, k, b, (int8_t*)right);
}

void gemm_right(int m, int n, int k, float alpha, Matrix a, const void* right, bool accumulate,
                float* c, int ldc) {
  if (in_bf16(n, k)) {
    gemm_bf16_right(m, n, k, alpha, a, (const uint32_t*)right, accumulate, c, ldc);
  } else if (on_tiles(n, k)) {
    gemm_tiles_prepared(m, n, k, alpha, a, (const int8_t*)right, accumulate, c, ldc);
  } else {
    gemm_packed(m, n, k, alpha, a, (const float*)right, accumulate, c, ldc);
  }
}

}  // namespace ARPO_NS
