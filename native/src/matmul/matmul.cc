#include "gemm.h"
#include "../kernels.h"
#include "../pool.h"

namespace ARPO_NS {

int threads() { return arpo_pool_threads(); }
void set_threads(int count) { arpo_pool_set_threads(count); }

void matmul(const float* a, int a_stride, int a_transposed, int a_batch, const float* b,
            int b_stride, int b_transposed, int b_batch, float* c, int c_stride, int c_batch,
            int batch, int m, int n, int k, float alpha, int accumulate) {
  auto at = [&](int i) { return Matrix{a + (ptrdiff_t)i * a_batch, a_stride, a_transposed != 0}; };
  auto bt = [&](int i) { return Matrix{b + (ptrdiff_t)i * b_batch, b_stride, b_transposed != 0}; };
  auto ct = [&](int i) { return c + (ptrdiff_t)i * c_batch; };
  // The same arithmetic for any number of them.
  if (batch < 8 || products_are_rounded()) {
    for (int i = 0; i < batch; i++)
      gemm(m, n, k, alpha, at(i), bt(i), accumulate != 0, ct(i), c_stride);
    return;
  }
  parallel(batch, [&](int i, int thread) {
    gemm_serial(thread, m, n, k, alpha, at(i), bt(i), accumulate != 0, ct(i), c_stride);
  });
}

}  // namespace ARPO_NS
