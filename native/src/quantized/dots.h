// Weights in blocks of 32 numbers of 4 or 8 bits, multiplied as integers: rows of x are rounded to 8 bits
// with a scale for each 32 numbers, as llama.cpp does, so that 32 products are one exact sum of integers,
// which is several times float32's speed where the processor adds four products of bytes at once. Sums of
// blocks are one chain of float32 in rising order, so an element's bytes do not depend on how many rows are
// in the call.
#pragma once
#include "narrow.h"

namespace ARPO_NS {

inline bool is_dots(Format format) { return format == Format::dot4 || format == Format::dot8; }

size_t dots_bytes(Format format, int out, int in);
// Rows [first, first + rows) of a matrix: a file's blocks, Q4_0 and Q4_1 as dot4, Q8_0 as dot8; or numbers, that
// are rounded to Q4_1 and Q8_0. Gives the first row that holds something not finite, or -1.
int dots_load(Format format, void* dots, int in, int first, int rows, Stored from);

size_t dots_row_bytes(int in);
// Rows [from, to) of x, rounded, to their places among `rows`.
void dots_rows(const float* x, int in, int from, int to, int8_t* rows);
// Columns of blocks [from, to) (linear.h) of y = x W^T, or += if `add`, for rows as `dots_rows` makes them.
void dots_columns(Format format, const void* dots, int out, int in, const int8_t* x, int rows, int from, int to,
                  bool add, float* y, int ldy);
// The products above alone, on numbers that are at hand (machine.h): how many operations they were.
double dots_peak(int rounds);

}  // namespace ARPO_NS
