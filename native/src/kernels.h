// Functions of the training ops, as JavaScript calls them (see exports.h).
#pragma once
#include "platform.h"

namespace ARPO_NS {

int threads();
void set_threads(int count);

// C (m x n) = alpha A B (+ C if accumulate); a and b may be read transposed; `batch` products, the
// strides say how far apart (0 repeats the same matrix).
void matmul(const float* a, int a_stride, int a_transposed, int a_batch, const float* b,
            int b_stride, int b_transposed, int b_batch, float* c, int c_stride, int c_batch,
            int batch, int m, int n, int k, float alpha, int accumulate);
double pack_size(int n, int k);
void pack(const float* b, int b_stride, int b_transposed, int n, int k, float* packed);
void matmul_packed(const float* a, int a_stride, const float* packed, float* c, int c_stride,
                   int m, int n, int k, float alpha, int accumulate);

}  // namespace ARPO_NS
