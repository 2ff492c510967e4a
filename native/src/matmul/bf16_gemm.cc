#include "bf16_gemm.h"

#include "../rows.h"
#include "bf16_tile.h"
#include "transpose.h"

namespace ARPO_NS {
namespace {

// Pairs of B packed at a time (1 MB): what a second-level cache holds next to the rest.
enum { PACK_PAIRS = 1 << 18 };
enum { ROWS = 64 };  // of A packed by a task, and of C multiplied by one

int pairs_of(int k) { return (k + 1) / 2; }

// Columns [0, columns) of one block, steps [0, k), of B as it is stored from `b.data` on.
void pack_block(int columns, int k, Matrix b, uint32_t* out) {
  const int pairs = pairs_of(k);
  if (!b.transposed) {
    for (int p = 0; p < pairs; p++) {
      const float* even = b.data + (ptrdiff_t)2 * p * b.stride;
      const float* odd = 2 * p + 1 < k ? even + b.stride : nullptr;
      for (int j = 0; j < NR; j += LANES) {
        const int some = least(LANES, columns - j);
        ivec both = {};
        if (some > 0) {
          both = lower_half(bf16_above(take(even + j, some)));
          if (odd) both |= bf16_above(take(odd + j, some));
        }
        *(ivec_loose*)(out + (ptrdiff_t)p * NR + j) = both;
      }
    }
    return;
  }
  // Each stored row is a column: rounded side by side first, then turned by pairs.
  uint32_t turned[NR * BF16_KC / 2];
  for (int j = 0; j < NR; j++) {
    uint32_t* to = turned + (ptrdiff_t)j * pairs;
    if (j >= columns) {
      memset(to, 0, sizeof(uint32_t) * pairs);
      continue;
    }
    to[pairs - 1] = 0;
    bf16_line(b.data + (ptrdiff_t)j * b.stride, k, (loose_half*)to);
  }
  turn(NR, pairs, (const float*)turned, pairs, (float*)out, NR);
}

// Rows [from, to) of A, `kc` steps, into `out`: stored rows side by side; a transposed A's by MR rows, a pair of all
// of them after the other.
void pack_rows(int from, int to, int kc, Matrix a, int8_t* out) {
  const int pairs = pairs_of(kc), bytes = bf16_pair_bytes();
  if (!a.transposed) {
    for (int i = from; i < to; i++) {
      const float* x = a.data + (ptrdiff_t)i * a.stride;
      int8_t* row = out + (ptrdiff_t)i * pairs * bytes;
      bf16_put_steps(x, kc / 2 * 2, row);
      if (kc % 2 == 0) continue;
      uint32_t last;
      memcpy(&last, x + kc - 1, 4);
      bf16_put(bf16_of(last), 0, row + (pairs - 1) * bytes);
    }
    return;
  }
  for (int p = 0; p < pairs; p++) {
    const float* even = a.data + (ptrdiff_t)2 * p * a.stride;
    const float* odd = 2 * p + 1 < kc ? even + a.stride : nullptr;
    for (int i = from; i < to; i += LANES) {
      const int some = least(LANES, to - i);
      const ivec e = bf16_above(take(even + i, some));
      const ivec o = odd ? bf16_above(take(odd + i, some)) : e ^ e;
      int32_t word[2][LANES];
      *(ivec_loose*)word[0] = bytes == 4 ? lower_half(e) | o : o;
      *(ivec_loose*)word[1] = e;
      for (int r = 0; r < some; r++) {
        const int row = i + r;
        int8_t* at = out + ((ptrdiff_t)(row / MR) * pairs + p) * MR * bytes + row % MR * bytes;
        memcpy(at, &word[0][r], 4);
        if (bytes == 8) memcpy(at + 4, &word[1][r], 4);
      }
    }
  }
}

// One cut of the steps: rows of A that are packed, blocks of columns that are, `depth` pairs from a block to the next.
void multiply(int m, int n, int kc, float alpha, const int8_t* left, bool turned, const uint32_t* right, int depth,
              bool add, float* c, int ldc) {
  const int pairs = pairs_of(kc), bytes = bf16_pair_bytes();
  const int down = ceil_div(m, ROWS), blocks = ceil_div(n, NR);
  // Few rows: share out the columns as well.
  const int across = least(blocks, down >= 8 ? 64 : ceil_div(blocks, 8));
  const Bf16Product* products = bf16_products();
  parallel(down * ceil_div(blocks, across), [&](int task, int) {
    const int i0 = task % down * ROWS, i1 = least(m, i0 + ROWS);
    const int j0 = task / down * across, j1 = least(blocks, j0 + across);
    for (int j = j0; j < j1; j++)
      for (int i = i0; i < i1; i += MR) {
        const int8_t* x = left + (ptrdiff_t)i * pairs * bytes;
        const Left rows = {x, turned ? bytes : (ptrdiff_t)pairs * bytes, turned ? MR * bytes : bytes};
        products[least(MR, i1 - i) - 1](pairs, alpha, rows, right + (ptrdiff_t)j * NR * depth, add,
                                        c + (ptrdiff_t)i * ldc + (ptrdiff_t)j * NR, ldc, least(NR, n - j * NR));
      }
  });
}

void pack_columns(int n, int kc, Matrix b, uint32_t* right, int depth) {
  parallel(ceil_div(n, NR), [&](int j, int) {
    const ptrdiff_t column = b.transposed ? b.stride : 1;
    const Matrix block = {b.data + (ptrdiff_t)j * NR * column, b.stride, b.transposed};
    pack_block(least(NR, n - j * NR), kc, block, right + (ptrdiff_t)j * NR * depth);
  });
}

Matrix steps_from(Matrix x, int p, bool left) {
  const bool along = left != x.transposed;  // whether steps lie side by side
  return {x.data + (ptrdiff_t)p * (along ? 1 : x.stride), x.stride, x.transposed};
}

// Each cut of the steps: A packed, and what `with` does with it.
template <class With>
void each_cut(int m, int k, Matrix a, const With& with) {
  const int most = least(k, BF16_KC);
  int8_t* left = (int8_t*)arpo_scratch(0, 0, (size_t)ceil_div(m, MR) * MR * pairs_of(most) * bf16_pair_bytes());
  for (int p0 = 0; p0 < k; p0 += BF16_KC) {
    const int kc = least(BF16_KC, k - p0);
    const Matrix part = steps_from(a, p0, true);
    parallel(ceil_div(m, ROWS), [&](int task, int) {
      pack_rows(task * ROWS, least(m, task * ROWS + ROWS), kc, part, left);
    });
    with(p0, kc, left);
  }
}

}  // namespace

void gemm_bf16(int m, int n, int k, float alpha, Matrix a, Matrix b, bool accumulate, float* c, int ldc) {
  const int blocks = ceil_div(n, NR), chunk = least(blocks, PACK_PAIRS / (NR * BF16_KC / 2));
  uint32_t* right = (uint32_t*)arpo_scratch(0, 1, sizeof(uint32_t) * NR * (size_t)chunk * BF16_KC / 2);
  each_cut(m, k, a, [&](int p0, int kc, const int8_t* left) {
    for (int j = 0; j < n; j += chunk * NR) {
      const int columns = least(n - j, chunk * NR);
      Matrix part = steps_from(b, p0, false);
      part.data += (ptrdiff_t)j * (b.transposed ? b.stride : 1);
      pack_columns(columns, kc, part, right, pairs_of(kc));
      multiply(m, columns, kc, alpha, left, a.transposed, right, pairs_of(kc), accumulate || p0 > 0, c + j, ldc);
    }
  });
}

size_t bf16_right_bytes(int n, int k) { return sizeof(uint32_t) * ceil_div(n, NR) * NR * (size_t)pairs_of(k); }

void bf16_right_pack(int n, int k, Matrix b, uint32_t* right) {
  for (int p0 = 0; p0 < k; p0 += BF16_KC)
    pack_columns(n, least(BF16_KC, k - p0), steps_from(b, p0, false), right + (ptrdiff_t)p0 / 2 * NR, pairs_of(k));
}

void gemm_bf16_right(int m, int n, int k, float alpha, Matrix a, const uint32_t* right, bool accumulate, float* c,
                     int ldc) {
  each_cut(m, k, a, [&](int p0, int kc, const int8_t* left) {
    multiply(m, n, kc, alpha, left, a.transposed, right + (ptrdiff_t)p0 / 2 * NR, pairs_of(k), accumulate || p0 > 0,
             c, ldc);
  });
}

}  // namespace ARPO_NS
