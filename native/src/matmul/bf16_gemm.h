// Matrix products whose factors are rounded to bfloat16 and whose sums are float32's, for training in mixed
// precision. Every element of C is one chain over pairs of steps in rising order (cut at multiples of BF16_KC, each
// piece summed from zero and then added), so a row of C has the same bytes alone, in a bigger batch, and on any
// number of threads.
#pragma once
#include "gemm.h"

namespace ARPO_NS {

enum { BF16_KC = 512 };

// C (m x n, rows `ldc` apart) = alpha A B, or C += alpha A B. Uses the pool.
void gemm_bf16(int m, int n, int k, float alpha, Matrix a, Matrix b, bool accumulate, float* c, int ldc);

// The same for a B prepared once.
size_t bf16_right_bytes(int n, int k);
void bf16_right_pack(int n, int k, Matrix b, uint32_t* right);
void gemm_bf16_right(int m, int n, int k, float alpha, Matrix a, const uint32_t* right, bool accumulate, float* c,
                     int ldc);

}  // namespace ARPO_NS
