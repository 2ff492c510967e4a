// The most that this machine can do: what the share of a benchmark and a profile is of.
#pragma once
#include "platform.h"

namespace ARPO_NS {

// Products of numbers that are at hand, on every thread, `rounds` times a fixed number. kind: 0 float32 in
// registers, 1 bytes in blocks as dots.h multiplies them, 2 float32's digits on matrix tiles, 3 pairs of
// bfloat16 as w16a16.h multiplies them. Gives how many operations that was, a product and its sum counting as two;
// 0 where this machine has no such products.
double peak_products(int kind, int rounds);
// Reads numbers on every thread. Gives their sum, so that nothing can be left out.
double peak_read(const float* numbers, int count);

}  // namespace ARPO_NS
