#include "sampler.h"

#include "../pool.h"
#include "../vec.h"

namespace ARPO_NS {
namespace {

// Sums are taken over blocks of this many ids in vectors, and over blocks in double precision.
enum { BLOCK = 256 };

inline int least(int a, int b) { return a < b ? a : b; }

float max_of(const float* x, int n) {
  int i = 0;
  float best = x[0];
  if (n >= LANES) {
    vec m = load(x);
    for (i = LANES; i + LANES <= n; i += LANES) m = vmax(m, load(x + i));
    best = lane_max(m);
  }
  for (; i < n; i++) best = x[i] > best ? x[i] : best;
  return best;
}

// weights[i] = e^(y[i] - max); gives their sum, and the sum of weights[i] (y[i] - max).
void exponentials(const float* y, int n, float max, float* weights, double* sum, double* weighted) {
  double s = 0, w = 0;
  for (int i0 = 0; i0 < n; i0 += BLOCK) {
    int end = least(n, i0 + BLOCK), i = i0;
    vec bs = {}, bw = {};
    for (; i + LANES <= end; i += LANES) {
      vec d = load(y + i) - max;
      vec e = vexp_low(d);
      store(weights + i, e);
      bs += e;
      bw += e * d;
    }
    float ts = 0, tw = 0;
    for (; i < end; i++) {
      float d = y[i] - max;
      float e = exp1(d);
      weights[i] = e;
      ts += e;
      tw += e * d;
    }
    s += (double)lane_sum(bs) + ts;
    w += (double)lane_sum(bw) + tw;
  }
  *sum = s;
  *weighted = w;
}

double sum_of(const float* x, int n) {
  vec v = {};
  int i = 0;
  for (; i + LANES <= n; i += LANES) v += load(x + i);
  float tail = 0;
  for (; i < n; i++) tail += x[i];
  return (double)lane_sum(v) + tail;
}

// The k ids with the largest values, in falling order, the lower id first among equals.
void largest(const float* y, int n, int k, int32_t* ids, float* values) {
  int count = 0;
  for (int i0 = 0; i0 < n; i0 += 64) {
    int end = least(n, i0 + 64);
    if (count == k && !(max_of(y + i0, end - i0) > values[k - 1])) continue;
    for (int i = i0; i < end; i++) {
      if (count == k && !(y[i] > values[k - 1])) continue;
      int at = count < k ? count++ : k - 1;
      for (; at > 0 && values[at - 1] < y[i]; at--) {
        values[at] = values[at - 1];
        ids[at] = ids[at - 1];
      }
      values[at] = y[i];
      ids[at] = i;
    }
  }
}

// The last id to keep when ids are ordered by falling weight, then rising id.
struct Boundary {
  float weight;
  int32_t id;
  bool keeps(float w, int32_t i) const { return w > weight || (w == weight && i <= id); }
};

// Where the ordered weights end when `count` of them are kept, or as many as it takes to reach
// `mass`, whichever comes first. `ids` holds the n candidates and is reordered. Quickselect.
Boundary boundary(const float* weights, int32_t* ids, int n, int count, double mass) {
  auto before = [&](int32_t a, int32_t b) {
    return weights[a] > weights[b] || (weights[a] == weights[b] && a < b);
  };
  int low = 0, high = n;  // the boundary is one of ids[low] to ids[high - 1]
  double reached = 0;     // the mass of ids[0] to ids[low - 1]
  while (high - low > 1) {
    int32_t a = ids[low], b = ids[low + (high - low) / 2], c = ids[high - 1];
    int32_t pivot = before(a, b) ? (before(b, c) ? b : before(a, c) ? c : a)
                                 : (before(a, c) ? a : before(b, c) ? c : b);
    int split = low;  // ids before the pivot go to the front
    double front = 0;
    for (int i = low; i < high; i++) {
      int32_t id = ids[i];
      if (!before(id, pivot)) continue;
      front += weights[id];
      ids[i] = ids[split];
      ids[split++] = id;
    }
    if (split > low && (split >= count || reached + front >= mass)) {
      high = split;
      continue;
    }
    for (int i = split; i < high; i++)
      if (ids[i] == pivot) {
        ids[i] = ids[split];
        ids[split] = pivot;
        break;
      }
    if (split + 1 >= count || reached + front + weights[pivot] >= mass) {
      low = split;
      high = split + 1;
    } else if (split + 1 == high) {
      // Rounding kept the sum below the mass: keep everything.
      low = split;
    } else {
      reached += front + weights[pivot];
      low = split + 1;
    }
  }
  return {weights[ids[low]], ids[low]};
}

// The first id at which the weights, added up in order of id, exceed uniform x their sum.
int32_t draw(const float* weights, int n, double uniform) {
  double total = 0;
  for (int i = 0; i < n; i += BLOCK) total += sum_of(weights + i, least(BLOCK, n - i));
  double target = uniform * total, reached = 0;
  int32_t token = 0;
  for (int i0 = 0; i0 < n; i0 += BLOCK) {
    int size = least(BLOCK, n - i0);
    double sum = sum_of(weights + i0, size);
    bool last = i0 + size >= n;
    if (reached + sum <= target && !last) {
      reached += sum;
      continue;
    }
    double inside = reached;
    for (int i = i0; i < i0 + size; i++) {
      if (weights[i] == 0) continue;
      inside += weights[i];
      if (inside > target) return i;
    }
    reached += sum;
  }
  // Rounding: the draw is that of the last id that has a weight.
  for (int i = 0; i < n; i++)
    if (weights[i] > 0) token = i;
  return token;
}

}  // namespace

bool sample_row(int thread, float* y, int vocab, const Sampling& s, int row) {
  float* weights = (float*)arpo_scratch(thread, 2, sizeof(float) * 2 * (vocab + LANES));
  int32_t* ids = (int32_t*)(weights + vocab + LANES);
  float temperature = s.temperature[row];
  if (temperature > 0 && temperature != 1)
    for (int i = 0; i < vocab; i++) y[i] = y[i] / temperature;

  float max = max_of(y, vocab);
  double sum, weighted;
  exponentials(y, vocab, max, weights, &sum, &weighted);
  // A NaN may hide from the maximum, not from the sum.
  if (!(sum > 0 && sum <= vocab * 1.001) || weighted != weighted) return false;
  float log_sum = log1((float)sum);
  float normaliser = max + log_sum;
  const double whole = sum;
  s.entropies[row] = (float)(log_sum - weighted / sum);

  int32_t* top_ids = s.top_ids + (ptrdiff_t)row * s.top;
  float* top_values = s.top_logprobs + (ptrdiff_t)row * s.top;
  if (s.top > 0) largest(y, vocab, s.top, top_ids, top_values);
  for (int i = 0; i < s.top; i++) top_values[i] -= normaliser;

  bool penalised = s.penalty[row] != 1 && s.seen_offsets[row + 1] > s.seen_offsets[row];
  const uint32_t* allowed = nullptr;
  const int mask = s.allowed_at ? s.allowed_at[row] : 0;
  if (s.allowed && mask >= 0) allowed = s.allowed + (ptrdiff_t)mask * ((vocab + 31) / 32);
  bool changed = penalised || allowed;
  const float* candidates = y;
  float* logits = y;
  int32_t token;
  float chosen = 0;
  if (changed) {
    // The chosen token's own logit is still needed: candidates are a copy.
    float* copy = (float*)arpo_scratch(thread, 3, sizeof(float) * (vocab + LANES));
    memcpy(copy, y, sizeof(float) * vocab);
    if (penalised) {
      // An id listed twice is divided once: its value is taken from the untouched logits.
      for (int i = s.seen_offsets[row]; i < s.seen_offsets[row + 1]; i++) {
        int32_t id = s.seen[i];
        copy[id] = y[id] > 0 ? y[id] / s.penalty[row] : y[id] * s.penalty[row];
      }
    }
    if (allowed)
      for (int i = 0; i < vocab; i++)
        if (!((allowed[i >> 5] >> (i & 31)) & 1)) copy[i] = -__builtin_inff();
    candidates = copy;
  }
  if (temperature == 0) {
    float best;
    largest(candidates, vocab, 1, &token, &best);
  } else {
    if (changed) exponentials(candidates, vocab, max_of(candidates, vocab), weights, &sum, &weighted);
    int k = s.top_k[row] > 0 && s.top_k[row] < vocab ? s.top_k[row] : vocab;
    bool cut_p = s.top_p[row] < 1;
    if (k < vocab || cut_p) {
      int count = 0;
      for (int i = 0; i < vocab; i++)
        if (weights[i] > 0) ids[count++] = i;
      auto cut = [&](Boundary end) {
        double kept = 0;
        int left = 0;
        for (int i = 0; i < vocab; i++) {
          if (!end.keeps(weights[i], i)) weights[i] = 0;
          if (weights[i] > 0) ids[left++] = i, kept += weights[i];
        }
        count = left;
        return kept;
      };
      double total = 0;
      for (int i = 0; i < count; i++) total += weights[ids[i]];
      if (k < count) {
        // Ids as likely as the k-th all stay.
        Boundary end = boundary(weights, ids, count, k, __builtin_inf());
        total = cut({end.weight, vocab});
      }
      if (cut_p) cut(boundary(weights, ids, count, count, s.top_p[row] * total));
    }
    float floor = s.min_p[row];
    if (floor > 0)
      for (int i = 0; i < vocab; i++)
        if (weights[i] < floor) weights[i] = 0;
    token = draw(weights, vocab, s.uniform[row]);
    const bool constrained = s.constrained && s.constrained[row];
    if (s.kept && (k < vocab || cut_p || floor > 0 || constrained)) {
      uint32_t* words = s.kept + (ptrdiff_t)row * ((vocab + 31) / 32);
      double left = 0;
      for (int i = 0; i < vocab; i++) {
        if (!(weights[i] > 0)) continue;
        words[i >> 5] |= 1u << (i & 31);
        left += exp1(y[i] - max);
      }
      s.kept_logprobs[row] = log1((float)(left / whole));
    }
  }
  chosen = logits[token];
  s.tokens[row] = token;
  s.logprobs[row] = chosen - normaliser;
  return true;
}

int sample_rows(float* logits, int rows, int vocab, const float* temperature, const int32_t* top_k,
                const float* top_p, const float* min_p, const float* penalty,
                const double* uniform, const uint32_t* allowed, const int32_t* allowed_at,
                const int32_t* constrained, const int32_t* seen, const int32_t* seen_offsets,
                int top, int32_t* tokens, float* logprobs, float* entropies, int32_t* top_ids, float* top_logprobs, uint32_t* kept,
                float* kept_logprobs) {
  Sampling sampling = {temperature, top_k, top_p, min_p, penalty, uniform, allowed, allowed_at,
                       constrained, seen, seen_offsets, top, tokens, logprobs, entropies, top_ids,
                       top_logprobs, kept, kept_logprobs};
  int32_t bad = rows;
  parallel(rows, [&](int row, int thread) {
    if (sample_row(thread, logits + (ptrdiff_t)row * vocab, vocab, sampling, row)) return;
    int32_t seen_bad = __atomic_load_n(&bad, __ATOMIC_RELAXED);
    while (row < seen_bad && !__atomic_compare_exchange_n(&bad, &seen_bad, row, false,
                                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  });
  return bad < rows ? bad : -1;
}

}  // namespace ARPO_NS
