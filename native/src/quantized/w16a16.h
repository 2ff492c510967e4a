// Weights and activations both in bfloat16, multiplied in pairs and added in float32: twice float32's rate
// where the processor has an instruction for it, and with the same bytes everywhere, since a product of two
// bfloat16 numbers is exact in float32. An element's sum is one chain over the pairs in rising order, of each
// the odd one first, so its bytes do not depend on how many rows are in the call. Numbers below the normal ones
// count as zero, as that instruction takes them.
#pragma once
#include "narrow.h"

namespace ARPO_NS {

size_t w16a16_bytes(int out, int in);
// Rows [first, first + rows) of a matrix of numbers. Gives the first row that holds something not finite, or -1.
int w16a16_load(void* weights, int in, int first, int rows, Stored from);

size_t w16a16_row_bytes(int in);
// Rows [from, to) of x, rounded, to their places among `rows`.
void w16a16_rows(const float* x, int in, int from, int to, int8_t* rows);
// Columns of blocks [from, to) (linear.h) of y = x W^T, or += if `add`, for rows as `w16a16_rows` makes them.
void w16a16_columns(const void* weights, int out, int in, const int8_t* x, int rows, int from, int to, bool add,
                    float* y, int ldy);
// The products above alone, on numbers that are at hand (machine.h): how many operations they were.
double w16a16_peak(int rounds);

}  // namespace ARPO_NS
