#include "machine.h"

#include "quantized/dots.h"
#include "quantized/w16a16.h"
#include "rows.h"
#include "matmul/tiles.h"

namespace ARPO_NS {
namespace {

enum {
  CHAINS = 10,         // sums at a time: more than one multiply-add takes in steps, fewer than registers
  STEPS = 1000,        // of a round
  SHARES = 8,          // tasks of a thread
  READ_PIECE = 1 << 16,
};

// Sums that each wait for themselves alone.
float chains(int rounds) {
  vec sum[CHAINS];
  for (int i = 0; i < CHAINS; i++) sum[i] = splat((float)i);
  // Read from memory, so that the compiler knows nothing of them; the sums stay near one.
  const volatile float given[] = {0.5f, 0.5f};
  const vec factor = splat(given[0]), addend = splat(given[1]);
  for (int step = 0; step < rounds * STEPS; step++) {
#pragma GCC unroll 10
    for (int i = 0; i < CHAINS; i++) sum[i] = sum[i] * factor + addend;
  }
  vec all = {};
  for (int i = 0; i < CHAINS; i++) all += sum[i];
  return lane_sum(all);
}

}  // namespace

double peak_products(int kind, int rounds) {
  if (kind == 2 && !tiles_here()) return 0;
  const int tasks = SHARES * arpo_pool_threads();
  double* done = (double*)arpo_scratch(0, 2, sizeof(double) * tasks);
  parallel(tasks, [&](int task, int) {
    if (kind == 0) done[task] = chains(rounds) > 0 ? 2.0 * CHAINS * LANES * STEPS * rounds : 0;
    else done[task] = kind == 1 ? dots_peak(rounds) : kind == 2 ? tile_peak(rounds) : w16a16_peak(rounds);
  });
  double operations = 0;
  for (int i = 0; i < tasks; i++) operations += done[i];
  return operations;
}

double peak_read(const float* numbers, int count) {
  const int pieces = ceil_div(count, READ_PIECE);
  double* sums = (double*)arpo_scratch(0, 2, sizeof(double) * pieces);
  parallel(pieces, [&](int piece, int) {
    const int begin = piece * READ_PIECE, end = least(count, begin + READ_PIECE);
    vec sum[4] = {};
    int i = begin;
    for (; i + 4 * LANES <= end; i += 4 * LANES)
      for (int j = 0; j < 4; j++) sum[j] += load(numbers + i + j * LANES);
    for (; i < end; i++) sum[0][0] += numbers[i];
    sums[piece] = lane_sum(sum[0] + sum[1] + (sum[2] + sum[3]));
  });
  double total = 0;
  for (int i = 0; i < pieces; i++) total += sums[i];
  return total;
}

}  // namespace ARPO_NS
