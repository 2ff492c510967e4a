// Choosing tokens from rows of logits. The rules are those of src/model/decoder/sample.ts.
#pragma once
#include "../platform.h"

namespace ARPO_NS {

// Settings and results, one entry per row unless said otherwise.
struct Sampling {
  const float* temperature;
  const int32_t* top_k;  // 0 keeps all
  const float* top_p;
  const float* min_p;
  const float* penalty;
  const double* uniform;
  const uint32_t* allowed;  // masks of ceil(vocab / 32) words, a bit per id, or null
  const int32_t* allowed_at;   // the row's mask; -1: every id; null: all have the first
  const int32_t* constrained;  // 1: the mask counts as a cut-off, and what it left is told; null: none
  const int32_t* seen;      // ids under the penalty: seen[seen_offsets[i]] to seen[seen_offsets[i + 1]]
  const int32_t* seen_offsets;
  int top;
  int32_t* tokens;
  float* logprobs;
  float* entropies;
  int32_t* top_ids;  // rows x top
  float* top_logprobs;
  // What top-k, top-p, min-p and a constraint left, or null: a bit per id, rows x ceil(vocab / 32) words, all 0 where
  // nothing was cut; and ln of the probability that is left.
  uint32_t* kept;
  float* kept_logprobs;
};

// Chooses for row `row` of `sampling`, from `vocab` logits that it overwrites. False, with nothing
// written, when the logits are not finite. Uses scratch slot 2 of the thread.
bool sample_row(int thread, float* logits, int vocab, const Sampling& sampling, int row);

// For JavaScript: all rows of `logits`, which are overwritten. Gives the first row whose logits are
// not finite, or -1.
int sample_rows(float* logits, int rows, int vocab, const float* temperature, const int32_t* top_k,
                const float* top_p, const float* min_p, const float* penalty,
                const double* uniform, const uint32_t* allowed, const int32_t* allowed_at,
                const int32_t* constrained, const int32_t* seen, const int32_t* seen_offsets,
                int top, int32_t* tokens, float* logprobs, float* entropies, int32_t* top_ids, float* top_logprobs, uint32_t* kept,
                float* kept_logprobs);

}  // namespace ARPO_NS
