// The training ops, as JavaScript calls them (see exports.h). All matrices are row-major float32.
// `..._grad` takes the gradient of the outputs first and writes, not adds to, the gradients of the
// inputs. A null output is not computed.
#pragma once
#include "platform.h"

namespace ARPO_NS {

// How many threads share the work. It changes no result.
int threads();
void set_threads(int count);
// Whether large matrix products from now on round their factors to bfloat16 (bf16_gemm.h).
void round_products(int on);

// C (m x n) = alpha A B (+ C if accumulate); a and b may be read transposed; `batch` products, the
// ..._batch strides say how far apart (0 repeats the same matrix).
void matmul(const float* a, int a_stride, int a_transposed, int a_batch, const float* b,
            int b_stride, int b_transposed, int b_batch, float* c, int c_stride, int c_batch,
            int batch, int m, int n, int k, float alpha, int accumulate);

// out = a (operation) b: 0 add, 1 subtract, 2 multiply, 3 divide. A step of 0 repeats one number.
void binary(int operation, const float* a, int a_step, const float* b, int b_step, float* out,
            int count);

// Rows plus a bias, in place; and its gradient, the sum of each column.
void add_bias(float* rows, const float* bias, int count, int width);
void column_sum(const float* rows, float* sums, int count, int width);

// y = x * inverse * weight, where inverse = 1 / sqrt(mean(x^2) + epsilon), one per row.
void rms_norm(const float* x, const float* weight, float* y, float* inverse, int rows, int width,
              float epsilon);
void rms_norm_grad(const float* dy, const float* x, const float* weight, const float* inverse,
                   float* dx, float* dweight, int rows, int width);

// Rotary positions over [batch, time, heads, width]; y may be x; `inverse` turns back.
void rope(const float* x, float* y, const float* cos, const float* sin, int batch, int time,
          int heads, int width, int inverse);

// Causal attention over [batch, time, heads, width]; lengths may be null. A position sees `window` positions,
// its own included; 0: all before it. `normaliser` [batch, heads, time] is the log of each softmax's denominator.
// unfold [batch, time] may be null. With it, q, k, v and out are of tokens [tokens, heads, width] that rows share, and
// it says which stands where: they are numbered in the order of rows and places. dk and dv are by places all the same.
void attention(const float* q, const float* k, const float* v, const int32_t* lengths, const int32_t* unfold,
               float* out, float* normaliser, int batch, int time, int heads, int kv_heads, int width, int window);
void attention_grad(const float* dout, const float* q, const float* k, const float* v,
                    const int32_t* lengths, const int32_t* unfold, const float* out, const float* normaliser,
                    float* dq, float* dk, float* dv, int batch, int time, int heads, int kv_heads, int width,
                    int window);

// silu(gate) * up
void swiglu(const float* gate, const float* up, float* out, int count);
void swiglu_grad(const float* dout, const float* gate, const float* up, float* dgate, float* dup,
                 int count);
// gelu(gate) * up, GELU in its tanh form
void geglu(const float* gate, const float* up, float* out, int count);
void geglu_grad(const float* dout, const float* gate, const float* up, float* dgate, float* dup,
                int count);

// Rows of a table; the gradient adds up the rows of each id in order.
void embed(const float* table, const int32_t* ids, float* out, int rows, int width);
void embed_grad(const float* dout, const int32_t* ids, float* dtable, int rows, int width,
                int vocabulary);

// ln p(label) and entropy of softmax(hidden head^T / temperature); `normaliser` is logsumexp.
void log_prob_entropy(const float* hidden, const float* head, const int32_t* labels,
                      float* logprobs, float* entropies, float* normaliser, int rows, int width,
                      int vocabulary, float temperature);
void log_prob_entropy_grad(const float* dlogprobs, const float* dentropies, const float* hidden,
                           const float* head, const int32_t* labels, const float* entropies,
                           const float* normaliser, float* dhidden, float* dhead, int rows,
                           int width, int vocabulary, float temperature);
// The k largest log-probabilities of each row and their ids, in falling order.
void top_k(const float* hidden, const float* head, float* logprobs, int32_t* ids, int rows,
           int width, int vocabulary, int k, float temperature);

// Over all arrays at once; an array is its address, carried as a double.
double square_sum(const double* arrays, const int32_t* counts, int count);
void adamw(const double* parameters, const double* gradients, const double* m, const double* v,
           const int32_t* counts, int count, float learning_rate, float beta1, float beta2,
           float epsilon, float weight_decay, float scale, float correction1, float correction2);

}  // namespace ARPO_NS
