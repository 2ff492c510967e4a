// Log-probabilities and entropies straight from hidden states. Logits exist for a block of rows at a
// time; the gradient makes them again rather than keep them.
#include "../matmul/gemm.h"
#include "../kernels.h"
#include "log_prob_wide.h"
#include "../rows.h"

namespace ARPO_NS {
namespace {

enum { KEPT_BYTES = 64 << 20 };

// Rows per block: about 1 MB of logits, but enough rows to pay for reading the whole head.
int block_rows(int vocabulary) {
  int rows = (1 << 18) / vocabulary / 8 * 8;
  return rows < 64 ? 64 : rows;
}

// Calls body(first, count, logits) for each block; the logits are already divided by temperature.
template <class Body>
ARPO_INLINE void blocks(const float* hidden, const float* head, int rows, int width,
                        int vocabulary, float temperature, const Body& body) {
  const int size = block_rows(vocabulary);
  const size_t packed_size = right_bytes(vocabulary, width);
  // The head is prepared once where that is affordable, else once per block.
  const bool keep = rows > size && packed_size <= KEPT_BYTES;
  void* packed = keep ? arpo_scratch(0, 3, packed_size) : nullptr;
  if (keep) right_pack(vocabulary, width, {head, width, true}, packed);
  float* logits =
      (float*)arpo_scratch(0, 2, sizeof(float) * (size_t)least(rows, size) * vocabulary);
  for (int first = 0; first < rows; first += size) {
    const int count = least(size, rows - first);
    const Matrix part = {hidden + (ptrdiff_t)first * width, width, false};
    if (keep) {
      gemm_right(count, vocabulary, width, 1.0f / temperature, part, packed, false, logits, vocabulary);
    } else {
      gemm(count, vocabulary, width, 1.0f / temperature, part, {head, width, true}, false, logits,
           vocabulary);
    }
    body(first, count, logits);
  }
}

}  // namespace

void log_prob_entropy(const float* hidden, const float* head, const int32_t* labels,
                      float* logprobs, float* entropies, float* normaliser, int rows, int width,
                      int vocabulary, float temperature) {
  if (log_prob_is_wide(width, vocabulary))
    return log_prob_wide(hidden, head, labels, logprobs, entropies, normaliser, rows, width, vocabulary,
                         temperature);
  blocks(hidden, head, rows, width, vocabulary, temperature,
         [&](int first, int count, const float* logits) {
           row_chunks(count, vocabulary, [&](int begin, int end, int) {
             for (int r = begin; r < end; r++) {
               const float* z = logits + (ptrdiff_t)r * vocabulary;
               const float top = largest(z, vocabulary);
               vec total = {}, weighted = {};
               int i = 0;
               for (; i + LANES <= vocabulary; i += LANES) {
                 vec d = load(z + i) - top, e = vexp_low(d);
                 total += e;
                 weighted += e * d;
               }
               float sum = lane_sum(total), along = lane_sum(weighted);
               for (; i < vocabulary; i++) {
                 float d = z[i] - top, e = exp1(d);
                 sum += e;
                 along += e * d;
               }
               const float log = log1(sum);
               logprobs[first + r] = z[labels[first + r]] - top - log;
               entropies[first + r] = log - along / sum;
               normaliser[first + r] = top + log;
             }
           });
         });
}

void log_prob_entropy_grad(const float* dlogprobs, const float* dentropies, const float* hidden,
                           const float* head, const int32_t* labels, const float* entropies,
                           const float* normaliser, float* dhidden, float* dhead, int rows,
                           int width, int vocabulary, float temperature) {
  if (log_prob_is_wide(width, vocabulary))
    return log_prob_wide_grad(dlogprobs, dentropies, hidden, head, labels, entropies, normaliser, dhidden,
                              dhead, rows, width, vocabulary, temperature);
  const size_t back_size = right_bytes(width, vocabulary);
  const bool keep = dhidden && rows > block_rows(vocabulary) && back_size <= KEPT_BYTES;
  void* back = keep ? arpo_scratch(0, 4, back_size) : nullptr;
  if (keep) right_pack(width, vocabulary, {head, width, false}, back);
  if (rows == 0 && dhead) memset(dhead, 0, sizeof(float) * (size_t)vocabulary * width);
  blocks(hidden, head, rows, width, vocabulary, temperature,
         [&](int first, int count, float* logits) {
           row_chunks(count, vocabulary, [&](int begin, int end, int) {
             for (int r = begin; r < end; r++) {
               float* z = logits + (ptrdiff_t)r * vocabulary;
               const float dl = dlogprobs[first + r], de = dentropies[first + r];
               const float log = normaliser[first + r], entropy = entropies[first + r];
               // d ln p(label) = 1{label} - p;  d entropy = -p (ln p + entropy)
               each(vocabulary, [&](int i, int n) {
                 vec lp = take(z + i, n) - log;
                 put(z + i, -vexp_low(lp) * (dl + de * (lp + entropy)), n);
               });
               z[labels[first + r]] += dl;
             }
           });
           const float alpha = 1.0f / temperature;
           if (keep) {
             gemm_right(count, width, vocabulary, alpha, {logits, vocabulary, false}, back, false,
                        dhidden + (ptrdiff_t)first * width, width);
           } else if (dhidden) {
             gemm(count, width, vocabulary, alpha, {logits, vocabulary, false},
                  {head, width, false}, false, dhidden + (ptrdiff_t)first * width, width);
           }
           if (dhead) {
             gemm(vocabulary, width, count, alpha, {logits, vocabulary, true},
                  {hidden + (ptrdiff_t)first * width, width, false}, first > 0, dhead, width);
           }
         });
}

void top_k(const float* hidden, const float* head, float* logprobs, int32_t* ids, int rows,
           int width, int vocabulary, int k, float temperature) {
  blocks(hidden, head, rows, width, vocabulary, temperature,
         [&](int first, int count, const float* logits) {
           row_chunks(count, vocabulary, [&](int begin, int end, int) {
             for (int r = begin; r < end; r++) {
               const float* z = logits + (ptrdiff_t)r * vocabulary;
               float* best = logprobs + (ptrdiff_t)(first + r) * k;
               int32_t* at = ids + (ptrdiff_t)(first + r) * k;
               int held = 0;
               for (int i = 0; i < vocabulary; i++) {
                 if (held == k && !(z[i] > best[k - 1])) continue;
                 int j = held < k ? held++ : k - 1;
                 for (; j > 0 && z[i] > best[j - 1]; j--) best[j] = best[j - 1], at[j] = at[j - 1];
                 best[j] = z[i], at[j] = i;
               }
               const float top = best[0];
               vec total = {};
               each(vocabulary, [&](int i, int n) {
                 vec e = vexp_low(take(z + i, n) - top);
                 if (n < LANES) {
                   float part[LANES];
                   store(part, e);
                   e = load_part(part, n);
                 }
                 total += e;
               });
               const float log = top + log1(lane_sum(total));
               for (int j = 0; j < k; j++) best[j] -= log;
             }
           });
         });
}

}  // namespace ARPO_NS
