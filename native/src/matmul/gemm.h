// Matrix products, float32, row-major.
//
// Every element of C is one chain of multiply-adds over k in rising order (cut at multiples of
// GEMM_KC, each piece summed from zero and then added), whatever the shape of the call; or, in `gemm`
// and `gemm_right` where n and k are not small, what bf16_gemm.h says where products are rounded, or tiles.h where
// the processor has matrix tiles.
// So a row of C has the same bytes alone, in a bigger batch, and on any number of threads.
#pragma once
#include "../platform.h"

namespace ARPO_NS {

enum { GEMM_KC = 256 };

struct Matrix {
  const float* data;
  int stride;       // elements from one stored row to the next
  bool transposed;  // the product sees the transpose of what is stored
};

// C (m x n, rows `ldc` apart) = alpha A B, or C += alpha A B. Uses the pool.
void gemm(int m, int n, int k, float alpha, Matrix a, Matrix b, bool accumulate, float* c, int ldc);

bool products_are_rounded();  // to bfloat16 (kernels.h)

// The same for a B prepared once: in whatever form suits this machine, of that many bytes.
size_t right_bytes(int n, int k);
void right_pack(int n, int k, Matrix b, void* right);
void gemm_right(int m, int n, int k, float alpha, Matrix a, const void* right, bool accumulate,
                float* c, int ldc);

// The same in the calling task's thread.
void gemm_serial(int thread, int m, int n, int k, float alpha, Matrix a, Matrix b, bool accumulate,
                 float* c, int ldc);

// B prepared once (k x n after transposition), for products that use it many times. A product may use
// fewer columns or steps than were packed: `depth` is the k that B was packed with.
size_t gemm_packed_size(int n, int k);  // in floats
void gemm_pack(int n, int k, Matrix b, float* packed);
void gemm_pack_serial(int n, int k, Matrix b, float* packed);
void gemm_packed(int m, int n, int k, float alpha, Matrix a, const float* packed, int depth,
                 bool accumulate, float* c, int ldc);
void gemm_packed_serial(int thread, int m, int n, int k, float alpha, Matrix a,
                        const float* packed, int depth, bool accumulate, float* c, int ldc);

// All of what was packed.
inline void gemm_packed(int m, int n, int k, float alpha, Matrix a, const float* packed,
                        bool accumulate, float* c, int ldc) {
  gemm_packed(m, n, k, alpha, a, packed, k, accumulate, c, ldc);
}
inline void gemm_packed_serial(int thread, int m, int n, int k, float alpha, Matrix a,
                               const float* packed, bool accumulate, float* c, int ldc) {
  gemm_packed_serial(thread, m, n, k, alpha, a, packed, k, accumulate, c, ldc);
}

}  // namespace ARPO_NS
