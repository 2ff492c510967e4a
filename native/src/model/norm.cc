// RMSNorm and rotary positions.
#include "../kernels.h"
#include "../rows.h"

namespace ARPO_NS {

void rms_norm(const float* x, const float* weight, float* y, float* inverse, int rows, int width,
              float epsilon) {
  row_chunks(rows, width, [&](int begin, int end, int) {
    for (int r = begin; r < end; r++) {
      const float* xr = x + (ptrdiff_t)r * width;
      float* yr = y + (ptrdiff_t)r * width;
      float scale = 1.0f / __builtin_sqrtf(dot(xr, xr, width) / width + epsilon);
      inverse[r] = scale;
      for (int i = 0; i < width; i++) yr[i] = xr[i] * scale * weight[i];
    }
  });
}

void rms_norm_grad(const float* dy, const float* x, const float* weight, const float* inverse,
                   float* dx, float* dweight, int rows, int width) {
  // The weight's gradient sums over rows: by pieces of a fixed size, then the pieces in order.
  const int size = CHUNK / width + 1;
  const int pieces = ceil_div(rows, size);
  float* partial = (float*)arpo_scratch(0, 2, sizeof(float) * (size_t)pieces * width);
  chunks(rows, size, [&](int begin, int end, int) {
    float* sum = partial + (ptrdiff_t)(begin / size) * width;
    for (int i = 0; i < width; i++) sum[i] = 0;
    for (int r = begin; r < end; r++) {
      const float* xr = x + (ptrdiff_t)r * width;
      const float* dr = dy + (ptrdiff_t)r * width;
      float* out = dx + (ptrdiff_t)r * width;
      float scale = inverse[r];
      vec along = {};
      each(width, [&](int i, int n) {
        vec xi = take(xr + i, n), di = take(dr + i, n);
        put(sum + i, take(sum + i, n) + di * xi * scale, n);
        along += di * take(weight + i, n) * xi;
      });
      float pull = lane_sum(along) / width * scale * scale;
      for (int i = 0; i < width; i++) out[i] = scale * (dr[i] * weight[i] - xr[i] * pull);
    }
  });
  for (int i = 0; i < width; i++) dweight[i] = 0;
  for (int p = 0; p < pieces; p++)
    for (int i = 0; i < width; i++) dweight[i] += partial[(ptrdiff_t)p * width + i];
}

void rope(const float* x, float* y, const float* cos, const float* sin, int batch, int time,
          int heads, int width, int inverse) {
  const int half = width / 2;
  row_chunks(batch * time, heads * width, [&](int begin, int end, int) {
    for (int r = begin; r < end; r++) {
      const float* c = cos + (ptrdiff_t)(r % time) * half;
      const float* s = sin + (ptrdiff_t)(r % time) * half;
      for (int h = 0; h < heads; h++) {
        const ptrdiff_t at = ((ptrdiff_t)r * heads + h) * width;
        const float *a = x + at, *b = a + half;
        each(half, [&](int i, int n) {
          vec ai = take(a + i, n), bi = take(b + i, n);
          vec ci = take(c + i, n), si = take(s + i, n);
          if (inverse) si = -si;
          put(y + at + i, ai * ci - bi * si, n);
          put(y + at + half + i, bi * ci + ai * si, n);
        });
      }
    }
  });
}

}  // namespace ARPO_NS
