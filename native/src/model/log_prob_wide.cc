#include "log_prob_wide.h"

#include "../matmul/gemm.h"
#include "../rows.h"

namespace ARPO_NS {
namespace {

enum {
  WIDE_BYTES = 64 << 20,     // of a prepared output matrix
  STRETCH_FLOATS = 5 << 18,  // of it at a time
  ROWS = 1024,               // that a stretch serves
};

// Words at a time: whole blocks of any instruction set's products.
int stretch(int width, int vocabulary) {
  const int words = STRETCH_FLOATS / width / 240 * 240;
  return least(vocabulary, words < 240 ? 240 : words);
}

// Calls body(first, rows, word, words, logits) for each block of rows and stretch of words.
template <class Body>
ARPO_INLINE void stretches(const float* hidden, const float* head, int rows, int width,
                           int vocabulary, float temperature, const Body& body) {
  const int size = stretch(width, vocabulary);
  float* logits = (float*)arpo_scratch(0, 2, sizeof(float) * (size_t)least(rows, ROWS) * size);
  for (int first = 0; first < rows; first += ROWS) {
    const int count = least(ROWS, rows - first);
    for (int word = 0; word < vocabulary; word += size) {
      const int words = least(size, vocabulary - word);
      gemm(count, words, width, 1.0f / temperature, {hidden + (ptrdiff_t)first * width, width, false},
           {head + (ptrdiff_t)word * width, width, true}, false, logits, words);
      body(first, count, word, words, logits);
    }
  }
}

// What is known of a row after some of its logits: the largest, and over e^(z - top) the sums of it and
// of it times (z - top).
struct Seen {
  float top, total, weighted, label;
};

void look(Seen& seen, const float* z, int words, bool first) {
  const float top = largest(z, words);
  if (first) {
    seen = {top, 0.0f, 0.0f, 0.0f};
  } else if (top > seen.top) {
    const float down = seen.top - top, scale = exp1(down);
    seen.weighted = scale * (seen.weighted + down * seen.total);
    seen.total *= scale;
    seen.top = top;
  }
  vec total = {}, weighted = {};
  int i = 0;
  for (; i + LANES <= words; i += LANES) {
    vec d = load(z + i) - seen.top, e = vexp_low(d);
    total += e;
    weighted += e * d;
  }
  float sum = lane_sum(total), along = lane_sum(weighted);
  for (; i < words; i++) {
    float d = z[i] - seen.top, e = exp1(d);
    sum += e;
    along += e * d;
  }
  seen.total += sum;
  seen.weighted += along;
}

}  // namespace

bool log_prob_is_wide(int width, int vocabulary) {
  return right_bytes(vocabulary, width) > WIDE_BYTES;
}

void log_prob_wide(const float* hidden, const float* head, const int32_t* labels, float* logprobs,
                   float* entropies, float* normaliser, int rows, int width, int vocabulary,
                   float temperature) {
  Seen* seen = (Seen*)arpo_scratch(0, 3, sizeof(Seen) * least(rows, ROWS));
  stretches(hidden, head, rows, width, vocabulary, temperature,
            [&](int first, int count, int word, int words, const float* logits) {
              row_chunks(count, words, [&](int begin, int end, int) {
                for (int r = begin; r < end; r++) {
                  const float* z = logits + (ptrdiff_t)r * words;
                  look(seen[r], z, words, word == 0);
                  const int label = labels[first + r] - word;
                  if (label >= 0 && label < words) seen[r].label = z[label];
                }
              });
              if (word + words < vocabulary) return;
              for (int r = 0; r < count; r++) {
                const Seen& all = seen[r];
                const float log = log1(all.total);
                logprobs[first + r] = all.label - all.top - log;
                entropies[first + r] = log - all.weighted / all.total;
                normaliser[first + r] = all.top + log;
              }
            });
}

void log_prob_wide_grad(const float* dlogprobs, const float* dentropies, const float* hidden,
                        const float* head, const int32_t* labels, const float* entropies,
                        const float* normaliser, float* dhidden, float* dhead, int rows, int width,
                        int vocabulary, float temperature) {
  const float alpha = 1.0f / temperature;
  if (rows == 0 && dhead) memset(dhead, 0, sizeof(float) * (size_t)vocabulary * width);
  stretches(hidden, head, rows, width, vocabulary, temperature,
            [&](int first, int count, int word, int words, float* logits) {
              row_chunks(count, words, [&](int begin, int end, int) {
                for (int r = begin; r < end; r++) {
                  float* z = logits + (ptrdiff_t)r * words;
                  const float dl = dlogprobs[first + r], de = dentropies[first + r];
                  const float log = normaliser[first + r], entropy = entropies[first + r];
                  // d ln p(label) = 1{label} - p;  d entropy = -p (ln p + entropy)
                  each(words, [&](int i, int n) {
                    vec lp = take(z + i, n) - log;
                    put(z + i, -vexp_low(lp) * (dl + de * (lp + entropy)), n);
                  });
                  const int label = labels[first + r] - word;
                  if (label >= 0 && label < words) z[label] += dl;
                }
              });
              if (dhidden)
                gemm(count, width, words, alpha, {logits, words, false},
                     {head + (ptrdiff_t)word * width, width, false}, word > 0,
                     dhidden + (ptrdiff_t)first * width, width);
              if (dhead)
                gemm(words, width, count, alpha, {logits, words, true},
                     {hidden + (ptrdiff_t)first * width, width, false}, first > 0,
                     dhead + (ptrdiff_t)word * width, width);
            });
}

}  // namespace ARPO_NS
