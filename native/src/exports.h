// What JavaScript can call. A function listed here is reachable by the same name through the addon
// and through wasm; its C++ parameter types say how each argument is passed:
//
//   const T*  a typed array that is read          T*    a typed array that is written
//   int       a 32-bit integer or a boolean       float, double   a number
//
// (T is float, double, int32_t, uint32_t, uint16_t or uint8_t; null is allowed for a pointer.) To add a group
// of functions: write NAME.h and NAME.cc in native/src in namespace ARPO_NS, include the header below
// and add the names to the list. The build finds the file by itself. Arguments are checked in
// TypeScript, not here.
#pragma once
#include "model/decoder.h"
#include "kernels.h"
#include "machine.h"
#include "model/sampler.h"

// kernels.h
#define ARPO_KERNELS(X)    \
  X(threads)               \
  X(set_threads)           \
  X(round_products)        \
  X(matmul)                \
  X(binary)                \
  X(add_bias)              \
  X(column_sum)            \
  X(rms_norm)              \
  X(rms_norm_grad)         \
  X(rope)                  \
  X(attention)             \
  X(attention_grad)        \
  X(swiglu)                \
  X(swiglu_grad)           \
  X(geglu)                 \
  X(geglu_grad)            \
  X(embed)                 \
  X(embed_grad)            \
  X(log_prob_entropy)      \
  X(log_prob_entropy_grad) \
  X(top_k)                 \
  X(square_sum)            \
  X(adamw)

// machine.h
#define ARPO_MACHINE(X) \
  X(peak_products)      \
  X(peak_read)

// decoder.h, sampler.h
#define ARPO_DECODING(X) \
  X(decoder_create)      \
  X(decoder_destroy)     \
  X(decoder_load_layer)  \
  X(decoder_load_kind)   \
  X(decoder_load_ends)   \
  X(decoder_load_rows)   \
  X(decoder_load_blocks) \
  X(decoder_load_rope)   \
  X(decoder_page_bytes)  \
  X(decoder_trim)        \
  X(decoder_step)        \
  X(sample_rows)

#define ARPO_EXPORTS(X) ARPO_KERNELS(X) ARPO_MACHINE(X) ARPO_DECODING(X)
