#include "attend.h"

#include "decoder.h"
#include "../quantized/narrow_tile.h"
#include "../pool.h"
#include "../vec.h"

namespace ARPO_NS {
namespace {

enum { PV = PAGE / LANES };  // vectors per page of scores

ARPO_INLINE vec numbers(const float* p) { return *(const vec*)p; }
ARPO_INLINE vec numbers(const uint16_t* p) { return widen_float16(p); }

// Pages lie far from each other, so that the processor does not see the next one coming.
template <class T>
ARPO_INLINE void fetch(const T* from, int count) {
  for (int at = 0; at < count * (int)sizeof(T); at += 64) __builtin_prefetch((const char*)from + at);
}

ARPO_INLINE void put(float* to, float x) { *to = x; }
ARPO_INLINE void put(uint16_t* to, float x) { *to = float16_of(x); }

// Scores of Q queries against P pages: each one chain of multiply-adds over the head's dimensions.
template <int Q, int P, class T>
void score(const T* const* keys, const T* const* next, int head_dim, const float* query, int query_stride,
           float* scores, int score_stride) {
  vec sum[Q][P][PV] = {};
  for (int d = 0; d < head_dim; d++) {
#pragma GCC unroll 4
    for (int p = 0; p < P; p++) fetch(next[p] + d * PAGE, PAGE);
#pragma GCC unroll 4
    for (int q = 0; q < Q; q++) {
      vec qv = splat(query[q * query_stride + d]);
#pragma GCC unroll 4
      for (int p = 0; p < P; p++)
#pragma GCC unroll 4
        for (int v = 0; v < PV; v++)
          sum[q][p][v] += qv * numbers(keys[p] + d * PAGE + v * LANES);
    }
  }
#pragma GCC unroll 4
  for (int q = 0; q < Q; q++)
#pragma GCC unroll 4
    for (int p = 0; p < P; p++)
#pragma GCC unroll 4
      for (int v = 0; v < PV; v++)
        store(scores + q * score_stride + p * PAGE + v * LANES, sum[q][p][v]);
}

template <class T>
ARPO_INLINE const T* values_at(const HeadCache& cache, int page) {
  return page_at<T>(cache, page) + cache.head_dim * PAGE;
}

// V vectors of the weighted sum of values, from dimension `start`, for Q queries.
template <class T, int Q, int V>
void mix(const HeadCache& cache, const int32_t* pages, int count, int start, const float* weights,
         int weight_stride, float* out, int out_stride) {
  vec sum[Q][V] = {};
  for (int at = 0; at < count; at += PAGE) {
    const T* values = values_at<T>(cache, pages[at / PAGE]) + start;
    const T* next = values_at<T>(cache, pages[least(at + PAGE, count - 1) / PAGE]) + start;
    int positions = least(PAGE, count - at);
    for (int j = 0; j < positions; j++) {
      const T* row = values + (ptrdiff_t)j * cache.value_stride;
      fetch(next + (ptrdiff_t)j * cache.value_stride, V * LANES);
#pragma GCC unroll 4
      for (int q = 0; q < Q; q++) {
        vec w = splat(weights[q * weight_stride + at + j]);
#pragma GCC unroll 4
        for (int v = 0; v < V; v++) sum[q][v] += w * numbers(row + v * LANES);
      }
    }
  }
  for (int q = 0; q < Q; q++)
    for (int v = 0; v < V; v++) {
      float* to = out + (ptrdiff_t)q * out_stride + start + v * LANES;
      int left = cache.head_dim - start - v * LANES;
      if (left >= LANES) store(to, sum[q][v]);
      else if (left > 0) store_part(to, sum[q][v], left);
    }
}

// The first `skip` of `count` positions are not seen.
template <class T, int Q>
void attend_queries(const HeadCache& cache, const int32_t* pages, int skip, int count, const float* query,
                    int query_stride, float* out, int out_stride, float* scores) {
  enum { P = PV >= 4 ? 1 : Q <= 2 ? 4 : 2 };
  int stride = (count + PAGE - 1) / PAGE * PAGE;
  int last = stride / PAGE;
  for (int page = 0; page < last;) {
    const T *keys[P], *next[P];
    if (page + P <= last) {
      for (int p = 0; p < P; p++) {
        keys[p] = page_at<T>(cache, pages[page + p]);
        const int after = page + P + p;
        next[p] = after < last ? page_at<T>(cache, pages[after]) : values_at<T>(cache, pages[after - last]);
      }
      score<Q, P>(keys, next, cache.head_dim, query, query_stride, scores + page * PAGE, stride);
      page += P;
    } else {
      keys[0] = page_at<T>(cache, pages[page]);
      next[0] = page + 1 < last ? page_at<T>(cache, pages[page + 1]) : values_at<T>(cache, pages[0]);
      score<Q, 1>(keys, next, cache.head_dim, query, query_stride, scores + page * PAGE, stride);
      page++;
    }
  }
  for (int q = 0; q < Q; q++) {
    float* s = scores + (ptrdiff_t)q * stride;
    for (int i = 0; i < skip; i++) s[i] = -__builtin_inff();
    for (int i = count; i < stride; i++) s[i] = -__builtin_inff();
    vec top = load(s);
    for (int i = LANES; i < stride; i += LANES) top = vmax(top, load(s + i));
    float max = lane_max(top);
    vec sum = {};
    for (int i = 0; i < stride; i += LANES) {
      vec e = vexp_low(load(s + i) - max);
      store(s + i, e);
      sum += e;
    }
    vec scale = splat(1.0f / lane_sum(sum));
    for (int i = 0; i < stride; i += LANES) store(s + i, load(s + i) * scale);
  }
  enum { WIDE = Q == 1 ? 4 : Q <= 3 ? 4 : 2 };
  int start = 0;
  for (; start + WIDE * LANES <= cache.value_stride; start += WIDE * LANES)
    mix<T, Q, WIDE>(cache, pages, count, start, scores, stride, out, out_stride);
  for (; start + 2 * LANES <= cache.value_stride; start += 2 * LANES)
    mix<T, Q, 2>(cache, pages, count, start, scores, stride, out, out_stride);
  for (; start < cache.value_stride; start += LANES)
    mix<T, Q, 1>(cache, pages, count, start, scores, stride, out, out_stride);
}

template <class T>
void write(const HeadCache& cache, const int32_t* pages, int position, const float* key,
           const float* value) {
  T* page = page_at<T>(cache, pages[position / PAGE]);
  int j = position % PAGE;
  for (int d = 0; d < cache.head_dim; d++) put(page + d * PAGE + j, key[d]);
  T* to = page + cache.head_dim * PAGE + (ptrdiff_t)j * cache.value_stride;
  for (int d = 0; d < cache.head_dim; d++) put(to + d, value[d]);
  for (int d = cache.head_dim; d < cache.value_stride; d++) to[d] = 0;
}

template <class T>
void attend_all(int thread, const HeadCache& cache, const int32_t* pages, int skip, int count, int queries,
                const float* query, int query_stride, float* out, int out_stride) {
  float* scores = (float*)arpo_scratch(thread, 4, sizeof(float) * 4 * (count + PAGE));
  while (queries > 0) {
    int now = least(queries, 4);
    auto with = now == 4   ? attend_queries<T, 4>
                : now == 3 ? attend_queries<T, 3>
                : now == 2 ? attend_queries<T, 2>
                           : attend_queries<T, 1>;
    with(cache, pages, skip, count, query, query_stride, out, out_stride, scores);
    queries -= now;
    query += (ptrdiff_t)now * query_stride;
    out += (ptrdiff_t)now * out_stride;
  }
}

}  // namespace

int value_stride(int head_dim) { return (head_dim + 15) / 16 * 16; }
size_t head_numbers(int head_dim) { return (size_t)PAGE * (head_dim + value_stride(head_dim)); }

void write_key_value(const HeadCache& cache, const int32_t* pages, int position, const float* key,
                     const float* value) {
  (cache.half ? write<uint16_t> : write<float>)(cache, pages, position, key, value);
}

void attend(int thread, const HeadCache& cache, const int32_t* pages, int first, int position, int queries,
            const float* query, int query_stride, float* out, int out_stride) {
  const int page = first / PAGE, before = page * PAGE;
  (cache.half ? attend_all<uint16_t> : attend_all<float>)(thread, cache, pages + page, first - before,
                                                          position + 1 - before, queries, query,
                                                          query_stride, out, out_stride);
}

}  // namespace ARPO_NS
