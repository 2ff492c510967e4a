// Element by element, rows of a table, sums, and the optimiser.
#include "../kernels.h"
#include "../rows.h"

namespace ARPO_NS {
namespace {

template <class F>
ARPO_INLINE void combine(const float* a, int a_step, const float* b, int b_step, float* out,
                         int count, const F& f) {
  chunks(count, CHUNK, [&](int begin, int end, int) {
    vec a0 = splat(a[0]), b0 = splat(b[0]);
    for (int i = begin; i < end; i += LANES) {
      int n = least(LANES, end - i);
      put(out + i, f(a_step ? take(a + i, n) : a0, b_step ? take(b + i, n) : b0), n);
    }
  });
}

}  // namespace

void binary(int operation, const float* a, int a_step, const float* b, int b_step, float* out,
            int count) {
  switch (operation) {
    case 0:
      return combine(a, a_step, b, b_step, out, count, [](vec x, vec y) { return x + y; });
    case 1:
      return combine(a, a_step, b, b_step, out, count, [](vec x, vec y) { return x - y; });
    case 2:
      return combine(a, a_step, b, b_step, out, count, [](vec x, vec y) { return x * y; });
    default:
      return combine(a, a_step, b, b_step, out, count, [](vec x, vec y) { return x / y; });
  }
}

void add_bias(float* rows, const float* bias, int count, int width) {
  row_chunks(count, width, [&](int begin, int end, int) {
    for (int r = begin; r < end; r++)
      for (int i = 0; i < width; i++) rows[(ptrdiff_t)r * width + i] += bias[i];
  });
}

void column_sum(const float* rows, float* sums, int count, int width) {
  chunks(width, 64, [&](int begin, int end, int) {
    for (int i = begin; i < end; i++) sums[i] = 0;
    for (int r = 0; r < count; r++)
      for (int i = begin; i < end; i++) sums[i] += rows[(ptrdiff_t)r * width + i];
  });
}

void swiglu(const float* gate, const float* up, float* out, int count) {
  chunks(count, CHUNK / 2, [&](int begin, int end, int) {
    each(end - begin, [&](int i, int n) {
      i += begin;
      vec g = take(gate + i, n);
      put(out + i, g / (1.0f + vexp(-g)) * take(up + i, n), n);
    });
  });
}

void swiglu_grad(const float* dout, const float* gate, const float* up, float* dgate, float* dup,
                 int count) {
  chunks(count, CHUNK / 2, [&](int begin, int end, int) {
    each(end - begin, [&](int i, int n) {
      i += begin;
      vec g = take(gate + i, n), d = take(dout + i, n);
      vec s = 1.0f / (1.0f + vexp(-g));
      put(dup + i, d * g * s, n);
      put(dgate + i, d * take(up + i, n) * s * (1.0f + g * (1.0f - s)), n);
    });
  });
}

void geglu(const float* gate, const float* up, float* out, int count) {
  chunks(count, CHUNK / 2, [&](int begin, int end, int) {
    each(end - begin, [&](int i, int n) {
      i += begin;
      put(out + i, vgelu(take(gate + i, n)) * take(up + i, n), n);
    });
  });
}

void geglu_grad(const float* dout, const float* gate, const float* up, float* dgate, float* dup,
                int count) {
  chunks(count, CHUNK / 2, [&](int begin, int end, int) {
    each(end - begin, [&](int i, int n) {
      i += begin;
      vec g = take(gate + i, n), d = take(dout + i, n);
      vec s = 1.0f / (1.0f + vexp(-gelu_inner(g)));
      vec slope = 1.5957691216057308f * (1.0f + 0.134145f * g * g);
      put(dup + i, d * g * s, n);
      put(dgate + i, d * take(up + i, n) * s * (1.0f + g * (1.0f - s) * slope), n);
    });
  });
}

void embed(const float* table, const int32_t* ids, float* out, int rows, int width) {
  row_chunks(rows, width, [&](int begin, int end, int) {
    for (int r = begin; r < end; r++)
      memcpy(out + (ptrdiff_t)r * width, table + (ptrdiff_t)ids[r] * width, sizeof(float) * width);
  });
}

void embed_grad(const float* dout, const int32_t* ids, float* dtable, int rows, int width,
                int vocabulary) {
  // Each task owns some columns and walks all rows in order.
  chunks(width, width <= 256 ? ceil_div(width, 2) : 128, [&](int begin, int end, int) {
    for (int v = 0; v < vocabulary; v++)
      memset(dtable + (ptrdiff_t)v * width + begin, 0, sizeof(float) * (end - begin));
    for (int r = 0; r < rows; r++) {
      float* to = dtable + (ptrdiff_t)ids[r] * width;
      const float* from = dout + (ptrdiff_t)r * width;
      for (int i = begin; i < end; i++) to[i] += from[i];
    }
  });
}

namespace {

float* at(double address) { return (float*)(uintptr_t)address; }

// body(array, begin, end, piece) over arrays of different lengths, in pieces of a fixed size that are
// counted through.
template <class Body>
ARPO_INLINE void pieces_of(const int32_t* counts, int arrays, const Body& body) {
  int32_t* first = (int32_t*)arpo_scratch(0, 3, sizeof(int32_t) * (size_t)(arrays + 1));
  int32_t pieces = 0;
  for (int i = 0; i < arrays; i++) first[i] = pieces, pieces += ceil_div(counts[i], CHUNK);
  first[arrays] = pieces;
  parallel(pieces, [&](int piece, int) {
    int low = 0, high = arrays - 1;  // the last array that begins at or before the piece
    while (low < high) {
      const int middle = (low + high + 1) / 2;
      if (first[middle] <= piece) low = middle;
      else high = middle - 1;
    }
    const int begin = (piece - first[low]) * CHUNK;
    body(low, begin, least(counts[low], begin + CHUNK), piece);
  });
}

}  // namespace

double square_sum(const double* arrays, const int32_t* counts, int count) {
  int pieces = 0;
  for (int i = 0; i < count; i++) pieces += ceil_div(counts[i], CHUNK);
  double* partial = (double*)arpo_scratch(0, 2, sizeof(double) * (size_t)(pieces + 1));
  pieces_of(counts, count, [&](int array, int begin, int end, int piece) {
    const float* x = at(arrays[array]);
    double sums[8] = {};
    int i = begin;
    for (; i + 8 <= end; i += 8)
      for (int j = 0; j < 8; j++) sums[j] += (double)x[i + j] * x[i + j];
    for (; i < end; i++) sums[0] += (double)x[i] * x[i];
    double total = 0;
    for (double s : sums) total += s;
    partial[piece] = total;
  });
  double total = 0;
  for (int i = 0; i < pieces; i++) total += partial[i];
  return total;
}

namespace {

struct Update {
  float keep, step, unbias, beta1, beta2, epsilon, scale;
};

// Arrays apart from one another and plain numbers: else a compiler cannot take several elements at once.
void update(int count, float* __restrict parameter, const float* __restrict gradient, float* __restrict m,
            float* __restrict v, const Update u) {
  for (int i = 0; i < count; i++) {
    const float g = gradient[i] * u.scale;
    m[i] = u.beta1 * m[i] + (1.0f - u.beta1) * g;
    v[i] = u.beta2 * v[i] + (1.0f - u.beta2) * g * g;
    const float root = __builtin_sqrtf(v[i]) * u.unbias + u.epsilon;
    parameter[i] = parameter[i] * u.keep - u.step * m[i] / root;
  }
}

}  // namespace

void adamw(const double* parameters, const double* gradients, const double* ms, const double* vs,
           const int32_t* counts, int count, float learning_rate, float beta1, float beta2,
           float epsilon, float weight_decay, float scale, float correction1, float correction2) {
  const Update u = {1.0f - learning_rate * weight_decay, learning_rate / correction1,
                    1.0f / __builtin_sqrtf(correction2), beta1, beta2, epsilon, scale};
  pieces_of(counts, count, [&](int array, int begin, int end, int) {
    update(end - begin, at(parameters[array]) + begin, at(gradients[array]) + begin, at(ms[array]) + begin,
           at(vs[array]) + begin, u);
  });
}

}  // namespace ARPO_NS
