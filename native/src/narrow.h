// Weights kept in fewer bits, for decoding models that are read once per token: bfloat16, or 8-bit
// integers with a scale for each output. They are widened in registers on their way into float32 sums,
// one chain over k in rising order, so an element's bytes do not depend on how many rows are in the call.
#pragma once
#include "platform.h"

namespace ARPO_NS {

enum class Format { exact, bf16, int8 };

// A matrix [out, in] as it comes: float32, or the upper halves of float32 (bfloat16).
struct Stored {
  const float* whole;
  const uint16_t* half;
};

size_t narrow_bytes(Format format, int out, int in);
// Rows [first, first + rows) of a matrix of `out` rows; gives the first that holds something not
// finite, or -1.
int narrow_load(Format format, void* narrow, int out, int in, int first, int rows, Stored from);
// Columns of blocks [from, to) (linear.h) of y = x W^T, or += if `add`.
void narrow_columns(Format format, const void* narrow, int out, int in, const float* x, int rows,
                    int from, int to, bool add, float* y, int ldy);

}  // namespace ARPO_NS
