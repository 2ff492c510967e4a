// A SIMD register's worth of floats through the compiler's vector types: the same source becomes
// AVX-512, AVX2, SSE, NEON or wasm SIMD. Lane-wise operations only, so results do not depend on how
// a row is cut; sums over lanes have one fixed order.
#pragma once
#include "platform.h"
#if defined(ARPO_ISA_avx512) || defined(ARPO_ISA_avx2)
#include <immintrin.h>
#endif

namespace ARPO_NS {

enum { LANES = ARPO_LANES };
typedef float vec __attribute__((vector_size(LANES * 4)));
typedef int32_t ivec __attribute__((vector_size(LANES * 4)));
typedef float vec_loose __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

ARPO_INLINE vec load(const float* p) { return *(const vec_loose*)p; }
ARPO_INLINE void store(float* p, vec v) { *(vec_loose*)p = v; }
ARPO_INLINE vec splat(float x) { return x - (vec){}; }
ARPO_INLINE ivec isplat(int32_t x) { return x - (ivec){}; }
ARPO_INLINE vec select(ivec mask, vec yes, vec no) {
  return (vec)(((ivec)yes & mask) | ((ivec)no & ~mask));
}
#if defined(ARPO_ISA_avx512)
// The compiler would do these element by element, or in three instructions for one.
ARPO_INLINE __mmask16 lanes_below(int count) { return (__mmask16)((1u << count) - 1); }
ARPO_INLINE vec load_part(const float* p, int count) {
  return (vec)_mm512_maskz_loadu_ps(lanes_below(count), p);
}
ARPO_INLINE void store_part(float* p, vec v, int count) {
  _mm512_mask_storeu_ps(p, lanes_below(count), (__m512)v);
}
ARPO_INLINE vec vmax(vec a, vec b) { return (vec)_mm512_max_ps((__m512)a, (__m512)b); }
ARPO_INLINE vec vmin(vec a, vec b) { return (vec)_mm512_min_ps((__m512)a, (__m512)b); }
#else
ARPO_INLINE vec load_part(const float* p, int count) {
  vec v = {};
  for (int i = 0; i < count; i++) v[i] = p[i];
  return v;
}
ARPO_INLINE void store_part(float* p, vec v, int count) {
  for (int i = 0; i < count; i++) p[i] = v[i];
}
#if defined(ARPO_ISA_avx2)
ARPO_INLINE vec vmax(vec a, vec b) { return (vec)_mm256_max_ps((__m256)a, (__m256)b); }
ARPO_INLINE vec vmin(vec a, vec b) { return (vec)_mm256_min_ps((__m256)a, (__m256)b); }
#else
ARPO_INLINE vec vmax(vec a, vec b) { return select(a > b, a, b); }
ARPO_INLINE vec vmin(vec a, vec b) { return select(a < b, a, b); }
#endif
#endif

#if defined(ARPO_ISA_avx512) || defined(ARPO_ISA_avx2)
// As below, in registers.
ARPO_INLINE float lane_sum(vec v) {
#if defined(ARPO_ISA_avx512)
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256((__m512)v), _mm512_extractf32x8_ps((__m512)v, 1));
#else
  const __m256 half = (__m256)v;
#endif
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
#else
ARPO_INLINE float lane_sum(vec v) {
  float s[LANES];
  store(s, v);
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int i = 0; i < half; i++) s[i] += s[i + half];
  return s[0];
}
#endif
ARPO_INLINE float lane_max(vec v) {
  float s[LANES];
  store(s, v);
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int i = 0; i < half; i++) s[i] = s[i] > s[i + half] ? s[i] : s[i + half];
  return s[0];
}

// e^r for |r| <= ln(2) / 2.
ARPO_INLINE vec small_exp(vec r) {
  vec p = splat(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return p * (r * r) + r + 1.0f;
}

// e^x to about 1 ulp; below -87.3 it is 0, above 88.7 infinity, NaN stays NaN.
#if defined(ARPO_ISA_avx512)
ARPO_INLINE vec vexp(vec x) {
  // In this order of arguments NaN goes through.
  vec clipped = vmin(splat(88.8f), vmax(splat(-87.4f), x));
  vec n = (vec)_mm512_roundscale_ps((__m512)(clipped * 1.44269504f), 0);
  vec r = clipped - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  __mmask16 some = _mm512_cmp_ps_mask((__m512)x, (__m512)splat(-87.33655f), _CMP_NLT_UQ);
  return (vec)_mm512_maskz_scalef_ps(some, (__m512)small_exp(r), (__m512)n);
}
// The same for x up to 88.
ARPO_INLINE vec vexp_low(vec x) { return vexp(x); }
#else
ARPO_INLINE vec vexp(vec x) {
  const vec magic = splat(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  vec clipped = vmin(vmax(x, splat(-87.4f)), splat(88.8f));
  vec shifted = clipped * 1.44269504f + magic;
  vec n = shifted - magic;
  vec r = clipped - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  vec p = small_exp(r);
  // 2^n in two halves, so that n = 128 does not overflow before the product does.
  ivec in = (ivec)shifted - (ivec)magic;
  ivec half = in >> 1;
  vec scaled = p * (vec)((half + 127) << 23) * (vec)((in - half + 127) << 23);
  scaled = select(x < splat(-87.33655f), splat(0.0f), scaled);
  return select(x == x, scaled, x);
}
// The same for x up to 88, in half as many instructions.
ARPO_INLINE vec vexp_low(vec x) {
  const vec magic = splat(12582912.0f);
  vec clipped = vmax(splat(-87.4f), x);  // in this order NaN goes through
  vec shifted = clipped * 1.44269504f + magic;
  vec n = shifted - magic;
  vec r = clipped - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  vec scaled = small_exp(r) * (vec)(((ivec)shifted << 23) + (127 << 23));
  return select(x < splat(-87.33655f), splat(0.0f), scaled);
}
#endif

// ln x for positive finite x to about 1 ulp (subnormals count as the smallest normal).
ARPO_INLINE vec vlog(vec x) {
  ivec bits = (ivec)vmax(x, splat(1.17549435e-38f));
  ivec e = (bits >> 23) - 126;
  vec m = (vec)((bits & 0x007fffff) | 0x3f000000);  // [0.5, 1)
  ivec small = m < splat(0.707106781186547524f);
  e = e + small;  // true is -1
  m = m + select(small, m, splat(0.0f)) - 1.0f;
  vec z = m * m;
  vec p = splat(7.0376836292e-2f);
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  p = p * m * z;
  vec fe = __builtin_convertvector(e, vec);
  p = p + fe * -2.12194440e-4f;
  p = p - z * 0.5f;
  return m + p + fe * 0.693359375f;
}

// x sigmoid(x), and GELU in its tanh form, which is x sigmoid(z(x)).
ARPO_INLINE vec gelu_inner(vec x) { return 1.5957691216057308f * (x + 0.044715f * x * x * x); }
ARPO_INLINE vec vsilu(vec x) { return x / (1.0f + vexp(-x)); }
ARPO_INLINE vec vgelu(vec x) { return x / (1.0f + vexp(-gelu_inner(x))); }

ARPO_INLINE float exp1(float x) { return vexp(splat(x))[0]; }
ARPO_INLINE float log1(float x) { return vlog(splat(x))[0]; }

}  // namespace ARPO_NS
