// Loops that several ops share.
#pragma once
#include "pool.h"
#include "vec.h"

namespace ARPO_NS {

inline int ceil_div(int a, int b) { return (a + b - 1) / b; }
inline int least(int a, int b) { return a < b ? a : b; }
inline int most(int a, int b) { return a > b ? a : b; }

// Element counts per task: small enough to share out, large enough to pay for handing out.
enum { CHUNK = 16384 };

// body(begin, end, thread) over [0, count) in pieces of a fixed size.
template <class Body>
ARPO_INLINE void chunks(int count, int size, const Body& body) {
  if (size < 1) size = 1;
  parallel(ceil_div(count, size), [&](int i, int thread) {
    body(i * size, least(count, (i + 1) * size), thread);
  });
}
// The same over rows, so that a piece is about CHUNK elements.
template <class Body>
ARPO_INLINE void row_chunks(int rows, int width, const Body& body) {
  chunks(rows, CHUNK / (width < 1 ? 1 : width) + 1, body);
}

// sum of a[i] * b[i]
ARPO_INLINE float dot(const float* a, const float* b, int count) {
  vec sum = {};
  int i = 0;
  for (; i + LANES <= count; i += LANES) sum += load(a + i) * load(b + i);
  if (i < count) sum += load_part(a + i, count - i) * load_part(b + i, count - i);
  return lane_sum(sum);
}

ARPO_INLINE float largest(const float* a, int count) {
  vec top = splat(a[0]);
  int i = 0;
  for (; i + LANES <= count; i += LANES) top = vmax(load(a + i), top);
  float best = lane_max(top);
  for (; i < count; i++) best = a[i] > best ? a[i] : best;
  return best;
}

// Calls f on each vector of a row; the last one may be partial.
template <class F>
ARPO_INLINE void each(int count, const F& f) {
  int i = 0;
  for (; i + LANES <= count; i += LANES) f(i, (int)LANES);
  if (i < count) f(i, count - i);
}
ARPO_INLINE vec take(const float* p, int count) {
  return count == LANES ? load(p) : load_part(p, count);
}
ARPO_INLINE void put(float* p, vec v, int count) {
  if (count == LANES) {
    store(p, v);
  } else {
    store_part(p, v, count);
  }
}

}  // namespace ARPO_NS
