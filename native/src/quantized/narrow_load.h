// What loading weights in fewer bits shares.
#pragma once
#include "narrow_tile.h"

namespace ARPO_NS {

// load(row, nth) of rows [first, first + rows), the nth of the call, says whether all of it is finite; gives
// the first of which it is not, or -1. Rows of one block go to one task, so that its cache lines have one
// writer at a time.
template <class Load>
ARPO_INLINE int each_row(int first, int rows, const Load& load) {
  int32_t bad = rows;
  const int from_block = first / NR, blocks = ceil_div(first + rows, NR) - from_block;
  parallel(blocks, [&](int task, int) {
    const int begin = (from_block + task) * NR;
    for (int row = begin < first ? first : begin; row < least(begin + NR, first + rows); row++) {
      if (load(row, (ptrdiff_t)row - first)) continue;
      int32_t known = __atomic_load_n(&bad, __ATOMIC_RELAXED);
      while (row - first < known &&
             !__atomic_compare_exchange_n(&bad, &known, row - first, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED)) {
      }
    }
  });
  return bad < rows ? bad : -1;
}

inline uint32_t bits_of(Stored from, ptrdiff_t i) {
  if (from.half) return (uint32_t)from.half[i] << 16;
  uint32_t bits;
  memcpy(&bits, from.whole + i, 4);
  return bits;
}
inline float value_of(Stored from, ptrdiff_t i) {
  const uint32_t bits = bits_of(from, i);
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

// Eight times a float16 below the normal ones, which has no sign here.
inline uint16_t eightfold(int fraction) {
  fraction *= 8;
  int exponent = 1;
  while (fraction >= 0x0800) fraction /= 2, exponent++;  // even each time: three zeros were put below
  return (uint16_t)(fraction < 0x0400 ? fraction : exponent << 10 | (fraction & 0x03ff));
}

// What the compiler may not join with the sum that it goes into.
inline float apart(float x) {
  volatile float alone = x;
  return alone;
}

// A file's block: 18 (Q4_0), 20 (Q4_1) or 34 (Q8_0) bytes; scale and offset are float16.
struct Block {
  uint16_t scale, offset;
  bool finite;
  uint8_t numbers[GROUP];  // of Q8_0 signed

  // Numbers as Q8_0 rounds them, halves away from zero.
  explicit Block(const float* from) : offset(0) {
    float top = 0;
    finite = true;
    for (int p = 0; p < GROUP; p++) {
      const float magnitude = from[p] < 0 ? -from[p] : from[p];
      finite = finite && from[p] - from[p] == 0;
      top = magnitude > top ? magnitude : top;
    }
    const float step = top / 127.0f, turns = step > 0 ? 1.0f / step : 0.0f;
    scale = float16_of(step);
    for (int p = 0; p < GROUP; p++) {
      const float x = from[p] * turns;
      numbers[p] = (uint8_t)(int8_t)(int)(x + (x < 0 ? -0.5f : 0.5f));
    }
  }

  // Numbers as Q4_1 rounds them, with ggml's steps in single precision.
  static Block fours(const float* from) {
    Block block;
    float least = from[0], most = from[0];
    block.finite = true;
    for (int p = 0; p < GROUP; p++) {
      block.finite = block.finite && from[p] - from[p] == 0;
      least = from[p] < least ? from[p] : least;
      most = from[p] > most ? from[p] : most;
    }
    const float step = (most - least) / 15.0f, turns = 1.0f / step;
    const float times = step > 0 && turns - turns == 0 ? turns : 0.0f;
    const float limit = 65520.0f;  // which float16 has no number for
    block.finite = block.finite && step < limit && least < limit && least > -limit;
    block.scale = float16_of(step), block.offset = float16_of(least);
    if (!block.finite) return block;
    for (int p = 0; p < GROUP; p++) {
      const int number = (int)(apart((from[p] - least) * times) + 0.5f);
      block.numbers[p] = (uint8_t)(number < 15 ? number : 15);
    }
    return block;
  }

  Block(const uint8_t* from, int bytes) {
    uint16_t head[2];
    memcpy(head, from, 4);
    scale = head[0], offset = 0, finite = (head[0] & 0x7c00) != 0x7c00;
    if (bytes == 34) {
      memcpy(numbers, from + 2, GROUP);
      return;
    }
    const bool has_offset = bytes == 20;
    if (has_offset) {
      offset = head[1], finite = finite && (head[1] & 0x7c00) != 0x7c00;
    } else {
      // Q4_0 counts from -8: eight times the scale below zero, three more of its exponent.
      const int magnitude = head[0] & 0x7fff;
      const bool small = magnitude < 0x0400;  // without an exponent of its own
      if (!small && magnitude + 0x0c00 >= 0x7c00) finite = false;
      offset = (uint16_t)(((head[0] & 0x8000) ^ 0x8000) | (small ? eightfold(magnitude) : magnitude + 0x0c00));
    }
    from += has_offset ? 4 : 2;
    for (int p = 0; p < 16; p++) numbers[p] = from[p] & 15, numbers[16 + p] = from[p] >> 4;
  }

 private:
  Block() {}
};

// The nth block: a file's, or of numbers that are rounded.
inline Block block_of(bool fours, Stored from, ptrdiff_t nth) {
  if (from.blocks) return Block(from.blocks + nth * from.block_bytes, from.block_bytes);
  float numbers[GROUP];
  for (int p = 0; p < GROUP; p++) numbers[p] = value_of(from, nth * GROUP + p);
  return fours ? Block::fours(numbers) : Block(numbers);
}

}  // namespace ARPO_NS
