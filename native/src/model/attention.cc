// Causal attention for training. One task is one row of the batch and one key head, with all query
// heads that share it, so the gradients of keys and values have one writer and one order. Scores are
// made for two vectors of queries at a time, a row of them for each key, and never leave the cache: so
// maxima, exponentials and sums are of whole vectors, and no product sees many keys behind its queries.
// Rows that begin alike may share the tokens of their beginnings, which are queries of the first of them alone.
#include "../matmul/gemm.h"
#include "../kernels.h"
#include "../matmul/register_tile.h"
#include "../matmul/transpose.h"
#include "../rows.h"

namespace ARPO_NS {
namespace {

enum {
  SIDE = 2 * LANES,            // queries side by side: a pair of vectors
  PART = 32,                   // queries that read keys and values together
  QUERIES = 64,                // the same of the gradient; one chain of sums for each key
  KEYS = GEMM_KC,              // of a block: one chain of sums for each query
  TALL = LANES == 8 ? 6 : MR,  // rows of a product whose sums the registers hold
};

struct Shape {
  int time, heads, kv_heads, width, group;
  int window;  // positions that one sees, its own included; 0: all before it
  int first_seen(int t) const { return window > 0 && t >= window ? t + 1 - window : 0; }
  int q_stride() const { return heads * width; }
  int kv_stride() const { return kv_heads * width; }
};

// The rows of the batch. Where `unfold` [batch, time] says which token stands where, tokens are numbered in the order in
// which rows have them first, and a row's queries are the tokens that no row before it has; else each has its own.
struct Rows {
  const int32_t *lengths, *unfold;
  int time;
  int* starts = nullptr;  // the first query of each

  Rows(const int32_t* lengths, const int32_t* unfold, int batch, int time)
      : lengths(lengths), unfold(unfold), time(time) {
    if (!unfold) return;
    starts = (int*)arpo_scratch(0, 6, sizeof(int) * batch);
    for (int b = 0, tokens = 0; b < batch; b++) {
      const int32_t* places = unfold + (ptrdiff_t)b * time;
      int start = 0;
      while (start < length(b) && places[start] < tokens) start++;
      starts[b] = start;
      tokens += length(b) - start;
    }
  }
  int length(int b) const { return lengths ? lengths[b] : time; }
  int start(int b) const { return unfold ? starts[b] : 0; }
  // Which token would stand at its first place if all before its first query were there.
  ptrdiff_t origin(int b) const {
    const ptrdiff_t place = (ptrdiff_t)b * time;
    if (!unfold) return place;
    return start(b) < length(b) ? unfold[place + start(b)] - start(b) : 0;
  }
  // Keys or values of a row, `*stride` numbers from one to the next: as they are, or copied to `to`.
  const float* of(int b, const float* x, int width, int* stride, float* to) const {
    const ptrdiff_t place = (ptrdiff_t)b * time;
    if (!unfold) return x + place * *stride;
    for (int t = 0; t < length(b); t++) {
      const float* from = x + (ptrdiff_t)unfold[place + t] * *stride;
      for (int i = 0; i < width; i++) to[(ptrdiff_t)t * width + i] = from[i];
    }
    *stride = width;
    return to;
  }
};

// The last multiple of a step that is not after a row's first query; its end where it has none.
ARPO_INLINE int first_step(int start, int length, int step) { return start < length ? start / step * step : length; }

// Element (i, p) is at data[i * row + p * step]; after `steps` of them the next are `part` further on.
struct Left {
  const float* data;
  ptrdiff_t row, step;
  int parts = 1;
  ptrdiff_t part = 0;
};

// M rows of C = alpha A B, or C += alpha A B; rows of B and of C are SIDE wide.
template <int M>
__attribute__((noinline)) void product(int steps, float alpha, const Left& a, const float* b, bool add, float* c) {
  vec sum[M][2] = {};
  for (int s = 0; s < a.parts; s++) {
    const float* x = a.data + s * a.part;
    for (int p = 0; p < steps; p++, x += a.step, b += SIDE) {
      const vec b0 = *(const vec*)b, b1 = *(const vec*)(b + LANES);
#pragma GCC unroll 8
      for (int i = 0; i < M; i++) {
        const vec xi = splat(x[i * a.row]);
        sum[i][0] += xi * b0;
        sum[i][1] += xi * b1;
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < M; i++)
#pragma GCC unroll 2
    for (int v = 0; v < 2; v++) {
      float* to = c + i * SIDE + v * LANES;
      const vec scaled = sum[i][v] * alpha;
      store(to, add ? load(to) + scaled : scaled);
    }
}

typedef void (*Product)(int, float, const Left&, const float*, bool, float*);
const Product products[] = {product<1>, product<2>, product<3>, product<4>,
#if ARPO_LANES == 16 || defined(__aarch64__)
                            product<5>, product<6>, product<7>, product<8>
#elif ARPO_LANES == 8
                            product<5>, product<6>
#endif
};

// body(first, count) over [from, to) in groups of at most TALL, none of them much smaller where that can be.
template <class Body>
ARPO_INLINE void groups(int from, int to, const Body& body) {
  while (from < to) {
    const int left = to - from;
    const int count = left > TALL && left <= TALL + TALL / 2 ? (left + 1) / 2 : least(left, TALL);
    body(from, count);
    from += count;
  }
}

// Rows of keys or values as they are, [from, to) of them, times columns of queries: scores.
void by_rows(int from, int to, const float* rows, int stride, int width, float alpha, const float* columns,
             float* scores) {
  groups(from, to, [&](int i, int count) {
    for (int p = 0; p < width; p += GEMM_KC)
      products[count - 1](least(GEMM_KC, width - p), alpha, {rows + (ptrdiff_t)i * stride + p, stride, 1},
                          columns + p * SIDE, p > 0, scores + i * SIDE);
  });
}

// Columns of keys or values by groups, as `by_columns` reads them.
void group_columns(const float* rows, int count, int stride, int width, float* to) {
  groups(0, width, [&](int i, int some) {
    for (int r = 0; r < count; r++)
      for (int j = 0; j < some; j++) *to++ = rows[(ptrdiff_t)r * stride + i + j];
  });
}

// out [width, SIDE] = alpha times such columns of `depth` rows, from row `from` to row `to`, times scores; or +=.
void by_columns(int from, int to, const float* grouped, int depth, int width, float alpha, const float* scores,
                bool add, float* out) {
  groups(0, width, [&](int i, int count) {
    products[count - 1](to - from, alpha, {grouped + (ptrdiff_t)i * depth + (ptrdiff_t)from * count, 1, count},
                        scores + from * SIDE, add, out + i * SIDE);
  });
}

// Rows [from, to) of SIDE as columns, zero where there are none.
void turn_rows(const float* rows, int from, int to, int stride, int width, float* turned) {
  if (to - from < SIDE) memset(turned, 0, sizeof(float) * SIDE * width);
  turn(to - from, width, rows + (ptrdiff_t)from * stride, stride, turned + from, SIDE);
}

ARPO_INLINE void copy_row(const float* from, int count, float* to) {
  if (count < SIDE) return each(count, [&](int i, int n) { put(to + i, take(from + i, n), n); });
  store(to, load(from)), store(to + LANES, load(from + LANES));
}

// Rows [from, count) by SIDE columns at a time, each of `depth` rows; zero before and beyond them and beyond the width.
void split_rows(const float* rows, int from, int count, int stride, int width, int depth, float* to) {
  for (int i = 0; i < width; i += SIDE) {
    const int some = least(SIDE, width - i);
    memset(to, 0, sizeof(float) * SIDE * (some < SIDE ? count : from));
    to += SIDE * from;
    for (int r = from; r < count; r++, to += SIDE) copy_row(rows + (ptrdiff_t)r * stride + i, some, to);
    memset(to, 0, sizeof(float) * SIDE * (depth - count));
    to += SIDE * (depth - count);
  }
}

void join_rows(const float* split, int count, int stride, int width, float* rows) {
  for (int i = 0; i < width; i += SIDE)
    for (int r = 0; r < count; r++, split += SIDE)
      copy_row(split, least(SIDE, width - i), rows + (ptrdiff_t)r * stride + i);
}

alignas(64) const int32_t lane_numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// A vector of queries from `first` on, and the keys that they see.
struct Seeing {
  Shape s;
  int first;
  // The lanes that do not see a key.
  ivec blind(int key) const {
    const ivec lane = *(const ivec*)lane_numbers;
    const ivec behind = (ivec)(lane < isplat(key - first));
    return s.window > 0 ? behind | (ivec)(lane > isplat(key - first + s.window - 1)) : behind;
  }
  // some(key) for keys that not all of them see, all(key) for the others, in order over [from, to).
  template <class Some, class All>
  inline __attribute__((always_inline)) void each(int from, int to, const Some& some, const All& all) const {
    const int begin = s.first_seen(first + LANES - 1);
    int key = from;
    for (; key < least(begin, to); key++) some(key);
    for (; key < least(first + 1, to); key++) all(key);
    for (; key < to; key++) some(key);
  }
};

// Turns columns of scores of the keys [from, to) into probabilities, those of unseen keys into zero; gives the logs
// of the denominators. Where a key is decides which of the sums it is added to.
vec softmax(float* scores, int from, int to, const Seeing& queries) {
  const vec none = splat(-__builtin_inff());
  vec top = none;
  queries.each(
      from, to,
      [&](int key) {
        const vec x = select(queries.blind(key), none, load(scores + key * SIDE));
        store(scores + key * SIDE, x);
        top = vmax(x, top);
      },
      [&](int key) { top = vmax(load(scores + key * SIDE), top); });
  vec sums[LANES] = {};
  for (int key = from; key < to; key++) {
    const vec e = vexp_low(load(scores + key * SIDE) - top);
    store(scores + key * SIDE, e);
    sums[key % LANES] += e;
  }
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int i = 0; i < half; i++) sums[i] += sums[i + half];
  const vec scale = 1.0f / sums[0];
  for (int key = from; key < to; key++) store(scores + key * SIDE, load(scores + key * SIDE) * scale);
  return top + vlog(sums[0]);
}

// Turns columns of scores into probabilities, and of the slopes of these into slopes of the scores.
void soften(float* scores, float* slopes, int from, int to, vec log, vec mean, const Seeing& queries) {
  auto make = [&](int key, auto seen) {
    float *p = scores + key * SIDE, *d = slopes + key * SIDE;
    const vec e = seen(vexp_low(load(p) - log));
    store(p, e), store(d, seen(e * (load(d) - mean)));
  };
  queries.each(
      from, to,
      [&](int key) {
        const ivec blind = queries.blind(key);
        make(key, [&](vec x) { return select(blind, splat(0.0f), x); });
      },
      [&](int key) { make(key, [](vec x) { return x; }); });
}

// body(begin, end) for each block of the keys [from, to).
template <class Body>
ARPO_INLINE void key_blocks(int from, int to, const Body& body) {
  for (int begin = from; begin < to;) {
    const int end = least(to, (begin / KEYS + 1) * KEYS);
    body(begin, end);
    begin = end;
  }
}

void clear_rows(float* rows, int from, int to, int stride, int width) {
  for (int t = from; t < to; t++)
    for (int i = 0; i < width; i++) rows[(ptrdiff_t)t * stride + i] = 0;
}

}  // namespace

void attention(const float* q, const float* k, const float* v, const int32_t* lengths, const int32_t* unfold,
               float* out, float* normaliser, int batch, int time, int heads, int kv_heads, int width, int window) {
  const Shape s = {time, heads, kv_heads, width, heads / kv_heads, window};
  const Rows all(lengths, unfold, batch, time);
  const float scale = 1.0f / __builtin_sqrtf((float)width);
  parallel(batch * kv_heads, [&](int task, int thread) {
    const int b = task / kv_heads, kv = task % kv_heads;
    const int length = all.length(b), start = all.start(b);
    if (start == length && unfold) return;
    const ptrdiff_t pair = (ptrdiff_t)SIDE * length;  // scores of two vectors of queries
    float* values = (float*)arpo_scratch(thread, 2, sizeof(float) * (unfold ? 2 : 1) * width * (size_t)length);
    float* copied = values + (size_t)width * length;
    float* scores = (float*)arpo_scratch(thread, 3, sizeof(float) * PART / SIDE * pair);
    float* turned = (float*)arpo_scratch(thread, 4, sizeof(float) * PART * width);
    int stride = s.kv_stride(), k_stride = stride;
    const float* row_v = all.of(b, v + (ptrdiff_t)kv * width, width, &stride, copied);
    group_columns(row_v, length, stride, width, values);
    const float* keys = all.of(b, k + (ptrdiff_t)kv * width, width, &k_stride, copied);
    for (int g = 0; g < s.group; g++) {
      const int h = kv * s.group + g;
      const ptrdiff_t q_at = all.origin(b) * s.q_stride() + (ptrdiff_t)h * width;
      float* logs = normaliser + ((ptrdiff_t)b * heads + h) * time;
      for (int t0 = first_step(start, length, PART); t0 < length; t0 += PART) {
        const int t1 = least(length, t0 + PART), from = s.first_seen(t0);
        // body(scores, columns, their first and the one after their last) for each pair of vectors.
        auto pairs = [&](const auto& body) {
          for (int p0 = most(t0, first_step(start, length, SIDE)), n = 0; p0 < t1; p0 += SIDE, n++)
            body(scores + n * pair, turned + n * SIDE * width, p0, least(t1, p0 + SIDE));
        };
        // Queries before the row's own, of the pair that it begins in.
        auto before = [&](int p0) { return most(0, start - p0); };
        auto row = [&](int t) { return q_at + (ptrdiff_t)t * s.q_stride(); };
        pairs([&](float*, float* columns, int p0, int p1) {
          turn_rows(q + row(p0), before(p0), p1 - p0, s.q_stride(), width, columns);
        });
        key_blocks(from, t1, [&](int begin, int end) {
          pairs([&](float* p, float* columns, int, int p1) {
            by_rows(begin, least(end, p1), keys, k_stride, width, scale, columns, p);
          });
        });
        pairs([&](float* p, float*, int p0, int p1) {
          for (int i = p0; i < p1; i += LANES)
            put(logs + i, softmax(p + i - p0, from, p1, {s, i}), least(LANES, p1 - i));
        });
        key_blocks(from, t1, [&](int begin, int end) {
          pairs([&](float* p, float* mixed, int, int p1) {
            if (begin < p1)
              by_columns(begin, least(end, p1), values, length, width, 1.0f, p, begin > from, mixed);
          });
        });
        pairs([&](float*, float* mixed, int p0, int p1) {
          const int own = before(p0);
          turn(width, p1 - p0 - own, mixed + own, SIDE, out + row(p0 + own), s.q_stride());
        });
      }
      for (int t = length; t < time; t++) logs[t] = 0;
      if (!unfold) clear_rows(out + q_at, length, time, s.q_stride(), width);
    }
  });
}

void attention_grad(const float* dout, const float* q, const float* k, const float* v,
                    const int32_t* lengths, const int32_t* unfold, const float* out, const float* normaliser,
                    float* dq, float* dk, float* dv, int batch, int time, int heads, int kv_heads, int width,
                    int window) {
  const Shape s = {time, heads, kv_heads, width, heads / kv_heads, window};
  const Rows all(lengths, unfold, batch, time);
  const float scale = 1.0f / __builtin_sqrtf((float)width);
  const int across = ceil_div(width, SIDE) * SIDE;
  parallel(batch * kv_heads, [&](int task, int thread) {
    const int b = task / kv_heads, kv = task % kv_heads;
    const int length = all.length(b), start = all.start(b);
    const ptrdiff_t kv_at = (ptrdiff_t)b * time * s.kv_stride() + (ptrdiff_t)kv * width;
    const int copies = unfold ? 2 : 0;
    float* keys = (float*)arpo_scratch(thread, 2, sizeof(float) * ((1 + copies) * width + 2 * across) * (size_t)length);
    float *dkeys = keys + (size_t)width * length, *dvalues = dkeys + (size_t)across * length;
    float *copied_k = dvalues + (size_t)across * length, *copied_v = copied_k + (size_t)width * length;
    const int depth = least(length, KEYS);
    const ptrdiff_t pair = (ptrdiff_t)SIDE * depth;  // scores of two vectors of queries with a block of keys
    float* probabilities = (float*)arpo_scratch(thread, 3, sizeof(float) * 2 * QUERIES * depth);
    float* slopes = probabilities + QUERIES * depth;
    // The queries, the slopes of the outputs and of the queries, as columns; then their logs and means.
    float* turned = (float*)arpo_scratch(thread, 4, sizeof(float) * QUERIES * (3 * width + 2));
    float *turned_dout = turned + QUERIES * width, *turned_dq = turned_dout + QUERIES * width;
    float *log = turned_dq + QUERIES * width, *mean = log + QUERIES;
    float* rows_q = (float*)arpo_scratch(thread, 5, sizeof(float) * 2 * QUERIES * across);
    float* rows_dout = rows_q + QUERIES * across;
    int k_stride = s.kv_stride(), v_stride = k_stride;
    const float* row_k = all.of(b, k + (ptrdiff_t)kv * width, width, &k_stride, copied_k);
    const float* row_v = all.of(b, v + (ptrdiff_t)kv * width, width, &v_stride, copied_v);
    group_columns(row_k, length, k_stride, width, keys);
    memset(dkeys, 0, sizeof(float) * 2 * across * (size_t)length);
    for (int g = 0; g < s.group; g++) {
      const int h = kv * s.group + g;
      const ptrdiff_t q_at = all.origin(b) * s.q_stride() + (ptrdiff_t)h * width;
      const float* logs = normaliser + ((ptrdiff_t)b * heads + h) * time;
      for (int t0 = first_step(start, length, QUERIES); t0 < length; t0 += QUERIES) {
        const int t1 = least(length, t0 + QUERIES), from = s.first_seen(t0), pairs = ceil_div(t1 - t0, SIDE);
        auto row = [&](int t) { return q_at + (ptrdiff_t)t * s.q_stride(); };
        const int own = most(0, start - t0), skipped = own / SIDE;  // the row's first query, pairs before it
        split_rows(q + row(t0), own, t1 - t0, s.q_stride(), width, pairs * SIDE, rows_q);
        split_rows(dout + row(t0), own, t1 - t0, s.q_stride(), width, pairs * SIDE, rows_dout);
        for (int p0 = t0 + skipped * SIDE; p0 < t1; p0 += SIDE) {
          const int begin = most(0, start - p0), count = least(SIDE, t1 - p0);
          turn_rows(q + row(p0), begin, count, s.q_stride(), width, turned + (p0 - t0) * width);
          turn_rows(dout + row(p0), begin, count, s.q_stride(), width, turned_dout + (p0 - t0) * width);
        }
        // Where there is no query, everything is zero.
        for (int i = 0; i < pairs * SIDE; i++) {
          const bool there = i >= own && t0 + i < t1;
          log[i] = there ? logs[t0 + i] : __builtin_inff();
          mean[i] = there ? dot(dout + row(t0 + i), out + row(t0 + i), width) : 0;
        }
        key_blocks(from, t1, [&](int begin, int end) {
          const int block = begin / KEYS * KEYS;
          for (int n = skipped; n < pairs; n++) {
            const int p0 = t0 + n * SIDE, to = least(end, p0 + SIDE);
            if (begin >= to) continue;
            float *p = probabilities + n * pair, *d = slopes + n * pair;
            float *columns = turned + n * SIDE * width, *columns_dout = turned_dout + n * SIDE * width;
            by_rows(begin, to, row_k, k_stride, width, scale, columns, p - block * SIDE);
            by_rows(begin, to, row_v, v_stride, width, 1.0f, columns_dout, d - block * SIDE);
            for (int i = 0; i < SIDE; i += LANES)
              soften(p - block * SIDE + i, d - block * SIDE + i, begin, to, load(log + n * SIDE + i),
                     load(mean + n * SIDE + i), {s, p0 + i});
            // Keys of a group that begins before the last of these queries.
            const size_t rest = sizeof(float) * SIDE * least(TALL, end - to);
            memset(p + (to - block) * SIDE, 0, rest), memset(d + (to - block) * SIDE, 0, rest);
            by_columns(begin, to, keys, length, width, scale, d - block * SIDE, begin > from,
                       turned_dq + n * SIDE * width);
          }
          // The pairs of queries before a key's own see nothing of it.
          groups(begin, end, [&](int key, int count) {
            const int first = key < t0 ? skipped : most(skipped, (key - t0) / SIDE);
            auto add_to_keys = [&](const float* factors, const float* of, float alpha, float* to) {
              const Left left = {factors + first * pair + (ptrdiff_t)(key - block) * SIDE, SIDE, 1, pairs - first, pair};
              for (int i = 0; i < across; i += SIDE)
                products[count - 1](SIDE, alpha, left, of + i * (pairs * SIDE) + first * SIDE * SIDE, true,
                                    to + (ptrdiff_t)i * length + (ptrdiff_t)key * SIDE);
            };
            add_to_keys(probabilities, rows_dout, 1.0f, dvalues);
            add_to_keys(slopes, rows_q, scale, dkeys);
          });
        });
        for (int p0 = t0 + skipped * SIDE; p0 < t1; p0 += SIDE) {
          const int begin = most(0, start - p0);
          turn(width, least(SIDE, t1 - p0) - begin, turned_dq + (p0 - t0) * width + begin, SIDE, dq + row(p0 + begin),
               s.q_stride());
        }
      }
      if (!unfold) clear_rows(dq + q_at, length, time, s.q_stride(), width);
    }
    join_rows(dkeys, length, s.kv_stride(), width, dk + kv_at);
    join_rows(dvalues, length, s.kv_stride(), width, dv + kv_at);
    clear_rows(dk + kv_at, length, time, s.kv_stride(), width);
    clear_rows(dv + kv_at, length, time, s.kv_stride(), width);
  });
}

}  // namespace ARPO_NS
