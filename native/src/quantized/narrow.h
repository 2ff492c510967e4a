// Weights kept in fewer bits, for decoding models that are read once per token: bfloat16; 8-bit integers
// with a scale for each output; or blocks of 32 as GGUF files have them, of 4 bits with a scale and an
// offset (Q4_0, Q4_1) or of 8 with a scale (Q8_0). They are widened on their way into float32 sums, in
// registers, or for many rows a piece at a time, one chain over k in rising order, so an element's bytes do
// not depend on how many rows are in the call. (dot4 and dot8 are dots.h, w16a16 its own.)
#pragma once
#include "../platform.h"

namespace ARPO_NS {

enum class Format { exact, bf16, int8, q4, dot8, dot4, w16a16, q8 };

// A matrix [out, in] as it comes: float32, the upper halves of float32 (bfloat16), or a file's blocks, each
// of so many bytes.
struct Stored {
  const float* whole;
  const uint16_t* half;
  const uint8_t* blocks;
  int block_bytes;
};

size_t narrow_bytes(Format format, int out, int in);
// Rows [first, first + rows) of a matrix of `out` rows; gives the first that holds something not
// finite, or -1.
int narrow_load(Format format, void* narrow, int out, int in, int first, int rows, Stored from);
// Columns of blocks [from, to) (linear.h) of y = x W^T, or += if `add`.
void narrow_columns(int thread, Format format, const void* narrow, int out, int in, const float* x, int rows,
                    int from, int to, bool add, float* y, int ldy);

}  // namespace ARPO_NS
