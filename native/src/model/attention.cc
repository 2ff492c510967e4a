// Causal attention for training. One task is one row of the batch and one key head, with all query
// heads that share it, so the gradients of keys and values have one writer and one order. Scores are
// made for a block of queries at a time and never leave the cache.
#include "../matmul/gemm.h"
#include "../kernels.h"
#include "../matmul/register_tile.h"
#include "../rows.h"

namespace ARPO_NS {
namespace {

enum {
  QUERIES = 64,  // per block
  PART = 32,     // of a block, which sees no key behind its last query
};

struct Shape {
  int time, heads, kv_heads, width, group;
  int window;  // positions that one sees, its own included; 0: all before it
  int first_seen(int t) const { return window > 0 && t >= window ? t + 1 - window : 0; }
  int q_stride() const { return heads * width; }
  int kv_stride() const { return kv_heads * width; }
};

// Turns a row of scores into probabilities of the keys [from, keys), zero elsewhere up to `padded`; returns
// the log of the denominator.
float softmax(float* row, int from, int keys, int padded) {
  for (int i = 0; i < from; i++) row[i] = 0;
  row += from, keys -= from, padded -= from;
  float top = largest(row, keys);
  vec sum = {};
  each(keys, [&](int i, int n) {
    vec e = vexp(take(row + i, n) - top);
    put(row + i, e, n);
    sum += n == LANES ? e : load_part(row + i, n);
  });
  float total = lane_sum(sum), scale = 1.0f / total;
  for (int i = 0; i < keys; i++) row[i] *= scale;
  for (int i = keys; i < padded; i++) row[i] = 0;
  return top + log1(total);
}

void clear_rows(float* rows, int from, int to, int stride, int width) {
  for (int t = from; t < to; t++)
    for (int i = 0; i < width; i++) rows[(ptrdiff_t)t * stride + i] = 0;
}

}  // namespace

void attention(const float* q, const float* k, const float* v, const int32_t* lengths, float* out,
               float* normaliser, int batch, int time, int heads, int kv_heads, int width, int window) {
  const Shape s = {time, heads, kv_heads, width, heads / kv_heads, window};
  const float scale = 1.0f / __builtin_sqrtf((float)width);
  parallel(batch * kv_heads, [&](int task, int thread) {
    const int b = task / kv_heads, kv = task % kv_heads;
    const int length = lengths ? lengths[b] : time;
    const ptrdiff_t kv_at = (ptrdiff_t)b * time * s.kv_stride() + (ptrdiff_t)kv * width;
    float* keys = (float*)arpo_scratch(thread, 2, sizeof(float) * gemm_packed_size(time, width));
    float* values = (float*)arpo_scratch(thread, 3, sizeof(float) * gemm_packed_size(width, time));
    float* scores = (float*)arpo_scratch(thread, 4, sizeof(float) * PART * (size_t)time);
    gemm_pack_serial(length, width, {k + kv_at, s.kv_stride(), true}, keys);
    gemm_pack_serial(width, length, {v + kv_at, s.kv_stride(), false}, values);
    for (int g = 0; g < s.group; g++) {
      const int h = kv * s.group + g;
      const ptrdiff_t q_at = (ptrdiff_t)b * time * s.q_stride() + (ptrdiff_t)h * width;
      float* logs = normaliser + ((ptrdiff_t)b * heads + h) * time;
      for (int t0 = 0; t0 < length; t0 += PART) {
        const int t1 = least(length, t0 + PART), rows = t1 - t0;
        const ptrdiff_t at = q_at + (ptrdiff_t)t0 * s.q_stride();
        gemm_packed_serial(thread, rows, t1, width, scale, {q + at, s.q_stride(), false}, keys,
                           width, false, scores, t1);
        for (int r = 0; r < rows; r++)
          logs[t0 + r] = softmax(scores + (ptrdiff_t)r * t1, s.first_seen(t0 + r), t0 + r + 1, t1);
        gemm_packed_serial(thread, rows, width, t1, 1.0f, {scores, t1, false}, values, length,
                           false, out + at, s.q_stride());
      }
      for (int t = length; t < time; t++) logs[t] = 0;
      clear_rows(out + q_at, length, time, s.q_stride(), width);
    }
  });
}

void attention_grad(const float* dout, const float* q, const float* k, const float* v,
                    const int32_t* lengths, const float* out, const float* normaliser, float* dq,
                    float* dk, float* dv, int batch, int time, int heads, int kv_heads,
                    int width, int window) {
  const Shape s = {time, heads, kv_heads, width, heads / kv_heads, window};
  const float scale = 1.0f / __builtin_sqrtf((float)width);
  const size_t across = gemm_packed_size(time, width), along = gemm_packed_size(width, time);
  const size_t block = gemm_packed_size(width, QUERIES);
  parallel(batch * kv_heads, [&](int task, int thread) {
    const int b = task / kv_heads, kv = task % kv_heads;
    const int length = lengths ? lengths[b] : time;
    const ptrdiff_t kv_at = (ptrdiff_t)b * time * s.kv_stride() + (ptrdiff_t)kv * width;
    float* packed = (float*)arpo_scratch(thread, 2, sizeof(float) * (2 * across + along));
    float *keys_t = packed, *values_t = packed + across, *keys = packed + 2 * across;
    float* probabilities = (float*)arpo_scratch(thread, 3, sizeof(float) * QUERIES * (size_t)time);
    float* slopes = (float*)arpo_scratch(thread, 4, sizeof(float) * QUERIES * (size_t)time);
    float* rows_packed = (float*)arpo_scratch(thread, 5, sizeof(float) * block);
    gemm_pack_serial(length, width, {k + kv_at, s.kv_stride(), true}, keys_t);
    gemm_pack_serial(length, width, {v + kv_at, s.kv_stride(), true}, values_t);
    gemm_pack_serial(width, length, {k + kv_at, s.kv_stride(), false}, keys);
    clear_rows(dk + kv_at, 0, time, s.kv_stride(), width);
    clear_rows(dv + kv_at, 0, time, s.kv_stride(), width);
    for (int g = 0; g < s.group; g++) {
      const int h = kv * s.group + g;
      const ptrdiff_t q_at = (ptrdiff_t)b * time * s.q_stride() + (ptrdiff_t)h * width;
      const float* logs = normaliser + ((ptrdiff_t)b * heads + h) * time;
      for (int t0 = 0; t0 < length; t0 += QUERIES) {
        const int t1 = least(length, t0 + QUERIES), rows = t1 - t0;
        const ptrdiff_t at = q_at + (ptrdiff_t)t0 * s.q_stride();
        for (int r0 = 0; r0 < rows; r0 += PART) {
          const int r1 = least(rows, r0 + PART), keys_seen = t0 + r1;
          const ptrdiff_t part = at + (ptrdiff_t)r0 * s.q_stride(), from = (ptrdiff_t)r0 * t1;
          gemm_packed_serial(thread, r1 - r0, keys_seen, width, scale, {q + part, s.q_stride(), false},
                             keys_t, width, false, probabilities + from, t1);
          gemm_packed_serial(thread, r1 - r0, keys_seen, width, 1.0f, {dout + part, s.q_stride(), false},
                             values_t, width, false, slopes + from, t1);
          for (int r = r0; r < r1; r++) {
            float* p = probabilities + (ptrdiff_t)r * t1;
            float* d = slopes + (ptrdiff_t)r * t1;
            const int seen = t0 + r + 1, least_seen = s.first_seen(t0 + r);
            const ptrdiff_t row = at + (ptrdiff_t)r * s.q_stride();
            const float mean = dot(dout + row, out + row, width), log = logs[t0 + r];
            each(seen - least_seen, [&](int i, int n) {
              i += least_seen;
              vec e = vexp(take(p + i, n) - log);
              put(p + i, e, n);
              put(d + i, e * (take(d + i, n) - mean), n);
            });
            for (int i = 0; i < least_seen; i++) p[i] = d[i] = 0;
            for (int i = seen; i < keys_seen; i++) p[i] = d[i] = 0;
          }
          gemm_packed_serial(thread, r1 - r0, width, keys_seen, scale, {slopes + from, t1, false}, keys,
                             length, false, dq + part, s.q_stride());
        }
        // The keys that a part is the first to see get nothing from the queries before it.
        auto add_to_keys = [&](const float* factors, const float* of, float alpha, float* to) {
          gemm_pack_serial(width, rows, {of + at, s.q_stride(), false}, rows_packed);
          for (int r0 = 0, first = 0; r0 < rows; r0 += PART) {
            const int end = t0 + least(rows, r0 + PART);
            gemm_packed_serial(thread, end - first, width, rows - r0, alpha,
                               {factors + (ptrdiff_t)r0 * t1 + first, t1, true}, rows_packed + r0 * NR, rows,
                               true, to + kv_at + (ptrdiff_t)first * s.kv_stride(), s.kv_stride());
            first = end;
          }
        };
        add_to_keys(probabilities, dout, 1.0f, dv);
        add_to_keys(slopes, q, scale, dk);
      }
      clear_rows(dq + q_at, length, time, s.q_stride(), width);
    }
  });
}

}  // namespace ARPO_NS
