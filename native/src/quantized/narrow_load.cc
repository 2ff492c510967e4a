#include "narrow_load.h"

namespace ARPO_NS {
namespace {

// One row of the matrix into its place among the outputs of a block; whether all of it is finite.
bool load_row(Format format, void* narrow, int out, int in, int row, Stored from, ptrdiff_t at) {
  const ptrdiff_t to = (ptrdiff_t)(row / NR) * NR * in + row % NR;
  uint32_t largest = 0;
  for (int p = 0; p < in; p++) {
    const uint32_t magnitude = bits_of(from, at + p) & 0x7fffffff;
    largest = magnitude > largest ? magnitude : largest;
  }
  if (largest >= 0x7f800000) return false;
  if (format == Format::bf16) {
    uint16_t* data = (uint16_t*)narrow + to;
    for (int p = 0; p < in; p++) {
      const uint32_t bits = bits_of(from, at + p);
      data[(ptrdiff_t)p * NR] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
    return true;
  }
  float top;
  memcpy(&top, &largest, 4);
  const bool some = top > 1e-30f;
  scales_in(narrow, out, in)[row] = some ? top / 127.0f : 0.0f;
  if (!some) top = 1.0f;
  int8_t* data = (int8_t*)narrow + to;
  for (int p = 0; p < in; p++) {
    // Divided, so that what lies half-way between two integers is seen to.
    const float x = value_of(from, at + p) * 127.0f / top;
    data[(ptrdiff_t)p * NR] = (int8_t)(int)(x + (x < 0 ? -0.5f : 0.5f));
  }
  return true;
}

// The nth row that came, in blocks.
bool load_blocks(Format format, void* narrow, int in, int row, Stored from, ptrdiff_t nth) {
  const size_t group = group_bytes(format);
  uint8_t* to = (uint8_t*)narrow + (size_t)(row / NR) * (in / GROUP) * group;
  const int j = row % NR;
  bool finite = true;
  for (int g = 0; g < in / GROUP; g++, to += group) {
    const Block block = block_of(format == Format::q4, from, nth * (in / GROUP) + g);
    finite = finite && block.finite;
    uint16_t* heads = (uint16_t*)to;
    heads[j] = block.scale;
    if (format == Format::q8) {
      for (int p = 0; p < GROUP; p++) to[2 * NR + p * NR + j] = block.numbers[p];
      continue;
    }
    heads[NR + j] = block.offset;
    for (int p = 0; p < GROUP; p += 2)
      to[4 * NR + p / 2 * NR + j] = (uint8_t)(block.numbers[p] | block.numbers[p + 1] << 4);
  }
  return finite;
}

}  // namespace

size_t narrow_bytes(Format format, int out, int in) {
  const size_t padded = (size_t)ceil_div(out, NR) * NR;
  if (format == Format::q4 || format == Format::q8)
    return (size_t)ceil_div(out, NR) * (in / GROUP) * group_bytes(format);
  return format == Format::bf16 ? padded * in * 2 : padded * in + padded * sizeof(float);
}

int narrow_load(Format format, void* narrow, int out, int in, int first, int rows, Stored from) {
  return each_row(first, rows, [&](int row, ptrdiff_t nth) {
    return format == Format::q4 || format == Format::q8 ? load_blocks(format, narrow, in, row, from, nth)
                                                        : load_row(format, narrow, out, in, row, from, nth * in);
  });
}

}  // namespace ARPO_NS
