#include "narrow_tile.h"

namespace ARPO_NS {
namespace {

uint32_t bits_of(Stored from, ptrdiff_t i) {
  if (from.half) return (uint32_t)from.half[i] << 16;
  uint32_t bits;
  memcpy(&bits, from.whole + i, 4);
  return bits;
}
float value_of(Stored from, ptrdiff_t i) {
  const uint32_t bits = bits_of(from, i);
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

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

// Eight times a float16 below the normal ones, which has no sign here.
uint16_t eightfold(int fraction) {
  fraction *= 8;
  int exponent = 1;
  while (fraction >= 0x0800) fraction /= 2, exponent++;  // even each time: three zeros were put below
  return (uint16_t)(fraction < 0x0400 ? fraction : exponent << 10 | (fraction & 0x03ff));
}

// A row of the file's blocks: float16 scale, of Q4_1 an offset, and 32 numbers; of 4 bits those of the first
// half in the low half bytes.
bool load_row(Format format, void* narrow, int in, int row, const uint8_t* from, int block_bytes) {
  const size_t group = group_bytes(format);
  uint8_t* to = (uint8_t*)narrow + (size_t)(row / NR) * (in / GROUP) * group;
  const int j = row % NR;
  bool finite = true;
  for (int g = 0; g < in / GROUP; g++, to += group, from += block_bytes) {
    uint16_t head[2];
    memcpy(head, from, 4);
    uint16_t* heads = (uint16_t*)to;
    finite = finite && (head[0] & 0x7c00) != 0x7c00;
    heads[j] = head[0];
    if (format == Format::q8) {
      for (int p = 0; p < GROUP; p++) to[2 * NR + p * NR + j] = from[2 + p];
      continue;
    }
    const bool has_offset = block_bytes == 20;
    if (has_offset) {
      finite = finite && (head[1] & 0x7c00) != 0x7c00;
      heads[NR + j] = head[1];
    } else {
      // Q4_0 counts from -8: eight times the scale below zero, three more of its exponent.
      const int magnitude = head[0] & 0x7fff;
      const bool small = magnitude < 0x0400;  // without an exponent of its own
      if (!small && magnitude + 0x0c00 >= 0x7c00) finite = false;
      heads[NR + j] = (uint16_t)(((head[0] & 0x8000) ^ 0x8000) | (small ? eightfold(magnitude) : magnitude + 0x0c00));
    }
    const uint8_t* numbers = from + (has_offset ? 4 : 2);
    for (int p = 0; p < GROUP; p += 2) {
      const uint8_t a = numbers[p % 16], b = numbers[p % 16 + 1];
      to[4 * NR + p / 2 * NR + j] = p < 16 ? (uint8_t)((a & 15) | b << 4) : (uint8_t)(a >> 4 | (b & 0xf0));
    }
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
  int32_t bad = rows;
  // Rows of one block go to one task, so that its cache lines have one writer at a time.
  const int from_block = first / NR, blocks = ceil_div(first + rows, NR) - from_block;
  parallel(blocks, [&](int task, int) {
    const int begin = (from_block + task) * NR;
    for (int row = begin < first ? first : begin; row < least(begin + NR, first + rows); row++) {
      const ptrdiff_t nth = row - first;
      if (from.blocks ? load_row(format, narrow, in, row, from.blocks + nth * (in / GROUP) * from.block_bytes,
                                 from.block_bytes)
                      : load_row(format, narrow, out, in, row, from, nth * in))
        continue;
      int32_t known = __atomic_load_n(&bad, __ATOMIC_RELAXED);
      while (row - first < known &&
             !__atomic_compare_exchange_n(&bad, &known, row - first, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED)) {
      }
    }
  });
  return bad < rows ? bad : -1;
}

}  // namespace ARPO_NS
