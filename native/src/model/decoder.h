// The whole decoder transformer in one call per step, for JavaScript (see exports.h).
//
// A decoder is an address carried as a double. TypeScript keeps the accounts (which row has which
// pages, what is shared, when to copy); here are the weights, the pages' contents and the arithmetic.
// Nothing a row is given depends on what else is in the step: products are batch-invariant
// (gemm.h), and attention goes over a row's positions in order.
#pragma once
#include "../platform.h"

namespace ARPO_NS {

enum { PAGE = 16 };  // positions per page

// shape: vocab, hidden, layers, heads, kv heads, head size, feed-forward size, and how weights are
// kept: 0 exactly, 1 as bfloat16, 2 as 8-bit integers, 3 as blocks (narrow.h), 4 and 5 as blocks of 8 and 4
// bits for products of integers (dots.h); how keys and values are: 0 exactly, 1 as float16; and the activation:
// 0 SiLU, 1 GELU in its tanh form.
double decoder_create(const int32_t* shape, float eps);
void decoder_destroy(double decoder);

// Weights in Hugging Face layout ([out, in]), copied and packed; biases and head norms may be null.
// Matrices are null where they are kept in fewer bits: they come by rows.
void decoder_load_layer(double decoder, int layer, const float* input_norm, const float* query,
                        const float* key, const float* value, const float* query_bias,
                        const float* key_bias, const float* value_bias, const float* query_norm,
                        const float* key_norm, const float* output, const float* post_norm,
                        const float* gate, const float* up, const float* down);
// What a layer does otherwise than most: biases of the other matrices, norms of what attention and the
// feed-forward block found (null: none), how many positions it sees (0: all) and which rotary table it has.
void decoder_load_kind(double decoder, int layer, const float* output_bias, const float* gate_bias,
                       const float* up_bias, const float* down_bias, const float* attended_norm,
                       const float* found_norm, int window, int table);
void decoder_load_ends(double decoder, const float* final_norm, const float* head);
// Rows [first, first + rows) of a matrix kept in fewer bits, as float32 or bfloat16 (the other is
// null). matrix: 0 queries, keys and values, 1 output, 2 gate, 3 up, 4 down, 5 the head (of any layer).
// Gives the first row that is not finite, or -1.
int decoder_load_rows(double decoder, int layer, int matrix, int first, int rows, const float* whole,
                      const uint16_t* half);
// The same of a matrix in blocks of 18 (Q4_0), 20 (Q4_1) or 34 bytes (Q8_0), which one matrix has all alike.
int decoder_load_blocks(double decoder, int layer, int matrix, int first, int rows, const uint8_t* blocks,
                        int block_bytes);
// Cosines and sines of a table (0 to 3) for the first `positions` positions, head size / 2 of each per position.
void decoder_load_rope(double decoder, int table, const float* cos, const float* sin, int positions);

// Bytes one page takes.
double decoder_page_bytes(double decoder);
// Gives back the memory of pages numbered `pages` and above, as far as it can.
void decoder_trim(double decoder, int pages);

// Feeds `feeds` rows: row i gets tokens offsets[i] to offsets[i + 1] (as embeddings) at positions
// from[i] onwards, with its pages in pages[page_offsets[i]] onwards; first copies pages pairwise.
// Then samples (sampler.h). Gives the first feed whose logits are not finite, or -1.
int decoder_step(double decoder, const float* embedded, const int32_t* offsets,
                 const int32_t* from, int feeds, const int32_t* pages,
                 const int32_t* page_offsets, const int32_t* copies, int copy_count,
                 const float* temperature, const int32_t* top_k, const float* top_p,
                 const float* min_p, const float* penalty, const double* uniform,
                 const uint32_t* allowed, const int32_t* allowed_at, const int32_t* constrained,
                 const int32_t* seen, const int32_t* seen_offsets, int top,
                 int32_t* tokens, float* logprobs, float* entropies, int32_t* top_ids,
                 float* top_logprobs, uint32_t* kept, float* kept_logprobs);

}  // namespace ARPO_NS
