#include "dots.h"

#include "narrow_load.h"

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif defined(__SSE2__)
#include <immintrin.h>
#endif
#if defined(ARPO_ISA_avx512)
extern "C" int arpo_has_dots();
#elif defined(ARPO_ISA_avx2) && (defined(__clang__) ? __clang_major__ >= 13 : __GNUC__ >= 12)
// The assemblers that come with older compilers do not know the instruction in AVX2's form.
#define ARPO_AVX_VNNI
extern "C" int arpo_has_avx_vnni();
#endif

// A block of NR outputs: the scales of all its groups (dot4: after each group's scales its offsets), float16;
// from a multiple of 64 bytes on, the numbers by groups and quads of steps: a quad has four steps' numbers of
// each output side by side. dot4 has two quads in one line, the even one in the low half bytes; numbers of
// dot8 are kept with 128 added, so that they have no sign.
namespace ARPO_NS {
namespace {

enum {
  QUADS = GROUP / 4,  // of a group
  LINE = 4 * NR,      // bytes
  ROWS = 4,           // multiplied together
};

struct Layout {
  bool four;
  size_t heads, numbers, block;  // bytes

  Layout(Format format, int in) : four(format == Format::dot4) {
    const size_t groups = in / GROUP;
    heads = (groups * NR * (four ? 4 : 2) + 63) / 64 * 64;
    numbers = groups * QUADS * LINE / (four ? 2 : 1);
    block = (heads + numbers + 63) / 64 * 64;
  }
};

// The nth row that came.
bool load_row(Format format, void* dots, int in, int row, Stored from, ptrdiff_t nth) {
  const Layout layout(format, in);
  uint8_t* to = (uint8_t*)dots + row / NR * layout.block;
  uint16_t* heads = (uint16_t*)to + row % NR;
  to += layout.heads + row % NR * 4;
  bool finite = true;
  for (int g = 0; g < in / GROUP; g++) {
    const Block block = block_of(layout.four, from, nth * (in / GROUP) + g);
    finite = finite && block.finite;
    *heads = block.scale, heads += NR;
    if (layout.four) *heads = block.offset, heads += NR;
    for (int p = 0; p < GROUP; p += layout.four ? 8 : 4, to += LINE)
      for (int i = 0; i < 4; i++)
        to[i] = layout.four ? (uint8_t)(block.numbers[p + i] | block.numbers[p + 4 + i] << 4)
                            : (uint8_t)(block.numbers[p + i] ^ 0x80);
  }
  return finite;
}

// After a row's numbers, of each group.
struct __attribute__((may_alias)) Head {
  float scale;
  int32_t sum;  // of its numbers
};

// Whether the processor adds four products of bytes at once.
#if defined(ARPO_ISA_avx512)
#define ARPO_FOURS
bool fours_here() { return arpo_has_dots(); }
#elif defined(ARPO_AVX_VNNI)
#define ARPO_FOURS
bool fours_here() { return arpo_has_avx_vnni(); }
#endif

// Whether rows are multiplied as bytes here, or as numbers of 16 bits.
bool as_bytes() {
#if defined(ARPO_ISA_avx512)
  return fours_here();
#elif defined(ARPO_ISA_avx2)
  return true;
#else
  return false;
#endif
}

// One group of numbers.
Head round_group(const float* x, int8_t* to) {
  ivec top = {};
  for (int i = 0; i < GROUP; i += LANES) {
    const ivec magnitude = (ivec)load(x + i) & 0x7fffffff;
    top = magnitude > top ? magnitude : top;
  }
  int32_t most = 0;
  for (int i = 0; i < LANES; i++) most = top[i] > most ? top[i] : most;
  float largest;
  memcpy(&largest, &most, 4);
  const bool some = largest > 1e-30f;
  const float turns = some && most < 0x7f800000 ? 127.0f / largest : 0.0f;
  ivec sums = {};
  for (int i = 0; i < GROUP; i += LANES) {
    const vec at = load(x + i) * turns;
    const ivec whole = __builtin_convertvector(at + select(at < 0.0f, splat(-0.5f), splat(0.5f)), ivec);
    sums += whole;
#if defined(ARPO_ISA_avx512)
    _mm_storeu_si128((__m128i*)(to + i), _mm512_cvtepi32_epi8((__m512i)whole));
#else
    for (int j = 0; j < LANES; j++) to[i + j] = (int8_t)whole[j];
#endif
  }
  int32_t sum = 0;
  for (int i = 0; i < LANES; i++) sum += sums[i];
  return {most >= 0x7f800000 ? __builtin_nanf("") : some ? largest / 127.0f : 0.0f, sum};
}

typedef int32_t four_bytes __attribute__((may_alias));

typedef int16_t svec __attribute__((vector_size(LANES * 4)));

// Products of pairs of 16-bit numbers, added.
ARPO_INLINE ivec pairs(svec a, svec b) {
#if defined(ARPO_ISA_avx512)
  return (ivec)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(ARPO_ISA_avx2)
  return (ivec)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__wasm_simd128__)
  return (ivec)wasm_i32x4_dot_i16x8((v128_t)a, (v128_t)b);
#elif defined(__SSE2__)
  return (ivec)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
  return (((ivec)a << 16) >> 16) * (((ivec)b << 16) >> 16) + ((ivec)a >> 16) * ((ivec)b >> 16);
#endif
}

// How a quad's four products are added, for each lane's bytes without a sign and the same four numbers of a row:
// what a group's sum starts with, given the sum of the row's numbers; what weights and numbers are made to; a
// step; and the sum in the end.
#if defined(ARPO_FOURS)
template <bool FOUR>
struct Fours {
  enum { QUAD = 4 };  // bytes of a row's quad
  typedef ivec Weights;
  typedef ivec Inputs;
  ARPO_INLINE ivec start(int32_t row) { return isplat(FOUR ? 0 : -128 * row); }
  ARPO_INLINE Weights open(ivec bytes) { return bytes; }
  ARPO_INLINE Inputs spread(const int8_t* x) { return isplat(*(const four_bytes*)x); }
  ARPO_INLINE ivec add(ivec sum, Weights w, Inputs x) {
    // Written out, since a function for processors that know it could not be called inline from here.
#if defined(ARPO_AVX_VNNI)
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(w), "x"(x));
#else
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(w), "v"(x));
#endif
    return sum;
  }
  ARPO_INLINE ivec finish(ivec sum) { return sum; }
};
#endif

#if defined(ARPO_ISA_avx2)
ARPO_INLINE svec byte_pairs(ivec without_sign, ivec with_sign) {
  return (svec)_mm256_maddubs_epi16((__m256i)without_sign, (__m256i)with_sign);
}
ARPO_INLINE ivec halves_added(svec pairs_of_lanes) { return pairs(pairs_of_lanes, 1 - (svec){}); }

// Pairs of products of bytes fit into 16 bits: a group's of 4 bits all together, 8 * 2 * 15 * 127; of 8 bits two,
// 2 * 128 * 127, with the sign on the row's side.
template <bool FOUR>
struct Bytes {
  enum { QUAD = 4 };
  struct Weights {
    ivec magnitudes, bytes;
  };
  typedef ivec Inputs;
  ARPO_INLINE ivec start(int32_t) { return isplat(0); }
  ARPO_INLINE Weights open(ivec bytes) {
    if (FOUR) return {bytes, bytes};
    bytes ^= (int32_t)0x80808080;
    return {(ivec)_mm256_abs_epi8((__m256i)bytes), bytes};
  }
  ARPO_INLINE Inputs spread(const int8_t* x) { return isplat(*(const four_bytes*)x); }
  ARPO_INLINE ivec add(ivec sum, Weights w, Inputs x) {
    if (FOUR) return (ivec)((svec)sum + byte_pairs(w.magnitudes, x));
    return sum + halves_added(byte_pairs(w.magnitudes, (ivec)_mm256_sign_epi8((__m256i)x, (__m256i)w.bytes)));
  }
  ARPO_INLINE ivec finish(ivec sum) { return FOUR ? halves_added((svec)sum) : sum; }
};
#endif

template <bool FOUR>
struct Pairs {
  enum { QUAD = 8 };
  struct Weights {
    svec even, odd;
  };
  typedef Weights Inputs;
  ARPO_INLINE ivec start(int32_t row) { return isplat(FOUR ? 0 : -128 * row); }
  ARPO_INLINE Weights open(ivec bytes) { return {(svec)(bytes & 0x00ff00ff), (svec)((bytes >> 8) & 0x00ff00ff)}; }
  ARPO_INLINE Inputs spread(const int8_t* x) {
    const four_bytes* both = (const four_bytes*)x;
    return {(svec)isplat(both[0]), (svec)isplat(both[1])};
  }
  ARPO_INLINE ivec add(ivec sum, Weights w, Inputs x) { return sum + pairs(w.even, x.even) + pairs(w.odd, x.odd); }
  ARPO_INLINE ivec finish(ivec sum) { return sum; }
};

template <int M, class Add>
ARPO_INLINE void add_quad(ivec (*sum)[NV], const int8_t* x, ptrdiff_t stride, const ivec* bytes) {
  typename Add::Weights w[NV];
#pragma GCC unroll 3
  for (int v = 0; v < NV; v++) w[v] = Add::open(bytes[v]);
#pragma GCC unroll 8
  for (int i = 0; i < M; i++) {
    const typename Add::Inputs xi = Add::spread(x + i * stride);
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++) sum[i][v] = Add::add(sum[i][v], w[v], xi);
  }
}

typedef ivec ivec_loose __attribute__((aligned(4), may_alias));

// M rows by one block of outputs.
template <int M, class Add, bool FOUR>
__attribute__((noinline)) void product(int in, const uint16_t* heads, const uint8_t* numbers, const int8_t* x,
                                       ptrdiff_t stride, bool add, float* y, int ldy, int columns) {
  vec sum[M][NV] = {};
  // Where the first row has the heads of its groups.
  const int8_t* tail = x + in / 4 * Add::QUAD;
  for (int g = 0; g < in / GROUP; g++, heads += FOUR ? 2 * NR : NR) {
    Head head[M];
    ivec whole[M][NV];
#pragma GCC unroll 8
    for (int i = 0; i < M; i++) {
      head[i] = ((const Head*)(tail + i * stride))[g];
#pragma GCC unroll 3
      for (int v = 0; v < NV; v++) whole[i][v] = Add::start(head[i].sum);
    }
    for (int quad = 0; quad < QUADS; quad += FOUR ? 2 : 1, numbers += LINE) {
      // The processor's own prefetch stops at every page. Rows that come by whole batches use the weights again.
      if (M < ROWS)
#pragma GCC unroll 3
        for (int at = 0; at < LINE; at += 64) __builtin_prefetch(numbers + 4096 + at, 0, 2);
      ivec bytes[NV], high[NV];
#pragma GCC unroll 3
      for (int v = 0; v < NV; v++) {
        bytes[v] = *(const ivec_loose*)(numbers + v * LANES * 4);
        if (FOUR) high[v] = (bytes[v] >> 4) & 0x0f0f0f0f, bytes[v] &= 0x0f0f0f0f;
      }
      const int8_t* at = x + (g * QUADS + quad) * Add::QUAD;
      add_quad<M, Add>(whole, at, stride, bytes);
      if (FOUR) add_quad<M, Add>(whole, at + Add::QUAD, stride, high);
    }
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++) {
      const vec scale = widen_float16(heads + v * LANES);
      const vec offset = FOUR ? widen_float16(heads + NR + v * LANES) : scale;
#pragma GCC unroll 8
      for (int i = 0; i < M; i++) {
        sum[i][v] += __builtin_convertvector(Add::finish(whole[i][v]), vec) * (scale * head[i].scale);
        if (FOUR) sum[i][v] += offset * (head[i].scale * (float)head[i].sum);
      }
    }
  }
  put_sums<M>(sum, nullptr, add, y, ldy, columns);
}

typedef void (*Product)(int, const uint16_t*, const uint8_t*, const int8_t*, ptrdiff_t, bool, float*, int, int);

template <template <bool> class Add, bool FOUR>
const Product* products() {
  static const Product all[] = {product<1, Add<FOUR>, FOUR>, product<2, Add<FOUR>, FOUR>,
                                product<3, Add<FOUR>, FOUR>, product<4, Add<FOUR>, FOUR>};
  return all;
}

const Product* products_here(bool four) {
#if defined(ARPO_FOURS)
  if (fours_here()) return four ? products<Fours, true>() : products<Fours, false>();
#endif
#if defined(ARPO_ISA_avx2)
  return four ? products<Bytes, true>() : products<Bytes, false>();
#else
  return four ? products<Pairs, true>() : products<Pairs, false>();
#endif
}

template <class Add>
double peak(int rounds) {
  enum { STEPS = 1000 };
  ivec sum[ROWS][NV] = {}, bytes[NV];
#pragma GCC unroll 3
  for (int v = 0; v < NV; v++) bytes[v] = isplat(0x01020304 * (v + 1));
  int8_t x[ROWS * 64] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int step = 0; step < rounds * STEPS; step++) {
    asm volatile("" : : "r"(x) : "memory");  // the row may be another now
    add_quad<ROWS, Add>(sum, x, 64, bytes);
  }
  ivec all = {};
#pragma GCC unroll 8
  for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 3
    for (int v = 0; v < NV; v++) all |= Add::finish(sum[i][v]);
  int32_t found[LANES];
  memcpy(found, &all, sizeof found);
  return found[0] != 0 ? 2.0 * 4 * LANES * NV * ROWS * STEPS * rounds : 0;
}

}  // namespace

double dots_peak(int rounds) {
#if defined(ARPO_FOURS)
  if (fours_here()) return peak<Fours<true>>(rounds);
#endif
#if defined(ARPO_ISA_avx2)
  return peak<Bytes<true>>(rounds);
#else
  return peak<Pairs<true>>(rounds);
#endif
}

size_t dots_bytes(Format format, int out, int in) { return ceil_div(out, NR) * Layout(format, in).block; }

int dots_load(Format format, void* dots, int in, int first, int rows, Stored from) {
  return each_row(first, rows,
                  [&](int row, ptrdiff_t nth) { return load_row(format, dots, in, row, from, nth); });
}

size_t dots_row_bytes(int in) {
  return (in * (as_bytes() ? 1 : 2) + in / GROUP * sizeof(Head) + 63) / 64 * 64;
}

void dots_rows(const float* x, int in, int from, int to, int8_t* rows) {
  const bool bytes = as_bytes();
  for (int row = from; row < to; row++) {
    int8_t* numbers = rows + row * dots_row_bytes(in);
    int8_t* tail = numbers + in * (bytes ? 1 : 2);
    for (int g = 0; g < in / GROUP; g++) {
      int8_t group[GROUP];
      ((Head*)tail)[g] = round_group(x + (ptrdiff_t)row * in + g * GROUP, group);
      if (bytes) {
        memcpy(numbers + g * GROUP, group, GROUP);
        continue;
      }
      // The even and the odd numbers of each quad, as weights come.
      int16_t* pairs = (int16_t*)numbers + g * GROUP;
      for (int p = 0; p < GROUP; p += 4)
        pairs[p] = group[p], pairs[p + 1] = group[p + 2], pairs[p + 2] = group[p + 1], pairs[p + 3] = group[p + 3];
    }
  }
}

void dots_columns(Format format, const void* dots, int out, int in, const int8_t* x, int rows, int from, int to,
                  bool add, float* y, int ldy) {
  const Layout layout(format, in);
  const Product* all = products_here(layout.four);
  const ptrdiff_t stride = dots_row_bytes(in);
  for (int block = from; block < to; block++) {
    const int column = block * NR;
    const uint8_t* at = (const uint8_t*)dots + block * layout.block;
    for (int i = 0; i < rows; i += ROWS)
      all[least(ROWS, rows - i) - 1](in, (const uint16_t*)at, at + layout.heads, x + i * stride, stride, add,
                                     y + (ptrdiff_t)i * ldy + column, ldy, least(NR, out - column));
  }
}

}  // namespace ARPO_NS
