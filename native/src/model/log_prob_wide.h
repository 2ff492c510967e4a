// Log-probabilities and entropies over vocabularies whose output matrix is too large to be kept prepared:
// a stretch of words at a time, prepared once for many rows, so that not even a block of rows has all
// of its logits at once.
#pragma once
#include "../platform.h"

namespace ARPO_NS {

// Whether log_prob.cc leaves such a matrix to the functions below; does not depend on the rows.
bool log_prob_is_wide(int width, int vocabulary);

void log_prob_wide(const float* hidden, const float* head, const int32_t* labels, float* logprobs,
                   float* entropies, float* normaliser, int rows, int width, int vocabulary,
                   float temperature);

// `dhead` may be null.
void log_prob_wide_grad(const float* dlogprobs, const float* dentropies, const float* hidden,
                        const float* head, const int32_t* labels, const float* entropies,
                        const float* normaliser, float* dhidden, float* dhead, int rows, int width,
                        int vocabulary, float temperature);

}  // namespace ARPO_NS
